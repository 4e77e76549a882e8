/* SPDX-License-Identifier: MIT
 *
 * The answer of quantizing a file, done or planned. */
#ifndef DTINFO_ANSWERS_QUANT_FILE_H
#define DTINFO_ANSWERS_QUANT_FILE_H

#include "answers/common.h"
#include "answers/quantized.h"
#include "dtinfo/rewrite.h"

struct dti_quant_file_answer {
    const char *path;     /* of the input */
    const char *out_path; /* NULL with dry_run only */
    const struct dti_rewrite *rewrite;
    const struct dti_quant_target *target;
    const struct dti_quant_rules *rules;
    bool dry_run; /* nothing was written, so there are no figures */
    size_t threads;
    const struct dti_warnings *warnings;
    FILE *stream; /* stream for tensors, which are written one by one */
};
void dti_document_quant_file(struct dti_json *json, const struct dti_quant_file_answer *answer);

/* Bytes of the tensors in the input that are written. */
uint64_t dti_quant_file_input(const struct dti_rewrite *rewrite);

/* A new file, for other documents too. path: NULL without an output. */
struct dti_quant_new_file {
    const char *path;
    uint64_t bytes;
};
extern const struct dti_object dti_object_quant_new_file;
void dti_put_quant_new_file(struct dti_json *json, const char *key,
                            const struct dti_quant_new_file *file);
const char *dti_quant_output_words(size_t index);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The answer on a file that was quantized, or would be. */
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
    bool dry_run; /* nothing was written, and no figures are there */
    size_t threads;
    const struct dti_warnings *warnings;
    FILE *stream; /* where tensors go one by one, so that there may be many */
};
void dti_document_quant_file(struct dti_json *json, const struct dti_quant_file_answer *answer);

/* What other documents on new files have: one of them. path: NULL where no output was given. */
struct dti_quant_new_file {
    const char *path;
    uint64_t bytes;
};
extern const struct dti_object dti_object_quant_new_file;
void dti_put_quant_new_file(struct dti_json *json, const char *key,
                            const struct dti_quant_new_file *file);
const char *dti_quant_output_words(size_t index);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The answer on a file that was quantized, or would be. */
#ifndef DTINFO_ANSWERS_QUANT_FILE_H
#define DTINFO_ANSWERS_QUANT_FILE_H

#include "answers/common.h"
#include "answers/quantized.h"
#include "dtinfo/file_quant.h"

struct dti_quant_file_answer {
    const char *path;     /* of the input */
    const char *out_path; /* NULL with dry_run only */
    struct dti_container *container;
    enum dti_container_kind kind; /* of the output */
    struct dti_file_quant *quant;
    const struct dti_quant_target *target;
    const struct dti_quant_rules *rules;
    bool dry_run; /* nothing was written, and no figures are there */
    enum dti_level level;
    size_t threads;
    const char *const *notes; /* on names of dtypes, besides that of the target */
    size_t note_count;
    const struct dti_warning_answer *warnings;
    size_t warning_count;
    FILE *stream; /* where tensors go one by one, so that there may be many */
};
void dti_document_quant_file(struct dti_json *json, const struct dti_quant_file_answer *answer);

/* What a tensor of the answer is made of. */
static inline const struct dti_tensor *dti_quant_file_source(
    const struct dti_quant_file_answer *answer, size_t tensor)
{
    return &answer->container->tensors[answer->quant->tensors[tensor].source];
}

/* The losses of all tensors together; the index is in the tensor that quant->max_tensor names. */
void dti_quant_file_loss(const struct dti_quant_file_answer *answer, struct dti_loss_summary *ret);

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

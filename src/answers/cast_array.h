/* SPDX-License-Identifier: MIT
 *
 * The answer of a cast of an array: where it came from and went to, how, and what was lost. */
#ifndef DTINFO_ANSWERS_CAST_ARRAY_H
#define DTINFO_ANSWERS_CAST_ARRAY_H

#include "answers/common.h"
#include "dtinfo/loss_summary.h"
#include "dtinfo/runner.h"

struct dti_array_side {
    const char *path; /* "-" for the standard streams */
    bool text;
    const struct dti_format *format; /* NULL for text that is not the text of a dtype */
    enum dti_packing packing;
    bool big; /* the highest byte first */
    uint64_t bytes;
};

struct dti_array_answer {
    struct dti_array_side input, output;
    uint64_t elements;
    struct dti_policies_answer options;
    const char *device, *device_reason; /* the reason may be NULL */
    enum dti_level level;
    const struct dti_plan *plan; /* NULL for text input */
    size_t threads;
    struct dti_loss_summary loss;
    const struct dti_warnings *warnings;
};
void dti_document_cast_array(struct dti_json *json, const struct dti_array_answer *array);

#endif

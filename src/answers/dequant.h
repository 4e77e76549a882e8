/* SPDX-License-Identifier: MIT
 *
 * The answer of a dequantization, done or planned: a cast of a view of the file. */
#ifndef DTINFO_ANSWERS_DEQUANT_H
#define DTINFO_ANSWERS_DEQUANT_H

#include <stdio.h>

#include "answers/common.h"
#include "dtinfo/rewrite.h"

struct dti_dequant_answer {
    const char *path;                  /* of the input */
    const char *out_path;              /* NULL with dry_run only */
    const struct dti_rewrite *rewrite; /* its container is the view of the input */
    bool dry_run;                      /* nothing was written, so there are no figures */
    uint64_t bits, block;              /* options on codes and scales; 0: not given */
    size_t threads;
    const struct dti_warnings *warnings;
    FILE *stream; /* stream for tensors, which are written one by one */
};

/* Totals over the tensors. */
struct dti_dequant_totals {
    size_t dequantized, cast; /* cast: floats that were no codes */
    uint64_t stored_bytes;    /* of all that are written, with all their parts */
    uint64_t nan, inf;        /* that resulted from dequantization */
};
void dti_dequant_sum(const struct dti_rewrite *rewrite, struct dti_dequant_totals *ret);

/* How a written tensor was stored, by its index. */
static inline const struct dti_dequant_form *dti_dequant_form(const struct dti_rewrite *rewrite,
                                                              size_t at)
{
    return dti_file_dequant_form(rewrite->request.dequant,
                                 dti_rewrite_place(rewrite, rewrite->tensors[at].source));
}
/* With all its parts. */
static inline uint64_t dti_dequant_stored_bytes(const struct dti_rewrite *rewrite, size_t at)
{
    const struct dti_dequant_form *const form = dti_dequant_form(rewrite, at);
    return form->dtype ? form->stored_bytes : dti_rewrite_source(rewrite, at)->bytes;
}
static inline const char *dti_dequant_from(const struct dti_rewrite *rewrite, size_t at)
{
    const struct dti_dequant_form *const form = dti_dequant_form(rewrite, at);
    return form->dtype ? form->dtype : dti_rewrite_source(rewrite, at)->format->name;
}

void dti_document_dequant(struct dti_json *json, const struct dti_dequant_answer *answer);

#endif

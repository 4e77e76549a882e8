/* SPDX-License-Identifier: MIT
 *
 * The answer on a file whose codes and scales became floats, or would: a cast of a view of it. */
#ifndef DTINFO_ANSWERS_DEQUANT_H
#define DTINFO_ANSWERS_DEQUANT_H

#include <stdio.h>

#include "answers/common.h"
#include "dtinfo/rewrite.h"

struct dti_dequant_answer {
    const char *path;                  /* of the input */
    const char *out_path;              /* NULL with dry_run only */
    const struct dti_rewrite *rewrite; /* its container is what is seen of the input */
    bool dry_run;                      /* nothing was written, and no figures are there */
    uint64_t bits, block;              /* what was said of codes and scales; 0: nothing */
    size_t threads;
    const struct dti_warnings *warnings;
    FILE *stream; /* where tensors go one by one, so that there may be many */
};

/* What is known of the tensors together. */
struct dti_dequant_totals {
    size_t dequantized, cast; /* cast: floats that were no codes */
    uint64_t stored_bytes;    /* of all that are written, with all their parts */
    uint64_t nan, inf;        /* that came out of codes and scales */
};
void dti_dequant_sum(const struct dti_rewrite *rewrite, struct dti_dequant_totals *ret);

/* A tensor that is written, by its place: how it was stored. */
static inline const struct dti_dequant_form *dti_dequant_form(const struct dti_rewrite *rewrite,
                                                              size_t at)
{
    return dti_file_dequant_form(rewrite->request.dequant, rewrite->tensors[at].source);
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

/* SPDX-License-Identifier: MIT
 *
 * The answer of a translation from one layout of quantized tensors to another, done or planned. */
#ifndef DTINFO_ANSWERS_TRANSCODE_FILE_H
#define DTINFO_ANSWERS_TRANSCODE_FILE_H

#include <stdio.h>

#include "answers/common.h"
#include "dtinfo/rewrite.h"

struct dti_transcode_answer {
    const char *path;                  /* of the input */
    const char *out_path;              /* NULL with dry_run only */
    const struct dti_rewrite *rewrite; /* its container is the view of the target layout */
    bool dry_run;                      /* nothing was written */
    size_t threads;
    const struct dti_warnings *warnings;
    FILE *stream; /* stream for tensors, which are written one by one */
};

/* Totals over the quantized tensors that are written. */
struct dti_transcode_totals {
    size_t translated, lossless; /* tensors, those whose numbers are all the same */
    size_t kept;                 /* tensors that are copied as they are stored */
    uint64_t blocks, lossless_blocks;
    double worst;          /* relative error of a number; 0: there is none */
    uint64_t stored_bytes; /* of all that are written, with all their parts */
};
void dti_transcode_sum(const struct dti_rewrite *rewrite, struct dti_transcode_totals *ret);

/* Of a written tensor, by its index: which tensor of the dequantization's view it was. *ret: what
 * became of that. True: it is the first of its tensors in the view, which is there once. */
bool dti_transcode_begins(const struct dti_rewrite *rewrite, size_t at, size_t *ret_origin,
                          const struct dti_transcode_verdict **ret);

void dti_document_transcode(struct dti_json *json, const struct dti_transcode_answer *answer);

#endif

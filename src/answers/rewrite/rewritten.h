/* SPDX-License-Identifier: MIT
 *
 * The answer of a rewrite, done or planned: a cast, a quantization, a dequantization (the cast of a
 * view), a translation from one layout of quantized tensors to another. */
#ifndef ANSWERS_REWRITE_REWRITTEN_H
#define ANSWERS_REWRITE_REWRITTEN_H

#include <stdio.h>

#include "answers/common.h"
#include "answers/rewrite/quantized.h"
#include "files/rewrite/rewrite.h"

/* Sums over the quantized tensors that a dequantization, or a translation, writes. */
struct dti_dequant_totals {
    size_t dequantized, cast, kept; /* cast: floats that were no codes */
    uint64_t stored_bytes;          /* of all that are written, with all their parts */
    uint64_t nan, inf;              /* that resulted from dequantization */
};
struct dti_transcode_totals {
    size_t translated, lossless; /* tensors, those whose numbers are all the same */
    size_t kept;                 /* tensors that are copied as they are stored */
    uint64_t blocks, lossless_blocks;
    double worst; /* relative error of a number; 0: there is none */
    bool lossy;   /* there is one */
    uint64_t stored_bytes;
};

/* What came of quantized numbers. */
struct dti_quant_figures {
    bool counted, in_blocks; /* those of numbers, those of blocks */
    const struct dti_quant_count *count;
    const struct dti_loss_summary *loss; /* NULL if nothing was quantized */
};

struct dti_rewrite_answer {
    const char *path;                  /* of the input */
    const char *out_path;              /* NULL with dry_run only */
    const struct dti_rewrite *rewrite; /* its container is the input, or a view of it */
    bool dry_run;                      /* nothing was written */
    bool losses;                       /* are known: the data was read */
    size_t threads;
    const struct dti_warnings *warnings;
    FILE *stream; /* for tensors, which are written one by one: see dti_json_stream() */
    /* cast */
    struct dti_policies_answer options;
    const char *device, *device_reason; /* the reason may be NULL */
    bool text;                          /* output as text, and its bytes */
    uint64_t text_bytes;
    /* quantization */
    const struct dti_quant_target *target;
    const struct dti_quant_rules *rules;
    uint64_t bits, block; /* of a dequantization, options on codes and scales; 0: not given */

    /* What follows from these: dti_rewrite_answer_fill(). */
    struct dti_container_answer input;
    const char *kind;   /* of the output */
    const char *layout; /* of codes and scales in the output, or NULL */
    const char *config; /* the file beside the input that describes its quantization, or NULL */
    bool sized;         /* the sizes of the output are known */
    uint64_t data_bytes, changed_bytes;  /* of the output; changed tensors in the input */
    size_t kept, fused;                  /* tensors; fused: that share a tensor scale */
    const struct dti_loss_summary *loss; /* over all changed tensors, or NULL */
    struct dti_loss_summary loss_sum;
    bool located; /* a tensor has the largest error */
    struct dti_quant_figures figures;
    struct dti_dequant_totals dequant;
    struct dti_transcode_totals transcode;
    const char *kernels; /* of the first quantized tensor, or NULL */
    char kernel_room[DTI_PLAN_TEXT_SIZE];
};
/* Points into itself: must not be copied. */
void dti_rewrite_answer_fill(struct dti_rewrite_answer *answer);

void dti_document_cast_file(struct dti_json *json, const struct dti_rewrite_answer *answer);
void dti_document_quant_file(struct dti_json *json, const struct dti_rewrite_answer *answer);
void dti_document_dequant(struct dti_json *json, const struct dti_rewrite_answer *answer);
void dti_document_transcode(struct dti_json *json, const struct dti_rewrite_answer *answer);

/* Of a written tensor, by its index: what it was in the input, before it was dequantized. */
struct dti_rewrite_origin {
    const char *dtype; /* or blocks */
    uint64_t bytes;    /* of all its parts */
};
struct dti_rewrite_origin dti_rewrite_origin(const struct dti_rewrite *rewrite, size_t at);

/* Of a written tensor of a dequantization, by its index. */
struct dti_dequantized {
    const struct dti_dequant_form *form; /* how it was stored; NULL: not quantized */
    bool changed;                        /* it was, or it was cast */
    uint64_t nan, inf;                   /* that resulted from dequantization */
};
struct dti_dequantized dti_dequantized(const struct dti_rewrite *rewrite, size_t at);

/* Of a written tensor of a translation, by its index: the tensor that it is part of. */
struct dti_translated {
    const struct dti_tensor *numbers;            /* of the dequantization's view */
    const struct dti_dequant_form *form;         /* how codes and scales were stored */
    const struct dti_transcode_verdict *verdict; /* what became of them */
    bool first;                                  /* part of it, which is there once */
    bool lossless;                               /* all numbers are the same */
};
struct dti_translated dti_translated_of(const struct dti_rewrite *rewrite, size_t at);

#endif

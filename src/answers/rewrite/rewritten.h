/* SPDX-License-Identifier: MIT
 *
 * The answer of a completed or planned rewrite: a cast, a quantization, a dequantization (the cast
 * of a view), or a translation between layouts of quantized tensors. */
#ifndef ANSWERS_REWRITE_REWRITTEN_H
#define ANSWERS_REWRITE_REWRITTEN_H

#include "answers/common.h"
#include "answers/rewrite/quantized.h"
#include "files/rewrite/rewrite.h"
#include "util/sink.h"

/* Totals over the quantized tensors that a dequantization or a translation writes. */
struct dti_dequant_totals {
    size_t dequantized, cast, kept; /* cast: float tensors that were not codes */
    uint64_t stored_bytes;          /* of all written tensors, with all their parts */
    uint64_t nan, inf;              /* produced by dequantization */
};
struct dti_transcode_totals {
    size_t translated, lossless; /* lossless: tensors whose numbers are all unchanged */
    size_t kept;                 /* tensors copied as stored */
    uint64_t blocks, lossless_blocks;
    double worst; /* largest relative error of a number; 0 if there is none */
    bool lossy;   /* some number has an error */
    uint64_t stored_bytes;
};

/* The outcome of quantizing numbers. */
struct dti_quant_figures {
    bool counted, in_blocks; /* those of numbers, those of blocks */
    const struct dti_quant_count *count;
    const struct dti_loss_summary *loss; /* NULL if nothing was quantized */
};

struct dti_rewrite_answer {
    const char *path;                  /* path of the input */
    const char *out_path;              /* NULL with dry_run only */
    const struct dti_rewrite *rewrite; /* its container is the input or a view of it */
    bool dry_run;                      /* nothing was written */
    bool losses;                       /* losses are known: the data was read */
    size_t threads;
    const struct dti_warnings *warnings;
    const struct dti_sink
        *stream; /* for tensors, which are written one by one: see dti_json_stream() */
    /* cast */
    struct dti_policies_answer options;
    const char *device, *device_reason; /* the reason may be NULL */
    bool text;                          /* output as text, and its bytes */
    uint64_t text_bytes;
    /* quantization */
    const struct dti_quant_target *target;
    const struct dti_quant_rules *rules;
    uint64_t bits, block; /* dequantization options on codes and scales; 0: not given */

    /* What follows from these: dti_rewrite_answer_fill(). */
    struct dti_container_answer input;
    const char *kind;   /* container kind of the output */
    const char *layout; /* layout of codes and scales in the output, or NULL */
    const char *config; /* the file next to the input that describes its quantization, or NULL */
    bool sized;         /* the sizes of the output are known */
    uint64_t data_bytes, changed_bytes; /* data_bytes: of the output; changed_bytes: of changed
                                           tensors in the input */
    size_t kept, fused; /* kept: tensors; fused: tensors that share a tensor scale */
    const struct dti_loss_summary *loss; /* over all changed tensors, or NULL */
    struct dti_loss_summary loss_sum;
    bool located; /* a tensor has the largest error */
    struct dti_quant_figures figures;
    struct dti_dequant_totals dequant;
    struct dti_transcode_totals transcode;
    const struct dti_reconciled *reconciled; /* or NULL */
    const char *kernels; /* kernels used for the first quantized tensor, or NULL */
    char kernel_room[DTI_PLAN_TEXT_SIZE];
};
/* Points into itself: must not be copied. */
void dti_rewrite_answer_fill(struct dti_rewrite_answer *answer);

void dti_document_cast_file(struct dti_json *json, const struct dti_rewrite_answer *answer);
void dti_document_quant_file(struct dti_json *json, const struct dti_rewrite_answer *answer);
void dti_document_dequant(struct dti_json *json, const struct dti_rewrite_answer *answer);
void dti_document_transcode(struct dti_json *json, const struct dti_rewrite_answer *answer);

/* What a written tensor, by its index, was in the input before it was dequantized. */
struct dti_rewrite_origin {
    const char *dtype; /* or blocks */
    uint64_t bytes;    /* including all its parts */
};
struct dti_rewrite_origin dti_rewrite_origin(const struct dti_rewrite *rewrite, size_t at);

/* A written tensor of a dequantization, by its index. */
struct dti_dequantized {
    const struct dti_dequant_form *form; /* how it was stored; NULL: not quantized */
    bool changed;                        /* it was dequantized or cast */
    uint64_t nan, inf;                   /* produced by dequantization */
};
struct dti_dequantized dti_dequantized(const struct dti_rewrite *rewrite, size_t at);

/* For a written tensor of a translation, by its index: the tensor that it is a part of. */
struct dti_translated {
    const struct dti_tensor *numbers;            /* of the dequantization's view */
    const struct dti_dequant_form *form;         /* how codes and scales were stored */
    const struct dti_transcode_verdict *verdict; /* the outcome of the translation */
    bool first;                                  /* the first part, which occurs once per tensor */
    bool lossless;                               /* all numbers are the same */
};
struct dti_translated dti_translated_of(const struct dti_rewrite *rewrite, size_t at);

#endif

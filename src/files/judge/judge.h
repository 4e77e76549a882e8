/* SPDX-License-Identifier: MIT
 *
 * Compares what a rewrite or a copy would write with the tensors of another file, instead of
 * writing it. The same code produces the bytes, so a verdict is about exactly what would be
 * written. No file is created. */
#ifndef FILES_JUDGE_JUDGE_H
#define FILES_JUDGE_JUDGE_H

#include "files/rewrite/rewrite.h"
#include "util/run/parallel.h"

/* The tensors to compare with. */
struct dti_judge_other {
    struct dti_container *container; /* as stored, not a view */
    struct dti_name_order *names;    /* index of its tensor names, sorted */
};

enum dti_verdict_kind {
    DTI_VERDICT_SAME,
    DTI_VERDICT_BYTES, /* bytes differ */
    /* Not compared, because the other file: */
    DTI_VERDICT_MISSING, /* lacks a part */
    DTI_VERDICT_MORE,    /* has more parts */
    DTI_VERDICT_DTYPE,   /* has a part with another dtype, */
    DTI_VERDICT_SHAPE,   /* with another shape, */
    DTI_VERDICT_ORDER,   /* with another byte order */
};

/* The verdict on one tensor with all its parts: the first part that differs. */
struct dti_verdict {
    enum dti_verdict_kind kind;
    enum dti_quant_part part;
    enum dti_dtype made_dtype; /* DTI_VERDICT_DTYPE: of the part as made; DTI_DTYPE_COUNT: not a
                                  common dtype */
    size_t tensor;             /* the part's index in the other container; SIZE_MAX: missing */
    /* DTI_VERDICT_BYTES */
    uint64_t elements, differing; /* complex: two each; none are counted after a stop */
    uint64_t first;
    const struct dti_format *format; /* of the two codes */
    uint64_t expected, found;        /* of that element: code as made, code in the other file */
    double alike; /* share of equal elements at the start of the codes; ranks candidates */
};

/* How the other file's elements are in another order than those that are made: what a program
 * assumed about them. */
enum dti_arrangement {
    DTI_ARRANGED_AS_MADE,
    DTI_ARRANGED_NIBBLES,    /* the two 4-bit codes of each byte are swapped */
    DTI_ARRANGED_TRANSPOSED, /* a matrix is transposed */
    DTI_ARRANGED_PAIRS,  /* rows of each head: the two halves alternate, as in llama.cpp's GGUF */
    DTI_ARRANGED_HALVES, /* the other way round: even rows of a head, then odd ones */
};
struct dti_judge_options {
    struct dti_team *team; /* NULL: only this thread */
    uint64_t max_memory;   /* as in struct dti_rewrite_options */
    uint64_t elements; /* not 0: tensors of the rewrite consist of this many consecutive elements of
                          those in the other file, */
    uint64_t skip;     /* starting at this element, a multiple of 8 */
    enum dti_arrangement arrangement; /* of the other file; not together with `elements` */
    uint64_t head;                    /* DTI_ARRANGED_PAIRS, _HALVES: rows of a head */
    bool stop; /* stop at a difference, once the sample at the start of the codes has been compared;
                  for a single tensor */
};

/* Runs a rewrite that has one file and has not been opened, and fills a verdict for each tensor of
 * its container, in their order. part_count: number of parts of each tensor in the other file. If
 * `names` of `other` is NULL, its first tensor is used. Fails as dti_rewrite_run() does. */
enum dti_status dti_judge_rewrite(struct dti_rewrite *rewrite, const struct dti_judge_other *other,
                                  const size_t *part_count, const struct dti_judge_options *options,
                                  struct dti_verdict *ret, struct dti_error *reterr);

/* The same for stored bytes: compares tensors of two containers as stored, with equal byte counts.
 * Codes that straddle bytes are compared as bytes. */
struct dti_judge_copy {
    size_t from, to; /* index in the one and in the other container */
    enum dti_quant_part part;
};
enum dti_status dti_judge_copies(struct dti_container *from, struct dti_container *to,
                                 const struct dti_judge_copy *copies, size_t count,
                                 const struct dti_judge_options *options, struct dti_verdict *ret,
                                 struct dti_error *reterr);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What reductions and matrix products share: a running sum over elements that lie evenly. */
#ifndef DTINFO_CALC_REDUCE_H
#define DTINFO_CALC_REDUCE_H

#include "calc/evaluate.h"

struct dti_strided {
    const struct dti_calc_slot *slot;
    size_t first, step;
};

struct dti_reducer {
    struct dti_calc_recorder *recorder; /* in whose format it computes */
    enum dti_calc_op op;                /* SUM, PROD, DOT, or an extreme */
    enum dti_calc_op combiner;          /* of two partial results */
    struct dti_strided a, b;
    bool fma, converts;           /* the operands have another format */
    struct dti_calc_slot wide[2]; /* or had, and these are they in the one that is computed in */
};

/* A number on the way, and whether it is more than what it stands for. */
struct dti_partial {
    struct dti_value value;
    bool rounded;
};

enum dti_reduce_note {
    DTI_REDUCE_TELL,
    DTI_REDUCE_HARMLESS, /* what is absorbed or cancels is no event */
    DTI_REDUCE_QUIET,    /* nothing is */
};

void dti_reducer_begin(struct dti_reducer *r, struct dti_calc_recorder *recorder,
                       enum dti_calc_op op);

/* The lists; to be freed. */
enum dti_status dti_reducer_operands(struct dti_reducer *r, const struct dti_calc_slot *a,
                                     const struct dti_calc_slot *b);
void dti_reducer_free(struct dti_reducer *r);
/* A long list in another format, where that is fp32 and changes no number; else without codes. */
enum dti_status dti_reduce_widen(struct dti_calc_engine *engine, const struct dti_calc_slot *from,
                                 const struct dti_format *format, struct dti_calc_slot *ret);

/* One step: element i, the product of two, or two results combined. */
struct dti_partial dti_reduce_term(struct dti_reducer *r, size_t i);
struct dti_partial dti_reduce_fused(struct dti_reducer *r, const struct dti_partial *sum, size_t i);
struct dti_partial dti_reduce_combine(struct dti_reducer *r, enum dti_calc_op op,
                                      const struct dti_partial *a, const struct dti_partial *b,
                                      size_t index, enum dti_reduce_note note);

/* `count` elements from `first` on in the order that the options ask for, step by step. */
struct dti_partial dti_reduce_range(struct dti_reducer *r, size_t first, size_t count);
/* All `count` elements, through dti_calc_bulk() where there are many. */
struct dti_partial dti_reduce_list(struct dti_reducer *r, size_t count);

/* What a node's reduction computes in; the end of its step, with the cast to the node's format. */
const struct dti_format *dti_reduce_format(const struct dti_calc_engine *engine, size_t node);
enum dti_status dti_reduce_end(struct dti_calc_engine *engine, size_t node,
                               struct dti_calc_recorder *recorder);
enum dti_status dti_reduce_mismatch(struct dti_calc_engine *engine, size_t node);
void dti_reduce_store(struct dti_calc_slot *slot, size_t index, const struct dti_partial *partial,
                      const struct dti_reducer *r);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What reductions and matrix products share: a running sum over elements that lie evenly. */
#ifndef DTINFO_CALC_REDUCE_H
#define DTINFO_CALC_REDUCE_H

#include "calc/engine.h"

struct dti_strided {
    const struct dti_calc_slot *slot;
    size_t first, step;
};

struct dti_reducer {
    struct dti_calc_recorder *recorder; /* in whose format it computes */
    enum dti_calc_op op;                /* SUM, PROD, DOT, or an extreme */
    enum dti_calc_op combiner;          /* of two partial results */
    struct dti_strided a, b;
    bool fma, converts; /* the operands have another format */
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

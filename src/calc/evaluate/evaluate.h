/* SPDX-License-Identifier: MIT
 *
 * What the parts of dti_calc_run() share: a run, its arrays, and the one place where an operation's
 * exact result is rounded and looked at. */
#ifndef CALC_EVALUATE_EVALUATE_H
#define CALC_EVALUATE_EVALUATE_H

#include "calc/parse/tree.h"
#include "calc/truth/truth.h"
#include "core/code/arith.h"

/* What a node has come to. */
struct dti_calc_slot {
    struct dti_calc_array array; /* codes NULL: not computed, or no longer needed */
    bool rounded;                /* an element of it, or of what it was made of, is inexact: */
    uint8_t *marks;              /* which ones; NULL: not kept, all may be */
    struct dti_calc_array given; /* FILE: as the file has it */
    bool needed;                 /* as an array */
    size_t uses;                 /* nodes that still want it */
    size_t same;  /* the node that it is: itself, but for casts that change nothing */
    size_t fused; /* of ADD and SUBTRACT: 1 plus the child that is a product of it; else 0 */
};

struct dti_calc_engine {
    const struct dti_calc_tree *tree;
    const struct dti_format *dtype;
    const struct dti_calc_options *options;
    struct dti_calc_result *result;
    struct dti_calc_slot *slots;
    size_t step_capacity;
    size_t steps;             /* that were begun */
    size_t generators;        /* likewise: each has random numbers of its own */
    uint64_t elements, bytes; /* of the arrays that are alive */
    struct dti_bulk
        *bulk[2]; /* of the dtype, and of what is accumulated in; NULL: none, or not yet */
    bool bulk_tried[2];
    struct dti_error *error;
};

bool dti_calc_same_format(const struct dti_format *a, const struct dti_format *b);

/* The format that a node computes in. */
static inline const struct dti_format *dti_calc_node_format(const struct dti_calc_engine *engine,
                                                            size_t node)
{
    return engine->options->accumulates && engine->tree->nodes[node].within
               ? &engine->options->accumulate
               : engine->dtype;
}

/* Arrays. The shape of a new one is checked against the limits before it is allocated. */
enum dti_status dti_calc_array_new(struct dti_calc_engine *engine, const struct dti_format *format,
                                   unsigned rank, const uint64_t *shape,
                                   struct dti_calc_array *ret);
/* Counts an array that was made elsewhere, and gives one back. */
enum dti_status dti_calc_array_adopt(struct dti_calc_engine *engine,
                                     const struct dti_calc_array *array);
void dti_calc_array_drop(struct dti_calc_engine *engine, struct dti_calc_array *array);

/* One operation on one element, before it is rounded. */
struct dti_calc_element {
    enum dti_calc_op op; /* OP_COUNT: a literal or a cast */
    unsigned operand_count;
    struct dti_value operand[3], exact;
    unsigned arith; /* enum dti_arith_flag */
    bool rounded;   /* an operand is not what it stands for */
    bool harmless;  /* what is absorbed or cancels is made good by the algorithm */
    bool quiet;     /* nothing is recorded */
    size_t index;
    const struct dti_number *number; /* of a literal, else NULL */
};

/* What became of it. */
struct dti_calc_rounded {
    uint64_t code;
    struct dti_value value;
    bool inexact;
    unsigned kinds; /* 1 << enum dti_calc_event_kind */
};

enum dti_calc_op_kind {
    DTI_CALC_KIND_ELEMENTWISE,
    DTI_CALC_KIND_FUNCTION,
    DTI_CALC_KIND_REDUCTION,
    DTI_CALC_KIND_EXACT,
    DTI_CALC_KIND_GENERATOR,
    DTI_CALC_KIND_COMPOSITE,
};
enum dti_calc_op_kind dti_calc_op_kind(enum dti_calc_op op);

/* A step while it is computed. */
struct dti_calc_recorder {
    struct dti_calc_engine *engine;
    struct dti_calc_step step;
    struct dti_format format;
    struct dti_policy policy;
    bool flush, finds_worst;
    bool is_long; /* nobody looks for cancellation: what is inexact is not kept */
    bool selects; /* one operand is chosen from the other: a - max(a) is no cancellation */
    bool has_first;
    struct dti_calc_event first;
    unsigned flags;
    uint64_t operations, random; /* roundings; the same, as the index of their random bits */
    struct dti_calc_magnitude {
        int64_t exponent;
        uint64_t significand; /* 0: none yet */
    } worst;
};
void dti_calc_step_begin(struct dti_calc_recorder *recorder, struct dti_calc_engine *engine,
                         size_t node, const char *op, const struct dti_format *format);
/* Adds the step to the result. */
enum dti_status dti_calc_step_end(struct dti_calc_recorder *recorder,
                                  const struct dti_calc_array *array);

/* Rounds once, and records what is to be said about it. */
void dti_calc_round(struct dti_calc_recorder *recorder, const struct dti_calc_element *element,
                    struct dti_calc_rounded *ret);

/* The same into element `index` of a slot. */
void dti_calc_round_into(struct dti_calc_recorder *recorder, const struct dti_calc_element *element,
                         struct dti_calc_slot *slot);

/* The result of a single operation on values; enum dti_arith_flag. Where the operation on numbers
 * of the format needs libmpfr, that has been loaded. */
unsigned dti_calc_operate(const struct dti_calc_recorder *recorder, enum dti_calc_op op,
                          int64_t power, const struct dti_value *operands, struct dti_value *ret);

/* The operations, on the arrays of a node's children. Each fills the node's slot and makes its
 * step. */
enum dti_status dti_calc_apply(struct dti_calc_engine *engine, size_t node);
enum dti_status dti_calc_cast(struct dti_calc_engine *engine, size_t node, const char *op,
                              const struct dti_calc_array *from, const struct dti_calc_slot *marks);
enum dti_status dti_calc_reduce(struct dti_calc_engine *engine, size_t node);
enum dti_status dti_calc_multiply_matrices(struct dti_calc_engine *engine, size_t node);
enum dti_status dti_calc_generate(struct dti_calc_engine *engine, size_t node);

/* truth_walk.c: the true values of the answer, once dti_multi_load() has succeeded. */
enum dti_status dti_calc_walk_truth(struct dti_calc_engine *engine);

/* normal.c: random numbers of generator `generator`, element `index`: 64 bits, from streams that no
 * rounding uses. */
uint64_t dti_generate_bits(uint64_t seed, size_t generator, uint64_t index);

/* Element `index` of a standard normal list: Box and Muller's transform of the generator's random
 * bits, to more bits than any dtype has. */
void dti_generate_normal(struct dti_value *ret, uint64_t seed, size_t generator, uint64_t index);

/* A node's child, seen through casts that change nothing. */
static inline size_t dti_calc_child(const struct dti_calc_engine *engine, size_t node, size_t i)
{
    const struct dti_calc_tree *const tree = engine->tree;
    return engine->slots[tree->children[tree->nodes[node].first + i]].same;
}

/* The operands of an elementwise operation, those of a product that it contracts among them.
 * Returns how many. *ret_op is FMA then, and the operands whose bit is set in *ret_negated count
 * with the other sign. */
unsigned dti_calc_operands(const struct dti_calc_engine *engine, size_t node, size_t ret[3],
                           enum dti_calc_op *ret_op, unsigned *ret_negated);

/* Says that the shapes of a node's operands do not match. */
enum dti_status dti_calc_mismatch(struct dti_calc_engine *engine, size_t node,
                                  const size_t *operands, unsigned count);

/* The shape that operands broadcast to, as numpy's rules say; and how far to go in an operand for
 * each dimension of it. */
enum dti_status dti_calc_broadcast(struct dti_calc_engine *engine, size_t node,
                                   const size_t *operands, unsigned count, unsigned *ret_rank,
                                   uint64_t *ret_shape);
struct dti_calc_walk {
    unsigned rank, operands;
    uint64_t shape[DTI_CALC_RANK_MAX], at[DTI_CALC_RANK_MAX];
    size_t stride[3][DTI_CALC_RANK_MAX], offset[3];
};
void dti_calc_walk_begin(struct dti_calc_walk *walk, const struct dti_calc_engine *engine,
                         const size_t *operands, unsigned count, unsigned rank,
                         const uint64_t *shape);
void dti_calc_walk_next(struct dti_calc_walk *walk);
void dti_calc_walk_to(struct dti_calc_walk *walk, size_t element); /* of the result */

/* Which elements of a slot are inexact, where that is kept: of short arrays. */
void dti_calc_mark(struct dti_calc_slot *slot, size_t i);
static inline bool dti_calc_is_marked(const struct dti_calc_slot *slot, size_t i)
{
    return slot->rounded && (!slot->marks || slot->marks[i]);
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * Internals of dti_calc_run(): the state of a run, its arrays, and the one place where exact
 * results are rounded and checked. */
#ifndef CALC_EVALUATE_EVALUATE_H
#define CALC_EVALUATE_EVALUATE_H

#include "calc/evaluate/step_progress.h"
#include "calc/parse/tree.h"
#include "calc/truth/truth.h"
#include "core/code/arith.h"

/* The result of a node. */
struct dti_calc_slot {
    struct dti_calc_array array; /* codes NULL: not computed, or already released */
    bool rounded;                /* some element, or something it was computed from, is inexact; */
    uint8_t *marks;              /* flags which elements; NULL: not kept, any may be */
    struct dti_calc_array given; /* FILE: the array in the file's dtype */
    bool needed;                 /* must be computed as an array */
    size_t uses;                 /* remaining uses by other nodes */
    size_t same;  /* the node it is an alias of: itself, except for casts that change nothing */
    size_t fused; /* ADD and SUBTRACT: 1 + the index of the child whose product is contracted;
                   * else 0 */
};

struct dti_calc_engine {
    const struct dti_calc_tree *tree;
    const struct dti_format *dtype;
    const struct dti_calc_options *options;
    struct dti_calc_result *result;
    struct dti_calc_slot *slots;
    size_t step_capacity;
    size_t steps;             /* steps started */
    size_t generators;        /* generators started: each has its own random numbers */
    uint64_t elements, bytes; /* of all live arrays */
    struct dti_bulk *bulk[2]; /* for the dtype and for accumulation; NULL: none, or not yet */
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

/* Arrays. The shape of a new one is checked against the limits before allocation. */
enum dti_status dti_calc_array_new(struct dti_calc_engine *engine, const struct dti_format *format,
                                   unsigned rank, const uint64_t *shape,
                                   struct dti_calc_array *ret);
/* Adds an array made elsewhere to the counts; drop removes one and frees it. */
enum dti_status dti_calc_array_adopt(struct dti_calc_engine *engine,
                                     const struct dti_calc_array *array);
void dti_calc_array_drop(struct dti_calc_engine *engine, struct dti_calc_array *array);

/* Whether the truth will need the codes of an array of `count` elements after the operations are
 * done. */
bool dti_calc_keeps_for_truth(const struct dti_calc_engine *engine, size_t count);

/* One operation on one element, before it is rounded. */
struct dti_calc_element {
    enum dti_calc_op op; /* OP_COUNT: a literal or a cast */
    unsigned operand_count;
    struct dti_value operand[3], exact;
    unsigned arith; /* enum dti_arith_flag */
    bool rounded;   /* an operand is inexact */
    bool harmless;  /* absorption and cancellation are compensated by the algorithm */
    bool quiet;     /* record nothing */
    size_t index;
    const struct dti_number *number; /* the number of a literal, else NULL */
};

/* The rounded result. */
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

/* A step while it is being computed. */
struct dti_calc_recorder {
    struct dti_calc_engine *engine;
    struct dti_calc_step step;
    struct dti_format format;
    struct dti_policy policy;
    bool flush, finds_worst;
    bool is_long; /* cancellation is not detected: no marks of inexact elements are kept */
    bool selects; /* one operand is chosen from the other: a - max(a) is not a cancellation */
    bool has_first;
    struct dti_calc_event first;
    unsigned flags;
    uint64_t operations, random; /* number of roundings; the same, as the index of their random
                                  * bits */
    struct dti_calc_magnitude {
        int64_t exponent;
        uint64_t significand; /* 0: nothing yet */
    } worst;
};
void dti_calc_step_begin(struct dti_calc_recorder *recorder, struct dti_calc_engine *engine,
                         size_t node, const char *op, const struct dti_format *format);
/* Adds the finished step to the result. */
enum dti_status dti_calc_step_end(struct dti_calc_recorder *recorder,
                                  const struct dti_calc_array *array);

/* Rounds once and records the events. */
void dti_calc_round(struct dti_calc_recorder *recorder, const struct dti_calc_element *element,
                    struct dti_calc_rounded *ret);

/* The same, and stores it as element `index` of a slot. */
void dti_calc_round_into(struct dti_calc_recorder *recorder, const struct dti_calc_element *element,
                         struct dti_calc_slot *slot);

/* Computes a single operation on the values x; returns enum dti_arith_flag. If the operation needs
 * libmpfr for numbers of this format, it must be loaded. */
unsigned dti_calc_operate(const struct dti_calc_recorder *recorder, enum dti_calc_op op,
                          int64_t power, const struct dti_value *x, struct dti_value *ret);

/* The operations, on the arrays of a node's children. Each fills the node's slot and records its
 * step. */
enum dti_status dti_calc_apply(struct dti_calc_engine *engine, size_t node);
enum dti_status dti_calc_cast(struct dti_calc_engine *engine, size_t node, const char *op,
                              const struct dti_calc_array *from, const struct dti_calc_slot *marks);
enum dti_status dti_calc_read_file(struct dti_calc_engine *engine, size_t node);
enum dti_status dti_calc_reduce(struct dti_calc_engine *engine, size_t node);
enum dti_status dti_calc_multiply_matrices(struct dti_calc_engine *engine, size_t node);
enum dti_status dti_calc_generate(struct dti_calc_engine *engine, size_t node);

/* truth_walk.c: the true values of the result; call it after dti_multi_load() succeeded. */
enum dti_status dti_calc_walk_truth(struct dti_calc_engine *engine);

/* normal.c: the stream of a generator's random words, which no rounding uses; and 64 random bits
 * for its element `index`. */
uint32_t dti_generate_stream(size_t generator);
uint64_t dti_generate_bits(uint64_t seed, size_t generator, uint64_t index);

/* Element `index` of a standard normal list: the Box-Muller transform of the generator's random
 * bits, with more bits than any dtype has. */
void dti_generate_normal(struct dti_value *ret, uint64_t seed, size_t generator, uint64_t index);

/* A child of a node, skipping casts that change nothing. */
static inline size_t dti_calc_child(const struct dti_calc_engine *engine, size_t node, size_t i)
{
    const struct dti_calc_tree *const tree = engine->tree;
    return engine->slots[tree->children[tree->nodes[node].first + i]].same;
}

/* The operands of an elementwise operation, including those of a product it contracts; returns
 * their number. For a contraction *ret_op is FMA, and operands whose bit is set in *ret_negated
 * are negated. */
unsigned dti_calc_operands(const struct dti_calc_engine *engine, size_t node, size_t ret[3],
                           enum dti_calc_op *ret_op, unsigned *ret_negated);

/* Fails: the shapes of a node's operands do not match. */
enum dti_status dti_calc_mismatch(struct dti_calc_engine *engine, size_t node,
                                  const size_t *operands, unsigned count);

/* The shape that operands broadcast to, by numpy's rules; and the strides of each operand along
 * its dimensions. */
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

/* Marks an element of a slot as inexact, if marks are kept: only for short arrays. */
void dti_calc_mark(struct dti_calc_slot *slot, size_t i);
static inline bool dti_calc_is_marked(const struct dti_calc_slot *slot, size_t i)
{
    return slot->rounded && (!slot->marks || slot->marks[i]);
}

#endif

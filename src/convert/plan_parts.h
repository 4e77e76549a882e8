/* SPDX-License-Identifier: MIT
 *
 * Internals of a plan, for the files of this folder. */
#ifndef CONVERT_PLAN_PARTS_H
#define CONVERT_PLAN_PARTS_H

#include "convert/plan.h"

struct dti_chain {
    struct dti_step step[DTI_STEPS_MAX];
    size_t count;
};

/* Parameters that steps point to; a linked list owned by the plan. */
struct dti_plan_parameters {
    struct dti_plan_parameters *next;
    union {
        struct dti_decoder decoder;
        struct dti_encoder encoder;
        struct dti_code_table table;
    } as;
};

struct dti_plan {
    struct dti_request request;
    enum dti_level level;
    struct dti_chain chain;
    bool copies;       /* dti_request_is_copy() */
    size_t core_count; /* steps up to the destination's codes, before packing or swapping; unused if
                          the plan copies */
    struct dti_plan_parameters *parameters;

    /* Loss: compares source and stored numbers in the rule's arithmetic. */
    struct dti_loss_rule loss_rule;
    const struct dti_loss_kernel *loss;
    dti_loss_cast_fn *cast_loss; /* casts the shared numbers and counts their loss, or NULL */
    struct dti_loss_cast loss_cast;
    size_t shared_count;     /* the first steps of chain, which make the source's numbers; if 0: */
    struct dti_chain source; /* stored source to numbers (DTI_LOSS_WIDE: codes); may be empty */
    struct dti_chain stored; /* destination's codes to numbers; may be empty */
    struct dti_chain copy;   /* destination's codes to the destination */

    struct dti_runner *runner;      /* NULL: the CPU */
    struct dti_device_plan *device; /* the plan on the runner's device; NULL: unsupported */
    char why[DTI_PLAN_TEXT_SIZE];   /* why it is unsupported */
};

/* Compiler state: steps are appended to chain; parameters owns what they point to. */
struct dti_composer {
    struct dti_chain *chain;
    struct dti_plan_parameters **parameters;
    enum dti_level allowed;
    bool no_memory;
    bool first;              /* composing the stage that sees the source: */
    bool decoded[2];         /* [hub] whether it decodes to fp32 or fp64, which */
    size_t decoded_count[2]; /* takes this many steps (DTI_LOSS_HUB32, DTI_LOSS_HUB64) */
};

/* A stage of the cast: one rounding. */
struct dti_stage {
    struct dti_format format;
    struct dti_policy policy;
};
enum { DTI_STAGES_MAX = DTI_VIA_MAX + 2 };

/* Whether both have the same encoding at the same place in the container, regardless of name. */
static inline bool dti_format_same(const struct dti_format *a, const struct dti_format *b)
{
    return a->kind == b->kind && a->specials == b->specials && a->width == b->width &&
           a->exp_bits == b->exp_bits && a->man_bits == b->man_bits && a->bias == b->bias &&
           dti_format_code_shift(a) == dti_format_code_shift(b);
}

/* Whether elements are packed more densely than bytes. */
static inline bool dti_layout_packs(const struct dti_format *format,
                                    const struct dti_layout *layout)
{
    return dti_format_packs(format) && layout->packing != DTI_PACKING_BYTES;
}

/* Fails with DTI_WRONG_KIND for complex dtypes, with DTI_USAGE for values that no enum has. */
enum dti_status dti_request_check(const struct dti_request *request, struct dti_error *reterr);

/* dti_plan_run() with a loss: processes it tile by tile. */
enum dti_status dti_plan_run_loss(const struct dti_plan *plan, void *dst, const void *src, size_t n,
                                  uint64_t index, bool stream, struct dti_loss *loss,
                                  struct dti_error *reterr);

/* Reports that the stack's result for an element is unknown. */
enum dti_status dti_fail_unknown(const struct dti_stack_rule *rule, const struct dti_format *src,
                                 uint64_t code, const struct dti_format *dst, uint64_t index,
                                 struct dti_error *reterr);

/* Prefetches memory that will be read soon. The address need not be valid. */
static inline void dti_prefetch(const void *from, size_t bytes)
{
#if defined __GNUC__
    for (size_t at = 0; at < bytes; at += 64)
        __builtin_prefetch((const void *)((uintptr_t)from + at));
#else
    (void)from, (void)bytes;
#endif
}

/* Bytes of the whole tiles before element n of an array. */
static inline size_t dti_tile_bytes(size_t n, unsigned bits)
{
    return n / 8 * bits;
}

/* Bytes of n elements: multiplies whole groups of 8 first, so that it overflows only if the
 * result does. */
static inline uint64_t dti_array_bytes(uint64_t n, unsigned bits)
{
    return n / 8 * bits + (n % 8 * bits + 7) / 8;
}

/* Appends a name to a description, separated by " + ". */
void dti_plan_text_add(char buffer[DTI_PLAN_TEXT_SIZE], const char *name);

#endif

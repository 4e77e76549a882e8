/* SPDX-License-Identifier: MIT
 *
 * How other number stacks, libraries and instruction sets, do the same cast, as rows of stacks.def:
 * the route through wider dtypes, the policies, and the inputs for which their answer is unknown
 * (undefined, undocumented, or different from path to path). The row marks unknowns; nothing is
 * guessed. */
#ifndef CORE_CODE_STACK_H
#define CORE_CODE_STACK_H

#include "core/code/scalar.h"

enum dti_stack {
#define STACK(id, kind, name, title, version) DTI_STACK_##id,
#include "core/code/stacks.def"
#undef STACK
    DTI_STACK_COUNT
};

const char *dti_stack_name(enum dti_stack stack);  /* "torch-2.12" */
const char *dti_stack_title(enum dti_stack stack); /* "torch 2.12 and older" */
/* "1.13": what the rules were measured with, or the document that they were read in. */
const char *dti_stack_version(enum dti_stack stack);
/* An instruction set has few dtypes, so lists leave it out where it has none; libraries are in all
 * lists. */
bool dti_stack_is_hardware(enum dti_stack stack);

enum dti_stack_route {
    DTI_STACK_ROUTE_DIRECT, /* from the fp64 or int64 that the number enters as */
    DTI_STACK_ROUTE_FP32,   /* through fp32 on the way */
    DTI_STACK_ROUTE_FP16,   /* through fp16 */
};

/* Behaviour that no policy describes. */
enum dti_stack_quirk {
    DTI_STACK_QUIRK_NONE,
    DTI_STACK_QUIRK_INTEGER,       /* int64 keeps the low bits; floats out of range are undefined */
    DTI_STACK_QUIRK_ML_INTEGER,    /* as above, but floats outside int32 and NaN give 0 */
    DTI_STACK_QUIRK_PTX_INTEGER,   /* int64 keeps the low bits; floats clamp */
    DTI_STACK_QUIRK_NAN_ALL_ONES,  /* NaN is the all-ones magnitude with its sign */
    DTI_STACK_QUIRK_NAN_ZERO,      /* NaN becomes zero of the other sign */
    DTI_STACK_QUIRK_NAN_CANONICAL, /* NaN is the positive one without payload */
    DTI_STACK_QUIRK_NAN_POSITIVE,  /* NaN is the positive all-ones magnitude */
    DTI_STACK_QUIRK_FLUSH,         /* what is subnormal before it is rounded is zero; bf16 */
    DTI_STACK_QUIRK_SCALE_TORCH,   /* e8m0: sign ignored, any excess over 2^-127 goes up */
    DTI_STACK_QUIRK_SCALE_ML,      /* e8m0: the same, but zero and negatives are NaN */
    DTI_STACK_QUIRK_SCALE_SATURATE /* e8m0: infinity is the largest scale */
};

/* Inputs with an unknown answer. */
enum dti_stack_unknown {
    DTI_STACK_UNKNOWN_NAN = 1,
    DTI_STACK_UNKNOWN_INF = 2,
    DTI_STACK_UNKNOWN_NEGATIVE = 4,
    DTI_STACK_UNKNOWN_ZERO = 8,
    DTI_STACK_UNKNOWN_TINY = 16,  /* e8m0: 0 < |x| <= 2^-127 */
    DTI_STACK_UNKNOWN_RANGE = 32, /* numbers beyond the range; not an int64 to an integer dtype */
};

struct dti_stack_rule {
    enum dti_stack stack;
    const char *dtypes; /* canonical names, separated by blanks */
    enum dti_stack_route route;
    enum dti_round round;
    enum dti_overflow overflow;
    enum dti_stack_quirk quirk;
    unsigned unknown;
    const char *note;        /* what to know about an answer, or NULL */
    const char *why_unknown; /* where there is none; NULL where it is always known */
};
extern const struct dti_stack_rule dti_stack_rules[];
extern const size_t dti_stack_rule_count;

/* The dtype that numbers go through; NULL when they go directly. */
const struct dti_format *dti_stack_via(const struct dti_stack_rule *rule);

/* How the last stage rounds. */
struct dti_policy dti_stack_policy(const struct dti_stack_rule *rule);

/* Whether a rule has more to it than a route and a policy, where its answer is known. */
bool dti_stack_has_quirk(const struct dti_stack_rule *rule);

/* The rule of a stack for a destination; NULL when the stack has no such dtype. Parsed formats have
 * none. */
const struct dti_stack_rule *dti_stack_find(enum dti_stack stack, const struct dti_format *dst);

/* The number as the stack stores it: it enters as int64 when it is written as an integer and fits,
 * else as fp64, and goes the rule's route. ret_cast receives the stages taken. False when the
 * answer is unknown (*ret is then untouched). */
bool dti_stack_cast(const struct dti_stack_rule *rule, const struct dti_format *dst,
                    bool integer_literal, const struct dti_value *input, struct dti_cast *ret_cast,
                    struct dti_scalar *ret);

#endif

/* SPDX-License-Identifier: MIT
 *
 * How other number stacks (libraries and instruction sets) do the same cast, as rows of
 * stacks.def: the route through wider dtypes, the policies, and the inputs with an unknown
 * result (undefined, undocumented, or different between code paths). Unknowns are marked in the
 * row; nothing is guessed. */
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
/* "1.13": the version the rules were measured with, or the document they come from. */
const char *dti_stack_version(enum dti_stack stack);
/* An instruction set supports few dtypes, so lists omit it for the others; libraries appear in
 * all lists. */
bool dti_stack_is_hardware(enum dti_stack stack);

enum dti_stack_route {
    DTI_STACK_ROUTE_DIRECT, /* from the fp64 or int64 source directly */
    DTI_STACK_ROUTE_FP32,   /* through fp32 */
    DTI_STACK_ROUTE_FP16,   /* through fp16 */
};

/* Behaviour that no policy describes. */
enum dti_stack_quirk {
    DTI_STACK_QUIRK_NONE,
    DTI_STACK_QUIRK_INTEGER,       /* int64 keeps the low bits; out-of-range floats are undefined */
    DTI_STACK_QUIRK_ML_INTEGER,    /* the same, but floats outside int32, and NaN, give 0 */
    DTI_STACK_QUIRK_PTX_INTEGER,   /* int64 keeps the low bits; floats clamp */
    DTI_STACK_QUIRK_NAN_ALL_ONES,  /* NaN is the all-ones magnitude, sign kept */
    DTI_STACK_QUIRK_NAN_ZERO,      /* NaN becomes zero with the opposite sign */
    DTI_STACK_QUIRK_NAN_CANONICAL, /* NaN becomes the positive NaN without payload */
    DTI_STACK_QUIRK_NAN_POSITIVE,  /* NaN becomes the positive all-ones magnitude */
    DTI_STACK_QUIRK_FLUSH,         /* flush to zero what is subnormal before rounding; bf16 */
    DTI_STACK_QUIRK_SCALE_TORCH,   /* e8m0: ignores the sign; any excess over 2^-127 rounds up */
    DTI_STACK_QUIRK_SCALE_ML,      /* e8m0: the same, but zero and negatives are NaN */
    DTI_STACK_QUIRK_SCALE_SATURATE /* e8m0: infinity becomes the largest scale */
};

/* Inputs with an unknown result. */
enum dti_stack_unknown {
    DTI_STACK_UNKNOWN_NAN = 1,
    DTI_STACK_UNKNOWN_INF = 2,
    DTI_STACK_UNKNOWN_NEGATIVE = 4,
    DTI_STACK_UNKNOWN_ZERO = 8,
    DTI_STACK_UNKNOWN_TINY = 16,  /* e8m0: 0 < |x| <= 2^-127 */
    DTI_STACK_UNKNOWN_RANGE = 32, /* numbers out of range; except int64 to an integer dtype */
};

struct dti_stack_rule {
    enum dti_stack stack;
    enum dti_stack_route route;
    enum dti_round round;
    enum dti_overflow overflow;
    enum dti_stack_quirk quirk;
    unsigned unknown;
    uint16_t texts; /* see the functions below */
};
const char *dti_stack_dtypes(const struct dti_stack_rule *rule); /* names, separated by blanks */
const char *dti_stack_note(const struct dti_stack_rule *rule);   /* about the result, or "" */
/* Why a result is unknown; "" if all are known. */
const char *dti_stack_why_unknown(const struct dti_stack_rule *rule);
extern const struct dti_stack_rule dti_stack_rules[];
extern const size_t dti_stack_rule_count;

/* The dtype that numbers pass through; NULL if they are cast directly. */
const struct dti_format *dti_stack_via(const struct dti_stack_rule *rule);

/* The policy of the last stage. */
struct dti_policy dti_stack_policy(const struct dti_stack_rule *rule);

/* Whether a rule needs more than a route and a policy, for known results. */
bool dti_stack_has_quirk(const struct dti_stack_rule *rule);

/* The stack's rule for a destination; NULL if the stack lacks that dtype. Parsed formats have no
 * rules. */
const struct dti_stack_rule *dti_stack_find(enum dti_stack stack, const struct dti_format *dst);

/* Casts the number as the stack does: it enters as int64 if it is an integer literal that fits,
 * else as fp64, and takes the rule's route. ret_cast: the stages taken. Returns false if the
 * result is unknown (*ret is then unchanged). */
bool dti_stack_cast(const struct dti_stack_rule *rule, const struct dti_format *dst,
                    bool integer_literal, const struct dti_value *input, struct dti_cast *ret_cast,
                    struct dti_scalar *ret);

#endif

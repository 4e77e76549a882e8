/* SPDX-License-Identifier: MIT
 *
 * Replays the casts of other stacks from their rows. The policies of dti_encode() cover most of
 * it; anything else is a quirk, and each quirk is one case below. */
#include "core/code/stack.h"

#include <stddef.h>
#include <string.h>

#include "util/text/row_texts.h"

enum { LIBRARY = false, HARDWARE = true };

static const struct {
    char name[16], title[40], version[12];
    bool hardware;
} stacks[DTI_STACK_COUNT] = {
#define STACK(id, kind, nm, ti, ve) \
    [DTI_STACK_##id] = {.name = nm, .title = ti, .version = ve, .hardware = kind},
#include "core/code/stacks.def"
#undef STACK
};

enum {
    ON_NAN = DTI_STACK_UNKNOWN_NAN,
    ON_INF = DTI_STACK_UNKNOWN_INF,
    ON_NEGATIVE = DTI_STACK_UNKNOWN_NEGATIVE,
    ON_ZERO = DTI_STACK_UNKNOWN_ZERO,
    ON_TINY = DTI_STACK_UNKNOWN_TINY,
    ON_RANGE = DTI_STACK_UNKNOWN_RANGE,
};

static const struct rule_texts {
#define RULE(st, names, ro, rd, ov, qu, un, no, wh) \
    char DTI_ROW_TEXT[sizeof(names "\0" no "\0" wh)];
#include "core/code/stacks.def"
#undef RULE
} texts = {
#define RULE(st, names, ro, rd, ov, qu, un, no, wh) names "\0" no "\0" wh,
#include "core/code/stacks.def"
#undef RULE
};

const struct dti_stack_rule dti_stack_rules[] = {
#define RULE(st, names, ro, rd, ov, qu, un, no, wh) \
    {.stack = DTI_STACK_##st,                       \
     .route = DTI_STACK_ROUTE_##ro,                 \
     .round = DTI_ROUND_##rd,                       \
     .overflow = DTI_OVERFLOW_##ov,                 \
     .quirk = DTI_STACK_QUIRK_##qu,                 \
     .unknown = un,                                 \
     .texts = offsetof(struct rule_texts, DTI_ROW_TEXT)},
#include "core/code/stacks.def"
#undef RULE
};
const size_t dti_stack_rule_count = sizeof dti_stack_rules / sizeof dti_stack_rules[0];

const char *dti_stack_dtypes(const struct dti_stack_rule *rule)
{
    return (const char *)&texts + rule->texts;
}

const char *dti_stack_note(const struct dti_stack_rule *rule)
{
    return dti_text_after(dti_stack_dtypes(rule));
}

const char *dti_stack_why_unknown(const struct dti_stack_rule *rule)
{
    return dti_text_after(dti_stack_note(rule));
}

const char *dti_stack_name(enum dti_stack stack)
{
    return stacks[stack].name;
}

const char *dti_stack_title(enum dti_stack stack)
{
    return stacks[stack].title;
}

const char *dti_stack_version(enum dti_stack stack)
{
    return stacks[stack].version;
}

bool dti_stack_is_hardware(enum dti_stack stack)
{
    return stacks[stack].hardware;
}

const struct dti_format *dti_stack_via(const struct dti_stack_rule *rule)
{
    switch (rule->route) {
    case DTI_STACK_ROUTE_DIRECT:
        break;
    case DTI_STACK_ROUTE_FP32:
        return dti_format_get(DTI_FP32);
    case DTI_STACK_ROUTE_FP16:
        return dti_format_get(DTI_FP16);
    }
    return NULL;
}

struct dti_policy dti_stack_policy(const struct dti_stack_rule *rule)
{
    const bool canonical = rule->quirk == DTI_STACK_QUIRK_NAN_CANONICAL;
    return (struct dti_policy){.round = rule->round,
                               .overflow = rule->overflow,
                               .nan = canonical ? DTI_NAN_CANONICAL : DTI_NAN_QUIET};
}

bool dti_stack_has_quirk(const struct dti_stack_rule *rule)
{
    return rule->quirk != DTI_STACK_QUIRK_NONE && rule->quirk != DTI_STACK_QUIRK_NAN_CANONICAL;
}

static bool names_contain(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; (at = strstr(at, name)) != NULL; at += length) {
        bool starts = at == names || at[-1] == ' ';
        if (starts && (at[length] == ' ' || at[length] == '\0'))
            return true;
    }
    return false;
}

const struct dti_stack_rule *dti_stack_find(enum dti_stack stack, const struct dti_format *dst)
{
    for (size_t i = 0; i < dti_stack_rule_count; i++) {
        const struct dti_stack_rule *rule = &dti_stack_rules[i];
        if (rule->stack == stack && names_contain(dti_stack_dtypes(rule), dst->name))
            return rule;
    }
    return NULL;
}

/* These stacks read an integer literal as int64, everything else as a double. */
static bool enters_as_int64(bool literal, const struct dti_value *input)
{
    if (!literal)
        return false;
    const struct dti_policy policy = {.round = DTI_ROUND_ZERO};
    struct dti_outcome outcome;
    dti_encode(dti_format_get(DTI_INT64), input, &policy, 0, &outcome);
    return outcome.flags == 0;
}

static bool is_unknown(const struct dti_stack_rule *rule, const struct dti_format *dst,
                       const struct dti_value *value, bool integer)
{
    unsigned unknown = rule->unknown;
    switch (value->kind) {
    case DTI_CLASS_NAN:
        return (unknown & DTI_STACK_UNKNOWN_NAN) != 0;
    case DTI_CLASS_INF:
        if (value->negative && (unknown & DTI_STACK_UNKNOWN_NEGATIVE))
            return true;
        return (unknown & DTI_STACK_UNKNOWN_INF) != 0;
    case DTI_CLASS_ZERO:
        return (unknown & DTI_STACK_UNKNOWN_ZERO) != 0;
    case DTI_CLASS_FINITE:
        break;
    }
    if (value->negative && (unknown & DTI_STACK_UNKNOWN_NEGATIVE))
        return true;
    if (unknown & DTI_STACK_UNKNOWN_TINY) {
        struct dti_value least;
        dti_value_set(&least, false, 1, dti_format_min_exponent(dst));
        if (dti_value_compare(value, &least) <= 0)
            return true;
    }
    if ((unknown & DTI_STACK_UNKNOWN_RANGE) && (!integer || dti_format_is_float(dst))) {
        const struct dti_policy policy = {.round = rule->round};
        struct dti_outcome outcome;
        dti_encode(dst, value, &policy, 0, &outcome);
        return (outcome.flags & DTI_FLAG_OVERFLOW) != 0;
    }
    return false;
}

static void finish(const struct dti_format *dst, uint64_t code, unsigned flags,
                   struct dti_scalar *ret)
{
    ret->code = code;
    dti_decode(dst, code, &ret->stored);
    ret->flags = flags;
}

/* torch and ml_dtypes round e8m0 on fp32 bits, where 2^-127 and the numbers just above it have
 * exponent field 0: any excess rounds up to 2^-126. */
static void scale_quirk(enum dti_stack_quirk quirk, const struct dti_format *dst,
                        struct dti_scalar *ret)
{
    struct dti_value value = ret->input;
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_outcome outcome;
    bool strict = quirk == DTI_STACK_QUIRK_SCALE_ML;
    uint64_t nan = 0;
    (void)dti_code_nan(dst, &nan);
    if (strict && (value.kind == DTI_CLASS_ZERO || value.negative)) {
        finish(dst, nan, DTI_FLAG_INVALID | DTI_FLAG_INEXACT, ret);
        return;
    }
    unsigned flags = value.negative ? DTI_FLAG_INVALID | DTI_FLAG_INEXACT : 0;
    value.negative = false;
    dti_encode(dti_format_get(DTI_FP32), &value, &nearest, 0, &outcome);
    dti_decode(dti_format_get(DTI_FP32), outcome.code, &value);
    bool excess = value.kind == DTI_CLASS_FINITE &&
                  value.exponent == dti_format_min_exponent(dst) && value.hi != UINT64_C(1) << 63;
    dti_encode(dst, &value, &nearest, 0, &outcome);
    finish(dst, excess ? 1 : outcome.code, flags | outcome.flags, ret);
}

/* Compares before truncation: 2147483647.5 is outside. */
static bool is_outside_int32(const struct dti_value *value)
{
    struct dti_value most, least;
    dti_value_set(&most, false, INT32_MAX, 0);
    dti_value_set(&least, true, UINT64_C(1) << 31, 0);
    return value->kind == DTI_CLASS_NAN || dti_value_compare(value, &most) > 0 ||
           dti_value_compare(value, &least) < 0;
}

static void apply_quirk(const struct dti_stack_rule *rule, const struct dti_format *dst,
                        bool integer, struct dti_cast *cast, struct dti_scalar *ret)
{
    uint64_t sign_bit = dti_format_sign_bit(dst), max = 0;
    struct dti_value entered = ret->input;
    switch (rule->quirk) {
    case DTI_STACK_QUIRK_NONE:
    case DTI_STACK_QUIRK_NAN_CANONICAL:
        break;
    case DTI_STACK_QUIRK_INTEGER:
    case DTI_STACK_QUIRK_PTX_INTEGER:
        if (integer && (ret->flags & DTI_FLAG_OVERFLOW)) {
            cast->policy.overflow = DTI_OVERFLOW_WRAP;
            dti_scalar_store(cast, &entered, NULL, 0, ret);
        }
        break;
    case DTI_STACK_QUIRK_ML_INTEGER:
        if (!integer && is_outside_int32(&entered))
            finish(dst, 0, ret->flags, ret);
        break;
    case DTI_STACK_QUIRK_NAN_ALL_ONES:
        if (entered.kind == DTI_CLASS_NAN)
            finish(dst, (dti_low_bits(dst->width) & ~sign_bit) | (entered.negative ? sign_bit : 0),
                   ret->flags, ret);
        break;
    case DTI_STACK_QUIRK_NAN_ZERO:
        if (entered.kind == DTI_CLASS_NAN)
            finish(dst, entered.negative ? 0 : sign_bit, DTI_FLAG_INVALID | DTI_FLAG_INEXACT, ret);
        break;
    case DTI_STACK_QUIRK_NAN_POSITIVE:
        if (entered.kind == DTI_CLASS_NAN)
            finish(dst, dti_low_bits(dst->width) & ~sign_bit, ret->flags, ret);
        break;
    case DTI_STACK_QUIRK_FLUSH:
        if (entered.kind == DTI_CLASS_FINITE && entered.exponent < dti_format_min_exponent(dst))
            finish(dst, entered.negative ? sign_bit : 0, DTI_FLAG_UNDERFLOW | DTI_FLAG_INEXACT,
                   ret);
        break;
    case DTI_STACK_QUIRK_SCALE_TORCH:
    case DTI_STACK_QUIRK_SCALE_ML:
        scale_quirk(rule->quirk, dst, ret);
        break;
    case DTI_STACK_QUIRK_SCALE_SATURATE:
        if (entered.kind == DTI_CLASS_INF && dti_code_max(dst, &max))
            finish(dst, max, DTI_FLAG_OVERFLOW | DTI_FLAG_INEXACT | DTI_FLAG_SATURATED, ret);
        break;
    }
}

bool dti_stack_cast(const struct dti_stack_rule *rule, const struct dti_format *dst,
                    bool integer_literal, const struct dti_value *input, struct dti_cast *ret_cast,
                    struct dti_scalar *ret)
{
    bool integer = enters_as_int64(integer_literal, input);
    if (is_unknown(rule, dst, input, integer))
        return false;

    struct dti_cast cast = {.dst = *dst, .policy = dti_stack_policy(rule), .round_given = true};
    enum dti_dtype entry = integer ? DTI_INT64 : DTI_FP64;
    cast.via[cast.via_count++] = *dti_format_get(entry);
    const struct dti_format *const via = dti_stack_via(rule);
    if (via)
        cast.via[cast.via_count++] = *via;

    /* All stages but the last round to nearest, whatever the destination does. */
    struct dti_cast lead = cast;
    struct dti_scalar scalar;
    lead.policy.round = DTI_ROUND_NEAREST_EVEN;
    lead.policy.overflow = DTI_OVERFLOW_NATIVE;
    lead.dst = lead.via[--lead.via_count];
    dti_scalar_store(&lead, input, NULL, 0, &scalar);

    struct dti_cast last = cast;
    last.via_count = 0;
    struct dti_value entered = scalar.stored;
    dti_scalar_store(&last, &entered, NULL, 0, ret);
    apply_quirk(rule, dst, integer, &last, ret);
    cast.policy.overflow = last.policy.overflow;

    ret->stage = scalar.flags & DTI_FLAGS_LOST ? scalar.stage : cast.via_count;
    ret->input = *input;
    ret->flags |= scalar.flags & (DTI_FLAG_OVERFLOW | DTI_FLAG_UNDERFLOW);
    dti_scalar_compare(ret);
    dti_scalar_bracket(dst, ret);
    *ret_cast = cast;
    return true;
}

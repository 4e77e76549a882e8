/* SPDX-License-Identifier: MIT
 *
 * Losses outside the kernels: initializing, merging, and figures derived from the sums.
 *
 * Rules for counting a plan's loss: the scalar cast determines where sources overflow, by
 * bisection over all fp64 magnitudes, for each rounding mode, sign and policy. It also
 * determines which flags NaNs and infinities raise (--fail-on), because the counts do not show
 * these; underflow is derived from source and result. */
#include <math.h>
#include <string.h>

#include "kernels/kernel.h"
#include "kernels/scan/loss.h"
#include "kernels/scan/loss_tile.h"

void dti_loss_init(struct dti_loss *ret)
{
    memset(ret, 0, sizeof *ret); /* sums, too: dti_exact_sum_init() */
    ret->max_absolute = 0;
    ret->max_relative = 0;
    ret->first_no_code = UINT64_MAX;
}

void dti_loss_merge(struct dti_loss *loss, const struct dti_loss *part)
{
    loss->elements += part->elements;
    loss->inexact += part->inexact;
    loss->overflowed += part->overflowed;
    loss->to_zero += part->to_zero;
    loss->to_subnormal += part->to_subnormal;
    loss->nan_in += part->nan_in;
    loss->inf_in += part->inf_in;
    loss->no_code += part->no_code;
    loss->stray += part->stray;
    loss->compared += part->compared;
    loss->flags |= part->flags;
    if (part->max_absolute > loss->max_absolute ||
        (part->max_absolute >= loss->max_absolute && part->max_index < loss->max_index)) {
        loss->max_absolute = part->max_absolute;
        loss->max_index = part->max_index;
    }
    if (part->max_relative > loss->max_relative)
        loss->max_relative = part->max_relative;
    if (part->first_no_code < loss->first_no_code)
        loss->first_no_code = part->first_no_code;
    dti_exact_sum_merge(&loss->sum_absolute, &part->sum_absolute);
    dti_exact_sum_merge(&loss->sum_squared, &part->sum_squared);
    dti_exact_sum_merge(&loss->sum_source_squared, &part->sum_source_squared);
}

double dti_loss_mean_absolute(const struct dti_loss *loss)
{
    const double sum = dti_exact_sum_value(&loss->sum_absolute);
    if (loss->compared == 0)
        return 0;
    return isinf(sum) ? NAN : dti_fp64_divide(sum, (double)loss->compared);
}

double dti_loss_root_mean_square(const struct dti_loss *loss)
{
    const double sum = dti_exact_sum_squares(&loss->sum_squared, loss->max_absolute > 0);
    return loss->compared == 0 ? 0 : sqrt(dti_fp64_divide(sum, (double)loss->compared));
}

double dti_loss_sqnr_db(const struct dti_loss *loss)
{
    const double db = dti_exact_sum_decibels(&loss->sum_source_squared, &loss->sum_squared,
                                             loss->max_absolute > 0);
    return isinf(db) && loss->inexact > 0 ? NAN : db;
}

static bool overflows(const struct dti_cast *cast, bool negative, uint64_t magnitude,
                      uint64_t index)
{
    struct dti_value value;
    struct dti_scalar scalar;
    dti_fp64_to_value(dti_fp64_from_bits(magnitude), &value);
    value.negative = negative;
    dti_scalar_store(cast, &value, NULL, index, &scalar);
    return (scalar.flags & DTI_FLAG_OVERFLOW) != 0;
}

/* The smallest magnitude that overflows; infinity if none does. */
static double overflow_from(const struct dti_cast *cast, enum dti_round round, bool negative)
{
    struct dti_cast rounded = *cast;
    uint64_t not_yet = 0, from = UINT64_C(0x7ff) << 52;
    rounded.policy.round = round;
    while (from - not_yet > 1) {
        const uint64_t middle = not_yet + (from - not_yet) / 2;
        if (overflows(&rounded, negative, middle, 0))
            from = middle;
        else
            not_yet = middle;
    }
    return dti_fp64_from_bits(from);
}

bool dti_loss_overflows(const struct dti_loss_rule *rule, double source, uint64_t index)
{
    const uint64_t bits = dti_fp64_bits(source);
    return overflows(&rule->cast, bits >> 63 != 0, bits & dti_low_bits(63), index);
}

static enum dti_loss_hub hub_of(const struct dti_format *src, const struct dti_format *dst)
{
    if (dti_format_fits_hub32(src) && dti_format_fits_hub32(dst))
        return DTI_LOSS_HUB32;
    if (dti_format_fits_hub64(src) && dti_format_fits_hub64(dst))
        return DTI_LOSS_HUB64;
    return DTI_LOSS_WIDE;
}

/* Whether stages between source and result can lose information that neither shows: an
 * intermediate NaN for which a later stage has no code, or a stage without fractions or
 * negatives. */
static bool loses_on_the_way(const struct dti_cast *cast)
{
    for (size_t i = 0; cast->via_count > 0 && i <= cast->via_count; i++) {
        const struct dti_format *const stage = dti_cast_stage(cast, i);
        const bool last = i == cast->via_count;
        if (stage->kind == DTI_KIND_UFLOAT || (!last && !dti_format_is_float(stage)) ||
            (dti_format_is_float(stage) && !dti_format_has_nan(stage)))
            return true;
    }
    return false;
}

void dti_loss_rule_init_cast(struct dti_loss_rule *ret, const struct dti_format *src,
                             const struct dti_cast *cast, const struct dti_stack_rule *stack)
{
    const struct dti_format *const dst = &cast->dst;
    *ret = (struct dti_loss_rule){
        .hub = hub_of(src, dst),
        .src = *src,
        .dst = *dst,
        .cast = *cast,
        .src_smallest_normal = dti_fp64_smallest_normal(src),
        .dst_smallest_normal = dti_fp64_smallest_normal(dst),
        .nan_has_no_code = dti_format_is_float(dst) && !dti_format_has_nan(dst),
        .negative_has_no_code = dst->kind == DTI_KIND_UFLOAT,
    };
    if (stack) {
        ret->cast.policy = dti_stack_policy(stack);
        ret->cast.round_given = true;
        const struct dti_format *const via = dti_stack_via(stack);
        if (via)
            ret->cast.via[0] = *via;
        ret->cast.via_count = via != NULL;
        ret->stack = dti_stack_has_quirk(stack) ? stack : NULL;
    }
    ret->single = ret->hub == DTI_LOSS_HUB32;
    ret->staged = ret->stack || loses_on_the_way(&ret->cast);
    if (ret->staged)
        ret->hub = DTI_LOSS_WIDE;
    ret->policy = ret->cast.policy;
    ret->policy.round = dti_cast_round(&ret->cast, dst);

    const enum dti_round round = ret->cast.policy.round;
    const bool random = round == DTI_ROUND_STOCHASTIC;
    for (unsigned negative = 0; negative < 2; negative++) {
        const enum dti_round outward = negative ? DTI_ROUND_DOWN : DTI_ROUND_UP;
        ret->overflow_from[negative] =
            overflow_from(&ret->cast, random ? outward : round, negative != 0);
        ret->overflow_sure[negative] =
            overflow_from(&ret->cast, random ? DTI_ROUND_ZERO : round, negative != 0);
    }
}

void dti_loss_rule_init(struct dti_loss_rule *ret, const struct dti_format *src,
                        const struct dti_format *dst, const struct dti_policy *policy)
{
    const struct dti_cast cast = {.dst = *dst, .policy = *policy, .round_given = true};
    dti_loss_rule_init_cast(ret, src, &cast, NULL);
}

/* What occurs in a tile. */
struct seen {
    bool nan, inf[2], underflow; /* inf: [negative] */
};

/* Underflow: inexact and stored below the normal numbers; or, for a dtype without zero, a number
 * below the smallest one. */
struct floor {
    double below;  /* threshold for |stored|; 0 for dtypes that do not underflow */
    double source; /* threshold for sources that are not negative; 0 for dtypes with a zero */
};

static struct floor floor_of(const struct dti_loss_rule *rule)
{
    struct dti_value least;
    if (!dti_format_is_float(&rule->dst))
        return (struct floor){0, 0};
    if (rule->dst.specials != DTI_SPECIALS_SCALE)
        return (struct floor){rule->dst_smallest_normal, 0};
    dti_decode(&rule->dst, 0, &least);
    return (struct floor){0, dti_fp64_from_value(&least)};
}

static void look(const struct floor *floor, double x, double y, struct seen *seen)
{
    seen->nan |= isnan(x) != 0;
    seen->inf[0] |= x > DBL_MAX;
    seen->inf[1] |= x < -DBL_MAX;
    seen->underflow |= ((x < y) | (x > y)) & (fabs(y) < floor->below) & (fabs(x) <= DBL_MAX);
    seen->underflow |= (x >= 0) & (x < floor->source);
}

static unsigned ask(const struct dti_loss_rule *rule, enum dti_class class, bool negative)
{
    struct dti_value value;
    struct dti_scalar scalar;
    dti_value_set(&value, negative, 0, 0);
    value.kind = class;
    dti_scalar_store(&rule->cast, &value, NULL, 0, &scalar);
    return scalar.flags;
}

void dti_loss_add_flags(const struct dti_loss_rule *rule, const void *source, const void *stored,
                        size_t n, struct dti_loss *loss)
{
    const struct floor floor = floor_of(rule);
    const unsigned char *const x = source, *const y = stored;
    struct seen seen = {false, {false, false}, false};
    for (size_t i = 0; i < n; i++) {
        if (rule->hub == DTI_LOSS_HUB32) {
            float fx, fy;
            memcpy(&fx, x + i * sizeof fx, sizeof fx);
            memcpy(&fy, y + i * sizeof fy, sizeof fy);
            look(&floor, fx, fy, &seen);
        } else {
            double dx, dy;
            memcpy(&dx, x + i * sizeof dx, sizeof dx);
            memcpy(&dy, y + i * sizeof dy, sizeof dy);
            look(&floor, dx, dy, &seen);
        }
    }
    loss->flags |= seen.underflow ? DTI_FLAG_UNDERFLOW | DTI_FLAG_INEXACT : 0;
    loss->flags |= seen.nan ? ask(rule, DTI_CLASS_NAN, false) : 0;
    loss->flags |= seen.inf[0] ? ask(rule, DTI_CLASS_INF, false) : 0;
    loss->flags |= seen.inf[1] ? ask(rule, DTI_CLASS_INF, true) : 0;
}

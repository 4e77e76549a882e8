/* SPDX-License-Identifier: MIT
 *
 * How a plan's loss is counted. The scalar cast decides where sources overflow, by bisection over
 * all magnitudes of fp64, so that every rounding mode, sign and policy has its own answer. */
#include "dtinfo/loss.h"

#include <math.h>

#include "dtinfo/kernel.h"
#include "kernels/loss_tile.h"

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

/* The smallest magnitude that overflows; infinity when none does. */
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

/* Whether numbers can be lost between the stages in a way that source and result do not show: a
 * NaN made on the way for which a later stage has no code, a stage without fractions or negatives.
 */
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

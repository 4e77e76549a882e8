/* SPDX-License-Identifier: MIT
 *
 * The error of a merely rounded number: the fast path must give the same result as the general
 * path, around halves of the last bit of the result, and with more than 128 bits. */
#include "kernels/scan/loss.h"
#include "kernels/scan/loss_tile.h"
#include "unit.h"

static uint64_t random_state = 7;

static uint64_t random_word(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint64_t word = random_state ^ random_state >> 29;
    return word * UINT64_C(0xbf58476d1ce4e5b9) ^ word >> 32;
}

/* A random number whose low bits may be all zeros or all ones, or which is close to a number of few
 * bits, so that its rounding error ends at any bit. */
static struct dti_value make_number(void)
{
    struct dti_value x = {.kind = DTI_CLASS_FINITE};
    const unsigned keep = (unsigned)(random_word() % 65), kind = (unsigned)(random_word() % 4);
    x.negative = random_word() & 1;
    x.sticky = random_word() & 1;
    x.exponent = (int32_t)(random_word() % 40) - 26;
    x.hi = random_word() | UINT64_C(1) << 63;
    x.lo = random_word();
    if (kind == 0)
        x.lo &= ~dti_low_bits(keep);
    else if (kind == 1)
        x.lo |= dti_low_bits(keep);
    else if (kind == 2)
        x.hi |= ~UINT64_C(0) << (random_word() % 60); /* carries into the next binade */
    if (random_word() % 3 == 0)
        x.hi &= ~UINT64_C(0) << (random_word() % 63); /* just above a short number */
    return x;
}

static void a_short_way_gives_the_same_error(void)
{
    static const enum dti_dtype dtypes[] = {DTI_BF16, DTI_FP16, DTI_FP32, DTI_FP64};
    static const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    for (unsigned i = 0; i < 100000 / unit_each(10); i++) {
        const struct dti_format *const dst = dti_format_get(dtypes[i % 4]);
        const struct dti_value x = make_number();
        struct dti_loss_rule rule;
        struct dti_outcome outcome;
        struct dti_value y;
        struct dti_loss loss;
        dti_loss_rule_init(&rule, dti_format_get(DTI_FP64), dst, &nearest);
        dti_encode(dst, &x, &nearest, 0, &outcome);
        dti_decode(dst, outcome.code, &y);
        const bool inexact = (outcome.flags & DTI_FLAG_INEXACT) != 0;
        dti_loss_init(&loss);
        dti_loss_add_values(&rule, &x, &outcome.code, 1, 0, &loss);
        if (!CHECK_U64(dti_fp64_bits(loss.max_absolute), dti_fp64_bits(dti_loss_distance(&x, &y))))
            break;
        dti_encode(dti_format_get(DTI_FP64), &x, &nearest, 0, &outcome);
        CHECK_U64(dti_fp64_bits(dti_fp64_from_value(&x)), outcome.code);
        CHECK_U64(loss.inexact, inexact);
    }
}

UNIT_MAIN(a_short_way_gives_the_same_error)

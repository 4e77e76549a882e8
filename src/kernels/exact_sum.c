/* SPDX-License-Identifier: MIT
 *
 * The long accumulator. Bit 0 of word 0 represents 2^-1074, the smallest double; the largest
 * double ends at bit 2097, 2^64 of them at bit 2161, with the sign bit above, so 34 words hold
 * every sum. */
#include "kernels/exact_sum.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/value.h"
#include "core/wide.h"
#include "kernels/fp64.h"
#include "kernels/fused.h"

enum { WORDS = DTI_EXACT_SUM_WORDS, PLUS_INF = 1, MINUS_INF = 2, NOT_A_NUMBER = 4 };

void dti_exact_sum_init(struct dti_exact_sum *ret)
{
    memset(ret, 0, sizeof *ret);
}

static void add_at(struct dti_exact_sum *sum, unsigned at, uint64_t low, uint64_t high)
{
    unsigned carry = dti_wide_add(&sum->word[at], low, 0);
    carry = dti_wide_add(&sum->word[at + 1], high, carry);
    for (unsigned i = at + 2; carry && i < WORDS; i++)
        carry = dti_wide_add(&sum->word[i], 0, carry);
}

static void subtract_at(struct dti_exact_sum *sum, unsigned at, uint64_t low, uint64_t high)
{
    unsigned borrow = dti_wide_sub(&sum->word[at], low, 0);
    borrow = dti_wide_sub(&sum->word[at + 1], high, borrow);
    for (unsigned i = at + 2; borrow && i < WORDS; i++)
        borrow = dti_wide_sub(&sum->word[i], 0, borrow);
}

/* A double is significand x 2^(place - 1074): its significand is shifted to its place, which may
 * span two words. */
void dti_exact_sum_add(struct dti_exact_sum *sum, double value)
{
    const uint64_t bits = dti_fp64_bits(value);
    const unsigned exponent = (unsigned)(bits >> 52) & 0x7ff;
    const bool negative = bits >> 63 != 0;
    uint64_t significand = bits & dti_low_bits(52);
    if (exponent == 0x7ff) {
        sum->infinite |= significand ? NOT_A_NUMBER : negative ? MINUS_INF : PLUS_INF;
        return;
    }
    if (exponent != 0)
        significand |= UINT64_C(1) << 52;
    const unsigned place = exponent != 0 ? exponent - 1 : 0;
    const unsigned shift = place % 64;
    const uint64_t low = significand << shift;
    const uint64_t high = shift ? significand >> (64 - shift) : 0;
    if (negative)
        subtract_at(sum, place / 64, low, high);
    else
        add_at(sum, place / 64, low, high);
}

/* Most words are 0, because sums of similar numbers are narrow: whether a stripe of them is. */
enum { STRIPE = 8 };
static bool is_zero_stripe(const uint64_t *word)
{
    return (word[0] | word[1] | word[2] | word[3] | word[4] | word[5] | word[6] | word[7]) == 0;
}

void dti_exact_sum_merge(struct dti_exact_sum *sum, const struct dti_exact_sum *other)
{
    unsigned carry = 0;
    for (unsigned i = 0, end; i < WORDS; i = end) {
        end = WORDS - i < STRIPE ? WORDS : i + STRIPE;
        if (carry == 0 && end == i + STRIPE && is_zero_stripe(&other->word[i]))
            continue;
        for (unsigned k = i; k < end; k++) {
            if ((other->word[k] | carry) != 0)
                carry = dti_wide_add(&sum->word[k], other->word[k], carry);
        }
    }
    sum->infinite |= other->infinite;
}

/* The highest word that is not 0, or 0. */
static int top_of(const uint64_t *word)
{
    int top = WORDS - 1;
    while (top >= STRIPE && is_zero_stripe(&word[top + 1 - STRIPE]))
        top -= STRIPE;
    while (top > 0 && word[top] == 0)
        top--;
    return top;
}

double dti_exact_sum_value(const struct dti_exact_sum *sum)
{
    if (sum->infinite) {
        const bool both = (sum->infinite & PLUS_INF) && (sum->infinite & MINUS_INF);
        const uint64_t sign = sum->infinite & MINUS_INF ? UINT64_C(1) << 63 : 0;
        const uint64_t infinity = UINT64_C(0x7ff) << 52;
        if (both || (sum->infinite & NOT_A_NUMBER))
            return dti_fp64_from_bits(infinity | UINT64_C(1) << 51);
        return dti_fp64_from_bits(sign | infinity);
    }
    const bool negative = sum->word[WORDS - 1] >> 63 != 0;
    const uint64_t *magnitude = sum->word;
    uint64_t opposite[WORDS];
    unsigned borrow = 0;
    for (unsigned i = 0; negative && i < WORDS; i++) {
        opposite[i] = 0;
        borrow = dti_wide_sub(&opposite[i], sum->word[i], borrow);
    }
    if (negative)
        magnitude = opposite;
    const int top = top_of(magnitude);
    if (top == 0) { /* up to 64 bits: no word below */
        struct dti_value value;
        dti_value_set(&value, negative, magnitude[0], -1074);
        return magnitude[0] ? dti_fp64_from_value(&value) : 0.0;
    }

    /* With the word below the top one there are at least 65 bits; the rounding takes 53, and a
     * sticky bit for the rest. */
    uint64_t below = 0;
    for (int i = 0; i < top - 1; i++)
        below |= magnitude[i];
    const bool sticky = below != 0;
    struct dti_value value;
    dti_value_set_wide(&value, negative, magnitude[top], magnitude[top - 1], sticky,
                       64 * ((int64_t)top - 1) - 1074);
    return dti_fp64_from_value(&value);
}

/* Bitwise long division from the highest bit: 64 bits of the quotient and a sticky bit. */
double dti_exact_sum_squares(const struct dti_exact_sum *sum, bool any)
{
    const double value = dti_exact_sum_value(sum);
    return !isfinite(value) || (any && value < 0x1p-960) ? NAN : value;
}

double dti_exact_sum_decibels(const struct dti_exact_sum *signal, const struct dti_exact_sum *noise,
                              bool any_noise)
{
    const double above = dti_exact_sum_squares(signal, true);
    const double below = dti_exact_sum_squares(noise, any_noise);
    if (isnan(above) || isnan(below))
        return NAN;
    if (!(below > 0))
        return INFINITY;
    const double ratio = above / below;
    return 10 * (ratio < DBL_MIN || isinf(ratio) ? dti_log10(above) - dti_log10(below)
                                                 : dti_log10(ratio));
}

float dti_exact_sum_mean(const struct dti_exact_sum *sum, uint64_t count)
{
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    uint64_t remainder = 0, quotient = 0;
    struct dti_outcome outcome;
    struct dti_value value;
    unsigned taken = 0;
    int at = 64 * WORDS, last = 0;
    bool zero = true, sticky = false;
    float mean;
    for (int i = 0; i < WORDS; i++)
        zero = zero && sum->word[i] == 0;
    while (!zero && (at > 0 || taken < 64)) {
        at--;
        remainder = remainder << 1 | (at >= 0 ? sum->word[at / 64] >> at % 64 & 1 : 0);
        const bool one = remainder >= count;
        remainder -= one ? count : 0;
        if (taken == 64) {
            sticky = sticky || one;
        } else if (taken > 0 || one) {
            quotient = quotient << 1 | one;
            last = at;
            taken++;
        }
    }
    if (zero)
        return 0;
    dti_value_set_wide(&value, false, quotient, 0, sticky || remainder != 0,
                       (int64_t)last - 64 - 1074);
    dti_encode(dti_format_get(DTI_FP32), &value, &nearest, 0, &outcome);
    const uint32_t code = (uint32_t)outcome.code;
    memcpy(&mean, &code, sizeof mean);
    return mean;
}

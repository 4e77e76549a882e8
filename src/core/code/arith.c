/* SPDX-License-Identifier: MIT
 *
 * Sums, products, quotients and square roots, exact to 128 bits plus a sticky bit. Special cases
 * are handled first; what remains are finite nonzero numbers. */
#include "core/code/arith.h"

#include "core/wide.h"

static void set_special(struct dti_value *ret, enum dti_class class, bool negative)
{
    *ret = (struct dti_value){.kind = class, .negative = negative};
}

static unsigned set_invalid(struct dti_value *ret)
{
    set_special(ret, DTI_CLASS_NAN, false);
    ret->hi = UINT64_C(1) << 63;
    return DTI_ARITH_INVALID;
}

static bool is_nan(const struct dti_value *value)
{
    return value->kind == DTI_CLASS_NAN;
}

static bool is_zero(const struct dti_value *value)
{
    return value->kind == DTI_CLASS_ZERO;
}

static bool is_inf(const struct dti_value *value)
{
    return value->kind == DTI_CLASS_INF;
}

/* Whether one of the operands is a NaN; *ret is then the first NaN, quieted. */
static bool take_nan(struct dti_value *ret, const struct dti_value *a, const struct dti_value *b)
{
    if (!is_nan(a) && !is_nan(b))
        return false;
    *ret = is_nan(a) ? *a : *b;
    ret->hi |= UINT64_C(1) << 63;
    return true;
}

/* A finite nonzero number: like a value, with room for a product's exponent. */
struct exact {
    bool negative;
    int64_t exponent;
    uint64_t hi, lo;
};

static struct exact exact_of(const struct dti_value *value)
{
    return (struct exact){value->negative, value->exponent, value->hi, value->lo};
}

static struct exact product_of(const struct dti_value *a, const struct dti_value *b)
{
    struct exact product = {.negative = a->negative != b->negative,
                            .exponent = (int64_t)a->exponent + b->exponent};
    product.lo = dti_wide_mul_add(a->hi, b->hi, 0, 0, &product.hi);
    if (product.hi >> 63) {
        product.exponent++;
    } else {
        product.hi = product.hi << 1 | product.lo >> 63;
        product.lo <<= 1;
    }
    return product;
}

/* A window of 256 bits, lowest limb first. */
enum { LIMBS = 4, WINDOW = 64 * LIMBS };

/* Returns true if set bits were shifted out. */
static bool shift_right(uint64_t *window, uint64_t count)
{
    bool lost = false;
    if (count >= WINDOW)
        count = WINDOW;
    for (; count >= 64; count -= 64) {
        lost = lost || window[0] != 0;
        for (unsigned i = 0; i + 1 < LIMBS; i++)
            window[i] = window[i + 1];
        window[LIMBS - 1] = 0;
    }
    if (count > 0) {
        lost = lost || window[0] << (64 - count) != 0;
        for (unsigned i = 0; i + 1 < LIMBS; i++)
            window[i] = window[i] >> count | window[i + 1] << (64 - count);
        window[LIMBS - 1] >>= count;
    }
    return lost;
}

/* Shifts until the leading one is at the top; returns the shift. window != 0. */
static unsigned normalise(uint64_t *window)
{
    unsigned count = 0;
    for (; window[LIMBS - 1] == 0; count += 64) {
        for (unsigned i = LIMBS - 1; i > 0; i--)
            window[i] = window[i - 1];
        window[0] = 0;
    }
    const unsigned shift = dti_leading_zeros(window[LIMBS - 1]);
    if (shift > 0) {
        for (unsigned i = LIMBS - 1; i > 0; i--)
            window[i] = window[i] << shift | window[i - 1] >> (64 - shift);
        window[0] <<= shift;
    }
    return count + shift;
}

static bool is_smaller(const struct exact *a, const struct exact *b)
{
    if (a->exponent != b->exponent)
        return a->exponent < b->exponent;
    return a->hi != b->hi ? a->hi < b->hi : a->lo < b->lo;
}

/*   large   1xxxxxxxxxxxxxxx0000000000000000      128 bits at the top of 256
 *   small        1yyyyyyyyyyyyyyy00000000000      shifted right by the difference of exponents
 * Shifts of up to 128 lose nothing. Beyond that, `small` does not overlap the bits of `large`, so a
 * difference has at most one leading zero: 128 bits and a sticky bit are enough. */
static void add_exact(struct dti_value *ret, const struct exact *a, const struct exact *b,
                      enum dti_round round)
{
    const struct exact *large = is_smaller(a, b) ? b : a, *small = large == a ? b : a;
    uint64_t sum[LIMBS] = {0, 0, large->lo, large->hi}, other[LIMBS] = {0, 0, small->lo, small->hi};
    int64_t exponent = large->exponent;
    bool lost = shift_right(other, (uint64_t)(large->exponent - small->exponent));
    unsigned carry = 0;
    if (a->negative == b->negative) {
        for (unsigned i = 0; i < LIMBS; i++)
            carry = dti_wide_add(&sum[i], other[i], carry);
        if (carry) {
            lost = shift_right(sum, 1) || lost;
            sum[LIMBS - 1] |= UINT64_C(1) << 63;
            exponent++;
        }
    } else {
        carry = lost; /* bits shifted out of `small` borrow from the difference */
        for (unsigned i = 0; i < LIMBS; i++)
            carry = dti_wide_sub(&sum[i], other[i], carry);
        if ((sum[0] | sum[1] | sum[2] | sum[3]) == 0) {
            set_special(ret, DTI_CLASS_ZERO, round == DTI_ROUND_DOWN);
            return;
        }
        exponent -= normalise(sum);
    }
    dti_value_set_wide(ret, large->negative, sum[3], sum[2], lost || (sum[0] | sum[1]) != 0,
                       exponent - 127);
}

static void add_zeros(struct dti_value *ret, bool a_negative, bool b_negative, enum dti_round round)
{
    set_special(ret, DTI_CLASS_ZERO,
                a_negative == b_negative ? a_negative : round == DTI_ROUND_DOWN);
}

unsigned dti_value_add(struct dti_value *ret, const struct dti_value *a, const struct dti_value *b,
                       enum dti_round round)
{
    if (take_nan(ret, a, b))
        return 0;
    if (is_inf(a) && is_inf(b) && a->negative != b->negative)
        return set_invalid(ret);
    if (is_zero(a) && is_zero(b)) {
        add_zeros(ret, a->negative, b->negative, round);
    } else if (is_inf(a) || is_zero(b)) {
        *ret = *a;
    } else if (is_inf(b) || is_zero(a)) {
        *ret = *b;
    } else {
        const struct exact x = exact_of(a), y = exact_of(b);
        add_exact(ret, &x, &y, round);
    }
    return 0;
}

unsigned dti_value_subtract(struct dti_value *ret, const struct dti_value *a,
                            const struct dti_value *b, enum dti_round round)
{
    struct dti_value opposite = *b;
    if (!is_nan(b))
        opposite.negative = !b->negative;
    return dti_value_add(ret, a, &opposite, round);
}

unsigned dti_value_multiply(struct dti_value *ret, const struct dti_value *a,
                            const struct dti_value *b)
{
    const bool negative = a->negative != b->negative;
    if (take_nan(ret, a, b))
        return 0;
    if ((is_inf(a) && is_zero(b)) || (is_zero(a) && is_inf(b)))
        return set_invalid(ret);
    if (is_inf(a) || is_inf(b)) {
        set_special(ret, DTI_CLASS_INF, negative);
    } else if (is_zero(a) || is_zero(b)) {
        set_special(ret, DTI_CLASS_ZERO, negative);
    } else {
        const struct exact product = product_of(a, b);
        dti_value_set_wide(ret, negative, product.hi, product.lo, false, product.exponent - 127);
    }
    return 0;
}

unsigned dti_value_divide(struct dti_value *ret, const struct dti_value *a,
                          const struct dti_value *b)
{
    const bool negative = a->negative != b->negative;
    if (take_nan(ret, a, b))
        return 0;
    if ((is_inf(a) && is_inf(b)) || (is_zero(a) && is_zero(b)))
        return set_invalid(ret);
    if (is_inf(a) || is_zero(b)) {
        const bool by_zero = !is_inf(a);
        set_special(ret, DTI_CLASS_INF, negative);
        return by_zero ? DTI_ARITH_DIVIDE_BY_ZERO : 0;
    }
    if (is_zero(a) || is_inf(b)) {
        set_special(ret, DTI_CLASS_ZERO, negative);
        return 0;
    }
    /* Long division with two 64-bit digits. The dividend is halved unless it has the smaller
     * significand, so that the first digit fits and the quotient's leading one is at the top. */
    const bool halve = a->hi >= b->hi;
    const int64_t exponent = (int64_t)a->exponent - b->exponent - !halve;
    uint64_t remainder, high, low;
    high = dti_wide_div(halve ? a->hi >> 1 : a->hi, halve ? a->hi << 63 : 0, b->hi, &remainder);
    low = dti_wide_div(remainder, 0, b->hi, &remainder);
    dti_value_set_wide(ret, negative, high, low, remainder != 0, exponent - 127);
    return 0;
}

/* The square root of (high:low) x 2^128, bit by bit; one of the two top bits is set. `rest` is
 * the remainder for the bits so far, at most twice the root so far. Returns true if a remainder
 * is left. */
static bool square_root(uint64_t high, uint64_t low, uint64_t *ret_high, uint64_t *ret_low)
{
    uint64_t root_high = 0, root_low = 0, rest[3] = {0, 0, 0};
    for (unsigned bit = 0; bit < 128; bit++) {
        rest[2] = rest[2] << 2 | rest[1] >> 62;
        rest[1] = rest[1] << 2 | rest[0] >> 62;
        rest[0] = rest[0] << 2 | high >> 62;
        high = high << 2 | low >> 62;
        low <<= 2;
        uint64_t less[3] = {rest[0], rest[1], rest[2]}; /* subtract 4 root + 1 */
        unsigned borrow = dti_wide_sub(&less[0], root_low << 2 | 1, 0);
        borrow = dti_wide_sub(&less[1], root_high << 2 | root_low >> 62, borrow);
        borrow = dti_wide_sub(&less[2], root_high >> 62, borrow);
        root_high = root_high << 1 | root_low >> 63;
        root_low = root_low << 1 | !borrow;
        for (unsigned i = 0; i < 3 && !borrow; i++)
            rest[i] = less[i];
    }
    *ret_high = root_high;
    *ret_low = root_low;
    return (rest[0] | rest[1] | rest[2]) != 0;
}

unsigned dti_value_sqrt(struct dti_value *ret, const struct dti_value *a)
{
    if (take_nan(ret, a, a))
        return 0;
    if (a->negative && !is_zero(a))
        return set_invalid(ret);
    if (a->kind != DTI_CLASS_FINITE) {
        *ret = *a;
        return 0;
    }
    const bool odd = (a->exponent & 1) != 0;
    const int64_t exponent = ((int64_t)a->exponent - odd) / 2;
    uint64_t high, low;
    const bool sticky = square_root(odd ? a->hi : a->hi >> 1, odd ? 0 : a->hi << 63, &high, &low);
    dti_value_set_wide(ret, false, high, low, sticky, exponent - 127);
    return 0;
}

unsigned dti_value_fma(struct dti_value *ret, const struct dti_value *a, const struct dti_value *b,
                       const struct dti_value *c, enum dti_round round)
{
    struct dti_value product;
    if (take_nan(ret, a, b))
        return 0;
    if (a->kind == DTI_CLASS_FINITE && b->kind == DTI_CLASS_FINITE && c->kind == DTI_CLASS_FINITE) {
        const struct exact x = product_of(a, b), y = exact_of(c);
        add_exact(ret, &x, &y, round);
        return 0;
    }
    /* One of the three is zero or infinite: either the product is, exactly, or the sum is the
     * product or c. */
    const unsigned flags = dti_value_multiply(&product, a, b);
    if (flags != 0) {
        if (!take_nan(ret, c, c))
            *ret = product;
        return flags;
    }
    return dti_value_add(ret, &product, c, round);
}

/* Whether a is less than b; neither is a NaN. */
static bool is_less(const struct dti_value *a, const struct dti_value *b)
{
    const int order = dti_value_compare(a, b);
    return order != 0 ? order < 0 : a->negative && !b->negative;
}

void dti_value_minimum(struct dti_value *ret, const struct dti_value *a, const struct dti_value *b)
{
    if (!take_nan(ret, a, b))
        *ret = is_less(b, a) ? *b : *a;
}

void dti_value_maximum(struct dti_value *ret, const struct dti_value *a, const struct dti_value *b)
{
    if (!take_nan(ret, a, b))
        *ret = is_less(a, b) ? *b : *a;
}

/* Operands have at most 64 bits, so from 2^63 on they are integers. dti_encode() rounds a
 * magnitude; `round` refers to the signed number. */
void dti_value_round_integral(struct dti_value *ret, const struct dti_value *a,
                              enum dti_round round)
{
    struct dti_value magnitude = *a;
    struct dti_policy policy = {.round = round};
    struct dti_outcome outcome;
    if (take_nan(ret, a, a))
        return;
    if (a->kind != DTI_CLASS_FINITE || a->exponent >= 63) {
        *ret = *a;
        return;
    }
    magnitude.negative = false;
    if (a->negative && round == DTI_ROUND_UP)
        policy.round = DTI_ROUND_DOWN;
    else if (a->negative && round == DTI_ROUND_DOWN)
        policy.round = DTI_ROUND_UP;
    dti_encode(dti_format_get(DTI_UINT64), &magnitude, &policy, 0, &outcome);
    dti_value_set(ret, a->negative, outcome.code, 0);
}

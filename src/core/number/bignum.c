/* SPDX-License-Identifier: MIT
 *
 * Arbitrary-precision natural numbers: storage, sums, products and quotients.
 *
 * Long products use the method of Karatsuba and Ofman (1962), n^1.585 steps instead of n^2, so
 * that a text of a million digits is read in a fraction of a second. Division is schoolbook
 * (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D): fast if the quotient or the
 * divisor is short, which is all that parsing and rounding need. */
#include "core/number/bignum.h"

#include <stdlib.h>
#include <string.h>

#include "core/wide.h"
#include "util/run/allocate.h"

void dti_big_init(struct dti_big *b)
{
    b->limb = b->own;
    b->count = 0;
    b->capacity = DTI_BIG_INLINE;
    b->failed = false;
}

void dti_big_free(struct dti_big *b)
{
    if (b->limb != b->own)
        dti_free(b->limb);
    dti_big_init(b);
}

void dti_big_fail(struct dti_big *b)
{
    b->failed = true;
    b->count = 0;
}

void dti_big_trim(struct dti_big *b)
{
    while (b->count > 0 && b->limb[b->count - 1] == 0)
        b->count--;
}

bool dti_big_reserve(struct dti_big *b, size_t count)
{
    if (b->failed)
        return false;
    if (count <= b->capacity)
        return true;
    uint64_t *limb = NULL;
    if (count <= SIZE_MAX / sizeof *limb / 2) {
        count += count / 4; /* amortized growth, limb by limb */
        limb = dti_malloc(count * sizeof *limb);
    }
    if (!limb) {
        dti_big_fail(b);
        return false;
    }
    memcpy(limb, b->limb, b->count * sizeof *limb);
    if (b->limb != b->own)
        dti_free(b->limb);
    b->limb = limb;
    b->capacity = count;
    return true;
}

void dti_big_set(struct dti_big *b, uint64_t value)
{
    b->failed = false;
    b->limb[0] = value;
    b->count = value != 0;
}

void dti_big_copy(struct dti_big *ret, const struct dti_big *from)
{
    if (ret == from)
        return;
    ret->count = 0;
    ret->failed = false;
    if (from->failed) {
        dti_big_fail(ret);
    } else if (dti_big_reserve(ret, from->count)) {
        memcpy(ret->limb, from->limb, from->count * sizeof *from->limb);
        ret->count = from->count;
    }
}

void dti_big_move(struct dti_big *ret, struct dti_big *from)
{
    if (from->limb == from->own) {
        dti_big_copy(ret, from);
    } else {
        dti_big_free(ret);
        ret->limb = from->limb;
        ret->count = from->count;
        ret->capacity = from->capacity;
        ret->failed = from->failed;
    }
    dti_big_init(from);
}

size_t dti_big_bits(const struct dti_big *b)
{
    return b->count == 0 ? 0 : b->count * 64 - dti_leading_zeros(b->limb[b->count - 1]);
}

int dti_big_compare(const struct dti_big *a, const struct dti_big *b)
{
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (size_t i = a->count; i-- > 0;) {
        if (a->limb[i] != b->limb[i])
            return a->limb[i] < b->limb[i] ? -1 : 1;
    }
    return 0;
}

void dti_big_mul_add(struct dti_big *b, uint64_t factor, uint64_t addend)
{
    uint64_t carry = addend;
    if (!dti_big_reserve(b, b->count + 1))
        return;
    for (size_t i = 0; i < b->count; i++)
        b->limb[i] = dti_wide_mul_add(b->limb[i], factor, carry, 0, &carry);
    b->limb[b->count++] = carry;
    dti_big_trim(b); /* a factor of 0 leaves leading zeros */
}

uint64_t dti_big_div_small(struct dti_big *b, uint64_t divisor)
{
    uint64_t remainder = 0;
    for (size_t i = b->count; i-- > 0;)
        b->limb[i] = dti_wide_div(remainder, b->limb[i], divisor, &remainder);
    dti_big_trim(b);
    return remainder;
}

void dti_big_shift_left(struct dti_big *b, size_t bits)
{
    const size_t whole = bits / 64;
    const unsigned part = (unsigned)(bits % 64);
    if (b->count == 0 || bits == 0 || !dti_big_reserve(b, b->count + whole + 1))
        return;
    memmove(b->limb + whole, b->limb, b->count * sizeof *b->limb);
    memset(b->limb, 0, whole * sizeof *b->limb);
    b->count += whole;
    if (part > 0) {
        uint64_t carry = 0;
        for (size_t i = whole; i < b->count; i++) {
            const uint64_t limb = b->limb[i];
            b->limb[i] = limb << part | carry;
            carry = limb >> (64 - part);
        }
        if (carry)
            b->limb[b->count++] = carry;
    }
}

bool dti_big_shift_right(struct dti_big *b, size_t bits)
{
    const size_t whole = bits / 64;
    const unsigned part = (unsigned)(bits % 64);
    uint64_t lost = 0;
    if (whole >= b->count) {
        lost = b->count;
        b->count = 0;
        return lost != 0;
    }
    for (size_t i = 0; i < whole; i++)
        lost |= b->limb[i];
    b->count -= whole;
    memmove(b->limb, b->limb + whole, b->count * sizeof *b->limb);
    if (part > 0) {
        lost |= b->limb[0] << (64 - part);
        for (size_t i = 0; i + 1 < b->count; i++)
            b->limb[i] = b->limb[i] >> part | b->limb[i + 1] << (64 - part);
        b->limb[b->count - 1] >>= part;
        dti_big_trim(b);
    }
    return lost != 0;
}

/* Prepares *ret, which may be an operand, for a result of that many limbs. */
static bool reserve(struct dti_big *ret, const struct dti_big *a, const struct dti_big *b,
                    size_t limbs)
{
    if (a->failed || b->failed) {
        dti_big_fail(ret);
        return false;
    }
    if (ret != a && ret != b) {
        ret->failed = false;
        ret->count = 0;
    }
    return dti_big_reserve(ret, limbs);
}

void dti_big_add(struct dti_big *ret, const struct dti_big *a, const struct dti_big *b)
{
    const struct dti_big *const longer = a->count >= b->count ? a : b;
    const struct dti_big *const shorter = longer == a ? b : a;
    const size_t count = longer->count, common = shorter->count;
    if (!reserve(ret, a, b, count + 1))
        return;
    unsigned carry = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t sum = longer->limb[i];
        carry = dti_wide_add(&sum, i < common ? shorter->limb[i] : 0, carry);
        ret->limb[i] = sum;
    }
    ret->count = count;
    if (carry)
        ret->limb[ret->count++] = carry;
}

void dti_big_sub(struct dti_big *ret, const struct dti_big *a, const struct dti_big *b)
{
    const size_t count = a->count, common = b->count;
    if (!reserve(ret, a, b, count))
        return;
    unsigned borrow = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t difference = a->limb[i];
        borrow = dti_wide_sub(&difference, i < common ? b->limb[i] : 0, borrow);
        ret->limb[i] = difference;
    }
    ret->count = count;
    dti_big_trim(ret);
}

int64_t dti_big_from_value(struct dti_big *ret, const struct dti_value *value)
{
    const uint64_t low = value->lo;
    const unsigned zeros = dti_trailing_zeros(low ? low : value->hi);
    dti_big_set(ret, value->hi >> (low ? 0 : zeros));
    if (low) {
        dti_big_shift_left(ret, 64);
        ret->limb[0] = low;
        (void)dti_big_shift_right(ret, zeros);
    }
    return (int64_t)value->exponent - (low ? 127 : 63) + (int64_t)zeros;
}

enum {
    KARATSUBA_LIMBS = 36, /* measured: below it the schoolbook product is faster */
    POW5_STEP = DTI_POW5_SMALL_MAX,
};

const uint64_t dti_pow5_small[POW5_STEP + 1] = {
    UINT64_C(1),
    UINT64_C(5),
    UINT64_C(25),
    UINT64_C(125),
    UINT64_C(625),
    UINT64_C(3125),
    UINT64_C(15625),
    UINT64_C(78125),
    UINT64_C(390625),
    UINT64_C(1953125),
    UINT64_C(9765625),
    UINT64_C(48828125),
    UINT64_C(244140625),
    UINT64_C(1220703125),
    UINT64_C(6103515625),
    UINT64_C(30517578125),
    UINT64_C(152587890625),
    UINT64_C(762939453125),
    UINT64_C(3814697265625),
    UINT64_C(19073486328125),
    UINT64_C(95367431640625),
    UINT64_C(476837158203125),
    UINT64_C(2384185791015625),
    UINT64_C(11920928955078125),
    UINT64_C(59604644775390625),
    UINT64_C(298023223876953125),
    UINT64_C(1490116119384765625),
    UINT64_C(7450580596923828125),
};

/* Adds or subtracts src[count] and propagates the carry, in place; there must be no final carry. */
static uint64_t add_limbs(uint64_t *dst, const uint64_t *src, size_t count)
{
    unsigned carry = 0;
    for (size_t i = 0; i < count; i++)
        carry = dti_wide_add(&dst[i], src[i], carry);
    return carry;
}

static void add_carry(uint64_t *dst, uint64_t carry)
{
    for (; carry; dst++) {
        *dst += carry;
        carry = *dst < carry;
    }
}

/* product[a_count + b_count] = a * b. */
static void multiply_plain(uint64_t *product, const uint64_t *a, size_t a_count, const uint64_t *b,
                           size_t b_count)
{
    memset(product, 0, a_count * sizeof *product);
    for (size_t j = 0; j < b_count; j++) {
        const uint64_t factor = b[j];
        uint64_t carry = 0;
        for (size_t i = 0; i < a_count; i++)
            product[i + j] = dti_wide_mul_add(a[i], factor, product[i + j], carry, &carry);
        product[a_count + j] = carry;
    }
}

/* difference[low] = |a - b| for a of `low` and b of `high` <= low limbs; true when a < b. */
static bool absolute_difference(uint64_t *difference, const uint64_t *a, size_t low,
                                const uint64_t *b, size_t high)
{
    unsigned borrow = 0;
    for (size_t i = 0; i < low; i++) {
        difference[i] = a[i];
        borrow = dti_wide_sub(&difference[i], i < high ? b[i] : 0, borrow);
    }
    if (!borrow)
        return false;
    unsigned carry = 1;
    for (size_t i = 0; i < low; i++) {
        difference[i] = ~difference[i] + carry;
        carry &= difference[i] == 0;
    }
    return true;
}

/* product[2 count] = a * b with
 *     (a1 X + a0)(b1 X + b0) = a1 b1 X^2 + (a1 b1 + a0 b0 - (a0 - a1)(b0 - b1)) X + a0 b0
 * scratch holds scratch_limbs(count). */
static void multiply_karatsuba(uint64_t *product, const uint64_t *a, const uint64_t *b,
                               size_t count, uint64_t *scratch)
{
    if (count < KARATSUBA_LIMBS) {
        multiply_plain(product, a, count, b, count);
        return;
    }
    const size_t low = (count + 1) / 2, high = count - low;
    uint64_t *const middle = scratch; /* 2 low + 1 limbs */
    uint64_t *const rest = scratch + 2 * low + 1;
    const bool a_swapped = absolute_difference(product, a, low, a + low, high);
    const bool b_swapped = absolute_difference(product + low, b, low, b + low, high);
    multiply_karatsuba(middle, product, product + low, low, rest);
    middle[2 * low] = 0;
    multiply_karatsuba(product, a, b, low, rest);
    multiply_karatsuba(product + 2 * low, a + low, b + low, high, rest);

    if (a_swapped != b_swapped) {
        middle[2 * low] = add_limbs(middle, product, 2 * low);
    } else {
        /* a0 b0 - middle may be negative: its top limb is then all ones until a1 b1 is added. */
        unsigned borrow = 0;
        for (size_t i = 0; i < 2 * low; i++) {
            uint64_t limb = product[i];
            borrow = dti_wide_sub(&limb, middle[i], borrow);
            middle[i] = limb;
        }
        middle[2 * low] = UINT64_C(0) - borrow;
    }
    uint64_t carry = add_limbs(middle, product + 2 * low, 2 * high);
    for (size_t i = 2 * high; carry && i <= 2 * low; i++) {
        middle[i] += carry;
        carry = middle[i] < carry;
    }
    /* The sum is less than X^2 * 2, so its part beyond the product is zero. */
    const size_t available = 2 * count - low;
    const size_t middle_count = 2 * low + 1 < available ? 2 * low + 1 : available;
    carry = add_limbs(product + low, middle, middle_count);
    if (carry && low + middle_count < 2 * count)
        add_carry(product + low + middle_count, carry);
}

/* Each level needs 2 ceil(n / 2) + 1 <= n + 2 limbs, and there are fewer than 64 levels. */
static size_t scratch_limbs(size_t count)
{
    return 2 * count + (size_t)3 * 64;
}

/* product[a_count + b_count] = a * b, a_count >= b_count >= KARATSUBA_LIMBS: splits the longer
 * one into square pieces. False if memory ran out. */
static bool multiply_long(uint64_t *product, const uint64_t *a, size_t a_count, const uint64_t *b,
                          size_t b_count)
{
    uint64_t *const scratch = dti_malloc((scratch_limbs(b_count) + 2 * b_count) * sizeof *scratch);
    if (!scratch)
        return false;
    uint64_t *const piece = scratch + scratch_limbs(b_count);
    memset(product, 0, b_count * sizeof *product);
    size_t done = 0;
    for (; a_count - done >= b_count; done += b_count) {
        multiply_karatsuba(piece, a + done, b, b_count, scratch);
        const uint64_t carry = add_limbs(product + done, piece, b_count);
        memcpy(product + done + b_count, piece + b_count, b_count * sizeof *product);
        add_carry(product + done + b_count, carry);
    }
    const size_t left = a_count - done;
    bool ok = true;
    if (left > 0) {
        if (left < KARATSUBA_LIMBS)
            multiply_plain(piece, b, b_count, a + done, left);
        else
            ok = multiply_long(piece, b, b_count, a + done, left);
        const uint64_t carry = add_limbs(product + done, piece, b_count);
        memcpy(product + done + b_count, piece + b_count, left * sizeof *product);
        add_carry(product + done + b_count, carry);
    }
    dti_free(scratch);
    return ok;
}

void dti_big_mul(struct dti_big *ret, const struct dti_big *a, const struct dti_big *b)
{
    if (a->failed || b->failed) {
        dti_big_fail(ret);
        return;
    }
    if (a->count < b->count) {
        const struct dti_big *const swap = a;
        a = b;
        b = swap;
    }
    struct dti_big product;
    dti_big_init(&product);
    if (b->count > 0 && dti_big_reserve(&product, a->count + b->count)) {
        product.count = a->count + b->count;
        if (b->count < KARATSUBA_LIMBS)
            multiply_plain(product.limb, a->limb, a->count, b->limb, b->count);
        else if (!multiply_long(product.limb, a->limb, a->count, b->limb, b->count))
            dti_big_fail(&product);
        dti_big_trim(&product);
    }
    dti_big_move(ret, &product);
}

void dti_big_mul_pow5(struct dti_big *b, uint32_t power)
{
    enum { SMALL = 16 * POW5_STEP };
    if (power <= SMALL) {
        for (; power > POW5_STEP; power -= POW5_STEP)
            dti_big_mul_add(b, dti_pow5_small[POW5_STEP], 0);
        dti_big_mul_add(b, dti_pow5_small[power], 0);
        return;
    }
    /* Exponentiation by squaring: start with the small power of the leading bits, then square
     * for each further bit. */
    unsigned bits = 0;
    while (power >> bits > POW5_STEP)
        bits++;
    struct dti_big factor = {.count =
                                 0}; /* limbs beyond it, too, which gcc's analyzer cannot tell */
    dti_big_init(&factor);
    dti_big_set(&factor, dti_pow5_small[power >> bits]);
    while (bits-- > 0) {
        dti_big_mul(&factor, &factor, &factor);
        if (power >> bits & 1)
            dti_big_mul_add(&factor, 5, 0);
    }
    dti_big_mul(b, b, &factor);
    dti_big_free(&factor);
}

void dti_big_mul_pow10(struct dti_big *b, uint32_t power)
{
    dti_big_mul_pow5(b, power);
    dti_big_shift_left(b, power);
}

/* dst[count + 1] = src[count] << shift, shift < 64. */
static void shifted(uint64_t *dst, const uint64_t *src, size_t count, unsigned shift)
{
    uint64_t carry = 0;
    for (size_t i = 0; i < count; i++) {
        dst[i] = src[i] << shift | carry;
        carry = shift ? src[i] >> (64 - shift) : 0;
    }
    dst[count] = carry;
}

/* One limb of the quotient: (u2:u1:u0) / (v1:v0) for u2:u1 <= v1:v0 with v1's top bit set;
 * exceeds the true limb by at most one. */
static uint64_t estimate(uint64_t u2, uint64_t u1, uint64_t u0, uint64_t v1, uint64_t v0)
{
    uint64_t quotient, remainder;
    if (u2 >= v1) {
        quotient = UINT64_MAX;
        remainder = u1 + v1;
        if (remainder < v1)
            return quotient;
    } else {
        quotient = dti_wide_div(u2, u1, v1, &remainder);
    }
    for (;;) {
        uint64_t high;
        const uint64_t low = dti_wide_mul_add(quotient, v0, 0, 0, &high);
        if (high < remainder || (high == remainder && low <= u0))
            return quotient;
        quotient--;
        remainder += v1;
        if (remainder < v1)
            return quotient;
    }
}

/* Divides u[u_count + 1] by v[v_count], v_count >= 2, v's top bit set and u's top limb
 * (u[u_count]) less than v's: u becomes the remainder; quotient[u_count - v_count + 1] may be
 * NULL. */
static void divide_limbs(uint64_t *quotient, uint64_t *u, size_t u_count, const uint64_t *v,
                         size_t v_count)
{
    const uint64_t v1 = v[v_count - 1], v0 = v[v_count - 2];
    for (size_t j = u_count - v_count + 1; j-- > 0;) {
        uint64_t *const top = u + j + v_count;
        uint64_t digit = estimate(top[0], top[-1], top[-2], v1, v0);
        uint64_t carry = 0;
        unsigned borrow = 0;
        for (size_t i = 0; i < v_count; i++) {
            const uint64_t low = dti_wide_mul_add(digit, v[i], carry, 0, &carry);
            borrow = dti_wide_sub(&u[i + j], low, borrow);
        }
        borrow = dti_wide_sub(top, carry, borrow);
        if (borrow) {
            unsigned back = 0;
            digit--;
            for (size_t i = 0; i < v_count; i++)
                back = dti_wide_add(&u[i + j], v[i], back);
            *top += back;
        }
        if (quotient)
            quotient[j] = digit;
    }
}

void dti_big_divide(struct dti_big *ret_quotient, struct dti_big *ret_remainder,
                    const struct dti_big *a, const struct dti_big *b)
{
    struct dti_big quotient, remainder, divisor;
    dti_big_init(&quotient);
    dti_big_init(&remainder);
    dti_big_init(&divisor);
    if (a->failed || b->failed) {
        dti_big_fail(&quotient);
        dti_big_fail(&remainder);
    } else if (dti_big_compare(a, b) < 0) {
        dti_big_copy(&remainder, a);
    } else if (b->count == 1) {
        dti_big_copy(&quotient, a);
        dti_big_set(&remainder, dti_big_div_small(&quotient, b->limb[0]));
        remainder.failed = quotient.failed;
    } else if (dti_big_reserve(&remainder, a->count + 1) &&
               dti_big_reserve(&divisor, b->count + 1) &&
               dti_big_reserve(&quotient, a->count - b->count + 1)) {
        const unsigned shift = dti_leading_zeros(b->limb[b->count - 1]);
        shifted(remainder.limb, a->limb, a->count, shift);
        shifted(divisor.limb, b->limb, b->count, shift);
        divide_limbs(quotient.limb, remainder.limb, a->count, divisor.limb, b->count);
        quotient.count = a->count - b->count + 1;
        remainder.count = b->count;
        dti_big_trim(&quotient);
        dti_big_trim(&remainder);
        (void)dti_big_shift_right(&remainder, shift);
    } else {
        dti_big_fail(&quotient);
        dti_big_fail(&remainder);
    }
    dti_big_move(ret_quotient, &quotient);
    dti_big_move(ret_remainder, &remainder);
    dti_big_free(&divisor);
}

/* The top 128 bits of a number of at least one limb, times 2^*ret_exponent; true if nonzero bits
 * remain below. */
static bool leading_bits(const struct dti_big *b, uint64_t *ret_high, uint64_t *ret_low,
                         int64_t *ret_exponent)
{
    const size_t count = b->count;
    const unsigned shift = dti_leading_zeros(b->limb[count - 1]);
    uint64_t window[3] = {0, 0, 0}; /* highest limb first */
    for (size_t i = 0; i < 3 && i < count; i++)
        window[i] = b->limb[count - 1 - i];
    *ret_high = shift ? window[0] << shift | window[1] >> (64 - shift) : window[0];
    *ret_low = shift ? window[1] << shift | window[2] >> (64 - shift) : window[1];
    *ret_exponent = (int64_t)dti_big_bits(b) - 128;
    uint64_t below = window[2] << shift;
    for (size_t i = 3; i < count && !below; i++)
        below = b->limb[count - 1 - i];
    return below != 0;
}

bool dti_big_ratio(struct dti_value *ret_value, bool negative, const struct dti_big *num,
                   const struct dti_big *den, int64_t exponent)
{
    if (num->failed || den->failed)
        return false;
    if (num->count == 0) {
        *ret_value = (struct dti_value){.kind = DTI_CLASS_ZERO, .negative = negative};
        return true;
    }
    uint64_t high, low;
    int64_t shifted_by;
    if (den->count == 1 && den->limb[0] == 1) {
        const bool sticky = leading_bits(num, &high, &low, &shifted_by);
        dti_value_set_wide(ret_value, negative, high, low, sticky, exponent + shifted_by);
        return true;
    }

    /* Shifts num to 128 bits more than den, so that the quotient has 128 or 129 bits. An
     * additional limb makes even a one-limb den two limbs long. */
    const size_t num_bits = dti_big_bits(num), den_bits = dti_big_bits(den);
    struct dti_big u, v;
    bool sticky = false;
    dti_big_init(&u);
    dti_big_init(&v);
    dti_big_copy(&u, num);
    dti_big_copy(&v, den);
    unsigned normalise = (unsigned)((64 - den_bits % 64) % 64);
    if (den->count == 1)
        normalise += 64;
    dti_big_shift_left(&v, normalise);
    const size_t u_bits = den_bits + normalise + 128;
    if (u_bits >= num_bits)
        dti_big_shift_left(&u, u_bits - num_bits);
    else
        sticky = dti_big_shift_right(&u, num_bits - u_bits);
    bool ok = !v.failed && dti_big_reserve(&u, u.count + 1);
    if (ok) {
        uint64_t quotient[3] = {0, 0, 0};
        u.limb[u.count] = 0;
        divide_limbs(quotient, u.limb, u.count, v.limb, v.count);
        for (size_t i = 0; i < v.count && !sticky; i++)
            sticky = u.limb[i] != 0;
        /* u / v x 2^(num_bits - den_bits - 128) */
        int64_t scale = (int64_t)num_bits - (int64_t)den_bits - 128 + exponent;
        if (quotient[2]) {
            sticky |= quotient[0] & 1;
            quotient[0] = quotient[0] >> 1 | quotient[1] << 63;
            quotient[1] = quotient[1] >> 1 | quotient[2] << 63;
            scale++;
        }
        dti_value_set_wide(ret_value, negative, quotient[1], quotient[0], sticky, scale);
    }
    dti_big_free(&u);
    dti_big_free(&v);
    return ok;
}

/* SPDX-License-Identifier: MIT
 *
 * Products of long numbers, and powers of five, which are nothing but products. Long operands take
 * the way of Karatsuba and Ofman (1962), n^1.585 steps instead of n^2: a text of a million digits
 * is to be read in a fraction of a second. */
#include <stdlib.h>
#include <string.h>

#include "core/bignum.h"
#include "core/wide.h"

enum {
    KARATSUBA_LIMBS = 36, /* measured: below it the plain product is faster */
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

/* Adds or takes away src[count] and what is carried on, in place; the final carry must be absorbed.
 */
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
        /* a0 b0 - middle may be negative: its top limb then is all ones until a1 b1 is added. */
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
    /* The sum is less than X^2 * 2, so what reaches beyond the product is zero. */
    const size_t available = 2 * count - low;
    const size_t middle_count = 2 * low + 1 < available ? 2 * low + 1 : available;
    carry = add_limbs(product + low, middle, middle_count);
    if (carry && low + middle_count < 2 * count)
        add_carry(product + low + middle_count, carry);
}

/* Each level takes 2 ceil(n / 2) + 1 <= n + 2 limbs, and there are fewer than 64. */
static size_t scratch_limbs(size_t count)
{
    return 2 * count + 3 * 64;
}

/* product[a_count + b_count] = a * b, a_count >= b_count >= KARATSUBA_LIMBS: square pieces of the
 * longer one. False when memory ran out. */
static bool multiply_long(uint64_t *product, const uint64_t *a, size_t a_count, const uint64_t *b,
                          size_t b_count)
{
    uint64_t *const scratch = malloc((scratch_limbs(b_count) + 2 * b_count) * sizeof *scratch);
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
    free(scratch);
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
    /* The power's leading bits are small; each further bit squares. */
    unsigned bits = 0;
    while (power >> bits > POW5_STEP)
        bits++;
    struct dti_big factor;
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

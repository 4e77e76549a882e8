/* SPDX-License-Identifier: MIT
 *
 * Storage of long natural numbers and the operations that take time proportional to their length.
 * Products and divisions, which do not, are in bignum_mul.c and bignum_div.c. */
#include "core/bignum.h"

#include <stdlib.h>
#include <string.h>

#include "core/wide.h"

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
        free(b->limb);
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
        count += count / 4; /* so that growing limb by limb stays linear */
        limb = malloc(count * sizeof *limb);
    }
    if (!limb) {
        dti_big_fail(b);
        return false;
    }
    memcpy(limb, b->limb, b->count * sizeof *limb);
    if (b->limb != b->own)
        free(b->limb);
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
    dti_big_trim(b); /* a factor of 0 clears more than the carry */
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

/* Readies *ret, which may be an operand, for a result of so many limbs. */
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

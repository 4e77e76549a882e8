/* SPDX-License-Identifier: MIT
 *
 * Converts decimal digits to long numbers and back. Both directions divide and conquer at powers
 * of ten with doubling exponents, so that the work is in few long products; conversion to digits
 * divides by such a power through its reciprocal. */
#include <stdlib.h>
#include <string.h>

#include "core/number/bignum.h"
#include "core/number/decimal.h"
#include "util/run/allocate.h"

enum {
    CHUNK = 19,         /* 10^19 is the largest power of ten below 2^64 */
    LEAF = CHUNK << 5,  /* digits converted by the simple method */
    LEVELS = 40,        /* no memory can hold LEAF << LEVELS digits */
    NEWTON_LIMBS = 100, /* shorter reciprocals are computed by plain division */
};

#define TEN_TO_CHUNK UINT64_C(10000000000000000000)

/* power[i]: 5^(LEAF << i) for reading; 10^(LEAF << i) with its reciprocal for writing. */
struct powers {
    size_t levels;
    struct dti_big power[LEVELS];
    struct dti_big reciprocal[LEVELS];
};

static void free_powers(struct powers *powers)
{
    for (size_t i = 0; i < powers->levels; i++) {
        dti_big_free(&powers->power[i]);
        dti_big_free(&powers->reciprocal[i]);
    }
    dti_free(powers);
}

static uint64_t read_chunk(const char *digits, size_t count)
{
    uint64_t value = 0;
    for (size_t i = 0; i < count; i++)
        value = value * 10 + (uint64_t)(digits[i] - '0');
    return value;
}

static void read_leaf(struct dti_big *ret, const char *digits, size_t count)
{
    size_t done = count % CHUNK;
    dti_big_set(ret, read_chunk(digits, done));
    for (; done < count; done += CHUNK)
        dti_big_mul_add(ret, TEN_TO_CHUNK, read_chunk(digits + done, CHUNK));
}

static void read_digits(struct dti_big *ret, const char *digits, size_t count,
                        const struct powers *powers)
{
    if (count <= LEAF) {
        read_leaf(ret, digits, count);
        return;
    }
    size_t level = 0;
    while ((size_t)LEAF << (level + 1) < count)
        level++;
    const size_t low_count = (size_t)LEAF << level;
    struct dti_big low;
    dti_big_init(&low);
    read_digits(ret, digits, count - low_count, powers);
    read_digits(&low, digits + (count - low_count), low_count, powers);
    dti_big_mul(ret, ret, &powers->power[level]);
    dti_big_shift_left(ret, low_count);
    dti_big_add(ret, ret, &low);
    dti_big_free(&low);
}

void dti_big_from_digits(struct dti_big *ret, const char *digits, size_t count)
{
    if (count <= LEAF) {
        read_leaf(ret, digits, count);
        return;
    }
    struct powers *const powers = dti_malloc(sizeof *powers);
    if (!powers) {
        dti_big_fail(ret);
        return;
    }
    for (powers->levels = 0; (size_t)LEAF << powers->levels < count; powers->levels++) {
        struct dti_big *const power = &powers->power[powers->levels];
        dti_big_init(power);
        dti_big_init(&powers->reciprocal[powers->levels]);
        if (powers->levels == 0) {
            dti_big_set(power, 1);
            dti_big_mul_pow5(power, LEAF);
        } else {
            dti_big_mul(power, power - 1, power - 1);
        }
    }
    read_digits(ret, digits, count, powers);
    free_powers(powers);
}

/* An approximation of 2^(2 bits) / d for d <= 2^bits, too small by at most 4: Newton's step r +
 * r e, with e = 1 - d r / 2^(2 bits), from the reciprocal of the upper half of d. Rounding that
 * half up makes every approximation too small, so no difference here is negative. */
static void reciprocal(struct dti_big *ret, const struct dti_big *d, size_t bits)
{
    struct dti_big error, work;
    dti_big_init(&error);
    dti_big_init(&work);
    dti_big_set(&error, 1);
    if (d->count < NEWTON_LIMBS) {
        dti_big_shift_left(&error, 2 * bits);
        dti_big_divide(ret, &work, &error, d);
    } else {
        const size_t upper = bits / 2 + 8, lower = bits - upper;
        struct dti_big one;
        dti_big_init(&one);
        dti_big_set(&one, 1);
        dti_big_copy(&work, d);
        (void)dti_big_shift_right(&work, lower);
        dti_big_add(&work, &work, &one);
        reciprocal(ret, &work, upper); /* r / 2^lower */

        dti_big_mul(&work, ret, d);
        dti_big_shift_left(&error, 2 * bits - lower);
        dti_big_sub(&error, &error, &work);       /* of no more than bits + a few bits, */
        (void)dti_big_shift_right(&error, lower); /* the upper half is enough */
        dti_big_mul(&work, &error, ret);
        (void)dti_big_shift_right(&work, 2 * upper - lower);
        dti_big_shift_left(ret, lower);
        dti_big_add(ret, ret, &work);
        dti_big_free(&one);
    }
    dti_big_free(&error);
    dti_big_free(&work);
}

/* Splits value < 10^(2 k) at 10^k = powers->power[level] into *ret_high and, in place, the
 * remainder. */
static void split(struct dti_big *ret_high, struct dti_big *value, const struct powers *powers,
                  size_t level)
{
    const struct dti_big *const power = &powers->power[level];
    const size_t bits = dti_big_bits(power);
    struct dti_big product;
    if (power->count < NEWTON_LIMBS) {
        dti_big_divide(ret_high, value, value, power);
        return;
    }
    /* value / power = (value / 2^(bits - 1)) (2^(2 bits) / power) / 2^(bits + 1), rounded down
     * at every step, hence too small by a few units at most (Barrett, 1986). */
    dti_big_init(&product);
    dti_big_copy(ret_high, value);
    (void)dti_big_shift_right(ret_high, bits - 1);
    dti_big_mul(ret_high, ret_high, &powers->reciprocal[level]);
    (void)dti_big_shift_right(ret_high, bits + 1);
    dti_big_mul(&product, ret_high, power);
    dti_big_sub(value, value, &product);
    dti_big_free(&product);
    while (!value->failed && dti_big_compare(value, power) >= 0) {
        dti_big_sub(value, value, power);
        dti_big_mul_add(ret_high, 1, 1);
    }
}

/* Writes value, padded with zeros to `count` digits; destroys value. */
static void write_leaf(char *digits, size_t count, struct dti_big *value)
{
    while (count > 0) {
        char chunk[CHUNK + 1];
        const size_t taken = count < CHUNK ? count : CHUNK;
        const size_t zeros =
            CHUNK - dti_digits_write(chunk, dti_big_div_small(value, TEN_TO_CHUNK));
        count -= taken;
        if (taken == CHUNK) {
            memset(digits + count, '0', zeros);
            memcpy(digits + count + zeros, chunk, CHUNK - zeros);
        } else {
            const size_t skipped = CHUNK - taken;
            for (size_t i = 0; i < taken; i++)
                digits[count + i] = i + skipped < zeros ? '0' : chunk[i + skipped - zeros];
        }
    }
}

/* count is LEAF << level; value is less than 10^count and is destroyed. */
static void write_digits(char *digits, size_t level, struct dti_big *value,
                         const struct powers *powers)
{
    if (level == 0) {
        write_leaf(digits, LEAF, value);
        return;
    }
    struct dti_big high;
    dti_big_init(&high);
    split(&high, value, powers, level - 1);
    value->failed |= high.failed;
    write_digits(digits, level - 1, &high, powers);
    write_digits(digits + ((size_t)LEAF << (level - 1)), level - 1, value, powers);
    value->failed |= high.failed;
    dti_big_free(&high);
}

/* Computes the powers up to the first whose square exceeds value; false if memory ran out. */
static bool make_powers(struct powers *powers, const struct dti_big *value)
{
    const size_t bits = dti_big_bits(value);
    bool ok = true;
    for (powers->levels = 0; ok; powers->levels++) {
        const size_t level = powers->levels;
        struct dti_big *const power = &powers->power[level];
        /* 10^n has 3.3219 n bits */
        if (((size_t)LEAF << level) / 10 * 33 > bits)
            break;
        dti_big_init(power);
        dti_big_init(&powers->reciprocal[level]);
        if (level == 0) {
            dti_big_set(power, 1);
            dti_big_mul_pow10(power, LEAF);
        } else {
            dti_big_mul(power, power - 1, power - 1);
        }
        if (power->count >= NEWTON_LIMBS)
            reciprocal(&powers->reciprocal[level], power, dti_big_bits(power));
        ok = !power->failed && !powers->reciprocal[level].failed;
    }
    return ok;
}

/* For numbers longer than a leaf. */
static char *write_long(struct dti_big *value, size_t *ret_count)
{
    char *digits = NULL;
    struct powers *const powers = dti_malloc(sizeof *powers);
    if (!powers)
        return NULL;
    if (make_powers(powers, value)) {
        *ret_count = (size_t)LEAF << powers->levels;
        digits = dti_malloc(*ret_count);
        if (digits)
            write_digits(digits, powers->levels, value, powers);
    }
    free_powers(powers);
    return digits;
}

char *dti_big_to_digits(const struct dti_big *b, char *own, size_t own_size, size_t *ret_count)
{
    struct dti_big value;
    size_t count = dti_big_bits(b) * 31 / 100 + 1; /* log10(2) = 0.30103 */
    char *digits = own;
    dti_big_init(&value);
    dti_big_copy(&value, b);
    if (count > LEAF) {
        digits = write_long(&value, &count);
    } else {
        if (count > own_size)
            digits = dti_malloc(count);
        if (digits)
            write_leaf(digits, count, &value);
    }
    if (digits && value.failed) {
        if (digits != own)
            dti_free(digits);
        digits = NULL;
    }
    dti_big_free(&value);
    if (!digits)
        return NULL;

    size_t zeros = 0;
    while (zeros + 1 < count && digits[zeros] == '0')
        zeros++;
    *ret_count = count - zeros;
    memmove(digits, digits + zeros, *ret_count);
    return digits;
}

/* SPDX-License-Identifier: MIT
 *
 * Natural numbers of any length, for parts of parsing and spelling that exceed 64 bits. Small
 * ones are stored inside the struct, so ordinary values never call malloc(). A failed allocation
 * sets `failed` in the result, and failure propagates: check it once, at the end. Do not copy or
 * move an initialized struct by assignment. */
#ifndef CORE_NUMBER_BIGNUM_H
#define CORE_NUMBER_BIGNUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/value.h"

enum { DTI_BIG_INLINE = 24 };

struct dti_big {
    uint64_t *limb; /* little-endian, no leading zero limb; points to `own` or the heap */
    size_t count;   /* 0 is the number 0 */
    size_t capacity;
    bool failed;
    uint64_t own[DTI_BIG_INLINE];
};

void dti_big_init(struct dti_big *b); /* to 0; pair with dti_big_free() */
void dti_big_free(struct dti_big *b);
void dti_big_set(struct dti_big *b, uint64_t value);
void dti_big_copy(struct dti_big *ret, const struct dti_big *from);
void dti_big_move(struct dti_big *ret, struct dti_big *from); /* from becomes 0 */

/* Reserves `count` limbs for the caller to fill; keeps the first b->count. */
bool dti_big_reserve(struct dti_big *b, size_t count);
void dti_big_trim(struct dti_big *b); /* drops leading zero limbs */
void dti_big_fail(struct dti_big *b);

size_t dti_big_bits(const struct dti_big *b); /* length in bits; 0 for 0 */
int dti_big_compare(const struct dti_big *a, const struct dti_big *b);

/* In place. */
void dti_big_mul_add(struct dti_big *b, uint64_t factor,
                     uint64_t addend);                           /* b = b * factor + addend */
uint64_t dti_big_div_small(struct dti_big *b, uint64_t divisor); /* returns the remainder */
void dti_big_shift_left(struct dti_big *b, size_t bits);
bool dti_big_shift_right(struct dti_big *b, size_t bits); /* true if set bits were shifted out */

enum { DTI_POW5_SMALL_MAX = 27 }; /* 5^27 is the largest power of five below 2^64 (and 2^63) */
extern const uint64_t dti_pow5_small[DTI_POW5_SMALL_MAX + 1];
void dti_big_mul_pow5(struct dti_big *b, uint32_t power);
void dti_big_mul_pow10(struct dti_big *b, uint32_t power);

/* *ret may be the same object as an operand. */
void dti_big_add(struct dti_big *ret, const struct dti_big *a, const struct dti_big *b);
void dti_big_sub(struct dti_big *ret, const struct dti_big *a,
                 const struct dti_big *b); /* a >= b */
void dti_big_mul(struct dti_big *ret, const struct dti_big *a, const struct dti_big *b);
/* Quotient and remainder of a / b, b != 0; the results must be different objects; either may be
 * an operand. */
void dti_big_divide(struct dti_big *ret_quotient, struct dti_big *ret_remainder,
                    const struct dti_big *a, const struct dti_big *b);

/* Converts `count` decimal digits ('0'..'9' only), subquadratic. */
void dti_big_from_digits(struct dti_big *ret, const char *digits, size_t count);

/* Converts to decimal digits without leading zeros ("0" for 0), not terminated, subquadratic.
 * They are in `own` if own_size bytes suffice with some margin, else malloc'ed, and the caller
 * frees them. NULL if memory ran out or b has failed. */
char *dti_big_to_digits(const struct dti_big *b, char *own, size_t own_size, size_t *ret_count);

/* num / den x 2^exponent as a value: 128 bits plus a sticky bit. den != 0; exponents beyond
 * DTI_EXPONENT_LIMIT are clamped. num == 0 gives a zero of that sign. False if memory ran out. */
bool dti_big_ratio(struct dti_value *ret_value, bool negative, const struct dti_big *num,
                   const struct dti_big *den, int64_t exponent);

/* The inverse: |value| = *ret x 2^(return value) with an odd *ret; value is FINITE; its sticky
 * bit is ignored. */
int64_t dti_big_from_value(struct dti_big *ret, const struct dti_value *value);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Representation of true values and arithmetic on them. Stored values are compact: most numbers
 * of a list come from a dtype and take 16 bytes; other rationals and intervals are one memory
 * block each, which GMP and MPFR read in place. Results are computed in the scratch space of the
 * list they are stored in.
 *
 * GMP and MPFR end the process when memory runs out. So their allocations are bounded before
 * each operation, to about 10^5 bytes: rationals by dti_rational_bits(), intervals by the
 * precision of the list, arguments of sin, cos and tan by DTI_ANGLE_EXPONENT. Everything that
 * grows with the length of a list uses our own malloc(), whose failure dti_truth_failed()
 * reports. */
#ifndef CALC_TRUTH_TRUTH_PARTS_H
#define CALC_TRUTH_TRUTH_PARTS_H

#include "calc/truth/multi.h"
#include "calc/truth/truth.h"

enum {
    DTI_RATIONAL_BITS = 1 << 16,      /* limit for a numerator or denominator in short lists, */
    DTI_RATIONAL_BITS_LONG = 1 << 12, /* in lists of any length, */
    DTI_RATIONAL_BITS_ALL = 1 << 26,  /* and for a whole list of moderate length */
    DTI_ANGLE_EXPONENT = 1 << 20,     /* pi is computed to this many bits */
    DTI_DECIDED_BITS = 100, /* an interval this precise counts as one number, as do 30 digits */
};

enum dti_truth_class {
    DTI_TRUTH_DYADIC,   /* +-significand x 2^exponent, or 0; only stored in lists */
    DTI_TRUTH_RATIONAL, /* at most dti_rational_bits() bits long */
    DTI_TRUTH_INTERVAL, /* low <= value <= high; an infinite end means "finite, but of any size" */
    DTI_TRUTH_INFINITE,
    DTI_TRUTH_UNDEFINED,
    DTI_TRUTH_UNDECIDED,
};

struct dti_truth_rational {
    __mpq_struct q; /* its limbs follow it in the same block */
    mp_limb_t limbs[];
};

struct dti_truth_interval {
    __mpfr_struct low, high;
    mp_limb_t limbs[];
};

struct dti_truth_element {
    union {
        uint64_t significand; /* odd, or 0 */
        struct dti_truth_rational *rational;
        struct dti_truth_interval *interval;
    } as;
    int32_t exponent;
    uint8_t kind;  /* enum dti_truth_class */
    bool negative; /* DYADIC, INFINITE */
};

/* A value for computations. The pointers refer to its own storage or into a list. */
struct dti_real {
    enum dti_truth_class kind; /* never DYADIC */
    bool negative;             /* INFINITE */
    bool enclosed;             /* RATIONAL: low and high are valid too */
    mpq_srcptr q;
    mpfr_srcptr low, high;
    mpq_t own_q;
    mpfr_t own_low, own_high;
};

struct dti_truth_arena {
    size_t rational_bits; /* dti_rational_bits() for the list */
    struct dti_real operand[3], result, total, product;
    mpz_t z[3];
    mpfr_t f[8];
};

struct dti_calc_truth_list {
    size_t count;
    unsigned precision;
    bool failed; /* memory ran out */
    struct dti_truth_arena room;
    struct dti_truth_element elements[];
};

/* truth.c: conversion between lists and values. Storing shortens. */
void dti_real_load(struct dti_real *ret, const struct dti_calc_truth_list *list, size_t i);
void dti_real_store(struct dti_calc_truth_list *list, size_t i, struct dti_real *from);

/* Set the class of a value; *_own: use the value's own storage. */
void dti_real_plain(struct dti_real *ret, enum dti_truth_class class, bool negative);
void dti_real_own_rational(struct dti_real *ret);
void dti_real_own_interval(struct dti_real *ret);
void dti_real_integer(struct dti_real *ret, long num, unsigned long den);
/* Sets low and high of a rational. */
void dti_real_enclose(struct dti_real *real);
/* The maximum length of numerators and denominators in a list of `count` elements, or a sum of
 * as many terms; longer rationals become intervals. */
size_t dti_rational_bits(size_t count);
void dti_real_shorten(struct dti_real *real, size_t bits);

static inline bool dti_is_one(mpz_srcptr z)
{
    return z->_mp_size == 1 && z->_mp_d[0] == 1;
}

/* Sets an int64_t, because GMP's long may be shorter. */
void dti_integer_set(mpz_ptr ret, int64_t from);

/* truth_apply.c: ret must not be one of the operands. */
void dti_real_apply(struct dti_truth_arena *room, struct dti_real *ret, enum dti_calc_op op,
                    int64_t power, struct dti_real *const *operands);

/* truth_interval.c: the MPFR function for a unary operation; NULL for others. */
typedef int dti_mpfr_unary(mpfr_ptr ret, mpfr_srcptr x, mpfr_rnd_t round);
dti_mpfr_unary *dti_mpfr_function(enum dti_calc_op op);

/* For intervals and enclosed rationals. */
void dti_interval_apply(struct dti_truth_arena *room, struct dti_real *ret, enum dti_calc_op op,
                        int64_t power, struct dti_real *const *operands);
/* false: b contains zero */
bool dti_interval_divide(struct dti_truth_arena *room, mpfr_ptr low, mpfr_ptr high,
                         mpfr_srcptr a_low, mpfr_srcptr a_high, mpfr_srcptr b_low,
                         mpfr_srcptr b_high);

/* Lower and upper bounds of sigmoid, silu and gelu of x. */
void dti_enclose_composed(struct dti_truth_arena *room, mpfr_ptr low, mpfr_ptr high,
                          enum dti_calc_op op, mpfr_srcptr x_low, mpfr_srcptr x_high);

/* truth.c: a list of one element, as scratch space. Does not return if memory runs out. */
struct dti_calc_truth_list *dti_truth_scratch(unsigned precision);

/* The scratch space of a list. */
void dti_arena_init(struct dti_truth_arena *room, unsigned precision, size_t rational_bits);
void dti_arena_free(struct dti_truth_arena *room);

/* truth_answer.c: conversion between MPFR numbers and values. The limbs of a 128-bit number are
 * on the stack. */
enum { DTI_VALUE_LIMBS = 128 / GMP_NUMB_BITS };
void dti_mpfr_from_value(mpfr_ptr ret, mp_limb_t limbs[DTI_VALUE_LIMBS],
                         const struct dti_value *value);
void dti_mpfr_arena(mpfr_ptr ret, mp_limb_t limbs[DTI_VALUE_LIMBS]); /* a NaN of 128 bits */
/* x has 128 bits; sticky: the true value is slightly further from zero. */
void dti_mpfr_to_value(struct dti_value *ret, mpfr_srcptr x, bool sticky);
/* The value of anything strictly between two numbers, the first of which is closer to zero, if
 * that determines all 128 bits. */
bool dti_between_to_value(struct dti_value *ret, mpfr_srcptr near, mpfr_srcptr far);

#endif

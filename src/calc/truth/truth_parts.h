/* SPDX-License-Identifier: MIT
 *
 * How true values are stored and computed with. Stored ones are compact: most numbers of a list are
 * those of a dtype, which take 16 bytes; other rationals and intervals are one block of memory
 * each, which GMP and MPFR read where it is. Results are computed in the scratch of the list that
 * gets them.
 *
 * GMP and MPFR end the process when memory runs out. So what they allocate is bounded before each
 * operation, to some 10^5 bytes: rationals by dti_rational_bits(), intervals by the precision of
 * the list, arguments of sin, cos and tan by DTI_ANGLE_EXPONENT. All that grows with the length of
 * a list is our own malloc(), whose failure dti_truth_failed() tells. */
#ifndef CALC_TRUTH_TRUTH_PARTS_H
#define CALC_TRUTH_TRUTH_PARTS_H

#include "calc/truth/multi.h"
#include "calc/truth/truth.h"

enum {
    DTI_RATIONAL_BITS = 1 << 16,      /* of a numerator or denominator, in short lists, */
    DTI_RATIONAL_BITS_LONG = 1 << 12, /* and in lists of any length; */
    DTI_RATIONAL_BITS_ALL = 1 << 26,  /* of all of a list that is not that long */
    DTI_ANGLE_EXPONENT = 1 << 20,     /* pi is computed to as many bits */
    DTI_DECIDED_BITS = 100, /* an interval this narrow stands for one number; 30 digits are so */
};

enum dti_truth_class {
    DTI_TRUTH_DYADIC,   /* +-significand x 2^exponent, or 0; only in lists */
    DTI_TRUTH_RATIONAL, /* of at most as many bits as dti_rational_bits() says */
    DTI_TRUTH_INTERVAL, /* low <= it <= high; an end that is infinite stands for "finite, but of any
                         * size" */
    DTI_TRUTH_INFINITE,
    DTI_TRUTH_UNDEFINED,
    DTI_TRUTH_UNDECIDED,
};

struct dti_truth_rational {
    __mpq_struct q; /* its limbs are those behind it */
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
    uint8_t class; /* enum dti_truth_class */
    bool negative; /* DYADIC, INFINITE */
};

/* A value to compute with. The pointers lead to its own storage or into a list. */
struct dti_real {
    enum dti_truth_class class; /* not DYADIC */
    bool negative;              /* INFINITE */
    bool enclosed;              /* RATIONAL: low and high are there, too */
    mpq_srcptr q;
    mpfr_srcptr low, high;
    mpq_t own_q;
    mpfr_t own_low, own_high;
};

struct dti_truth_arena {
    size_t rational_bits; /* dti_rational_bits() of the list */
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

/* truth.c: between lists and values. Storing shortens. */
void dti_real_load(struct dti_real *ret, const struct dti_calc_truth_list *list, size_t i);
void dti_real_store(struct dti_calc_truth_list *list, size_t i, struct dti_real *from);

/* A value becomes one of another class; *_own: what is in its own storage. */
void dti_real_plain(struct dti_real *ret, enum dti_truth_class class, bool negative);
void dti_real_own_rational(struct dti_real *ret);
void dti_real_own_interval(struct dti_real *ret);
void dti_real_integer(struct dti_real *ret, long num, unsigned long den);
/* A rational gets its ends. */
void dti_real_enclose(struct dti_real *real);
/* How long numerators and denominators may be among so many elements, or terms of a sum; a longer
 * rational becomes an interval. */
size_t dti_rational_bits(size_t count);
void dti_real_shorten(struct dti_real *real, size_t bits);

static inline bool dti_is_one(mpz_srcptr z)
{
    return z->_mp_size == 1 && z->_mp_d[0] == 1;
}

/* An int64_t for GMP, whose long may be shorter. */
void dti_integer_set(mpz_ptr ret, int64_t from);

/* truth_apply.c: ret is none of the operands. */
void dti_real_apply(struct dti_truth_arena *room, struct dti_real *ret, enum dti_calc_op op,
                    int64_t power, struct dti_real *const *operands);

/* truth_interval.c: the function of MPFR that an operation on one number is; NULL for others. */
typedef int dti_mpfr_unary(mpfr_ptr ret, mpfr_srcptr x, mpfr_rnd_t round);
dti_mpfr_unary *dti_mpfr_function(enum dti_calc_op op);

/* Of intervals and enclosed rationals. */
void dti_interval_apply(struct dti_truth_arena *room, struct dti_real *ret, enum dti_calc_op op,
                        int64_t power, struct dti_real *const *operands);
/* false: b holds zero */
bool dti_interval_divide(struct dti_truth_arena *room, mpfr_ptr low, mpfr_ptr high,
                         mpfr_srcptr a_low, mpfr_srcptr a_high, mpfr_srcptr b_low,
                         mpfr_srcptr b_high);

/* Sigmoid, silu and gelu of x, from below and from above. */
void dti_enclose_composed(struct dti_truth_arena *room, mpfr_ptr low, mpfr_ptr high,
                          enum dti_calc_op op, mpfr_srcptr x_low, mpfr_srcptr x_high);

/* truth.c: a list of one element, for work on it. Does not return when memory runs out. */
struct dti_calc_truth_list *dti_truth_scratch(unsigned precision);

/* The scratch of a list. */
void dti_arena_init(struct dti_truth_arena *room, unsigned precision, size_t rational_bits);
void dti_arena_free(struct dti_truth_arena *room);

/* truth_answer.c: MPFR numbers as values and back. A number of 128 bits lies in limbs on the stack.
 */
enum { DTI_VALUE_LIMBS = 128 / GMP_NUMB_BITS };
void dti_mpfr_from_value(mpfr_ptr ret, mp_limb_t limbs[DTI_VALUE_LIMBS],
                         const struct dti_value *value);
void dti_mpfr_arena(mpfr_ptr ret, mp_limb_t limbs[DTI_VALUE_LIMBS]); /* a NaN of 128 bits */
/* x has 128 bits; sticky: the truth is a little further from zero. */
void dti_mpfr_to_value(struct dti_value *ret, mpfr_srcptr x, bool sticky);
/* What lies strictly between two numbers, of which one is nearer to zero, when that decides all of
 * its 128 bits. */
bool dti_between_to_value(struct dti_value *ret, mpfr_srcptr near, mpfr_srcptr far);

#endif

/* SPDX-License-Identifier: MIT
 *
 * True values: numbers without a dtype. They are exact rationals (GMP) as long as an expression
 * allows, otherwise intervals with directed rounding (MPFR) around irrational values. Lists of
 * them support elementwise operations. Zero has no sign here: 1/0 is undefined; log(0) is minus
 * infinity, 1/sqrt(0) infinity. */
#ifndef CALC_TRUTH_TRUTH_H
#define CALC_TRUTH_TRUTH_H

#include "calc/calc.h"
#include "core/number/number.h"

/* A list of true values. Each has a class: rational, interval, infinity with a sign, undefined,
 * or undecided (an interval that is still too wide at the highest precision, or contains a
 * pole). */
struct dti_calc_truth_list;

/* Loads libmpfr and libgmp once; must be called before anything else here. Fails with
 * DTI_UNAVAILABLE: "libmpfr.so.6: not found; install libmpfr6". */
enum dti_status dti_multi_load(struct dti_error *reterr);

/* A list of zeros. precision: bits of intervals. NULL when out of memory. Only one thread may
 * write to a list at a time; read-only lists may be shared. */
struct dti_calc_truth_list *dti_truth_new(size_t count, unsigned precision);
void dti_truth_free(struct dti_calc_truth_list *list); /* NULL is fine */
size_t dti_truth_count(const struct dti_calc_truth_list *list);
/* Whether memory ran out for some element, which is undecided then; check once, at the end. */
bool dti_truth_failed(const struct dti_calc_truth_list *list);

void dti_truth_set_number(struct dti_calc_truth_list *ret, size_t i, const struct dti_number *from);
void dti_truth_set_value(struct dti_calc_truth_list *ret, size_t i, const struct dti_value *from);
void dti_truth_set_quotient(struct dti_calc_truth_list *ret, size_t i, int64_t num, uint64_t den);
void dti_truth_copy(struct dti_calc_truth_list *ret, size_t i,
                    const struct dti_calc_truth_list *from, size_t j);

/* ret[i] = op(operands), for all elementwise operations and functions. Takes as many operands as
 * the row of op allows (min and max: two; POWER: one and `power`). A rational that exceeds 2^16
 * bits becomes an interval; in lists of more than 1024 elements the limit is lower, but at least
 * 4096. */
struct dti_truth_operand {
    const struct dti_calc_truth_list *list;
    size_t index;
};
void dti_truth_apply(struct dti_calc_truth_list *ret, size_t i, enum dti_calc_op op, int64_t power,
                     const struct dti_truth_operand *operands);
/* ret[i] = the sum of `count` elements a[a_first], a[a_first + a_step], ... (or of products of
 * two lists if b is given); ret is neither list. */
void dti_truth_sum(struct dti_calc_truth_list *ret, size_t i, const struct dti_calc_truth_list *a,
                   size_t a_first, size_t a_step, const struct dti_calc_truth_list *b,
                   size_t b_first, size_t b_step, size_t count);

bool dti_truth_is_rational(const struct dti_calc_truth_list *list, size_t i);
/* The relative precision of an interval in bits: larger is better; UINT_MAX for rationals,
 * infinities and undefined. dti_calc_run() evaluates again with twice the precision, up to 4096
 * bits, while an element of the result has less than 110. */
unsigned dti_truth_bits(const struct dti_calc_truth_list *list, size_t i);
/* The first 128 bits and a sticky bit; false if undefined or undecided. Infinities are values.
 * If an interval of 100 bits or more contains a 128-bit number, that number is taken as the
 * truth: exp(log(2)) is 2. */
bool dti_truth_value(const struct dti_calc_truth_list *list, size_t i, struct dti_value *ret);
/* stored - true and (stored - true) / |true|, to 128 bits; the latter is NaN if true is 0. False
 * unless both are finite and the truth is decided. */
bool dti_truth_error(const struct dti_calc_truth_list *list, size_t i,
                     const struct dti_value *stored, struct dti_value *ret_absolute,
                     struct dti_value *ret_relative);
/* Appends the value itself if it is a decimal of at most 60 significant digits or a quotient of
 * at most 40 digits, else its first 30 digits, correctly rounded; fewer if the interval does not
 * determine more; "inf", "-inf", "nan". The layout is that of C's %g. Returns false and appends
 * nothing if undecided or out of memory; ret->failed distinguishes the two. */
bool dti_truth_text(const struct dti_calc_truth_list *list, size_t i, struct dti_buffer *ret);
/* Whether that text is the exact value. */
bool dti_truth_text_is_exact(const struct dti_calc_truth_list *list, size_t i);

/* A function of a number of some dtype (not sticky), to 128 bits and a sticky bit: correctly
 * truncated, and not sticky if the result is exact. Returns enum dti_arith_flag. For FUNCTION
 * rows and POWER. Special cases as in IEEE 754-2019 9.2.1: log(0) and rsqrt(+-0) are infinities
 * with DTI_ARITH_DIVIDE_BY_ZERO; log(-1), rsqrt(-1) and sin(inf) are DTI_ARITH_INVALID; x^0 is 1
 * even for a NaN; other functions of a NaN return that NaN; exp(-inf) and sigmoid(-inf) are 0;
 * silu(-inf) and gelu(-inf) are their limit -0 (torch: NaN). MPFR must be loaded. Thread-safe. */
unsigned dti_function_value(struct dti_value *ret, enum dti_calc_op op, int64_t power,
                            const struct dti_value *x);

/* For long lists: two normal fp64 numbers, about 2^-46 apart relatively, with the result
 * strictly between them; the result is then inexact. False if dti_function_value() must be used.
 * For FUNCTION rows; does not need MPFR. */
bool dti_function_quick(enum dti_calc_op op, double x, double *ret_low, double *ret_high);

#endif

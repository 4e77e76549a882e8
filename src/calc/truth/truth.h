/* SPDX-License-Identifier: MIT
 *
 * True values: numbers without a dtype. Exact rationals (GMP) as long as an expression allows,
 * intervals with directed rounding (MPFR) around what no fraction is. Lists of them, elementwise.
 * Zero has no sign here: 1/0 is undefined; log(0) is minus infinity, 1/sqrt(0) infinity. */
#ifndef CALC_TRUTH_TRUTH_H
#define CALC_TRUTH_TRUTH_H

#include "calc/calc.h"
#include "core/number/number.h"

/* A list of true values; each has a class: rational, interval, infinity of a sign, undefined,
 * undecided (an interval that no precision up to the limit made narrow enough, or that holds a
 * pole). */
struct dti_calc_truth_list;

/* Loads libmpfr and libgmp once; before that nothing else here may be called. Fails with
 * DTI_UNAVAILABLE: "libmpfr.so.6: not found; install libmpfr6". */
enum dti_status dti_multi_load(struct dti_error *reterr);

/* A list of zeros. precision: bits of intervals. NULL when memory ran out. A list is written to by
 * one thread at a time; read-only ones may be shared. */
struct dti_calc_truth_list *dti_truth_new(size_t count, unsigned precision);
void dti_truth_free(struct dti_calc_truth_list *list); /* NULL is fine */
size_t dti_truth_count(const struct dti_calc_truth_list *list);
/* Memory ran out for an element, which is undecided then: ask once, at the end. */
bool dti_truth_failed(const struct dti_calc_truth_list *list);

void dti_truth_set_number(struct dti_calc_truth_list *ret, size_t i, const struct dti_number *from);
void dti_truth_set_value(struct dti_calc_truth_list *ret, size_t i, const struct dti_value *from);
void dti_truth_set_quotient(struct dti_calc_truth_list *ret, size_t i, int64_t num, uint64_t den);
void dti_truth_copy(struct dti_calc_truth_list *ret, size_t i,
                    const struct dti_calc_truth_list *from, size_t j);

/* ret[i] = op(operands), for all elementwise operations and functions; as many operands as the row
 * of op has at most (min and max: two), POWER one and `power`. A rational that grows beyond 2^16
 * bits, in lists of more than 1024 beyond fewer, but 4096 at least, becomes an interval. */
struct dti_truth_operand {
    const struct dti_calc_truth_list *list;
    size_t index;
};
void dti_truth_apply(struct dti_calc_truth_list *ret, size_t i, enum dti_calc_op op, int64_t power,
                     const struct dti_truth_operand *operands);
/* ret[i] = the sum of a[a_first], a[a_first + a_step], ... of `count` elements (products of two
 * lists where b is given); ret is neither list. */
void dti_truth_sum(struct dti_calc_truth_list *ret, size_t i, const struct dti_calc_truth_list *a,
                   size_t a_first, size_t a_step, const struct dti_calc_truth_list *b,
                   size_t b_first, size_t b_step, size_t count);

bool dti_truth_is_rational(const struct dti_calc_truth_list *list, size_t i);
/* Relative width of an interval in bits: large is good; UINT_MAX for rationals, infinities and
 * undefined. dti_calc_run() evaluates again with twice the precision while an element of the answer
 * has less than 110, up to 4096 bits. */
unsigned dti_truth_bits(const struct dti_calc_truth_list *list, size_t i);
/* The first 128 bits and sticky; false when undefined or undecided. Infinities are values. Where an
 * interval of 100 bits or more holds a number of 128 bits, the truth is taken to be that number:
 * exp(log(2)) is 2. */
bool dti_truth_value(const struct dti_calc_truth_list *list, size_t i, struct dti_value *ret);
/* stored - true and (stored - true) / |true|, to 128 bits; the latter is a NaN where true is 0.
 * False unless both are finite and the truth is decided. */
bool dti_truth_error(const struct dti_calc_truth_list *list, size_t i,
                     const struct dti_value *stored, struct dti_value *ret_absolute,
                     struct dti_value *ret_relative);
/* Appends the value itself where it is a decimal of at most 60 significant digits or a quotient of
 * at most 40 digits, else its first 30, correctly rounded; fewer where an interval tells no more;
 * "inf", "-inf", "nan". Layout as C's %g. False, appending nothing: undecided, or memory ran out,
 * which ret->failed tells. */
bool dti_truth_text(const struct dti_calc_truth_list *list, size_t i, struct dti_buffer *ret);
/* Whether that is the value itself. */
bool dti_truth_text_is_exact(const struct dti_calc_truth_list *list, size_t i);

/* A function of a number that a dtype has (not sticky), to 128 bits and sticky: correctly
 * truncated, not sticky where the result is exact. Returns enum dti_arith_flag. For FUNCTION rows
 * and POWER; specials as in IEEE 754-2019 9.2.1: log(0) and rsqrt(+-0) are infinities and
 * DTI_ARITH_DIVIDE_BY_ZERO, log(-1), rsqrt(-1) and sin(inf) are DTI_ARITH_INVALID, x^0 is 1 even
 * for a NaN, other functions of a NaN are that NaN; exp(-inf) and sigmoid(-inf) are 0, silu(-inf)
 * and gelu(-inf) their limit -0 (torch: NaN). MPFR must have been loaded. Any thread. */
unsigned dti_function_value(struct dti_value *ret, enum dti_calc_op op, int64_t power,
                            const struct dti_value *x);

/* For long lists: two normal fp64 numbers between which the result is, strictly, a few 2^-46 apart;
 * the result is inexact, then. False where dti_function_value() has to be asked. FUNCTION rows;
 * needs no MPFR. */
bool dti_function_quick(enum dti_calc_op op, double x, double *ret_low, double *ret_high);

#endif

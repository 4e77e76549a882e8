/* SPDX-License-Identifier: MIT
 *
 * True values: numbers without a dtype. Exact rationals (GMP) as long as an expression allows,
 * intervals with directed rounding (MPFR) around what no fraction is. Lists of them, elementwise.
 */
#ifndef DTINFO_CALC_TRUTH_H
#define DTINFO_CALC_TRUTH_H

#include "dtinfo/calc.h"
#include "dtinfo/number.h"

/* A list of true values; each has a class: rational, interval, infinity of a sign, undefined,
 * undecided (an interval that no precision up to the limit made narrow enough, or that holds a
 * pole). */
struct dti_calc_truth_list;

/* Loads libmpfr and libgmp once. Fails with DTI_UNAVAILABLE: "libmpfr.so.6: not found". */
enum dti_status dti_multi_load(struct dti_error *reterr);

/* A list of zeros. precision: bits of intervals. NULL when memory ran out. */
struct dti_calc_truth_list *dti_truth_new(size_t count, unsigned precision);
void dti_truth_free(struct dti_calc_truth_list *list);
size_t dti_truth_count(const struct dti_calc_truth_list *list);

void dti_truth_set_number(struct dti_calc_truth_list *ret, size_t i, const struct dti_number *from);
void dti_truth_set_value(struct dti_calc_truth_list *ret, size_t i, const struct dti_value *from);
void dti_truth_set_quotient(struct dti_calc_truth_list *ret, size_t i, int64_t num, uint64_t den);
void dti_truth_copy(struct dti_calc_truth_list *ret, size_t i,
                    const struct dti_calc_truth_list *from, size_t j);

/* ret[i] = op(operands), for all elementwise operations and functions. operands: up to three, each
 * a list and an index. A rational that grows beyond 2^16 bits becomes an interval. */
struct dti_truth_operand {
    const struct dti_calc_truth_list *list;
    size_t index;
};
void dti_truth_apply(struct dti_calc_truth_list *ret, size_t i, enum dti_calc_op op, int64_t power,
                     const struct dti_truth_operand *operands);
/* ret[i] = the sum of from[first], from[first + step], ... of `count` elements (products of two
 * lists where b is given). */
void dti_truth_sum(struct dti_calc_truth_list *ret, size_t i, const struct dti_calc_truth_list *a,
                   size_t a_first, size_t a_step, const struct dti_calc_truth_list *b,
                   size_t b_first, size_t b_step, size_t count);

bool dti_truth_is_rational(const struct dti_calc_truth_list *list, size_t i);
/* Relative width of an interval in bits: large is good; UINT_MAX for rationals, infinities and
 * undefined. dti_calc_run() evaluates again with twice the precision while an element of the answer
 * has less than 110, up to 4096 bits. */
unsigned dti_truth_bits(const struct dti_calc_truth_list *list, size_t i);
/* The first 128 bits and sticky; false when undefined or undecided. Infinities are values. */
bool dti_truth_value(const struct dti_calc_truth_list *list, size_t i, struct dti_value *ret);
/* stored - true and (stored - true) / |true|, to 128 bits. */
bool dti_truth_error(const struct dti_calc_truth_list *list, size_t i,
                     const struct dti_value *stored, struct dti_value *ret_absolute,
                     struct dti_value *ret_relative);
bool dti_truth_text(const struct dti_calc_truth_list *list, size_t i, struct dti_buffer *ret);

/* A function of a number that a dtype has, to 128 bits and sticky (Ziv: more precision until
 * truncation is decided; what is exact is known to be). Returns enum dti_arith_flag. For FUNCTION
 * rows and POWER. MPFR must have been loaded. */
unsigned dti_function_value(struct dti_value *ret, enum dti_calc_op op, int64_t power,
                            const struct dti_value *x);

#endif

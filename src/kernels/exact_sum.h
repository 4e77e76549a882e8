/* SPDX-License-Identifier: MIT
 *
 * A sum of doubles without rounding: a fixed-point number wide enough for 2^64 doubles of any
 * size (Kulisch's long accumulator). Adding and merging are exact, so the order and grouping do
 * not matter; the only rounding is at the end. */
#ifndef KERNELS_EXACT_SUM_H
#define KERNELS_EXACT_SUM_H

#include <stdbool.h>
#include <stdint.h>

enum { DTI_EXACT_SUM_WORDS = 34 };

struct dti_exact_sum {
    uint64_t word[DTI_EXACT_SUM_WORDS]; /* two's complement, lowest word first, in units of
                                         * 2^-1074 */
    unsigned infinite;                  /* bit flags: 1: an infinity was added; 2: a negative
                                         * one; 4: a NaN */
};
void dti_exact_sum_init(struct dti_exact_sum *ret);
/* Infinities and NaNs are sticky: the sum is then the result of adding doubles. */
void dti_exact_sum_add(struct dti_exact_sum *sum, double value);
void dti_exact_sum_merge(struct dti_exact_sum *sum, const struct dti_exact_sum *other);
/* The sum rounded to nearest even; infinity if it exceeds fp64. An empty sum is +0. */
double dti_exact_sum_value(const struct dti_exact_sum *sum);
/* A sum of squares; NaN if fp64 cannot represent it accurately. Below 2^-960 the smaller squares
 * may have lost bits or vanished. any: whether any of the squared numbers is not 0. */
double dti_exact_sum_squares(const struct dti_exact_sum *sum, bool any);
/* 10 log10(signal / noise) of sums of squares: inf without noise. NaN if either cannot be
 * represented accurately, or the signal is 0. any_noise: see above. */
double dti_exact_sum_decibels(const struct dti_exact_sum *signal, const struct dti_exact_sum *noise,
                              bool any_noise);
/* The sum divided by count, which is not 0 and below 2^63, with one rounding to nearest even in
 * fp32. The sum must be finite and not negative. */
float dti_exact_sum_mean(const struct dti_exact_sum *sum, uint64_t count);

#endif

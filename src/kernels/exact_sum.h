/* SPDX-License-Identifier: MIT
 *
 * A sum of doubles without rounding: a fixed-point number wide enough for 2^64 doubles of any size
 * (Kulisch's long accumulator). Adding and merging are exact, so any order and any grouping give
 * the same; the one rounding is at the end. */
#ifndef KERNELS_EXACT_SUM_H
#define KERNELS_EXACT_SUM_H

#include <stdbool.h>
#include <stdint.h>

enum { DTI_EXACT_SUM_WORDS = 34 };

struct dti_exact_sum {
    uint64_t word[DTI_EXACT_SUM_WORDS]; /* two's complement, the lowest first, times 2^-1074 */
    unsigned infinite;                  /* 1: an infinity was added; 2: a negative one; 4: a NaN */
};
void dti_exact_sum_init(struct dti_exact_sum *ret);
/* Infinities and NaN stay: the sum is then what adding doubles would give. */
void dti_exact_sum_add(struct dti_exact_sum *sum, double value);
void dti_exact_sum_merge(struct dti_exact_sum *sum, const struct dti_exact_sum *other);
/* The sum rounded to nearest even; infinity when it is beyond fp64. No sum is +0. */
double dti_exact_sum_value(const struct dti_exact_sum *sum);
/* A sum of squares; NaN where fp64 does not hold it well. Below 2^-960 the smaller of the squares
 * may have lost bits, or vanished. any: whether one of the squared numbers is not 0. */
double dti_exact_sum_squares(const struct dti_exact_sum *sum, bool any);
/* 10 log10(signal / noise) of sums of squares: inf where there is no noise. NaN where one of them
 * is not held well, or the signal is 0. any_noise: see above. */
double dti_exact_sum_decibels(const struct dti_exact_sum *signal, const struct dti_exact_sum *noise,
                              bool any_noise);
/* The sum divided by count, not 0 and below 2^63: one rounding, to nearest even of fp32. The sum is
 * finite and not negative. */
float dti_exact_sum_mean(const struct dti_exact_sum *sum, uint64_t count);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The difference of two arrays, element by element. Counts and maxima are exact if the hub is;
 * sums are reproducible like those of loss.h. a is the examined array, b the reference.
 */
#ifndef KERNELS_SCAN_COMPARISON_H
#define KERNELS_SCAN_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/dtype/dtype.h"
#include "kernels/cpu.h"
#include "kernels/exact_sum.h"
#include "kernels/scan/loss.h"

/* The arithmetic of a comparison. */
enum dti_comparison_hub {
    DTI_COMPARISON_HUB32, /* both dtypes decode to fp32 exactly, and it can count steps */
    DTI_COMPARISON_HUB64, /* both to fp64 */
    DTI_COMPARISON_I64,   /* both to int64 */
    DTI_COMPARISON_U64,   /* both to uint64 */
    DTI_COMPARISON_WIDE,  /* anything else (such as int64 and fp64): uses struct dti_value */
};
/* For two dtypes that are not complex. */
enum dti_comparison_hub dti_comparison_hub_of(const struct dti_format *a,
                                              const struct dti_format *b);
/* The format that arrays are decoded to; NULL for WIDE, where each side has its own codes in
 * uint64_t. */
const struct dti_format *dti_comparison_hub_format(enum dti_comparison_hub hub);

struct dti_comparison_rule {
    enum dti_comparison_hub hub;
    struct dti_format a, b;
    struct dti_format ulp; /* steps are counted in this dtype: the one with fewer mantissa bits
                            * (if equal, the narrower one, then b); none (width 0) for two
                            * integers, or an integer and a float */
    double atol, rtol;     /* an element exceeds them if |a - b| > atol + rtol |b|; each of these
                            * operations rounds once, in fp64 */
};
void dti_comparison_rule_init(struct dti_comparison_rule *ret, const struct dti_format *a,
                              const struct dti_format *b, double atol, double rtol);

/* Two NaNs match, whatever their bits; two equal infinities match. Other pairs with a NaN or an
 * infinity are only counted. Zeros of both signs are equal. */
struct dti_comparison {
    uint64_t elements;
    uint64_t differing;  /* pairs of different numbers, `unmatched` included */
    uint64_t unmatched;  /* NaN or infinity on one side, or infinities of opposite signs */
    uint64_t exceeding;  /* pairs beyond atol + rtol |b|, `unmatched` included */
    uint64_t compared;   /* pairs of finite numbers */
    double max_absolute; /* largest |a - b|, rounded once; 0 if nothing was compared */
    uint64_t max_index;  /* the lowest global index where it occurs; 0 if max_absolute is 0 */
    double max_relative; /* largest |a - b| / |b|, with |a - b| rounded, over nonzero b */
    double max_ulp;      /* largest distance of a and b in steps of rule->ulp, counted along its
                          * numbers: neighbours are 1 apart, also across powers of two and zero;
                          * both zeros are one number. Between neighbours, and beyond the largest
                          * number as if the format continued, positions are fractions. Exact and
                          * rounded once if rule->ulp can represent both numbers; otherwise
                          * positions are rounded to 2^m / 2^23 in the F32 hub and 2^m / 2^52 in
                          * the F64 hub, where m is the number of its mantissa bits */
    uint64_t first_differing, first_unmatched; /* index; UINT64_MAX if none */
    struct dti_exact_sum sum_absolute, sum_squared, sum_aa, sum_bb, sum_ab;
};
void dti_comparison_init(struct dti_comparison *ret);
void dti_comparison_merge(struct dti_comparison *comparison, const struct dti_comparison *part);

/* Adds a tile of n <= DTI_TILE pairs in the hub's format; index as in loss.h. */
typedef void dti_comparison_fn(const struct dti_comparison_rule *rule, const void *a, const void *b,
                               size_t n, uint64_t index, struct dti_comparison *comparison);
dti_comparison_fn *dti_comparison_kernel(enum dti_comparison_hub hub, enum dti_level allowed);
/* Adds a tile of codes of one dtype that are the same on both sides, in the machine's byte order;
 * false, with nothing changed, if the kernel does not take it, such as one with a NaN. */
typedef bool dti_comparison_same_fn(const void *codes, size_t n, struct dti_comparison *comparison);
/* NULL if there is none for the dtype at an allowed level. */
dti_comparison_same_fn *dti_comparison_same_kernel(enum dti_dtype dtype, enum dti_level allowed);

double dti_comparison_mean_absolute(
    const struct dti_comparison *comparison); /* 0 if nothing was compared */
double dti_comparison_root_mean_square(const struct dti_comparison *comparison);
/* 10 log10(sum aa / sum (a - b)^2): inf without differences, NaN if a is all zero. */
double dti_comparison_sqnr_db(const struct dti_comparison *comparison);
/* The inverse, not in decibels: sum (a - b)^2 / sum aa. 0 without differences, inf beyond fp64's
 * range, NaN as above. */
double dti_comparison_nmse(const struct dti_comparison *comparison);
/* sum ab / sqrt(sum aa x sum bb): NaN if a side is all zero or nothing was compared. */
double dti_comparison_cosine(const struct dti_comparison *comparison);

#endif

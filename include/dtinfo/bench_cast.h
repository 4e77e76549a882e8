/* SPDX-License-Identifier: MIT
 *
 * What a measurement of a cast is asked for, and the data that operands are made of. */
#ifndef DTINFO_BENCH_CAST_H
#define DTINFO_BENCH_CAST_H

#include "dtinfo/plan.h"

/* What the source holds: a pool of random elements, repeated. */
enum dti_bench_data {
    DTI_BENCH_NORMAL,  /* near to normal (sum of twelve uniforms), mean 0; the deviation is 1, or a
                        * quarter of the range where an integer dtype takes part */
    DTI_BENCH_UNIFORM, /* uniform in [1, 2); integers: in their range */
    DTI_BENCH_BITS,    /* any code */
    DTI_BENCH_SUBNORMAL, /* uniform below the smallest normal of the destination (of the source,
                          * where the destination has none or the source cannot hold that) */
    DTI_BENCH_NAN1,      /* normal, one of a hundred is NaN or an infinity */
};

/* Fills an array of n elements, a multiple of DTI_TILE, with codes of src for a cast to dst. */
void dti_bench_data_fill(void *array, size_t n, const struct dti_format *src,
                         const struct dti_format *dst, enum dti_bench_data data, uint64_t seed);

enum { DTI_BENCH_LEVELS_MAX = DTI_LEVEL_COUNT };

/* A cast of an array, beside copies of as many bytes and kernels without arithmetic that read and
 * write as much as the cast does. */
struct dti_bench_cast {
    struct dti_format src, dst;
    struct dti_policy policy;
    enum dti_level levels[DTI_BENCH_LEVELS_MAX]; /* the most demanding first */
    size_t level_count; /* at least 1; levels that come to the same kernels give one item */
    bool loss;          /* the cast with its loss report as well */
    enum dti_bench_data data;
};

#endif

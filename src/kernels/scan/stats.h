/* SPDX-License-Identifier: MIT
 *
 * Statistics of an array: extremes, mean, spread, special values, exponents. Counts and extremes
 * are exact. Sums are the same for every level, thread count and chunking, as those of loss.h are:
 * a fixed order within a tile, an exact sum of tiles. */
#ifndef KERNELS_SCAN_STATS_H
#define KERNELS_SCAN_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtinfo/value.h"
#include "kernels/cpu.h"
#include "kernels/exact_sum.h"
#include "kernels/scan/loss.h"

/* The numbers that a kernel sees. */
enum dti_stats_hub {
    DTI_STATS_HUB32, /* the dtype decodes to fp32 exactly */
    DTI_STATS_HUB64, /* to fp64, and not to fp32; parsed formats that fp64 does not hold are rounded
                      * to it, to infinity where they reach beyond */
    DTI_STATS_I64,   /* int64 */
    DTI_STATS_U64,   /* uint64 */
};
/* The dtype of a hub's arrays. */
const struct dti_format *dti_stats_hub_format(enum dti_stats_hub hub);

/* The dtypes whose ranges a histogram is held against. */
enum { DTI_STATS_RANGES = 4 };
extern const enum dti_dtype dti_stats_ranges[DTI_STATS_RANGES]; /* fp16 bf16 fp8_e4m3fn fp8_e5m2 */

/* Binades 2^-1074 to 2^1023: index floor(log2 |x|) + DTI_BINADE_ZERO. */
enum { DTI_BINADE_ZERO = 1074, DTI_BINADES = 2098 };

struct dti_histogram {
    uint64_t binade[DTI_BINADES]; /* finite elements that are not zero */
    /* For each of dti_stats_ranges, under nearest-even: finite elements that would be beyond the
     * range, that would become zero (not zero themselves), that would be stored as a subnormal. */
    uint64_t overflow[DTI_STATS_RANGES], to_zero[DTI_STATS_RANGES], to_subnormal[DTI_STATS_RANGES];
};

struct dti_stats {
    enum dti_stats_hub hub;
    uint64_t elements;
    uint64_t nan, inf, negative_inf; /* inf: both signs */
    uint64_t zeros;                  /* of either sign */
    uint64_t negative;               /* less than zero, infinity included */
    uint64_t subnormals;             /* of the array's own dtype; 0 for integers */
    uint64_t finite;                 /* elements - nan - inf: those that follow are of these */
    /* The lowest, the highest and the largest magnitude, as codes of the hub's format (absmax of
     * int64: as a uint64), with the lowest global index that has it. Only when finite > 0; zeros of
     * both signs are equal. */
    uint64_t min, max, absmax;
    uint64_t min_index, max_index, absmax_index;
    uint64_t first_nan, first_inf; /* index, UINT64_MAX for none */
    double shift;                  /* sums are of x - shift: see dti_stats_init() */
    struct dti_exact_sum sum, sum_squared;
};

/* How an array is counted. */
struct dti_stats_rule {
    struct dti_format format; /* of the array */
    enum dti_stats_hub hub;
    double smallest_normal; /* of the format, 0 for integers */
    double shift;
    /* For each range: magnitudes from which it overflows; up to which it is zero; below which what
     * is not zero is stored as a subnormal. */
    double overflow_from[DTI_STATS_RANGES], zero_to[DTI_STATS_RANGES],
        subnormal_below[DTI_STATS_RANGES];
};
/* shift: a number near the mean, by which cancellation in the variance is avoided; the same for all
 * parts of an array; 0 is the fastest. Takes a tenth of a millisecond: for arrays of one dtype copy
 * the rule and change the shift. */
void dti_stats_rule_init(struct dti_stats_rule *ret, const struct dti_format *format, double shift);
/* A good shift for an array that begins with these n <= DTI_TILE numbers of the rule's hub: their
 * mean, or 0 where they scatter about zero. */
double dti_stats_choose_shift(const struct dti_stats_rule *rule, const void *numbers, size_t n);
void dti_stats_init(struct dti_stats *ret, const struct dti_stats_rule *rule);
void dti_histogram_init(struct dti_histogram *ret);

/* Adds a tile, or the array's last part of one: n <= DTI_TILE elements of the hub's format, whose
 * first has the global index `index`, a multiple of DTI_TILE. */
typedef void dti_stats_fn(const struct dti_stats_rule *rule, const void *numbers, size_t n,
                          uint64_t index, struct dti_stats *stats);
/* The same for the histogram. */
typedef void dti_histogram_fn(const struct dti_stats_rule *rule, const void *numbers, size_t n,
                              struct dti_histogram *histogram);

/* The best at the allowed level; never NULL. */
dti_stats_fn *dti_stats_kernel(enum dti_stats_hub hub, enum dti_level allowed);
dti_histogram_fn *dti_histogram_kernel(enum dti_stats_hub hub, enum dti_level allowed);

/* Adds another part of the same array: any order gives the same. */
void dti_stats_merge(struct dti_stats *stats, const struct dti_stats *part);
void dti_histogram_merge(struct dti_histogram *histogram, const struct dti_histogram *part);

/* Of the finite elements; NaN when there are none, or fp64 does not hold the sum. The deviation is
 * that of the population (divided by their number, as numpy's std). */
double dti_stats_mean(const struct dti_stats *stats);
double dti_stats_deviation(const struct dti_stats *stats);

/* The extremes as values; false when nothing is finite. */
bool dti_stats_extremes(const struct dti_stats *stats, const struct dti_stats_rule *rule,
                        struct dti_value *ret_min, struct dti_value *ret_max,
                        struct dti_value *ret_absmax);

/* Whether all finite elements round to finite numbers of dst (nearest-even; integers: truncated)
 * without overflow: what `check --fits` asks. A NaN does not fit where there is no NaN, an infinity
 * where there is none. */
bool dti_stats_fit(const struct dti_stats *stats, const struct dti_stats_rule *rule,
                   const struct dti_format *dst);
/* The same with the extremes as dti_stats_extremes() has them; not looked at where it has none. */
bool dti_stats_fit_between(const struct dti_stats *stats, const struct dti_value *min,
                           const struct dti_value *max, const struct dti_format *dst);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Statistics of an array: extremes, mean, deviation, special values, exponents. Counts and
 * extremes are exact. Sums are the same for every level, thread count and chunking, like those
 * of loss.h: a fixed order within a tile, and exact sums over tiles. */
#ifndef KERNELS_SCAN_STATS_H
#define KERNELS_SCAN_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/value.h"
#include "kernels/cpu.h"
#include "kernels/exact_sum.h"
#include "kernels/scan/loss.h"

/* The format of the numbers passed to a kernel. */
enum dti_stats_hub {
    DTI_STATS_HUB32, /* the dtype decodes to fp32 exactly */
    DTI_STATS_HUB64, /* the dtype decodes to fp64 exactly, but not to fp32; parsed formats that
                      * do not fit are rounded to fp64, to infinity if they exceed its range */
    DTI_STATS_I64,   /* int64 */
    DTI_STATS_U64,   /* uint64 */
};
/* The dtype of a hub's arrays. */
const struct dti_format *dti_stats_hub_format(enum dti_stats_hub hub);

/* The dtypes whose ranges a histogram is compared with. */
enum { DTI_STATS_RANGES = 4 };
extern const enum dti_dtype dti_stats_ranges[DTI_STATS_RANGES]; /* fp16 bf16 fp8_e4m3fn fp8_e5m2 */

/* Binades 2^-1074 to 2^1023: index floor(log2 |x|) + DTI_BINADE_ZERO. */
enum { DTI_BINADE_ZERO = 1074, DTI_BINADES = 2098 };

struct dti_histogram {
    uint64_t binade[DTI_BINADES]; /* finite nonzero elements */
    /* For each of dti_stats_ranges, with nearest-even: finite elements that exceed its range;
     * nonzero elements that become zero; elements stored as a subnormal. */
    uint64_t overflow[DTI_STATS_RANGES], to_zero[DTI_STATS_RANGES], to_subnormal[DTI_STATS_RANGES];
};

struct dti_stats {
    enum dti_stats_hub hub;
    uint64_t elements;
    uint64_t nan, inf, negative_inf; /* inf: both signs */
    uint64_t zeros;                  /* of either sign */
    uint64_t negative;               /* less than zero, including -infinity */
    uint64_t subnormals;             /* in the array's own dtype; 0 for integers */
    uint64_t finite;                 /* elements - nan - inf; everything below refers to these */
    /* The minimum, the maximum and the largest magnitude, as codes of the hub's format (absmax
     * of int64: as a uint64), and the lowest global index of each. Only valid if finite > 0;
     * zeros of both signs are equal. */
    uint64_t min, max, absmax;
    uint64_t min_index, max_index, absmax_index;
    uint64_t first_nan, first_inf; /* index; UINT64_MAX if none */
    double shift;                  /* sums are of x - shift: see dti_stats_init() */
    struct dti_exact_sum sum, sum_squared;
};

/* Parameters of the statistics of an array. */
struct dti_stats_rule {
    struct dti_format format; /* of the array */
    enum dti_stats_hub hub;
    double smallest_normal; /* of the format; 0 for integers */
    double shift;
    /* For each range: the magnitude from which it overflows; the magnitude up to which it is
     * zero; and the one below which nonzero numbers are stored as subnormals. */
    double overflow_from[DTI_STATS_RANGES], zero_to[DTI_STATS_RANGES],
        subnormal_below[DTI_STATS_RANGES];
};
/* shift: a number close to the mean, to avoid cancellation in the variance; it must be the same
 * for all parts of an array; 0 is fastest. Takes a tenth of a millisecond: for several arrays of
 * one dtype, copy the rule and change the shift. */
void dti_stats_rule_init(struct dti_stats_rule *ret, const struct dti_format *format, double shift);
/* The same without the ranges, which only histograms need: as quick as a copy. */
void dti_stats_rule_init_plain(struct dti_stats_rule *ret, const struct dti_format *format,
                               double shift);
/* A good shift for an array that starts with these n <= DTI_TILE numbers of the rule's hub:
 * their mean, or 0 if they scatter around zero. */
double dti_stats_choose_shift(const struct dti_stats_rule *rule, const void *numbers, size_t n);
void dti_stats_init(struct dti_stats *ret, const struct dti_stats_rule *rule);
void dti_histogram_init(struct dti_histogram *ret);

/* Adds a tile, or the last part of the array: n <= DTI_TILE elements of the hub's format, the
 * first of which has the global index `index`, a multiple of DTI_TILE. */
typedef void dti_stats_fn(const struct dti_stats_rule *rule, const void *numbers, size_t n,
                          uint64_t index, struct dti_stats *stats);
/* The same for the histogram. */
typedef void dti_histogram_fn(const struct dti_stats_rule *rule, const void *numbers, size_t n,
                              struct dti_histogram *histogram);

/* The same from the codes of a dtype in the machine's byte order: false, with nothing changed, if
 * the array may get a new extreme, or if the tile is one that the kernel does not take, such as one
 * with a NaN. Then its numbers must be added. */
typedef bool dti_stats_codes_fn(const struct dti_stats_rule *rule, const void *codes, size_t n,
                                uint64_t index, struct dti_stats *stats);

/* The first kernel at the allowed level; never NULL. */
dti_stats_fn *dti_stats_kernel(enum dti_stats_hub hub, enum dti_level allowed);
dti_histogram_fn *dti_histogram_kernel(enum dti_stats_hub hub, enum dti_level allowed);
/* NULL if there is none for the dtype at an allowed level. */
dti_stats_codes_fn *dti_stats_codes_kernel(enum dti_dtype dtype, enum dti_level allowed);

/* The highest of n codes of 8, 16, 32 or 64 bits in the machine's byte order, both as signed and
 * as unsigned integers: where codes have a sign and a magnitude, the largest positive number and
 * the largest negative one, if there is one; NaN and infinity are beyond all numbers. */
struct dti_code_peaks {
    int64_t as_signed;    /* INT64_MIN if n is 0 */
    uint64_t as_unsigned; /* 0 if n is 0 */
};
typedef struct dti_code_peaks dti_code_peaks_fn(const void *codes, size_t n, unsigned bits);
dti_code_peaks_fn *dti_code_peaks_kernel(enum dti_level allowed); /* never NULL */

/* Adds another part of the same array; the order does not matter. */
void dti_stats_merge(struct dti_stats *stats, const struct dti_stats *part);
void dti_histogram_merge(struct dti_histogram *histogram, const struct dti_histogram *part);

/* For the finite elements; NaN if there are none, or if fp64 cannot hold the sum. The deviation
 * is that of the population (divided by their number, like numpy's std). */
double dti_stats_mean(const struct dti_stats *stats);
double dti_stats_deviation(const struct dti_stats *stats);

/* The extremes as values; false if no element is finite. */
bool dti_stats_extremes(const struct dti_stats *stats, const struct dti_stats_rule *rule,
                        struct dti_value *ret_min, struct dti_value *ret_max,
                        struct dti_value *ret_absmax);

/* Whether all finite elements round to finite numbers of dst (nearest-even; integers: truncated)
 * without overflow, as for `check --fits`. NaNs and infinities fit only if dst has them. */
bool dti_stats_fit(const struct dti_stats *stats, const struct dti_stats_rule *rule,
                   const struct dti_format *dst);
/* The same with extremes from dti_stats_extremes(); they are ignored if it returned false. */
bool dti_stats_fit_between(const struct dti_stats *stats, const struct dti_value *min,
                           const struct dti_value *max, const struct dti_format *dst);

#endif

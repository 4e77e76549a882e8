/* SPDX-License-Identifier: MIT
 *
 * Portable histograms of a tile, compiled once per level. Binades: elements are counted one by
 * one, in four tables in turn, because an increment must wait for a previous one of the same
 * counter. Ranges: magnitudes are compared as bits, which compilers vectorize. */
#include "kernels/lanes_piece.h"
#include "kernels/scan/stats_kernels.h"
#include "kernels/scan/stats_tile.h"

enum { RANGES = DTI_STATS_RANGES, TABLES = 4, FIELDS_HUB32 = 256 };

static unsigned log2_of(uint64_t word) /* word != 0 */
{
#if defined(__GNUC__)
    return 63U - (unsigned)__builtin_clzll(word);
#else
    unsigned at = 0;
    while (word >>= 1)
        at++;
    return at;
#endif
}

/* 1. Thresholds as bits: from these on, an element overflows; is stored as nonzero; as normal. */
struct bounds32 {
    uint32_t overflow[RANGES], nonzero[RANGES], normal[RANGES];
};
struct bounds64 {
    uint64_t overflow[RANGES], nonzero[RANGES], normal[RANGES];
};

static struct bounds64 bounds64_of(const struct dti_stats_rule *rule)
{
    struct bounds64 b;
    for (unsigned i = 0; i < RANGES; i++) {
        b.overflow[i] = dti_fp64_bits(rule->overflow_from[i]);
        b.nonzero[i] = dti_fp64_bits(rule->zero_to[i]) + 1;
        b.normal[i] = dti_fp64_bits(rule->subnormal_below[i]);
    }
    return b;
}

/* The smallest fp32 magnitude not below an fp64 one, as bits. */
static uint32_t not_below(uint64_t bits)
{
    const double bound = dti_fp64_from_bits(bits);
    const float single = (float)bound;
    uint32_t narrow;
    memcpy(&narrow, &single, sizeof narrow);
    return narrow + ((double)single < bound);
}

static struct bounds32 bounds32_of(const struct dti_stats_rule *rule)
{
    const struct bounds64 wide = bounds64_of(rule);
    struct bounds32 b;
    for (unsigned i = 0; i < RANGES; i++) {
        b.overflow[i] = not_below(wide.overflow[i]);
        b.nonzero[i] = not_below(wide.nonzero[i]);
        b.normal[i] = not_below(wide.normal[i]);
    }
    return b;
}

/* 2. Counts the elements at or above each threshold; the differences are the numbers in between. */
struct above {
    uint64_t overflow[RANGES], nonzero[RANGES], normal[RANGES];
};

static void add_ranges(struct dti_histogram *h, const struct above *above, uint64_t not_finite,
                       uint64_t not_zero)
{
    for (unsigned i = 0; i < RANGES; i++) {
        h->overflow[i] += above->overflow[i] - not_finite;
        h->to_zero[i] += not_zero - above->nonzero[i];
        h->to_subnormal[i] += above->nonzero[i] - above->normal[i];
    }
}

static uint32_t count32(const uint32_t *magnitude, size_t n, uint32_t from)
{
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += magnitude[i] >= from;
    return count;
}

static uint64_t count64(const uint64_t *magnitude, size_t n, uint64_t from)
{
    uint64_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += (int64_t)magnitude[i] >= (int64_t)from; /* the top bit is 0 */
    return count;
}

static void see_ranges64(const struct dti_stats_rule *rule, const uint64_t *magnitude, size_t n,
                         struct dti_histogram *h)
{
    const struct bounds64 b = bounds64_of(rule);
    struct above above;
    for (unsigned i = 0; i < RANGES; i++) {
        above.overflow[i] = count64(magnitude, n, b.overflow[i]);
        above.nonzero[i] = count64(magnitude, n, b.nonzero[i]);
        above.normal[i] = count64(magnitude, n, b.normal[i]);
    }
    add_ranges(h, &above, count64(magnitude, n, UINT64_C(0x7ff) << 52), count64(magnitude, n, 1));
}

void DTI_LANES_NAME(dti_histogram_f32)(const struct dti_stats_rule *rule, const void *numbers,
                                       size_t n, struct dti_histogram *h)
{
    uint32_t magnitude[DTI_TILE];
    uint16_t table[TABLES][FIELDS_HUB32] = {{0}};
    memcpy(magnitude, numbers, n * sizeof magnitude[0]);
    for (size_t i = 0; i < n; i++)
        magnitude[i] &= INT32_MAX;
    for (size_t i = 0; i < n; i++)
        table[i % TABLES][magnitude[i] >> 23]++;

    uint32_t count[FIELDS_HUB32];
    for (unsigned field = 0; field < FIELDS_HUB32; field++)
        count[field] =
            (uint32_t)table[0][field] + table[1][field] + table[2][field] + table[3][field];
    for (unsigned field = 1; field < FIELDS_HUB32 - 1; field++)
        h->binade[DTI_BINADE_ZERO + field - 127] += count[field];
    uint32_t zeros = 0;
    for (size_t i = 0; count[0] > 0 && i < n; i++) {
        if (magnitude[i] == 0)
            zeros++;
        else if (magnitude[i] >> 23 == 0)
            h->binade[DTI_BINADE_ZERO - 149 + log2_of(magnitude[i])]++;
    }

    const struct bounds32 b = bounds32_of(rule);
    struct above above;
    for (unsigned i = 0; i < RANGES; i++) {
        above.overflow[i] = count32(magnitude, n, b.overflow[i]);
        above.nonzero[i] = count32(magnitude, n, b.nonzero[i]);
        above.normal[i] = count32(magnitude, n, b.normal[i]);
    }
    add_ranges(h, &above, count[FIELDS_HUB32 - 1], n - zeros);
}

void DTI_LANES_NAME(dti_histogram_f64)(const struct dti_stats_rule *rule, const void *numbers,
                                       size_t n, struct dti_histogram *h)
{
    uint64_t magnitude[DTI_TILE];
    memcpy(magnitude, numbers, n * sizeof magnitude[0]);
    for (size_t i = 0; i < n; i++) {
        magnitude[i] &= INT64_MAX;
        const unsigned field = (unsigned)(magnitude[i] >> 52);
        if (field == 0 && magnitude[i] != 0)
            h->binade[log2_of(magnitude[i])]++;
        else if (field != 0 && field != 0x7ff)
            h->binade[DTI_BINADE_ZERO + field - 1023]++;
    }
    see_ranges64(rule, magnitude, n, h);
}

/* The thresholds of the ranges are integers or below 1, so integers stay on the same side when
 * they are rounded to fp64. */
DTI_LANE void add_integers(const struct dti_stats_rule *rule, const void *numbers, size_t n,
                           bool with_sign, struct dti_histogram *h)
{
    uint64_t magnitude[DTI_TILE];
    memcpy(magnitude, numbers, n * sizeof magnitude[0]);
    for (size_t i = 0; i < n; i++) {
        const uint64_t minus = with_sign ? 0 - (magnitude[i] >> 63) : 0;
        const uint64_t size = (magnitude[i] ^ minus) - minus;
        if (size != 0)
            h->binade[DTI_BINADE_ZERO + log2_of(size)]++;
        magnitude[i] = dti_fp64_bits((double)size);
    }
    see_ranges64(rule, magnitude, n, h);
}

void DTI_LANES_NAME(dti_histogram_i64)(const struct dti_stats_rule *rule, const void *numbers,
                                       size_t n, struct dti_histogram *h)
{
    add_integers(rule, numbers, n, true, h);
}

void DTI_LANES_NAME(dti_histogram_u64)(const struct dti_stats_rule *rule, const void *numbers,
                                       size_t n, struct dti_histogram *h)
{
    add_integers(rule, numbers, n, false, h);
}

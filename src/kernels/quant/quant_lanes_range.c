/* SPDX-License-Identifier: MIT
 *
 * Portable range of the finite numbers of an array. Compiled once per level. */
#include <math.h>

#include "kernels/quant/quant_lanes.h"

enum { LANES = 16 };

struct lanes {
    float min[LANES], max[LANES];
    uint32_t nan[LANES], special[LANES];
};

DTI_LANE void add_numbers(struct lanes *l, const float x[LANES])
{
    for (unsigned i = 0; i < LANES; i++) {
        const uint32_t a = dti_lane_magnitude_f32(x[i]);
        const float low = a >= DTI_LANE_INF ? INFINITY : x[i];
        const float high = a >= DTI_LANE_INF ? -INFINITY : x[i];
        l->min[i] = low < l->min[i] ? low : l->min[i];
        l->max[i] = high > l->max[i] ? high : l->max[i];
        l->special[i] += a >= DTI_LANE_INF;
        l->nan[i] += a > DTI_LANE_INF;
    }
}

/* Processes a run that is too short to overflow a lane's counts. */
static void add_run(const unsigned char *x, size_t n, struct dti_range *range)
{
    struct lanes l = {.nan = {0}, .special = {0}};
    float block[LANES];
    for (unsigned i = 0; i < LANES; i++) {
        l.min[i] = INFINITY;
        l.max[i] = -INFINITY;
    }
    size_t at = 0;
    for (; n - at >= LANES; at += LANES) {
        memcpy(block, x + 4 * at, sizeof block);
        add_numbers(&l, block);
    }
    if (at < n) { /* processing some numbers twice affects only the counts */
        memcpy(block, x + 4 * at, 4 * (n - at));
        for (size_t i = n - at; i < LANES; i++)
            block[i] = 0;
        struct lanes rest = l;
        add_numbers(&rest, block);
        for (size_t i = 0; i < n - at; i++) {
            l.min[i] = rest.min[i];
            l.max[i] = rest.max[i];
            l.nan[i] = rest.nan[i];
            l.special[i] = rest.special[i];
        }
    }
    for (unsigned i = 0; i < LANES; i++) {
        range->min = l.min[i] < range->min ? l.min[i] : range->min;
        range->max = l.max[i] > range->max ? l.max[i] : range->max;
        range->nan += l.nan[i];
        range->inf += l.special[i] - l.nan[i];
    }
}

void DTI_LANES_NAME(dti_range)(const float *x, size_t n, struct dti_range *range)
{
    const size_t run = (size_t)1 << 30;
    const unsigned char *const from = (const unsigned char *)x;
    for (size_t at = 0; at < n; at += run)
        add_run(from + 4 * at, n - at < run ? n - at : run, range);
}

void DTI_LANES_NAME(dti_range_columns)(const float *x, size_t n, float *min, float *max,
                                       struct dti_range *specials)
{
    const unsigned char *const from = (const unsigned char *)x;
    float block[DTI_PIECE];
    for (size_t at = 0; at < n; at += DTI_PIECE) {
        const size_t count = n - at < DTI_PIECE ? n - at : DTI_PIECE;
        float *const low = min + at, *const high = max + at;
        uint32_t special = 0, nan = 0;
        memcpy(block, from + 4 * at, 4 * count);
        for (size_t i = 0; i < count; i++) {
            const uint32_t a = dti_lane_magnitude_f32(block[i]);
            const float lower = a >= DTI_LANE_INF ? INFINITY : block[i];
            const float higher = a >= DTI_LANE_INF ? -INFINITY : block[i];
            low[i] = lower < low[i] ? lower : low[i];
            high[i] = higher > high[i] ? higher : high[i];
            special += a >= DTI_LANE_INF;
            nan += a > DTI_LANE_INF;
        }
        specials->nan += nan;
        specials->inf += special - nan;
    }
}

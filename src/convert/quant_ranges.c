/* SPDX-License-Identifier: MIT
 *
 * The first pass over an array: the range of its numbers, or of each channel, and the scales
 * computed from it before the codes. */
#include <math.h>
#include <stdlib.h>

#include "convert/quant_plan_parts.h"
#include "kernels/exact_sum.h"
#include "util/checked.h"
#include "util/run/allocate.h"

struct dti_quant_ranges {
    struct dti_range all; /* per channel: only the counts of NaN and infinity */
    size_t count;         /* entries of the arrays below; several rows of channels in a row */
    size_t channels;
    float *min, *max;
    struct dti_exact_sum amaxes; /* nested: sum of the blocks' amax */
};

static bool per_channel(const struct dti_quant_plan *plan)
{
    return plan->request.scheme.per == DTI_PER_CHANNEL;
}

enum dti_status dti_quant_ranges_new(struct dti_quant_ranges **ret,
                                     const struct dti_quant_plan *plan, struct dti_error *reterr)
{
    uint64_t bytes;
    struct dti_quant_ranges *const ranges = dti_calloc(1, sizeof *ranges);
    if (!ranges)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    dti_range_init(&ranges->all);
    dti_exact_sum_init(&ranges->amaxes);
    if (per_channel(plan)) {
        ranges->channels = (size_t)plan->request.length;
        if (plan->request.length > SIZE_MAX ||
            !dti_mul_u64(plan->request.length, plan->repeats, &bytes) ||
            !dti_mul_u64(bytes, 2 * sizeof(float), &bytes) || bytes > SIZE_MAX)
            ranges->min = NULL;
        else
            ranges->min = dti_malloc(bytes > 0 ? (size_t)bytes : 1);
        if (!ranges->min) {
            dti_free(ranges);
            return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
        }
        ranges->count = ranges->channels * plan->repeats;
        ranges->max = ranges->min + ranges->count;
        for (size_t i = 0; i < ranges->count; i++) {
            ranges->min[i] = INFINITY;
            ranges->max[i] = -INFINITY;
        }
    }
    *ret = ranges;
    return DTI_OK;
}

void dti_quant_ranges_free(struct dti_quant_ranges *ranges)
{
    if (ranges)
        dti_free(ranges->min);
    dti_free(ranges);
}

/* The largest magnitude without NaN and infinity; 0 if there is none. */
static float quant_amax(const struct dti_range *range)
{
    const float low = fabsf(range->min), high = fabsf(range->max);
    if (!(range->min <= range->max))
        return 0;
    return low > high ? low : high;
}

static void add_whole(const struct dti_quant_plan *plan, struct dti_quant_ranges *ranges,
                      const void *numbers, size_t n)
{
    float buffer[DTI_QUANT_TILE + 8];
    const size_t tile = plan->plain ? n : DTI_QUANT_TILE;
    for (size_t at = 0; at < n; at += tile) {
        const size_t part = n - at < tile ? n - at : tile;
        plan->range->run.range(dti_quant_load(plan, numbers, at, part, buffer), part, &ranges->all);
    }
}

/* The piece starts at a block. A block with a NaN or an infinity counts as infinite. */
static void add_amaxes(const struct dti_quant_plan *plan, struct dti_quant_ranges *ranges,
                       const void *numbers, size_t n)
{
    float buffer[DTI_QUANT_TILE + 8];
    const size_t group = (size_t)plan->group, tile = DTI_QUANT_TILE / group * group;
    for (size_t at = 0; at < n; at += tile) {
        const size_t part = n - at < tile ? n - at : tile;
        const float *const x = dti_quant_load(plan, numbers, at, part, buffer);
        for (size_t begin = 0; begin < part; begin += group) {
            const size_t left = part - begin;
            struct dti_range range;
            dti_range_init(&range);
            plan->range->run.range(x + begin, left < group ? left : group, &range);
            const bool finite = range.nan == 0 && range.inf == 0;
            dti_exact_sum_add(&ranges->amaxes, finite ? (double)quant_amax(&range) : INFINITY);
        }
    }
}

/* inner is 1: consecutive elements belong to consecutive channels. */
static void add_columns(const struct dti_quant_plan *plan, struct dti_quant_ranges *ranges,
                        uint64_t first, const void *numbers, size_t n)
{
    float buffer[DTI_QUANT_TILE + 8];
    size_t place = (size_t)(first % ranges->channels);
    for (size_t at = 0, part; at < n; at += part) {
        part = n - at < ranges->count - place ? n - at : ranges->count - place;
        part = part > DTI_QUANT_TILE ? DTI_QUANT_TILE : part;
        plan->range_columns->run.range_columns(dti_quant_load(plan, numbers, at, part, buffer),
                                               part, ranges->min + place, ranges->max + place,
                                               &ranges->all);
        place += part;
        place = place == ranges->count ? 0 : place;
    }
}

/* A channel is a run of `inner` elements. */
static void add_runs(const struct dti_quant_plan *plan, struct dti_quant_ranges *ranges,
                     uint64_t first, const void *numbers, size_t n)
{
    const uint64_t inner = plan->request.inner;
    float buffer[DTI_QUANT_TILE + 8];
    for (size_t at = 0, part; at < n; at += part) {
        const uint64_t e = first + at, left = inner - e % inner;
        const size_t channel = (size_t)(e / inner % ranges->channels);
        part = n - at < left ? n - at : (size_t)left;
        part = part > DTI_QUANT_TILE ? DTI_QUANT_TILE : part;
        struct dti_range range = {
            .min = ranges->min[channel], .max = ranges->max[channel], .nan = 0, .inf = 0};
        plan->range->run.range(dti_quant_load(plan, numbers, at, part, buffer), part, &range);
        ranges->min[channel] = range.min;
        ranges->max[channel] = range.max;
        ranges->all.nan += range.nan;
        ranges->all.inf += range.inf;
    }
}

void dti_quant_range(const struct dti_quant_plan *plan, struct dti_quant_ranges *ranges,
                     uint64_t first, const void *numbers, size_t n)
{
    if (n == 0)
        return;
    if (plan->request.scheme.nested)
        add_amaxes(plan, ranges, numbers, n);
    else if (!per_channel(plan))
        add_whole(plan, ranges, numbers, n);
    else if (plan->request.inner == 1)
        add_columns(plan, ranges, first, numbers, n);
    else
        add_runs(plan, ranges, first, numbers, n);
}

void dti_quant_ranges_merge(struct dti_quant_ranges *ranges, const struct dti_quant_ranges *part)
{
    dti_range_merge(&ranges->all, &part->all);
    dti_exact_sum_merge(&ranges->amaxes, &part->amaxes);
    for (size_t i = 0; i < ranges->count; i++) {
        ranges->min[i] = part->min[i] < ranges->min[i] ? part->min[i] : ranges->min[i];
        ranges->max[i] = part->max[i] > ranges->max[i] ? part->max[i] : ranges->max[i];
    }
}

void dti_quant_ranges_add(struct dti_quant_ranges *ranges, const struct dti_range *range)
{
    dti_range_merge(&ranges->all, range);
}

/* The range of one channel, without NaN and infinity. */
static struct dti_range quant_ranges_of(const struct dti_quant_ranges *ranges, size_t channel)
{
    struct dti_range range;
    dti_range_init(&range);
    for (size_t i = channel; i < ranges->count; i += ranges->channels) {
        range.min = ranges->min[i] < range.min ? ranges->min[i] : range.min;
        range.max = ranges->max[i] > range.max ? ranges->max[i] : range.max;
    }
    return range;
}

/* Nested: the mean of the scales of `blocks` blocks; NaN if one is not finite. */
static float quant_ranges_offset(const struct dti_quant_ranges *ranges, uint64_t blocks)
{
    if (ranges->amaxes.infinite)
        return NAN;
    return blocks > 0 ? dti_exact_sum_mean(&ranges->amaxes, blocks) : 0;
}

struct dti_range dti_quant_ranges_all(const struct dti_quant_ranges *ranges)
{
    struct dti_range range = ranges->all;
    for (size_t i = 0; i < ranges->count; i++) {
        range.min = ranges->min[i] < range.min ? ranges->min[i] : range.min;
        range.max = ranges->max[i] > range.max ? ranges->max[i] : range.max;
    }
    return range;
}

enum dti_status dti_quant_scales_alloc(struct dti_quant_scales **ret,
                                       const struct dti_quant_plan *plan, struct dti_error *reterr)
{
    const uint64_t count = plan->group > 0 ? 0 : plan->sizes.scales;
    uint64_t places = 0, bytes;
    struct dti_quant_scales *const scales = dti_calloc(1, sizeof *scales);
    if (!scales)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    scales->tensor_scale = 1;
    dti_range_init(&scales->range);
    scales->repeats = plan->repeats;
    if (count > 0) {
        if (dti_mul_u64(count, plan->repeats, &places) && dti_mul_u64(places, 12, &bytes) &&
            bytes <= SIZE_MAX)
            scales->scale = dti_malloc((size_t)bytes);
        if (!scales->scale) {
            dti_free(scales);
            return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
        }
        scales->count = (size_t)count;
        scales->inverse = scales->scale + places;
        scales->zero_point = (int32_t *)(void *)(scales->inverse + places);
        for (size_t i = 0; i < scales->count; i++)
            scales->zero_point[i] = plan->choice.zero_point;
    }
    *ret = scales;
    return DTI_OK;
}

void dti_quant_scales_ready(struct dti_quant_scales *scales)
{
    const size_t count = scales->count;
    for (size_t i = 0; i < count; i++)
        scales->inverse[i] = 1 / scales->scale[i];
    for (size_t at = count; at < count * scales->repeats; at += count) {
        memcpy(scales->scale + at, scales->scale, count * sizeof(float));
        memcpy(scales->inverse + at, scales->inverse, count * sizeof(float));
        memcpy(scales->zero_point + at, scales->zero_point, count * sizeof(int32_t));
    }
}

static float tensor_scale(enum dti_nv_scale rule, const struct dti_range *range)
{
    return dti_quant_float(dti_nv_tensor_scale(rule, dti_quant_bits(quant_amax(range))));
}

void dti_quant_scales_choose(struct dti_quant_scales *scales, const struct dti_quant_plan *plan,
                             const struct dti_quant_ranges *ranges, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++) {
        const struct dti_range range =
            ranges && per_channel(plan) ? quant_ranges_of(ranges, i) : scales->range;
        const struct dti_affine_scale scale = dti_quant_choose(plan, &range);
        scales->scale[i] = dti_quant_float(scale.scale);
        scales->inverse[i] = 1 / scales->scale[i];
        scales->zero_point[i] = scale.zero_point;
    }
}

enum dti_status dti_quant_scales_new(struct dti_quant_scales **ret,
                                     const struct dti_quant_plan *plan,
                                     const struct dti_quant_ranges *ranges,
                                     struct dti_error *reterr)
{
    const struct dti_quant_scheme *const scheme = &plan->request.scheme;
    struct dti_quant_scales *scales;
    const enum dti_status status = dti_quant_scales_alloc(&scales, plan, reterr);
    if (status != DTI_OK)
        return status;
    if (ranges)
        scales->range = dti_quant_ranges_all(ranges);
    if (scheme->nested && ranges)
        scales->offset = quant_ranges_offset(ranges, plan->sizes.scales);
    else if (scheme->block && dti_quant_plan_needs_range(plan))
        scales->tensor_scale = tensor_scale(scheme->blocks.nv, &scales->range);
    else if (scheme->block && scheme->block->family == DTI_BLOCKS_NV && scheme->blocks.tensor_scale)
        scales->tensor_scale = dti_quant_float(scheme->blocks.tensor_scale);
    dti_quant_scales_choose(scales, plan, ranges, 0, scales->count);
    dti_quant_scales_ready(scales);
    *ret = scales;
    return DTI_OK;
}

void dti_quant_scales_free(struct dti_quant_scales *scales)
{
    if (scales)
        dti_free(scales->scale);
    dti_free(scales);
}

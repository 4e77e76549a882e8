/* SPDX-License-Identifier: MIT
 *
 * The loss of tiles, bit for bit as loss.c defines it. A thread processes one lane of a tile:
 * 128 of its 2048 elements, every 16th, 8 per group, whose sums it adds up. Then one thread per
 * tile folds the lanes by the fixed tree. */
#ifndef DEVICES_CUDA_CUDA_LOSS_H
#define DEVICES_CUDA_CUDA_LOSS_H

#include "devices/cuda/cuda_convert.h"
#include "devices/cuda/cuda_memory.h"

enum { DTI_LOSS_LANES_A_TILE = 16, DTI_LOSS_GROUP_OF_TILE = 128, DTI_LOSS_GROUPS_A_TILE = 16 };

#define DTI_INF_F64 UINT64_C(0x7ff0000000000000)

DTI_LANE double dti_loss_error(uint64_t x_bits, uint64_t y_bits)
{
    const double difference = dti_lane_f64(y_bits) - dti_lane_f64(x_bits);
    return difference < 0 ? -difference : difference + 0.0;
}

/* Counts the rarer outcomes than inexact: NaN, infinities, overflow, results that are zero or
 * subnormal. Returns whether the element has an error to measure. */
DTI_LANE bool dti_loss_count(const struct dti_gpu_loss_args *args, uint64_t x_bits, uint64_t y_bits,
                             uint64_t index, struct dti_gpu_loss_lane *lane)
{
    const uint64_t ax = x_bits & ~(UINT64_C(1) << 63), ay = y_bits & ~(UINT64_C(1) << 63);
    const double x = dti_lane_f64(ax), y = dti_lane_f64(ay);
    const bool minus = ax != x_bits;
    const bool nan_x = ax > DTI_INF_F64, inf_x = ax == DTI_INF_F64;
    const bool nan_y = ay > DTI_INF_F64, special_y = ay >= DTI_INF_F64;
    const bool special_x = nan_x || inf_x, without = special_x || special_y;
    const double from = minus ? args->overflow_from[1] : args->overflow_from[0];
    const double sure = minus ? args->overflow_sure[1] : args->overflow_sure[0];
    const bool no_code = (nan_x && args->nan_has_no_code != 0) ||
                         (minus && ax != 0 && !nan_x && nan_y && args->negative_has_no_code != 0);
    const bool equal_infinite = inf_x && x_bits == y_bits;
    lane->nan_in += nan_x;
    lane->inf_in += inf_x;
    if (!special_x && x >= from && !(x >= sure))
        lane->doubtful = 1;
    lane->overflowed += !special_x && (x >= sure || (special_y && !no_code));
    lane->inexact += without && !(nan_x && nan_y) && !equal_infinite;
    lane->no_code += no_code;
    if (no_code && index < lane->first_no_code)
        lane->first_no_code = index;
    if (without)
        return false;
    lane->to_zero += ax != 0 && ay == 0;
    lane->to_subnormal +=
        ay != 0 && y < args->dst_smallest_normal && ax != 0 && x >= args->src_smallest_normal;
    return true;
}

/* Updates everything except the sums; returns false if the element has no error to measure. */
DTI_LANE bool dti_loss_element(const struct dti_gpu_loss_args *args, uint64_t x_bits,
                               uint64_t y_bits, uint64_t index, double limit, double smallest,
                               struct dti_gpu_loss_lane *lane)
{
    const double size_x = dti_lane_f64(x_bits & ~(UINT64_C(1) << 63));
    const double size_y = dti_lane_f64(y_bits & ~(UINT64_C(1) << 63));
    const bool plain = size_x < limit && size_y >= smallest && size_y < dti_lane_f64(DTI_INF_F64);
    if (!plain && !dti_loss_count(args, x_bits, y_bits, index, lane))
        return false;
    const double x = dti_lane_f64(x_bits), y = dti_lane_f64(y_bits);
    const double error = dti_loss_error(x_bits, y_bits);
    lane->compared++;
    lane->inexact += y < x || y > x;
    if (error > lane->max_absolute) {
        lane->max_absolute = error;
        lane->max_index = index;
    }
    /* error > m |x| in exact arithmetic implies error >= RN(m |x|) */
    if (error > 0 && error >= lane->max_relative * size_x && size_x > 0) {
        const double relative = error / size_x;
        if (relative > lane->max_relative)
            lane->max_relative = relative;
    }
    return true;
}

/* Adds an element to the sums of a lane, unless it has no error to measure. */
DTI_LANE void dti_loss_add_wide(uint64_t x_bits, uint64_t y_bits, struct dti_gpu_loss_lane *lane)
{
    const double x = dti_lane_f64(x_bits), error = dti_loss_error(x_bits, y_bits);
    if ((x_bits & ~(UINT64_C(1) << 63)) >= DTI_INF_F64 ||
        (y_bits & ~(UINT64_C(1) << 63)) >= DTI_INF_F64)
        return;
    lane->absolute += error;
    lane->squared = dti_fma_f64(error, error, lane->squared);
    lane->source_squared = dti_fma_f64(x, x, lane->source_squared);
}

/* fp32 sums of a lane's elements within a group, and their largest magnitudes. */
struct dti_loss_single {
    float absolute, squared, source_squared, largest, largest_source;
};

/* For numbers that fp32 represents exactly. */
DTI_LANE void dti_loss_add_single(uint64_t x_bits, uint64_t y_bits, struct dti_loss_single *sum)
{
    const float x = (float)dti_lane_f64(x_bits), y = (float)dti_lane_f64(y_bits);
    const float difference = y - x, size = x < 0 ? -x : x;
    const float error = difference < 0 ? -difference : difference;
    sum->absolute += error;
    sum->squared = dti_fma_f32(error, error, sum->squared);
    sum->source_squared = dti_fma_f32(x, x, sum->source_squared);
    sum->largest = error > sum->largest ? error : sum->largest;
    sum->largest_source = size > sum->largest_source ? size : sum->largest_source;
}

DTI_LANE bool dti_loss_suits(float largest)
{
    return !(largest > 0) ||
           (largest >= 8.67361737988403547206e-19F && largest < 1152921504606846976.0F);
}

DTI_LANE struct dti_gpu_loss_lane dti_loss_lane_start(void)
{
    struct dti_gpu_loss_lane lane;
    lane.absolute = lane.squared = lane.source_squared = 0;
    lane.max_absolute = lane.max_relative = 0;
    lane.max_index = 0;
    lane.first_no_code = UINT64_MAX;
    lane.inexact = lane.overflowed = lane.to_zero = lane.to_subnormal = 0;
    lane.nan_in = lane.inf_in = lane.no_code = lane.compared = 0;
    lane.doubtful = lane.padding = 0;
    return lane;
}

/* Loads source and stored number of element i. wide: fp64, otherwise fp32. */
DTI_LANE void dti_loss_load(const struct dti_gpu_loss_args *args, bool wide, uint64_t i,
                            uint64_t *ret_x, uint64_t *ret_y)
{
    if (wide) {
        *ret_x = dti_load_aligned(args->x + 8 * i, 8);
        *ret_y = dti_load_aligned(args->y + 8 * i, 8);
    } else {
        *ret_x = dti_widen_fp32((uint32_t)dti_load_aligned(args->x + 4 * i, 4));
        *ret_y = dti_widen_fp32((uint32_t)dti_load_aligned(args->y + 4 * i, 4));
    }
}

/* Pending fp32 sums of 1, 2, 4 and 8 groups, each waiting for an equal number of groups; kept in
 * registers. */
struct dti_loss_waiting {
    float one, two, four, eight;
};

/* Adds the sums of groups, in order; *total gets the sum of all after the last one. */
DTI_LANE void dti_loss_fold_group(struct dti_loss_waiting *waiting, unsigned group, float sum,
                                  double *total)
{
    if (group % 2 == 0) {
        waiting->one = sum;
        return;
    }
    sum = waiting->one + sum;
    if (group % 4 == 1) {
        waiting->two = sum;
        return;
    }
    sum = waiting->two + sum;
    if (group % 8 == 3) {
        waiting->four = sum;
        return;
    }
    sum = waiting->four + sum;
    if (group == 7)
        waiting->eight = sum;
    else
        *total += waiting->eight + sum;
}

struct dti_loss_lane_groups {
    struct dti_loss_waiting absolute, squared, source_squared;
};

/* Processes every 16th element from `first` up to `end`, within group `group` of a tile. whole:
 * the group is complete. */
DTI_LANE void dti_run_loss_group(const struct dti_gpu_loss_args *args, bool wide, bool whole,
                                 uint64_t first, uint64_t end, double limit, double smallest,
                                 unsigned group, struct dti_loss_lane_groups *groups,
                                 struct dti_gpu_loss_lane *lane)
{
    const bool single = whole && !wide;
    struct dti_loss_single sum;
    uint64_t x, y;
    sum.absolute = sum.squared = sum.source_squared = sum.largest = sum.largest_source = 0;
    for (uint64_t i = first; i < end; i += DTI_LOSS_LANES_A_TILE) {
        dti_loss_load(args, wide, i, &x, &y);
        if (!dti_loss_element(args, x, y, args->index + i, limit, smallest, lane))
            continue;
        if (single)
            dti_loss_add_single(x, y, &sum);
        else
            dti_loss_add_wide(x, y, lane);
    }
    const bool suits = single && dti_loss_suits(sum.largest) && dti_loss_suits(sum.largest_source);
    for (uint64_t i = first; single && !suits && i < end; i += DTI_LOSS_LANES_A_TILE) {
        dti_loss_load(args, wide, i, &x, &y);
        dti_loss_add_wide(x, y, lane);
    }
    if (wide)
        return;
    dti_loss_fold_group(&groups->absolute, group, suits ? sum.absolute : 0, &lane->absolute);
    dti_loss_fold_group(&groups->squared, group, suits ? sum.squared : 0, &lane->squared);
    dti_loss_fold_group(&groups->source_squared, group, suits ? sum.source_squared : 0,
                        &lane->source_squared);
}

/* wide: a constant: fp64, otherwise fp32. */
DTI_LANE void dti_run_loss(const struct dti_gpu_loss_args *args, const struct dti_thread *thread,
                           bool wide)
{
    const uint64_t tiles = args->n / DTI_TILE + (args->n % DTI_TILE != 0);
    const double limit = args->overflow_from[0] < args->overflow_from[1] ? args->overflow_from[0]
                                                                         : args->overflow_from[1];
    const double smallest =
        args->dst_smallest_normal > 0 ? args->dst_smallest_normal : dti_lane_f64(UINT64_C(1) << 52);
    struct dti_gpu_loss_lane *const lanes = (struct dti_gpu_loss_lane *)(uintptr_t)args->lanes;
    for (uint64_t at = thread->index; at < tiles * DTI_LOSS_LANES_A_TILE; at += thread->count) {
        const uint64_t first = at / DTI_LOSS_LANES_A_TILE * DTI_TILE;
        const uint64_t end = args->n - first < DTI_TILE ? args->n : first + DTI_TILE;
        struct dti_gpu_loss_lane lane = dti_loss_lane_start();
        struct dti_loss_lane_groups groups = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
        for (unsigned j = 0; j < DTI_LOSS_GROUPS_A_TILE; j++) {
            const uint64_t group = first + j * DTI_LOSS_GROUP_OF_TILE;
            const bool whole = end >= group + DTI_LOSS_GROUP_OF_TILE;
            dti_run_loss_group(args, wide, whole, group + at % DTI_LOSS_LANES_A_TILE,
                               whole ? group + DTI_LOSS_GROUP_OF_TILE : end, limit, smallest, j,
                               &groups, &lane);
        }
        lanes[at] = lane;
    }
}

/* Merges `b`, a lane of other elements, into `a`. */
DTI_LANE void dti_loss_lane_merge(struct dti_gpu_loss_lane *a, const struct dti_gpu_loss_lane *b)
{
    a->absolute += b->absolute;
    a->squared += b->squared;
    a->source_squared += b->source_squared;
    if (b->max_absolute > a->max_absolute ||
        (b->max_absolute >= a->max_absolute && b->max_index < a->max_index)) {
        a->max_absolute = b->max_absolute;
        a->max_index = b->max_index;
    }
    if (b->max_relative > a->max_relative)
        a->max_relative = b->max_relative;
    if (b->first_no_code < a->first_no_code)
        a->first_no_code = b->first_no_code;
    a->inexact += b->inexact;
    a->overflowed += b->overflowed;
    a->to_zero += b->to_zero;
    a->to_subnormal += b->to_subnormal;
    a->nan_in += b->nan_in;
    a->inf_in += b->inf_in;
    a->no_code += b->no_code;
    a->compared += b->compared;
    a->doubtful |= b->doubtful;
}

/* Tree reduction: lane j adds lane j + 8 for j < 8, then j + 4 for j < 4, j + 2, j + 1. */
DTI_LANE void dti_run_loss_fold(const struct dti_gpu_loss_args *args,
                                const struct dti_thread *thread)
{
    const uint64_t count = args->n / DTI_TILE + (args->n % DTI_TILE != 0);
    struct dti_gpu_loss_lane *const lanes = (struct dti_gpu_loss_lane *)(uintptr_t)args->lanes;
    struct dti_gpu_loss_tile *const tiles = (struct dti_gpu_loss_tile *)(uintptr_t)args->tiles;
    for (uint64_t t = thread->index; t < count; t += thread->count) {
        struct dti_gpu_loss_lane *const own = lanes + t * DTI_LOSS_LANES_A_TILE;
        for (unsigned half = DTI_LOSS_LANES_A_TILE / 2; half > 0; half /= 2)
            for (unsigned j = 0; j < half; j++)
                dti_loss_lane_merge(&own[j], &own[j + half]);
        tiles[t].sum = own[0];
    }
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * The loss of tiles, bit for bit as loss.c defines it: a thread has a lane of a tile, that is 128
 * of its 2048 elements, every 16th; then one thread a tile folds the lanes by the fixed tree. */
#ifndef DTINFO_DEVICES_CUDA_LOSS_H
#define DTINFO_DEVICES_CUDA_LOSS_H

#include "devices/cuda/cuda_convert.h"
#include "devices/cuda/cuda_memory.h"

enum { DTI_LOSS_LANES_A_TILE = 16 };

#define DTI_INF_F64 UINT64_C(0x7ff0000000000000)

/* What cannot be less than inexact: where NaN, infinities, overflow, zeros or subnormals are.
 * Returns whether the element has an error at all. */
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

DTI_LANE void dti_loss_element(const struct dti_gpu_loss_args *args, uint64_t x_bits,
                               uint64_t y_bits, uint64_t index, double limit, double smallest,
                               struct dti_gpu_loss_lane *lane)
{
    const double size_x = dti_lane_f64(x_bits & ~(UINT64_C(1) << 63));
    const double size_y = dti_lane_f64(y_bits & ~(UINT64_C(1) << 63));
    const bool plain = size_x < limit && size_y >= smallest && size_y < dti_lane_f64(DTI_INF_F64);
    if (!plain && !dti_loss_count(args, x_bits, y_bits, index, lane))
        return;
    const double x = dti_lane_f64(x_bits), y = dti_lane_f64(y_bits), difference = y - x;
    const double error = difference < 0 ? -difference : difference + 0.0;
    lane->compared++;
    lane->inexact += y < x || y > x;
    lane->absolute += error;
    lane->squared = dti_fma_f64(error, error, lane->squared);
    lane->source_squared = dti_fma_f64(size_x, size_x, lane->source_squared);
    if (error > lane->max_absolute) {
        lane->max_absolute = error;
        lane->max_index = index;
    }
    /* error > m |x| in real numbers means error >= RN(m |x|) */
    if (error > 0 && error >= lane->max_relative * size_x && size_x > 0) {
        const double relative = error / size_x;
        if (relative > lane->max_relative)
            lane->max_relative = relative;
    }
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

/* wide: a constant, fp64 and not fp32. */
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
        for (uint64_t i = first + at % DTI_LOSS_LANES_A_TILE; i < end; i += DTI_LOSS_LANES_A_TILE) {
            uint64_t x, y;
            if (wide) {
                x = dti_load_aligned(args->x + 8 * i, 8);
                y = dti_load_aligned(args->y + 8 * i, 8);
            } else {
                x = dti_widen_fp32((uint32_t)dti_load_aligned(args->x + 4 * i, 4));
                y = dti_widen_fp32((uint32_t)dti_load_aligned(args->y + 4 * i, 4));
            }
            dti_loss_element(args, x, y, args->index + i, limit, smallest, &lane);
        }
        lanes[at] = lane;
    }
}

/* `a` takes `b`, which is of other elements. */
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

/* Lane j takes lane j + 8 for j < 8, j + 4 for j < 4, j + 2, j + 1. */
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

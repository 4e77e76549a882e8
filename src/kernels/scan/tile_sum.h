/* SPDX-License-Identifier: MIT
 *
 * The order of additions within a tile, the same for all levels: element i is added to lane i
 * mod 16, in order of i; then lane j adds lane j + 8 for j < 8, j + 4 for j < 4, j + 2, j + 1. */
#ifndef KERNELS_SCAN_TILE_SUM_H
#define KERNELS_SCAN_TILE_SUM_H

#include "kernels/fp64.h"

enum { DTI_TILE_LANES = 16 };

/* The sums of 2, 4 and 8 lanes. Without an array of them, which compilers would write in vectors
 * and read in parts, and wait for at each step. */
static inline double dti_tile_sum_two(const double *lane)
{
    return dti_fp64_add(lane[0], lane[8]);
}

static inline double dti_tile_sum_four(const double *lane)
{
    return dti_fp64_add(dti_tile_sum_two(lane), dti_tile_sum_two(lane + 4));
}

static inline double dti_tile_sum_eight(const double *lane)
{
    return dti_fp64_add(dti_tile_sum_four(lane), dti_tile_sum_four(lane + 2));
}

static inline double dti_tile_sum(const double lane[DTI_TILE_LANES])
{
    return dti_fp64_add(dti_tile_sum_eight(lane), dti_tile_sum_eight(lane + 1));
}

#endif

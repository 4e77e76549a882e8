/* SPDX-License-Identifier: MIT
 *
 * The order of additions within a tile, the same for all levels: element i is added to lane i
 * mod 16, in order of i; then lane j adds lane j + 8 for j < 8, j + 4 for j < 4, j + 2, j + 1. */
#ifndef KERNELS_SCAN_TILE_SUM_H
#define KERNELS_SCAN_TILE_SUM_H

#include <string.h>

#include "kernels/fp64.h"

enum { DTI_TILE_LANES = 16 };

static inline double dti_tile_sum(const double lane[DTI_TILE_LANES])
{
    double sum[DTI_TILE_LANES];
    memcpy(sum, lane, sizeof sum);
    for (unsigned half = DTI_TILE_LANES / 2; half > 0; half /= 2)
        for (unsigned i = 0; i < half; i++)
            sum[i] = dti_fp64_add(sum[i], sum[i + half]);
    return sum[0];
}

#endif

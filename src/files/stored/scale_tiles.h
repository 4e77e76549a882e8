/* SPDX-License-Identifier: MIT
 *
 * The order in which GPU matrix kernels have the scales of blocks, a byte each: tiles of 128 rows
 * by 4 columns, row by row, with the last tiles filled up with zeros. In a tile, four neighbours of
 * a row are adjacent, and the rows are in the order 0, 32, 64, 96, 1, 33 ... A stripe is 128 rows.
 * Source: NVIDIA, cuBLAS documentation, 1D block scaling factors layout. */
#ifndef FILES_STORED_SCALE_TILES_H
#define FILES_STORED_SCALE_TILES_H

#include <stdint.h>

#include "util/checked.h"

enum {
    DTI_TILE_ROWS = 128,
    DTI_TILE_COLUMNS = 4,
    DTI_TILE_BYTES = DTI_TILE_ROWS * DTI_TILE_COLUMNS,
};

/* Columns with the padding of the last tile. */
static inline uint64_t dti_tiled_columns(uint64_t columns)
{
    return dti_divide_up(columns, DTI_TILE_COLUMNS) * DTI_TILE_COLUMNS;
}

/* The offset of a scale from the start of its stripe. */
static inline uint64_t dti_tile_offset(uint64_t row_in_stripe, uint64_t column)
{
    return column / DTI_TILE_COLUMNS * DTI_TILE_BYTES + row_in_stripe % 32 * 16 +
           row_in_stripe / 32 * 4 + column % DTI_TILE_COLUMNS;
}

#endif

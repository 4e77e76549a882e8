/* SPDX-License-Identifier: MIT
 *
 * For each combination of digits that is no point of a grid of GGUF's IQ types: the points next to
 * it, which are those at the one, two or three smallest distances. Made from the grids at the first
 * use: 0.02 s and 0.6 MB for the largest. */
#ifndef KERNELS_GGUF_GGUF_NEAR_H
#define KERNELS_GGUF_GGUF_NEAR_H

#include <stdbool.h>
#include <stdint.h>

/* A combination of digits as a number: its 8 digits in base 3, or 4 in base 8; digit 0 lowest. */
enum {
    DTI_GGUF_NEAR_LANES = 8,      /* lists are filled up to a multiple, by their last point */
    DTI_GGUF_NEAR_LIST = 1 << 30, /* marks a place that is no index of a point */
};

struct dti_gguf_near {
    const uint16_t *points; /* as in gguf_grids.h */
    /* by combination: the index of the point that it is, or where its list is in `lists` */
    const uint32_t *places;
    const uint16_t *lists; /* each: the number of points, multiplied up; then the points */
};

enum dti_gguf_grid {
    DTI_GGUF_GRID_IQ2_XXS,
    DTI_GGUF_GRID_IQ2_XS,
    DTI_GGUF_GRID_IQ2_S,
    DTI_GGUF_GRID_IQ1,
    DTI_GGUF_GRID_IQ3_XXS,
    DTI_GGUF_GRID_IQ3_S,
    DTI_GGUF_GRID_COUNT
};

/* NULL: no memory. */
const struct dti_gguf_near *dti_gguf_near(enum dti_gguf_grid grid);

#endif

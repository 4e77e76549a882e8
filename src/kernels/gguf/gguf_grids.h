/* SPDX-License-Identifier: MIT
 *
 * The grid points of GGUF's IQ types, in ascending order. A point is a number whose digits
 * select the values of its elements, element 0 in the lowest digit: in base 4 for the 8 elements
 * of IQ1 and IQ2, in base 8 for the 4 elements of IQ3. */
#ifndef KERNELS_GGUF_GGUF_GRIDS_H
#define KERNELS_GGUF_GGUF_GRIDS_H

#include <stdint.h>

extern const uint16_t dti_gguf_grid_iq2_xxs[256], dti_gguf_grid_iq2_xs[512],
    dti_gguf_grid_iq2_s[1024], dti_gguf_grid_iq3_xxs[256], dti_gguf_grid_iq3_s[512],
    dti_gguf_grid_iq1_s[2048];

#endif

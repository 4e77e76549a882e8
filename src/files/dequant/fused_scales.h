/* SPDX-License-Identifier: MIT
 *
 * The scales of whole tensors that loaders fuse into one matrix, which has one such scale: whether
 * they differ, and by how much. */
#ifndef FILES_DEQUANT_FUSED_SCALES_H
#define FILES_DEQUANT_FUSED_SCALES_H

#include "files/dequant/dequant_parts.h"

/* A scale as it is stored: a finite number above 0. */
struct dti_fused_scale {
    bool divides; /* it is a divisor */
    float stored;
    size_t tensor; /* index in the container */
};
/* The tensor scale of nvfp4; false: it is another format, or has none. MLX stores another number,
 * and its loader fuses nothing. */
bool dti_fused_scale_of(const struct dti_dequant_found *found, struct dti_fused_scale *ret);

/* The scales of a matrix; largest: the index of the first that is the largest as a factor. */
struct dti_fused_scales {
    size_t largest;
    bool differ;
    double ratio; /* of the largest to the smallest */
};
/* count: 1 or more. */
struct dti_fused_scales dti_fused_scales_of(const struct dti_fused_scale *scales, size_t count);

/* Matrices with two or more scales. */
struct dti_fused_tally {
    uint64_t matrices, differing;
    double worst; /* the largest ratio; 1 if none differ */
};
void dti_fused_tally_add(struct dti_fused_tally *tally, const struct dti_fused_scales *scales);

#endif

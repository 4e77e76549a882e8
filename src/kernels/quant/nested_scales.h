/* SPDX-License-Identifier: MIT
 *
 * Scales that are quantized again, "double quantization": bitsandbytes' rule for the scales of nf4
 * and bnb_fp4, in fp32, each operation rounded to nearest even. 256 scales share a scale of their
 * own, after the offset has been taken off, which is the mean of all scales of a tensor:
 *
 *   d[i] = scale[i] - offset       S = the largest |d[i]|
 *   code[i]: how many of the 255 midpoints of neighbouring numbers of the map, rounded to fp32, lie
 *            below d[i] (1 / S); where 1 / S overflows, below d[i] / S; where S is 0 all are 0
 *   what comes back: map[code[i]] S + offset
 *
 * The map is that of dynamic 8-bit quantization (arXiv 1511.04561), as bitsandbytes'
 * create_dynamic_map() makes it: 127 numbers of either sign, 0 and 1, ascending.
 *
 * bitsandbytes 0.50 computes the offset in fp32, in an order of its own, so that its last bits may
 * differ. Given an equal offset, S and codes are those of its Python and CUDA code. Its CPU code
 * looks codes up in a table of 2^16 places, and may be off by some codes. */
#ifndef KERNELS_QUANT_NESTED_SCALES_H
#define KERNELS_QUANT_NESTED_SCALES_H

#include <stddef.h>

enum { DTI_NESTED_BLOCK = 256, DTI_NESTED_CODES = 256 };

void dti_nested_map(float ret[DTI_NESTED_CODES]);
/* n scales, at most DTI_NESTED_BLOCK, all finite; returns S. */
float dti_nested_quantize(const float *scales, size_t n, float offset, unsigned char *codes);
/* What one comes back as; number: of its code. */
static inline float dti_nested_back(float number, float scale, float offset)
{
    const float product = number * scale;
    return product + offset;
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * Quantized scales, "double quantization": bitsandbytes' rule for the scales of nf4 and bnb_fp4,
 * in fp32, with each operation rounded to nearest even. 256 scales share one scale of their own,
 * after an offset, the mean of all scales of the tensor, is subtracted:
 *
 *   d[i] = scale[i] - offset       S = the largest |d[i]|
 *   code[i]: the number of midpoints, out of the 255 between neighbouring numbers of the map,
 * rounded to fp32, that are below d[i] (1 / S); below d[i] / S if 1 / S overflows; 0 if S is 0
 *   dequantized: map[code[i]] S + offset
 *
 * The map is that of dynamic 8-bit quantization (arXiv 1511.04561), as made by bitsandbytes'
 * create_dynamic_map(): 127 numbers of each sign, 0 and 1, ascending.
 *
 * bitsandbytes 0.50 computes the offset in fp32 in its own order, so its last bits may differ.
 * Given the same offset, S and the codes equal those of its Python and CUDA code. Its CPU code
 * looks codes up in a table of 2^16 entries, and some codes may differ. */
#ifndef KERNELS_QUANT_NESTED_SCALES_H
#define KERNELS_QUANT_NESTED_SCALES_H

#include <stddef.h>

enum { DTI_NESTED_BLOCK = 256, DTI_NESTED_CODES = 256 };

void dti_nested_map(float ret[DTI_NESTED_CODES]);
/* n finite scales, at most DTI_NESTED_BLOCK; returns S. */
float dti_nested_quantize(const float *scales, size_t n, float offset, unsigned char *codes);
/* Dequantizes a scale; number: the map entry of its code. */
static inline float dti_nested_back(float number, float scale, float offset)
{
    const float product = number * scale;
    return product + offset;
}

#endif

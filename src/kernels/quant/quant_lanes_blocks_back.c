/* SPDX-License-Identifier: MIT
 *
 * Portable dequantization of block formats to fp32, for all formats and orders. Compiled once
 * per level. */
#include "kernels/quant/quant_lanes_blocks.h"

void DTI_LANES_NAME(dti_dequantize_blocks)(const struct dti_block_args *args, float *x,
                                           const void *codes, const void *scales, size_t n)
{
    const struct dti_block_shape shape = dti_block_shape(args);
    const float *const numbers = args->parts->numbers;
    const size_t at_once = DTI_PIECE / shape.length, length = shape.length;
    const unsigned char *code = codes, *scale = scales;
    unsigned char *const to = (unsigned char *)x;
    unsigned char bytes[DTI_PIECE];
    float y[DTI_PIECE], by[DTI_BLOCKS_AT_ONCE];
    for (size_t at = 0; at < n; at += at_once * length) {
        const size_t part = n - at < at_once * length ? n - at : at_once * length;
        const size_t blocks = (part + length - 1) / length;
        dti_block_scales_load(args, scale, blocks, by);
        dti_blocks_load(&shape, bytes, code, part);
        for (size_t b = 0; b < blocks; b++) {
            const size_t begin = b * length;
            const size_t end = begin + length < part ? begin + length : part;
            for (size_t i = begin; i < end; i++)
                y[i] = dti_lane_plain_nan(numbers[bytes[i]] * by[b]);
        }
        memcpy(to + 4 * at, y, 4 * part);
        code += blocks * shape.code_stride;
        scale += blocks * shape.scale_stride;
    }
}

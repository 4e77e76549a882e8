/* SPDX-License-Identifier: MIT
 *
 * Conversion of blocks between numbers, codes and bytes, for the portable kernels. */
#ifndef KERNELS_QUANT_QUANT_LANES_BLOCKS_H
#define KERNELS_QUANT_QUANT_LANES_BLOCKS_H

#include "kernels/kernels.h"
#include "kernels/quant/quant_lanes.h"

enum { DTI_BLOCKS_AT_ONCE = DTI_PIECE / 16 };

/* The layout of codes and scales in memory. */
struct dti_block_shape {
    size_t length, code_stride, scale_stride;
    unsigned bits, scale_bytes;
    enum dti_block_order order;
};

static inline struct dti_block_shape dti_block_shape(const struct dti_block_args *args)
{
    const struct dti_block_format *const format = args->recipe->format;
    const unsigned bits = dti_format_get(format->code)->width;
    return (struct dti_block_shape){.length = format->length,
                                    .code_stride = args->code_stride,
                                    .scale_stride = args->scale_stride,
                                    .bits = bits,
                                    .scale_bytes = dti_format_get(format->scale)->width / 8u,
                                    .order = bits == 8 ? DTI_BLOCK_BYTES : args->order};
}

/* Packs n elements, one per byte, block by block, into their final layout. */
static inline void dti_blocks_save(const struct dti_block_shape *shape, unsigned char *to,
                                   const unsigned char *codes, size_t n)
{
    const struct dti_kernel_args pack = {.bits = shape->bits,
                                         .high_first = shape->order == DTI_BLOCK_HIGH};
    const size_t length = shape->length;
    for (size_t at = 0; at < n; at += length, to += shape->code_stride) {
        const size_t part = n - at < length ? n - at : length;
        const unsigned char *const from = codes + at;
        if (shape->order == DTI_BLOCK_BYTES) {
            memcpy(to, from, part);
        } else {
            dti_pack_scalar(&pack, to, from, part);
        }
    }
}

static inline void dti_blocks_load(const struct dti_block_shape *shape, unsigned char *codes,
                                   const unsigned char *from, size_t n)
{
    const struct dti_kernel_args unpack = {.bits = shape->bits,
                                           .high_first = shape->order == DTI_BLOCK_HIGH};
    const size_t length = shape->length;
    for (size_t at = 0; at < n; at += length, from += shape->code_stride) {
        const size_t part = n - at < length ? n - at : length;
        unsigned char *const to = codes + at;
        if (shape->order == DTI_BLOCK_BYTES) {
            memcpy(to, from, part);
        } else {
            dti_unpack_scalar(&unpack, to, from, part);
        }
    }
}

#endif

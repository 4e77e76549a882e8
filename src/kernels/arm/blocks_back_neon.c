/* SPDX-License-Identifier: MIT
 *
 * Blocks -> fp32 with Advanced SIMD: the value of a code times the block's scale. 4-bit codes are
 * looked up in a table of 16 numbers, whatever the format, one byte of them at a time. Blocks with
 * a scale or a code that is not finite go to the portable kernel. */
#include <float.h>

#include "kernels/arm/back_neon.h"
#include "kernels/quant/quant_kernels.h"

enum { AT_ONCE = 64 }; /* blocks */

/* Byte i of each of the 16 numbers. */
struct numbers_neon {
    uint8x16_t byte[4];
};

DTI_INLINE struct numbers_neon numbers_init(const float from[16])
{
    const uint8x16x4_t v = vld4q_u8((const unsigned char *)from);
    return (struct numbers_neon){{v.val[0], v.val[1], v.val[2], v.val[3]}};
}

DTI_INLINE void store_chosen(unsigned char *x, const struct numbers_neon *numbers, uint8x16_t code,
                             float32x4_t by)
{
    const uint8x16_t a = vqtbl1q_u8(numbers->byte[0], code);
    const uint8x16_t b = vqtbl1q_u8(numbers->byte[1], code);
    const uint8x16_t c = vqtbl1q_u8(numbers->byte[2], code);
    const uint8x16_t d = vqtbl1q_u8(numbers->byte[3], code);
    const uint16x8_t low[2] = {vreinterpretq_u16_u8(vzip1q_u8(a, b)),
                               vreinterpretq_u16_u8(vzip2q_u8(a, b))};
    const uint16x8_t high[2] = {vreinterpretq_u16_u8(vzip1q_u8(c, d)),
                                vreinterpretq_u16_u8(vzip2q_u8(c, d))};
    for (unsigned i = 0; i < 2; i++) {
        const float32x4_t y = vreinterpretq_f32_u16(vzip1q_u16(low[i], high[i]));
        const float32x4_t z = vreinterpretq_f32_u16(vzip2q_u16(low[i], high[i]));
        neon_store_f32(x + 2 * NEON_BYTES * i, vmulq_f32(y, by));
        neon_store_f32(x + 2 * NEON_BYTES * i + NEON_BYTES, vmulq_f32(z, by));
    }
}

/* 16 codes, which are a byte each or 8 packed bytes. */
DTI_INLINE uint8x16_t codes_of(const unsigned char *codes, size_t at, enum dti_block_order order)
{
    if (order == DTI_BLOCK_BYTES)
        return vandq_u8(vld1q_u8(codes + at), vdupq_n_u8(15));
    const uint8x8_t bytes = vld1_u8(codes + at / 2);
    const uint8x16_t low = vcombine_u8(vand_u8(bytes, vdup_n_u8(15)), vdup_n_u8(0));
    const uint8x16_t high = vcombine_u8(vshr_n_u8(bytes, 4), vdup_n_u8(0));
    return order == DTI_BLOCK_LOW ? vzip1q_u8(low, high) : vzip1q_u8(high, low);
}

/* The way to the numbers of a block, all constant after inlining but the table. */
struct blocks_way_neon {
    const struct numbers_neon *numbers; /* NULL: codes are elements of 8 bits */
    enum dti_block_order order;
    enum neon_element element;
    float times; /* what scales are multiplied by first */
};

/* One block. False if a code is NaN. */
DTI_INLINE bool put_block(const struct blocks_way_neon *way, unsigned char *x,
                          const unsigned char *codes, float scale, size_t length)
{
    const float32x4_t by = vdupq_n_f32(scale);
    if (!way->numbers && neon_has_nan(codes, way->element))
        return false;
    for (size_t at = 0; at < length; at += NEON_STEP) {
        if (way->numbers)
            store_chosen(x + 4 * at, way->numbers, codes_of(codes, at, way->order), by);
        else
            neon_store_bytes(x + 4 * at, vld1q_u8(codes + at), by, way->element);
    }
    return true;
}

DTI_INLINE void go_back(const struct dti_block_args *args, const struct blocks_way_neon *way,
                        unsigned char *x, const unsigned char *codes, const unsigned char *scales,
                        size_t n)
{
    const size_t length = args->recipe->format->length;
    float by[AT_ONCE];
    while (n > 0) {
        const size_t whole = n / length, count = whole < AT_ONCE ? whole : AT_ONCE;
        dti_block_scales_load(args, scales, count, by);
        for (size_t i = 0; i < count; i++) {
            const float scale = by[i] * way->times;
            if (!(fabsf(scale) <= FLT_MAX) || !put_block(way, x, codes, scale, length))
                dti_dequantize_blocks_scalar(args, (float *)(void *)x, codes, scales, length);
            x += 4 * length;
            codes += args->code_stride;
            scales += args->scale_stride;
        }
        n -= count * length;
        if (whole > count)
            continue;
        if (n > 0)
            dti_dequantize_blocks_scalar(args, (float *)(void *)x, codes, scales, n);
        break;
    }
}

#define GO(...)                                                    \
    do {                                                           \
        const struct blocks_way_neon way = {__VA_ARGS__};          \
        go_back(args, &way, (unsigned char *)x, codes, scales, n); \
    } while (0)

void dti_dequantize_nibbles_neon(const struct dti_block_args *args, float *x, const void *codes,
                                 const void *scales, size_t n)
{
    const struct numbers_neon numbers = numbers_init(args->parts->numbers);
    if (args->order == DTI_BLOCK_BYTES)
        GO(&numbers, DTI_BLOCK_BYTES, NEON_INTEGER, 1);
    else if (args->order == DTI_BLOCK_LOW)
        GO(&numbers, DTI_BLOCK_LOW, NEON_INTEGER, 1);
    else
        GO(&numbers, DTI_BLOCK_HIGH, NEON_INTEGER, 1);
}

#define BYTES(name, element, times)                                                    \
    void dti_dequantize_##name##_neon(const struct dti_block_args *args, float *x,     \
                                      const void *codes, const void *scales, size_t n) \
    {                                                                                  \
        GO(NULL, DTI_BLOCK_BYTES, element, times);                                     \
    }
BYTES(mxfp8_e4m3, NEON_E4M3, 256)
BYTES(mxfp8_e5m2, NEON_E5M2, 1)
BYTES(mxint8, NEON_INTEGER, 1.0F / 64)
BYTES(q8_0, NEON_INTEGER, 1)

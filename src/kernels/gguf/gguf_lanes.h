/* SPDX-License-Identifier: MIT
 *
 * Decodes a GGUF block in two steps: first the codes are unpacked to 8-bit integers and the
 * scales to fp32; then they are multiplied. Compilers vectorize both loops: the first works on
 * bytes, the second is the same for all types. */
#ifndef KERNELS_GGUF_GGUF_LANES_H
#define KERNELS_GGUF_GGUF_LANES_H

#include <string.h>

#include "kernels/gguf/gguf_kernel.h"
#include "kernels/lanes.h"

/* Placed before loops of at most 16 iterations, which gcc would unroll before it tries to
 * vectorize. */
#if defined(__GNUC__) && !defined(__clang__)
#define GGUF_VECTOR _Pragma("GCC unroll 1")
#else
#define GGUF_VECTOR
#endif

/* Aligned for the widest vectors: gcc 12 uses aligned loads here but does not ensure that the
 * struct is aligned. */
struct gguf_block {
    _Alignas(64) signed char code[DTI_GGUF_BLOCK_MAX];
    _Alignas(64) float scale[16], minimum[16]; /* one per group */
    float tensor_scale;
};

DTI_LANE uint32_t gguf_u16(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8;
}

DTI_LANE uint32_t gguf_u32(const unsigned char *at)
{
    return gguf_u16(at) | gguf_u16(at + 2) << 16;
}

DTI_LANE float gguf_f32(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* Converts fp16 bits. Subnormals: inserts the bits after the leading one of 2^-14, then
 * subtracts that one. */
DTI_LANE float gguf_half_of(uint32_t bits)
{
#ifdef GGUF_HALF_OF
    return GGUF_HALF_OF(bits); /* the level's own instruction */
#else
    const uint32_t sign = (bits & 0x8000) << 16, magnitude = (bits & 0x7fff) << 13;
    const uint32_t normal = magnitude + (UINT32_C(112) << 23);
    const float small = gguf_f32(magnitude + (UINT32_C(113) << 23)) - gguf_f32(UINT32_C(113) << 23);
    uint32_t small_bits;
    memcpy(&small_bits, &small, sizeof small_bits);
    const uint32_t finite = magnitude < UINT32_C(1) << 23 ? small_bits : normal;
    const uint32_t special = magnitude | UINT32_C(0x7f800000);
    return gguf_f32(sign | (magnitude >= UINT32_C(31) << 23 ? special : finite));
#endif
}

DTI_LANE float gguf_half(const unsigned char *at)
{
    return gguf_half_of(gguf_u16(at));
}

/* Unpacks 2n 4-bit codes and subtracts `less`: n low nibbles, then the high ones. */
DTI_LANE void gguf_nibbles(signed char *restrict to, const unsigned char *restrict from, unsigned n,
                           int less)
{
    GGUF_VECTOR
    for (unsigned i = 0; i < n; i++) {
        to[i] = (signed char)((from[i] & 15) - less);
        to[n + i] = (signed char)((from[i] >> 4) - less);
    }
}

/* Unpacks 4n 2-bit codes and subtracts `less`: the lowest two bits of n bytes first, and so on. */
DTI_LANE void gguf_pairs(signed char *restrict to, const unsigned char *restrict from, unsigned n,
                         int less)
{
    for (unsigned k = 0; k < 4; k++)
        for (unsigned i = 0; i < n; i++)
            to[k * n + i] = (signed char)((from[i] >> (2 * k) & 3) - less);
}

/* Everything but the pointers is a constant after inlining. Vectors have at most 16 numbers:
 * larger loads of codes would stall on the smaller stores of gguf_nibbles(). */
DTI_LANE void gguf_multiply(float *restrict x, const struct gguf_block *restrict block,
                            unsigned elements, unsigned group, float unit, bool minima)
{
    for (unsigned g = 0; g < elements / group; g++) {
        const float scale = block->scale[g], minimum = block->minimum[g];
        for (unsigned at = g * group; at < (g + 1) * group; at += 16) {
            float y[16]; /* a buffer, because x may have any alignment, as in all kernels */
            GGUF_VECTOR
            for (unsigned i = 0; i < 16; i++) {
                const float product = (float)block->code[at + i] * unit * scale;
                y[i] = minima ? product - minimum : product;
            }
            memcpy((unsigned char *)x + (size_t)4 * at, y, sizeof y);
        }
    }
}

#endif

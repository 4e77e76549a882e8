/* SPDX-License-Identifier: MIT
 *
 * GGUF blocks with one scale, or one for every few codes, stored before the codes. */
#ifndef KERNELS_GGUF_GGUF_LANES_SMALL_H
#define KERNELS_GGUF_GGUF_LANES_SMALL_H

#include "kernels/gguf/gguf_lanes.h"

DTI_LANE void q1_0(struct gguf_block *to, const unsigned char *p)
{
    to->scale[0] = gguf_half(p);
    for (size_t k = 0; k < 4; k++) {
        const uint32_t bits = gguf_u32(p + 2 + 4 * k);
        for (unsigned i = 0; i < 32; i++)
            to->code[32 * k + i] = (signed char)(2 * (int)(bits >> i & 1) - 1);
    }
}

DTI_LANE void q2_0(struct gguf_block *to, const unsigned char *p)
{
    to->scale[0] = gguf_half(p);
    for (size_t k = 0; k < 4; k++) {
        const uint32_t bits = gguf_u32(p + 2 + 4 * k);
        GGUF_VECTOR
        for (unsigned i = 0; i < 16; i++)
            to->code[16 * k + i] = (signed char)((int)(bits >> (2 * i) & 3) - 1);
    }
}

DTI_LANE void q4_0(struct gguf_block *to, const unsigned char *p)
{
    to->scale[0] = gguf_half(p);
    gguf_nibbles(to->code, p + 2, 16, 8);
}

DTI_LANE void q4_1(struct gguf_block *to, const unsigned char *p)
{
    to->scale[0] = gguf_half(p);
    to->minimum[0] = -gguf_half(p + 2);
    gguf_nibbles(to->code, p + 4, 16, 0);
}

/* 32 4-bit codes, with the fifth bits in 4 bytes. */
DTI_LANE void five_bits(signed char *to, const unsigned char *high, const unsigned char *low,
                        int less)
{
    const uint32_t bits = gguf_u32(high);
    gguf_nibbles(to, low, 16, less);
    for (unsigned at = 0; at < 32; at += 16) {
        GGUF_VECTOR
        for (unsigned i = at; i < at + 16; i++)
            to[i] = (signed char)(to[i] + ((int)(bits >> i & 1) << 4));
    }
}

DTI_LANE void q5_0(struct gguf_block *to, const unsigned char *p)
{
    to->scale[0] = gguf_half(p);
    five_bits(to->code, p + 2, p + 6, 16);
}

DTI_LANE void q5_1(struct gguf_block *to, const unsigned char *p)
{
    to->scale[0] = gguf_half(p);
    to->minimum[0] = -gguf_half(p + 2);
    five_bits(to->code, p + 4, p + 8, 0);
}

DTI_LANE void q8_0(struct gguf_block *to, const unsigned char *p)
{
    to->scale[0] = gguf_half(p);
    memcpy(to->code, p + 2, 32);
}

/* The scale is followed by the sum of the numbers, which products use. */
DTI_LANE void q8_1(struct gguf_block *to, const unsigned char *p)
{
    to->scale[0] = gguf_half(p);
    memcpy(to->code, p + 4, 32);
}

/* The scale is fp32, and sums follow the codes. */
DTI_LANE void q8_k(struct gguf_block *to, const unsigned char *p)
{
    to->scale[0] = gguf_f32(gguf_u32(p));
    memcpy(to->code, p + 4, 256);
}

/* Decodes values by arithmetic: compilers turn selections into branches and do not vectorize
 * them. */

/* Doubled fp4_e2m1 values, 0 1 2 3 4 6 8 12; there is no -0. */
DTI_LANE void twice_e2m1(signed char *codes, unsigned n)
{
    for (unsigned at = 0; at < n; at += 16) {
        GGUF_VECTOR
        for (unsigned i = at; i < at + 16; i++) {
            const signed char size = codes[i] & 7, minus = (signed char)-(codes[i] >> 3);
            const signed char more = (signed char)((size - 4) & -(size > 4));
            const signed char number = (signed char)(size + more + (-(size > 6) & 2));
            codes[i] = (signed char)((number ^ minus) - minus);
        }
    }
}

/* 2^(e - 128), half of what the scale means elsewhere; 255 is not NaN. */
DTI_LANE float mxfp4_scale(uint32_t e)
{
    return gguf_f32(e < 2 ? UINT32_C(0x200000) << e : (e - 1) << 23);
}

DTI_LANE void mxfp4(struct gguf_block *to, const unsigned char *p)
{
    to->scale[0] = mxfp4_scale(p[0]);
    gguf_nibbles(to->code, p + 1, 16, 0);
    twice_e2m1(to->code, 32);
}

/* fp8_e4m3 without a sign; its NaN gives 0, but 480 with the sign bit set. */
DTI_LANE float nvfp4_scale(uint32_t byte)
{
    const uint32_t magnitude = byte & 0x7f;
    const float small = (float)magnitude * 0.001953125F; /* 2^-9 */
    const float normal = gguf_f32((magnitude << 20) + (UINT32_C(120) << 23));
    return byte == 0x7f ? 0 : magnitude < 8 ? small : normal;
}

DTI_LANE void nvfp4(struct gguf_block *to, const unsigned char *p)
{
    for (unsigned g = 0; g < 4; g++) {
        to->scale[g] = nvfp4_scale(p[g]) * to->tensor_scale;
        gguf_nibbles(to->code + 16 * (size_t)g, p + 4 + 8 * (size_t)g, 8, 0);
    }
    twice_e2m1(to->code, 64);
}

/* Non-linear values, each as the step from the previous one. */
DTI_LANE void nonlinear(signed char *codes, unsigned n)
{
#define STEP(from, by) number = (signed char)(number + (-(code > (from)) & (by)))
    for (unsigned at = 0; at < n; at += 16) {
        GGUF_VECTOR
        for (unsigned i = at; i < at + 16; i++) {
            const signed char code = codes[i];
            signed char number = -127;
            STEP(0, 23), STEP(1, 21), STEP(2, 18), STEP(3, 16), STEP(4, 14);
            STEP(5, 13), STEP(6, 12), STEP(7, 11), STEP(8, 12), STEP(9, 12);
            STEP(10, 13), STEP(11, 15), STEP(12, 16), STEP(13, 20), STEP(14, 24);
            codes[i] = number;
        }
    }
#undef STEP
}

DTI_LANE void iq4_nl(struct gguf_block *to, const unsigned char *p)
{
    to->scale[0] = gguf_half(p);
    gguf_nibbles(to->code, p + 2, 16, 0);
    nonlinear(to->code, 32);
}

/* 6-bit scales: 4 bits in nibbles, 2 bits in a 16-bit word. */
DTI_LANE void iq4_xs_scales(struct gguf_block *to, const unsigned char *p)
{
    const float d = gguf_half(p);
    const uint32_t high = gguf_u16(p + 2);
    for (unsigned g = 0; g < 8; g++) {
        const uint32_t scale = (p[4 + g / 2] >> (g % 2 * 4) & 15) | (high >> (2 * g) & 3) << 4;
        to->scale[g] = d * (float)((int)scale - 32);
    }
}

DTI_LANE void iq4_xs(struct gguf_block *to, const unsigned char *p)
{
    iq4_xs_scales(to, p);
    for (size_t g = 0; g < 8; g++)
        gguf_nibbles(to->code + 32 * g, p + 8 + 16 * g, 16, 0);
    nonlinear(to->code, 256);
}

#endif

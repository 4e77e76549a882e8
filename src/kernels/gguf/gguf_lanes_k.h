/* SPDX-License-Identifier: MIT
 *
 * GGUF blocks of 256 codes whose scales are themselves scaled, and the ternary types. */
#ifndef KERNELS_GGUF_GGUF_LANES_K_H
#define KERNELS_GGUF_GGUF_LANES_K_H

#include "kernels/gguf/gguf_lanes_small.h"

DTI_LANE void q2_k(struct gguf_block *to, const unsigned char *p)
{
    const float d = gguf_half(p + 80), least = gguf_half(p + 82);
    for (unsigned g = 0; g < 16; g++) {
        to->scale[g] = d * (float)(p[g] & 15);
        to->minimum[g] = least * (float)(p[g] >> 4);
    }
    gguf_pairs(to->code, p + 16, 32, 0);
    gguf_pairs(to->code + 128, p + 48, 32, 0);
}

/* The scales have their low 4 bits in the first 8 bytes and their high 2 bits in the next 4. */
DTI_LANE void q3_k(struct gguf_block *to, const unsigned char *p)
{
    const unsigned char *const low = p + 96, *const high = p + 104;
    const float d = gguf_half(p + 108);
    for (unsigned g = 0; g < 16; g++) {
        const int scale = (low[g % 8] >> (g / 8 * 4) & 15) | (high[g % 4] >> (g / 4 * 2) & 3) << 4;
        to->scale[g] = d * (float)(scale - 32);
    }
    gguf_pairs(to->code, p + 32, 32, 0);
    gguf_pairs(to->code + 128, p + 64, 32, 0);
    for (unsigned k = 0; k < 8; k++)
        for (unsigned i = 0; i < 32; i++)
            to->code[32 * k + i] = (signed char)((to->code[32 * k + i] | (p[i] >> k & 1) << 2) - 4);
}

/* Eight 6-bit scales and minima in 12 bytes: the first four are in the low 6 bits of bytes; of
 * the others, 4 bits are in the last bytes and 2 bits in the high bits of the bytes before. */
DTI_LANE void six_bits(struct gguf_block *to, const unsigned char *b, float d, float least)
{
    for (unsigned g = 0; g < 4; g++) {
        const int scale = (b[g + 8] & 15) | b[g] >> 6 << 4;
        const int minimum = b[g + 8] >> 4 | b[g + 4] >> 6 << 4;
        to->scale[g] = d * (float)(b[g] & 63);
        to->minimum[g] = least * (float)(b[g + 4] & 63);
        to->scale[g + 4] = d * (float)scale;
        to->minimum[g + 4] = least * (float)minimum;
    }
}

DTI_LANE void q4_k(struct gguf_block *to, const unsigned char *p)
{
    six_bits(to, p + 4, gguf_half(p), gguf_half(p + 2));
    for (size_t k = 0; k < 4; k++)
        gguf_nibbles(to->code + 64 * k, p + 16 + 32 * k, 32, 0);
}

DTI_LANE void q5_k(struct gguf_block *to, const unsigned char *p)
{
    six_bits(to, p + 4, gguf_half(p), gguf_half(p + 2));
    for (size_t k = 0; k < 4; k++)
        gguf_nibbles(to->code + 64 * k, p + 48 + 32 * k, 32, 0);
    for (unsigned k = 0; k < 8; k++)
        for (unsigned i = 0; i < 32; i++)
            to->code[32 * k + i] = (signed char)(to->code[32 * k + i] | (p[16 + i] >> k & 1) << 4);
}

DTI_LANE void q6_k(struct gguf_block *to, const unsigned char *p)
{
    const float d = gguf_half(p + 208);
    for (unsigned g = 0; g < 16; g++)
        to->scale[g] = d * (float)(signed char)p[192 + g];
    for (size_t n = 0; n < 2; n++) {
        signed char *const code = to->code + 128 * n;
        const unsigned char *const low = p + 64 * n, *const high = p + 128 + 32 * n;
        gguf_nibbles(code, low, 64, 0);
        for (unsigned k = 0; k < 4; k++)
            for (unsigned i = 0; i < 32; i++)
                code[32 * k + i] =
                    (signed char)((code[32 * k + i] | (high[i] >> (2 * k) & 3) << 4) - 32);
    }
}

/* Five base-3 digits per byte, as a fraction in 256ths: multiplying by 3 moves the next digit to
 * the top. */
DTI_LANE void ternary(signed char *restrict to, const unsigned char *restrict from, unsigned n,
                      unsigned digits)
{
    unsigned power = 1;
    for (unsigned k = 0; k < digits; k++, power *= 3)
        for (unsigned i = 0; i < n; i++) {
            const unsigned fraction = from[i] * power & 255;
            to[k * n + i] = (signed char)((int)(fraction * 3 >> 8) - 1);
        }
}

DTI_LANE void tq1_0(struct gguf_block *to, const unsigned char *p)
{
    to->scale[0] = gguf_half(p + 52);
    ternary(to->code, p, 32, 5);
    ternary(to->code + 160, p + 32, 16, 5);
    ternary(to->code + 240, p + 48, 4, 4);
}

DTI_LANE void tq2_0(struct gguf_block *to, const unsigned char *p)
{
    to->scale[0] = gguf_half(p + 64);
    gguf_pairs(to->code, p, 32, 1);
    gguf_pairs(to->code + 128, p + 32, 32, 1);
}

#endif

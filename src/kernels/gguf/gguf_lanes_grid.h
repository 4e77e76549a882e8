/* SPDX-License-Identifier: MIT
 *
 * GGUF blocks whose codes are grid points: each gives several numbers, whose signs are stored
 * separately. Bit i of a sign byte belongs to element i; if only 7 bits are stored, the eighth
 * gives even parity. */
#ifndef KERNELS_GGUF_GGUF_LANES_GRID_H
#define KERNELS_GGUF_GGUF_LANES_GRID_H

#include "kernels/gguf/gguf_grids.h"
#include "kernels/gguf/gguf_lanes.h"

DTI_LANE uint32_t even_signs(uint32_t seven)
{
    uint32_t parity = seven ^ seven >> 4;
    parity ^= parity >> 2;
    parity ^= parity >> 1;
    return seven | (parity & 1) << 7;
}

/* Eight bytes at once, that of element 0 lowest. No carry leaves its byte. */
#define BYTES_OF(x) (UINT64_C(0x0101010101010101) * (x))

DTI_LANE void put_bytes(signed char *to, uint64_t bytes, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        to[i] = (signed char)(unsigned char)(bytes >> (8 * i));
}

/* A byte for each of 8 digits in base 4, or 4 in base 8. */
DTI_LANE uint64_t digits_of_eight(uint64_t point)
{
    const uint64_t four = (point | point << 24) & UINT64_C(0x000000ff000000ff);
    const uint64_t two = (four | four << 12) & UINT64_C(0x000f000f000f000f);
    return (two | two << 6) & BYTES_OF(3);
}

DTI_LANE uint64_t digits_of_four(uint64_t point)
{
    const uint64_t two = (point | point << 10) & 0x003f003f;
    return (two | two << 5) & 0x07070707;
}

/* Numbers from 1 to 127, negated where signs has a bit. */
DTI_LANE uint64_t signed_bytes(uint64_t numbers, uint32_t signs)
{
    const uint64_t bits = BYTES_OF(signs & 255) & UINT64_C(0x8040201008040201);
    const uint64_t ones = (bits + BYTES_OF(0x7f)) >> 7 & BYTES_OF(1);
    return (numbers ^ 255 * ones) + ones;
}

/* Values 8, 25 and 43. */
DTI_LANE void eight_of_iq2(signed char *to, uint32_t point, uint32_t signs)
{
    const uint64_t digits = digits_of_eight(point), twos = digits >> 1 & BYTES_OF(1);
    put_bytes(to, signed_bytes(BYTES_OF(8) + 17 * digits + twos, signs), 8);
}

/* Values 4, 12 ... 52, but 62 instead of 60. */
DTI_LANE void four_of_iq3_xxs(signed char *to, uint32_t point, uint32_t signs)
{
    const uint64_t digits = digits_of_four(point),
                   sevens = (digits + BYTES_OF(1)) >> 3 & BYTES_OF(1);
    put_bytes(to, signed_bytes(BYTES_OF(4) + 8 * digits + 2 * sevens, signs), 4);
}

/* Values 1, 3 ... 15. */
DTI_LANE void four_of_iq3_s(signed char *to, uint32_t point, uint32_t signs)
{
    put_bytes(to, signed_bytes(BYTES_OF(1) + 2 * digits_of_four(point), signs), 4);
}

/* Values -1, 0 and 1, plus or minus one eighth; in eighths: from 7 or 9 to 25, minus 16. */
DTI_LANE void eight_of_iq1(signed char *to, uint32_t point, bool less)
{
    const uint64_t more = 8 * digits_of_eight(point) + BYTES_OF(less ? 7 : 9);
    put_bytes(to, ((more | BYTES_OF(0x80)) - BYTES_OF(16)) ^ BYTES_OF(0x80), 8);
}

/* A 4-bit scale: d / 4 times (scale + 1/2). */
DTI_LANE float quarter_scale(float d, uint32_t scale)
{
    return d * (0.5F + (float)scale) * 0.25F;
}

DTI_LANE void iq2_xxs(struct gguf_block *to, const unsigned char *p)
{
    const float d = gguf_half(p);
    for (size_t g = 0; g < 8; g++) {
        const unsigned char *const indices = p + 2 + 8 * g;
        const uint32_t word = gguf_u32(indices + 4);
        to->scale[g] = quarter_scale(d, word >> 28);
        for (unsigned k = 0; k < 4; k++)
            eight_of_iq2(to->code + 32 * g + 8 * (size_t)k, dti_gguf_grid_iq2_xxs[indices[k]],
                         even_signs(word >> (7 * k) & 127));
    }
}

DTI_LANE void iq2_xs(struct gguf_block *to, const unsigned char *p)
{
    const float d = gguf_half(p);
    for (unsigned g = 0; g < 16; g++)
        to->scale[g] = quarter_scale(d, p[66 + g / 2] >> (g % 2 * 4) & 15u);
    for (size_t k = 0; k < 32; k++) {
        const uint32_t word = gguf_u16(p + 2 + 2 * k);
        eight_of_iq2(to->code + 8 * k, dti_gguf_grid_iq2_xs[word & 511], even_signs(word >> 9));
    }
}

DTI_LANE void iq2_s(struct gguf_block *to, const unsigned char *p)
{
    const float d = gguf_half(p);
    for (unsigned g = 0; g < 16; g++)
        to->scale[g] = quarter_scale(d, p[74 + g / 2] >> (g % 2 * 4) & 15u);
    for (size_t k = 0; k < 32; k++) {
        const uint32_t high = p[66 + k / 4] >> (k % 4 * 2) & 3u;
        eight_of_iq2(to->code + 8 * k, dti_gguf_grid_iq2_s[p[2 + k] | high << 8], p[34 + k]);
    }
}

DTI_LANE void iq3_xxs(struct gguf_block *to, const unsigned char *p)
{
    const float d = gguf_half(p);
    for (size_t g = 0; g < 8; g++) {
        const uint32_t word = gguf_u32(p + 66 + 4 * g);
        to->scale[g] = d * (0.5F + (float)(word >> 28)) * 0.5F;
        for (unsigned k = 0; k < 8; k++) {
            const uint32_t signs = even_signs(word >> (k / 2 * 7) & 127);
            four_of_iq3_xxs(to->code + 32 * g + 4 * (size_t)k,
                            dti_gguf_grid_iq3_xxs[p[2 + 8 * g + k]], signs >> (k % 2 * 4));
        }
    }
}

DTI_LANE void iq3_s(struct gguf_block *to, const unsigned char *p)
{
    const float d = gguf_half(p);
    for (unsigned g = 0; g < 8; g++)
        to->scale[g] = d * (float)(1 + 2 * (p[106 + g / 2] >> (g % 2 * 4) & 15));
    for (size_t k = 0; k < 64; k++) {
        const uint32_t high = p[66 + k / 8] >> (k % 8) & 1u;
        four_of_iq3_s(to->code + 4 * k, dti_gguf_grid_iq3_s[p[2 + k] | high << 8],
                      (uint32_t)p[74 + k / 2] >> (k % 2 * 4));
    }
}

DTI_LANE void iq1_s(struct gguf_block *to, const unsigned char *p)
{
    const float d = gguf_half(p);
    for (size_t g = 0; g < 8; g++) {
        const uint32_t word = gguf_u16(p + 34 + 2 * g);
        to->scale[g] = d * (float)(2 * (word >> 12 & 7) + 1);
        for (unsigned k = 0; k < 4; k++)
            eight_of_iq1(to->code + 32 * g + 8 * (size_t)k,
                         dti_gguf_grid_iq1_s[p[4 * g + k + 2] | (word >> (3 * k) & 7) << 8],
                         word >> 15);
    }
}

/* The fp16 scale of the block is in the top 4 bits of each word of scales. */
DTI_LANE float iq1_m_half(const unsigned char *p)
{
    uint32_t bits = 0;
    GGUF_VECTOR
    for (unsigned i = 0; i < 4; i++)
        bits |= (uint32_t)p[48 + 2 * i + 1] >> 4 << (4 * i);
    return gguf_half_of(bits);
}

DTI_LANE void iq1_m(struct gguf_block *to, const unsigned char *p)
{
    const float d = iq1_m_half(p);
    for (unsigned g = 0; g < 16; g++) {
        const uint32_t scale = gguf_u16(p + 48 + g / 4 * 2) >> (g % 4 * 3) & 7;
        to->scale[g] = d * (float)(2 * scale + 1);
    }
    for (size_t k = 0; k < 32; k++) {
        const uint32_t high = p[32 + k / 2] >> (k % 2 * 4) & 15u;
        eight_of_iq1(to->code + 8 * k, dti_gguf_grid_iq1_s[p[k] | (high & 7) << 8], high >> 3);
    }
}

#endif

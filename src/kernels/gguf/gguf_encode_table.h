/* SPDX-License-Identifier: MIT
 *
 * Encoders of GGUF blocks whose codes index a table of 16 values: search for the scale with the
 * smallest error for each 32 numbers. */
#ifndef KERNELS_GGUF_GGUF_ENCODE_TABLE_H
#define KERNELS_GGUF_GGUF_ENCODE_TABLE_H

#include "kernels/gguf/gguf_encode_scale.h"

/* The midpoints between the values, and the differences of the values. A tie rounds up. */
static const float gguf_table_middles[15] = {-115.5F, -93.5F, -74,   -57,   -42, -28.5F, -16, -4.5F,
                                             7,       19,     31.5F, 45.5F, 61,  79,     101};
static const float gguf_table_steps[15] = {23, 21, 18, 16, 14, 13, 12, 11,
                                           12, 12, 13, 15, 16, 20, 24};

/* The nearest table value; for NaN the last, as in ggml's comparisons. */
DTI_LANE float gguf_table_value(float x)
{
    float value = -127;
#pragma GCC unroll 16
    for (unsigned i = 0; i < 15; i++)
        value += x < gguf_table_middles[i] ? 0 : gguf_table_steps[i];
    return value;
}

DTI_LANE unsigned char gguf_table_code(float x)
{
    int32_t code = 15;
#pragma GCC unroll 16
    for (unsigned i = 0; i < 15; i++)
        code -= x < gguf_table_middles[i];
    return (unsigned char)code;
}

/* Like gguf_scale_try(), with the values of the table. */
DTI_LANE void gguf_table_try(float *restrict scale, float *restrict best,
                             const gguf_lanes *restrict x, const gguf_lanes *restrict w,
                             const float *restrict inverse, bool is_first)
{
    gguf_lanes sum_qx = {0}, sum_q2 = {0};
    for (unsigned i = 0; i < 32; i++)
        for (unsigned k = 0; k < GGUF_LANES; k++) {
            const float q = gguf_table_value(inverse[k] * x[i][k]);
            const float weight = w ? w[i][k] : x[i][k] * x[i][k];
            sum_qx[k] += gguf_mul3(weight, q, x[i][k]);
            sum_q2[k] += gguf_mul3(weight, q, q);
        }
    for (unsigned k = 0; k < GGUF_LANES; k++) {
        const bool positive = sum_q2[k] > 0;
        const bool better =
            is_first ||
            (positive & (gguf_mul(sum_qx[k], sum_qx[k]) > gguf_mul(best[k], sum_q2[k])));
        const float fit = positive ? sum_qx[k] / sum_q2[k] : 0;
        scale[k] = better ? fit : scale[k];
        best[k] = better ? fit * sum_qx[k] : best[k];
    }
}

/* The search of quantize_row_iq4_nl_impl(), 7 steps in each direction. w NULL: squares are the
 * weights. */
DTI_LANE void gguf_table_search(float *restrict scale, const gguf_lanes *restrict x,
                                const gguf_lanes *restrict w)
{
    gguf_lanes largest;
    gguf_first_largest(largest, x, 32);
#ifdef GGUF_SEARCHES
    DTI_LANES_NAME(dti_gguf_table_search)
    (scale, x, w, largest, gguf_table_middles, gguf_table_steps);
#else
    gguf_lanes best, inverse;
    for (unsigned k = 0; k < GGUF_LANES; k++)
        inverse[k] = largest[k] / 127;
    for (unsigned k = 0; k < GGUF_LANES; k++)
        inverse[k] = 1 / inverse[k];
    gguf_table_try(scale, best, x, w, inverse, true);
    for (int step = -7; step <= 7; step++) {
        for (unsigned k = 0; k < GGUF_LANES; k++)
            inverse[k] = (float)(step - 127) / largest[k];
        gguf_table_try(scale, best, x, w, inverse, false);
    }
    for (unsigned k = 0; k < GGUF_LANES; k++)
        scale[k] = fabsf(largest[k]) < GGUF_LEAST_MAGNITUDE ? 0 : scale[k];
#endif
}

/* Blocks with a scale each, given in fp32. */
GGUF_SHARED void gguf_put_iq4_nl(unsigned char *restrict to, const unsigned char *restrict x,
                                 const float *restrict scale, size_t count)
{
    for (size_t b = 0; b < count; b++, to += 18) {
        const float inverse = scale[b] != 0 ? 1 / scale[b] : 0;
        unsigned char code[32];
        for (unsigned i = 0; i < 32; i++)
            code[i] = gguf_table_code(inverse * gguf_at(x, 32 * b + i));
        gguf_put_half(to, scale[b]);
        gguf_put_nibbles(to + 2, code, 16);
    }
}

/* quantize_iq4_nl() */
DTI_LANE void iq4_nl_encode(unsigned char *restrict to, const unsigned char *restrict x,
                            size_t count)
{
    gguf_lanes lanes[32], scale;
    gguf_transpose(lanes, x, 32);
    gguf_table_search(scale, (const gguf_lanes *)lanes, NULL);
    gguf_put_iq4_nl(to, x, scale, count);
}

/* The last part of quantize_row_iq4_nl_impl() for a block with 8 scales, given in fp32. */
GGUF_SHARED void gguf_put_table_block(unsigned char *restrict to, const unsigned char *restrict x,
                                      const float *restrict scale)
{
    unsigned char stored[8], code[32];
    uint32_t high = 0;
    float largest = 0;
    for (unsigned g = 0; g < 8; g++)
        largest = fabsf(scale[g]) > fabsf(largest) ? scale[g] : largest;
    const float d = -largest / 32, inverse = d != 0 ? 1 / d : 0;
    for (size_t g = 0; g < 8; g++) {
        const int32_t level = gguf_level(inverse * scale[g], -32, 31);
        const float rounded = d * (float)level, back = rounded != 0 ? 1 / rounded : 0;
        for (unsigned i = 0; i < 32; i++)
            code[i] = gguf_table_code(back * gguf_at(x, 32 * g + i));
        gguf_put_nibbles(to + 8 + 16 * g, code, 16);
        stored[g] = (unsigned char)(level + 32);
        high |= (uint32_t)(stored[g] >> 4) << (2 * g);
    }
    gguf_put_half(to, d);
    gguf_put_u16(to + 2, high);
    for (unsigned g = 0; g < 4; g++)
        to[4 + g] = (unsigned char)((stored[2 * g] & 15) | stored[2 * g + 1] << 4);
}

/* quantize_iq4_xs() */
DTI_LANE void iq4_xs_encode(unsigned char *restrict to, const unsigned char *restrict x,
                            size_t count)
{
    gguf_lanes lanes[32], scale;
    gguf_transpose(lanes, x, 32);
    gguf_table_search(scale, (const gguf_lanes *)lanes, NULL);
    for (size_t b = 0; b < count; b++)
        gguf_put_table_block(to + 136 * b, x + 1024 * b, scale + 8 * b);
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * Encoders of GGUF blocks of 256 codes with a signed scale for each 16 codes: search for the
 * scale with the smallest error. */
#ifndef KERNELS_GGUF_GGUF_ENCODE_SCALE_H
#define KERNELS_GGUF_GGUF_ENCODE_SCALE_H

#include "kernels/gguf/gguf_encode.h"

/* Groups whose largest magnitude is below this have no scale. */
#define GGUF_LEAST_MAGNITUDE 1e-15F

/* Computes codes from -most to most - 1, for numbers times `inverse`, and the scale that fits them
 * best by least squares; kept if it is the first or better than the previous ones. */
DTI_LANE void gguf_scale_try(struct gguf_scaled *restrict to, const gguf_lanes *restrict x,
                             const gguf_lanes *restrict w, unsigned n, int most, float steps,
                             bool is_first, unsigned lanes)
{
    gguf_lanes inverse, sum_lx = {0}, sum_l2 = {0};
    for (unsigned k = 0; k < lanes; k++)
        inverse[k] = steps / to->largest[k];
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < lanes; k++) {
            const float l = (float)gguf_level(inverse[k] * x[i][k], -most, most - 1);
            sum_lx[k] += gguf_mul3(w[i][k], x[i][k], l);
            sum_l2[k] += gguf_mul3(w[i][k], l, l);
        }
    for (unsigned k = 0; k < lanes; k++) {
        const bool better =
            is_first ||
            ((sum_l2[k] > 0) & (gguf_mul(sum_lx[k], sum_lx[k]) > gguf_mul(to->best[k], sum_l2[k])));
        const float fit = is_first && sum_l2[k] == 0 ? 0 : sum_lx[k] / sum_l2[k];
        to->scale[k] = better ? fit : to->scale[k];
        to->best[k] = better ? fit * sum_lx[k] : to->best[k];
        to->inverse[k] = better ? inverse[k] : to->inverse[k];
    }
}

/* What gguf_scale_search() does after gguf_first_largest(), in the first lanes. */
GGUF_SHARED void gguf_scale_tries(struct gguf_scaled *restrict to, const gguf_lanes *restrict x,
                                  const gguf_lanes *restrict w, unsigned n, int most,
                                  unsigned lanes)
{
    gguf_scale_try(to, x, w, n, most, (float)-most, true, lanes);
    for (int step = -9; step <= 9; step++)
        if (step != 0)
            gguf_scale_try(to, x, w, n, most, -gguf_add((float)most, gguf_mul(0.1F, (float)step)),
                           false, lanes);
    for (unsigned k = 0; k < lanes; k++) {
        const bool none = fabsf(to->largest[k]) < GGUF_LEAST_MAGNITUDE;
        to->scale[k] = none ? 0 : to->scale[k];
        to->inverse[k] = none ? 0 : to->inverse[k];
    }
}

/* make_qx_quants() with weights */
DTI_LANE void gguf_scale_search(struct gguf_scaled *restrict to, const gguf_lanes *restrict x,
                                const gguf_lanes *restrict w, unsigned n, int most)
{
    gguf_first_largest(to->largest, x, n);
#ifdef GGUF_SEARCHES
    DTI_LANES_NAME(dti_gguf_scale_search)(to, x, w, n, most);
#else
    gguf_scale_tries(to, x, w, n, most, GGUF_LANES);
#endif
}

/* Codes for a scale as stored. If it is 0, those of the search, which has none for a factor of 0.
 */
DTI_LANE void gguf_scale_final(unsigned char *restrict code, const unsigned char *restrict x,
                               float scale, float searched)
{
    const int32_t middle = searched != 0 ? 32 : 0;
    if (scale != 0) {
        GGUF_VECTOR
        for (unsigned i = 0; i < 16; i++)
            code[i] = (unsigned char)(32 + gguf_level(gguf_at(x, i) / scale, -32, 31));
    } else {
        GGUF_VECTOR
        for (unsigned i = 0; i < 16; i++)
            code[i] = (unsigned char)(middle + gguf_level(searched * gguf_at(x, i), -32, 31));
    }
}

/* A block of quantize_row_q6_K_ref(), with what was found for its groups. */
GGUF_SHARED void gguf_put_q6_k(unsigned char *restrict to, const unsigned char *restrict x,
                               const float *restrict scales, const float *restrict inverses)
{
    unsigned char code[256];
    float largest = 0;
    for (unsigned g = 0; g < 16; g++)
        largest = fabsf(scales[g]) > fabsf(largest) ? scales[g] : largest;
    if (fabsf(largest) < GGUF_LEAST_MAGNITUDE) {
        memset(to, 0, 210);
        return;
    }
    const float inverse = -128 / largest;
    gguf_put_half(to + 208, 1 / inverse);
    const float d = gguf_half(to + 208);
    for (unsigned g = 0; g < 16; g++) {
        const int32_t nearest = gguf_nearest(inverse * scales[g]);
        to[192 + g] = (unsigned char)(nearest < 127 ? nearest : 127);
        gguf_scale_final(code + (size_t)16 * g, x + (size_t)64 * g,
                         d * (float)(signed char)to[192 + g], inverses[g]);
    }
    for (size_t n = 0; n < 2; n++) {
        gguf_put_nibbles(to + 64 * n, code + 128 * n, 64);
        gguf_put_pairs(to + 128 + 32 * n, code + 128 * n, 32, 4);
    }
}

DTI_LANE void q6_k_encode(unsigned char *restrict to, const unsigned char *restrict x, size_t count)
{
    struct gguf_scaled found;
    gguf_lanes lanes[16], weights[16];
    gguf_transpose(lanes, x, 16);
    gguf_squares(weights, (const gguf_lanes *)lanes, 16);
    gguf_scale_search(&found, (const gguf_lanes *)lanes, (const gguf_lanes *)weights, 16, 32);
    for (size_t b = 0; b < count; b++)
        gguf_put_q6_k(to + 210 * b, x + 1024 * b, found.scale + 16 * b, found.inverse + 16 * b);
}

/* One round of make_q3_quants(): changes each code in turn if that improves the fit. Returns
 * whether any changed. */
DTI_LANE bool gguf_codes_improve(gguf_lanes *restrict code, const gguf_lanes *restrict x,
                                 float *restrict sum_lx, float *restrict sum_l2)
{
    int32_t changed[GGUF_LANES] = {0}, any = 0;
    for (unsigned i = 0; i < 16; i++)
        for (unsigned k = 0; k < GGUF_LANES; k++) {
            const float w = x[i][k] * x[i][k], l = code[i][k];
            const float less_lx = sum_lx[k] - gguf_mul3(w, x[i][k], l);
            const float less_l2 = sum_l2[k] - gguf_mul3(w, l, l);
            const float other = (float)gguf_level(gguf_mul(x[i][k], less_l2) / less_lx, -4, 3);
            const float lx = less_lx + gguf_mul3(w, x[i][k], other);
            const float l2 = less_l2 + gguf_mul3(w, other, other);
            const bool better =
                (less_lx > 0) & (other != l) & (l2 > 0) &
                (gguf_mul3(lx, lx, sum_l2[k]) > gguf_mul3(sum_lx[k], sum_lx[k], l2));
            code[i][k] = better ? other : l;
            sum_lx[k] = better ? lx : sum_lx[k];
            sum_l2[k] = better ? l2 : sum_l2[k];
            changed[k] |= better;
        }
    for (unsigned k = 0; k < GGUF_LANES; k++)
        any |= changed[k];
    return any != 0;
}

/* make_q3_quants(). Codes start at 0; all are 0 in a group without scale. */
DTI_LANE void gguf_codes_search(float *restrict scale, gguf_lanes *restrict code,
                                const gguf_lanes *restrict x)
{
    gguf_lanes largest, inverse, sum_lx = {0}, sum_l2 = {0};
    gguf_first_largest(largest, x, 16);
    for (unsigned k = 0; k < GGUF_LANES; k++)
        inverse[k] = -4 / largest[k];
    for (unsigned i = 0; i < 16; i++)
        for (unsigned k = 0; k < GGUF_LANES; k++) {
            const float l = (float)gguf_level(inverse[k] * x[i][k], -4, 3);
            const float w = x[i][k] * x[i][k];
            code[i][k] = l;
            sum_lx[k] += gguf_mul3(w, x[i][k], l);
            sum_l2[k] += gguf_mul3(w, l, l);
        }
    for (unsigned round = 0; round < 5; round++)
        if (!gguf_codes_improve(code, x, sum_lx, sum_l2))
            break;
    for (unsigned k = 0; k < GGUF_LANES; k++) {
        const bool none = fabsf(largest[k]) < GGUF_LEAST_MAGNITUDE;
        scale[k] = !none && sum_l2[k] > 0 ? sum_lx[k] / sum_l2[k] : 0;
        for (unsigned i = 0; i < 16; i++)
            code[i][k] = none ? 0 : code[i][k] + 4;
    }
}

/* Writes the scales of a block, as stored, and its codes: found has codes from lane `lane` on,
 * which groups with a stored scale of 0 keep. The scale of the block is there. */
GGUF_SHARED void gguf_put_q3_k_codes(unsigned char *restrict to, const unsigned char *restrict x,
                                     const unsigned char *restrict stored,
                                     const gguf_lanes *restrict found, size_t lane)
{
    unsigned char code[256], high[32] = {0};
    const float d = gguf_half(to + 108);
    for (unsigned g = 0; g < 16; g++) {
        const float scale = d * (float)(stored[g] - 32);
        for (unsigned i = 0; i < 16; i++) {
            const int32_t again = gguf_level(gguf_at(x, 16 * g + i) / scale, -4, 3) + 4;
            code[16 * g + i] = (unsigned char)(scale != 0 ? again : (int32_t)found[i][lane + g]);
        }
    }
    for (unsigned g = 0; g < 8; g++)
        to[96 + g] = (unsigned char)((stored[g] & 15) | stored[g + 8] << 4);
    gguf_put_pairs(to + 104, stored, 4, 4);
    for (unsigned k = 0; k < 8; k++)
        for (unsigned i = 0; i < 32; i++)
            high[i] = (unsigned char)(high[i] | code[32 * k + i] >> 2 << k);
    memcpy(to, high, sizeof high);
    gguf_put_pairs(to + 32, code, 32, 0);
    gguf_put_pairs(to + 64, code + 128, 32, 0);
}

/* A block of quantize_row_q3_K_ref(), with what was found for its groups. */
DTI_LANE void gguf_put_q3_k(unsigned char *restrict to, const unsigned char *restrict x,
                            const float *restrict scales, const gguf_lanes *restrict found,
                            size_t lane)
{
    unsigned char stored[16];
    float largest = 0;
    for (unsigned g = 0; g < 16; g++)
        largest = fabsf(scales[g]) > fabsf(largest) ? scales[g] : largest;
    const float inverse = largest != 0 ? -32 / largest : 0;
    gguf_put_half(to + 108, largest != 0 ? 1 / inverse : 0);
    for (unsigned g = 0; g < 16; g++) {
        const int32_t level = (signed char)gguf_nearest(inverse * scales[g]);
        const int32_t clamped = level < -32 ? -32 : level > 31 ? 31 : level;
        stored[g] = largest != 0 ? (unsigned char)(clamped + 32) : 0;
    }
    gguf_put_q3_k_codes(to, x, stored, found, lane);
}

DTI_LANE void q3_k_encode(unsigned char *restrict to, const unsigned char *restrict x, size_t count)
{
    gguf_lanes lanes[16], found[16], scales;
    gguf_transpose(lanes, x, 16);
    gguf_codes_search(scales, found, (const gguf_lanes *)lanes);
    for (size_t b = 0; b < count; b++)
        gguf_put_q3_k(to + 110 * b, x + 1024 * b, scales + 16 * b, (const gguf_lanes *)found,
                      16 * b);
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * Encoders of GGUF blocks of 256 codes with scales and minima: search for those with the
 * smallest error in each group, then quantize the scales and minima of the block. */
#ifndef KERNELS_GGUF_GGUF_ENCODE_AFFINE_H
#define KERNELS_GGUF_GGUF_ENCODE_AFFINE_H

#include "kernels/gguf/gguf_encode.h"

DTI_LANE void gguf_affine_sums(struct gguf_affine *restrict to, const gguf_lanes *restrict x,
                               const gguf_lanes *restrict w, unsigned n)
{
    gguf_lanes least, most, sum_w, sum_x;
    for (unsigned k = 0; k < GGUF_LANES; k++) {
        least[k] = most[k] = x[0][k];
        sum_w[k] = w[0][k];
        sum_x[k] = w[0][k] * x[0][k];
    }
    for (unsigned i = 1; i < n; i++)
        for (unsigned k = 0; k < GGUF_LANES; k++) {
            least[k] = x[i][k] < least[k] ? x[i][k] : least[k];
            most[k] = x[i][k] > most[k] ? x[i][k] : most[k];
            sum_w[k] += w[i][k];
            sum_x[k] += gguf_mul(w[i][k], x[i][k]);
        }
    for (unsigned k = 0; k < GGUF_LANES; k++) {
        to->least[k] = least[k] > 0 ? 0 : least[k];
        to->most[k] = most[k];
        to->sum_w[k] = sum_w[k];
        to->sum_x[k] = sum_x[k];
    }
}

/* Codes for a scale, as floats. */
DTI_LANE void gguf_affine_codes(gguf_lanes *restrict code, const gguf_lanes *restrict x, unsigned n,
                                const float *restrict inverse, const float *restrict base, int most)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < GGUF_LANES; k++)
            code[i][k] = (float)gguf_level(inverse[k] * gguf_sub(x[i][k], base[k]), 0, most);
}

DTI_LANE void gguf_affine_error(float *restrict error, const gguf_lanes *restrict x,
                                const gguf_lanes *restrict w, const gguf_lanes *restrict code,
                                unsigned n, const float *restrict scale,
                                const float *restrict least, bool absolute)
{
    gguf_lanes sum = {0};
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < GGUF_LANES; k++) {
            const float apart = gguf_add(gguf_mul(scale[k], code[i][k]), least[k]) - x[i][k];
            sum[k] += gguf_mul(w[i][k], absolute ? fabsf(apart) : gguf_mul(apart, apart));
        }
    memcpy(error, sum, sizeof sum);
}

/* Fits scale and minimum to the codes by least squares, and keeps them if they are better than
 * the previous ones. */
DTI_LANE void gguf_affine_try(struct gguf_affine *restrict to, const gguf_lanes *restrict x,
                              const gguf_lanes *restrict w, unsigned n, int most, float steps,
                              bool absolute)
{
    gguf_lanes inverse, scale, least, error, determinant, code[32];
    gguf_lanes sum_l = {0}, sum_l2 = {0}, sum_xl = {0};
    for (unsigned k = 0; k < GGUF_LANES; k++)
        inverse[k] = steps / gguf_sub(to->most[k], to->least[k]);
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < GGUF_LANES; k++) {
            const float l =
                (float)gguf_level(inverse[k] * gguf_sub(x[i][k], to->least[k]), 0, most);
            const float wl = w[i][k] * l;
            code[i][k] = l;
            sum_l[k] += wl;
            sum_l2[k] += gguf_mul(wl, l);
            sum_xl[k] += gguf_mul(wl, x[i][k]);
        }
    for (unsigned k = 0; k < GGUF_LANES; k++) {
        const float d = gguf_mul(to->sum_w[k], sum_l2[k]) - gguf_mul(sum_l[k], sum_l[k]);
        const float s =
            gguf_sub(gguf_mul(to->sum_w[k], sum_xl[k]), gguf_mul(to->sum_x[k], sum_l[k])) / d;
        const float m =
            gguf_sub(gguf_mul(sum_l2[k], to->sum_x[k]), gguf_mul(sum_l[k], sum_xl[k])) / d;
        const float without = sum_xl[k] / sum_l2[k];
        determinant[k] = d;
        scale[k] = m > 0 ? without : s;
        least[k] = m > 0 ? 0 : m;
    }
    gguf_affine_error(error, x, w, (const gguf_lanes *)code, n, scale, least, absolute);
    for (unsigned k = 0; k < GGUF_LANES; k++) {
        const bool better = (determinant[k] > 0) & (error[k] < to->error[k]);
        to->error[k] = better ? error[k] : to->error[k];
        to->scale[k] = better ? scale[k] : to->scale[k];
        to->inverse[k] = better ? inverse[k] : to->inverse[k];
        to->base[k] = better ? to->least[k] : to->base[k];
        to->least[k] = better ? least[k] : to->least[k];
    }
}

/* make_qkx2_quants(), and make_qkx3_quants() with weights. A group of equal numbers has no scale.
 */
GGUF_SHARED void gguf_affine_search(struct gguf_affine *restrict to, const gguf_lanes *restrict x,
                                    const gguf_lanes *restrict w, unsigned n, int most,
                                    struct gguf_tries tries, bool absolute)
{
    gguf_lanes code[32], first;
#ifdef GGUF_SEARCHES
    if (DTI_LANES_NAME(dti_gguf_affine_search)(to, x, w, n, most, tries, absolute))
        return;
#endif
    gguf_affine_sums(to, x, w, n);
    for (unsigned k = 0; k < GGUF_LANES; k++) {
        to->inverse[k] = (float)most / gguf_sub(to->most[k], to->least[k]);
        to->scale[k] = 1 / to->inverse[k];
        to->base[k] = first[k] = to->least[k];
    }
    gguf_affine_codes(code, x, n, to->inverse, to->base, most);
    gguf_affine_error(to->error, x, w, (const gguf_lanes *)code, n, to->scale, to->least, absolute);
    for (unsigned i = 0; i <= tries.last; i++)
        gguf_affine_try(to, x, w, n, most,
                        gguf_add(tries.from, gguf_mul(tries.step, (float)i)) + (float)most,
                        absolute);
    for (unsigned k = 0; k < GGUF_LANES; k++) {
        const bool flat = to->most[k] == first[k];
        to->scale[k] = flat ? 0 : to->scale[k];
        to->inverse[k] = flat ? 0 : to->inverse[k];
        to->base[k] = flat ? first[k] : to->base[k];
        to->least[k] = flat ? first[k] : to->least[k];
    }
}

/* The largest of the numbers times `sign`; 0 if none is positive. */
DTI_LANE float gguf_largest_of(const float *x, unsigned n, float sign)
{
    float most = 0;
    for (unsigned i = 0; i < n; i++)
        most = sign * x[i] > most ? sign * x[i] : most;
    return most;
}

/* Codes for the scales as stored. A group with a stored scale of 0 keeps the codes of its
 * search. */
DTI_LANE void gguf_affine_final(unsigned char *restrict code, const unsigned char *restrict x,
                                unsigned n, const struct gguf_affine *restrict found, unsigned lane,
                                float scale, float minimum, int most)
{
    if (scale != 0)
        for (unsigned i = 0; i < n; i++)
            code[i] = (unsigned char)gguf_level(gguf_add(gguf_at(x, i), minimum) / scale, 0, most);
    else
        for (unsigned i = 0; i < n; i++)
            code[i] = (unsigned char)gguf_level(
                found->inverse[lane] * gguf_sub(gguf_at(x, i), found->base[lane]), 0, most);
}

/* Packs scales and minima of 6 bits; see six_bits(). */
DTI_LANE void gguf_put_six_bits(unsigned char *b, const unsigned char *scale,
                                const unsigned char *minimum)
{
    for (unsigned g = 0; g < 4; g++) {
        b[g] = (unsigned char)(scale[g] | scale[g + 4] >> 4 << 6);
        b[g + 4] = (unsigned char)(minimum[g] | minimum[g + 4] >> 4 << 6);
        b[g + 8] = (unsigned char)((scale[g + 4] & 15) | minimum[g + 4] << 4);
    }
}

/* A scale and a minimum of these. */
DTI_LANE void gguf_get_six_bits(const unsigned char *b, unsigned g, float *ret_scale,
                                float *ret_minimum)
{
    const unsigned low = g < 4 ? b[g] & 63U : (b[g + 4] & 15U) | (unsigned)b[g - 4] >> 6 << 4;
    const unsigned high = g < 4 ? b[g + 4] & 63U : b[g + 4] >> 4 | (unsigned)b[g] >> 6 << 4;
    *ret_scale = (float)low;
    *ret_minimum = (float)high;
}

/* The low 8 bits of the nearest integer, at most 63. */
DTI_LANE unsigned char gguf_six_bits_of(float x)
{
    const unsigned char low = (unsigned char)gguf_nearest(x);
    return low < 63 ? low : 63;
}

/* Packs the scales and minima of a block with 8 lanes as groups, and computes its codes. The first
 * four bytes of the block are there. */
GGUF_SHARED void gguf_put_affine_codes(unsigned char *restrict to, unsigned char *restrict code,
                                       const unsigned char *restrict x,
                                       const struct gguf_affine *restrict found, unsigned lane,
                                       const unsigned char *scales, const unsigned char *minima,
                                       int most)
{
    const float d = gguf_half(to), least = gguf_half(to + 2);
    float scale, minimum;
    gguf_put_six_bits(to + 4, scales, minima);
    for (unsigned g = 0; g < 8; g++) {
        gguf_get_six_bits(to + 4, g, &scale, &minimum);
        gguf_affine_final(code + (size_t)32 * g, x + (size_t)128 * g, 32, found, lane + g,
                          d * scale, least * minimum, most);
    }
}

/* Writes the first 16 bytes of a block with 8 lanes as groups, and its codes. */
DTI_LANE void gguf_put_affine(unsigned char *restrict to, unsigned char *restrict code,
                              const unsigned char *restrict x,
                              const struct gguf_affine *restrict found, unsigned lane, int most)
{
    unsigned char scale[8], minimum[8];
    const float largest = gguf_largest_of(found->scale + lane, 8, 1);
    const float deepest = gguf_largest_of(found->least + lane, 8, -1);
    const float per_scale = largest > 0 ? 63 / largest : 0;
    const float per_minimum = deepest > 0 ? 63 / deepest : 0;
    for (unsigned g = 0; g < 8; g++) {
        scale[g] = gguf_six_bits_of(per_scale * found->scale[lane + g]);
        minimum[g] = gguf_six_bits_of(per_minimum * -found->least[lane + g]);
    }
    gguf_put_half(to, largest / 63);
    gguf_put_half(to + 2, deepest / 63);
    gguf_put_affine_codes(to, code, x, found, lane, scale, minimum, most);
}

/* Weights: the magnitude of a number plus the root mean square of its group. */
DTI_LANE void gguf_affine_weights(gguf_lanes *restrict w, const gguf_lanes *restrict x)
{
#ifdef GGUF_SEARCHES
    DTI_LANES_NAME(dti_gguf_affine_weights)(w, x);
#else
    gguf_lanes sum = {0};
    for (unsigned i = 0; i < 32; i++)
        for (unsigned k = 0; k < GGUF_LANES; k++)
            sum[k] += gguf_mul(x[i][k], x[i][k]);
    for (unsigned k = 0; k < GGUF_LANES; k++)
        sum[k] = sqrtf(sum[k] / 32);
    for (unsigned i = 0; i < 32; i++)
        for (unsigned k = 0; k < GGUF_LANES; k++)
            w[i][k] = sum[k] + fabsf(x[i][k]);
#endif
}

GGUF_SHARED void gguf_put_q4_k(unsigned char *restrict to, const unsigned char *restrict code)
{
    for (size_t k = 0; k < 4; k++)
        gguf_put_nibbles(to + 16 + 32 * k, code + 64 * k, 32);
}

/* quantize_row_q4_K_ref() */
DTI_LANE void q4_k_encode(unsigned char *restrict to, const unsigned char *restrict x, size_t count)
{
    struct gguf_affine found;
    gguf_lanes lanes[32], weights[32];
    gguf_transpose(lanes, x, 32);
    gguf_affine_weights(weights, (const gguf_lanes *)lanes);
    gguf_affine_search(&found, (const gguf_lanes *)lanes, (const gguf_lanes *)weights, 32, 15,
                       (struct gguf_tries){-1, 0.1F, 20}, false);
    for (unsigned b = 0; b < count; b++, to += 144) {
        unsigned char code[256];
        gguf_put_affine(to, code, x + (size_t)1024 * b, &found, 8 * b, 15);
        gguf_put_q4_k(to, code);
    }
}

GGUF_SHARED void gguf_put_q5_k(unsigned char *restrict to, const unsigned char *restrict code)
{
    unsigned char high[32] = {0};
    for (unsigned g = 0; g < 8; g++)
        for (unsigned i = 0; i < 32; i++)
            high[i] = (unsigned char)(high[i] | code[32 * g + i] >> 4 << g);
    memcpy(to + 16, high, sizeof high);
    for (size_t k = 0; k < 4; k++)
        gguf_put_nibbles(to + 48 + 32 * k, code + 64 * k, 32);
}

/* quantize_row_q5_K_ref() */
DTI_LANE void q5_k_encode(unsigned char *restrict to, const unsigned char *restrict x, size_t count)
{
    struct gguf_affine found;
    gguf_lanes lanes[32], weights[32];
    gguf_transpose(lanes, x, 32);
    gguf_affine_weights(weights, (const gguf_lanes *)lanes);
    gguf_affine_search(&found, (const gguf_lanes *)lanes, (const gguf_lanes *)weights, 32, 31,
                       (struct gguf_tries){-0.5F, 0.1F, 15}, false);
    for (unsigned b = 0; b < count; b++, to += 176) {
        unsigned char code[256];
        gguf_put_affine(to, code, x + (size_t)1024 * b, &found, 8 * b, 31);
        gguf_put_q5_k(to, code);
    }
}

/* The codes of a block whose scales and minima are there. */
GGUF_SHARED void gguf_put_q2_k_codes(unsigned char *restrict to, const unsigned char *restrict x,
                                     const struct gguf_affine *restrict found, unsigned lane)
{
    unsigned char code[256];
    const float d = gguf_half(to + 80), least = gguf_half(to + 82);
    for (unsigned g = 0; g < 16; g++)
        gguf_affine_final(code + (size_t)16 * g, x + (size_t)64 * g, 16, found, lane + g,
                          d * (float)(to[g] & 15), least * (float)(to[g] >> 4), 3);
    gguf_put_pairs(to + 16, code, 32, 0);
    gguf_put_pairs(to + 48, code + 128, 32, 0);
}

/* A block of quantize_row_q2_K_ref(), with what was found for its groups from `lane` on: 4-bit
 * scales and minima. */
DTI_LANE void gguf_put_q2_k(unsigned char *restrict to, const unsigned char *restrict x,
                            const struct gguf_affine *restrict found, unsigned lane)
{
    const float largest = gguf_largest_of(found->scale + lane, 16, 1);
    const float deepest = gguf_largest_of(found->least + lane, 16, -1);
    const float per_scale = largest > 0 ? 15 / largest : 0;
    const float per_minimum = deepest > 0 ? 15 / deepest : 0;
    for (unsigned g = 0; g < 16; g++) {
        const float s = found->scale[lane + g], m = found->least[lane + g];
        const int32_t scale = largest > 0 ? gguf_nearest(per_scale * s) : 0;
        const int32_t minimum = deepest > 0 ? gguf_nearest(per_minimum * -m) : 0;
        to[g] = (unsigned char)((uint32_t)scale | (uint32_t)minimum << 4);
    }
    gguf_put_half(to + 80, largest / 15);
    gguf_put_half(to + 82, deepest / 15);
    gguf_put_q2_k_codes(to, x, found, lane);
}

/* Numbers are weighted by magnitude. */
DTI_LANE void q2_k_encode(unsigned char *restrict to, const unsigned char *restrict x, size_t count)
{
    struct gguf_affine found;
    gguf_lanes lanes[16], weights[16];
    gguf_transpose(lanes, x, 16);
    for (unsigned i = 0; i < 16; i++)
        for (unsigned k = 0; k < GGUF_LANES; k++)
            weights[i][k] = fabsf(lanes[i][k]);
    gguf_affine_search(&found, (const gguf_lanes *)lanes, (const gguf_lanes *)weights, 16, 3,
                       (struct gguf_tries){-0.5F, 0.1F, 15}, true);
    for (unsigned b = 0; b < count; b++)
        gguf_put_q2_k(to + (size_t)84 * b, x + (size_t)1024 * b, &found, 16 * b);
}

#endif

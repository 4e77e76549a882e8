/* SPDX-License-Identifier: MIT
 *
 * Encoders of GGUF blocks with an importance matrix: an error counts as much as the weight of its
 * column, times the root of the square of the number plus a mean square. The searches are those of
 * the encoders without weights; here are the weights, and how scales of a block are stored. */
#ifndef KERNELS_GGUF_GGUF_ENCODE_WEIGHTED_H
#define KERNELS_GGUF_GGUF_ENCODE_WEIGHTED_H

#include "kernels/gguf/gguf_encode_affine.h"
#include "kernels/gguf/gguf_encode_small.h"
#include "kernels/gguf/gguf_encode_table.h"

/* Sums of squares of blocks, each in order, times two factors: for the lanes of their groups. */
GGUF_SHARED void gguf_block_means(float *restrict means, const unsigned char *restrict x,
                                  unsigned elements, unsigned group, float twice, float inverse)
{
    const unsigned groups = elements / group, blocks = GGUF_LANES / groups;
    gguf_lanes sum = {0};
    for (unsigned i = 0; i < elements; i++)
        for (unsigned b = 0; b < blocks; b++) {
            const float number = gguf_at(x, (size_t)b * elements + i);
            sum[b] += gguf_mul(number, number);
        }
    for (unsigned b = 0; b < blocks; b++)
        for (unsigned g = 0; g < groups; g++)
            means[b * groups + g] = gguf_mul3(twice, sum[b], inverse);
}

/* In lanes: columns' weights, times the root of mean and square. */
DTI_LANE void gguf_weigh(gguf_lanes *restrict w, const unsigned char *restrict columns,
                         const gguf_lanes *restrict x, const float *restrict means, unsigned n)
{
    gguf_transpose(w, columns, n);
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < GGUF_LANES; k++)
            w[i][k] *= sqrtf(gguf_add(means[k], gguf_mul(x[i][k], x[i][k])));
}

/* The scales or minima of a block are a problem: a lane of its numbers and weights. */
struct gguf_levels {
    gguf_lanes x[32], w[32];
    gguf_lanes level[32], scale; /* levels as stored, in 8 bits; and their scale */
};

/* The part of make_qp_quants() that looks for the factor with the smallest error. */
DTI_LANE void gguf_levels_try(const struct gguf_levels *restrict me, unsigned n, unsigned lanes,
                              float steps, float most, const float *restrict largest,
                              float *restrict inverse, float *restrict best, bool is_first)
{
    gguf_lanes tried, scale, error = {0};
    for (unsigned k = 0; k < lanes; k++)
        tried[k] = steps / largest[k];
    for (unsigned k = 0; k < lanes; k++)
        scale[k] = 1 / tried[k];
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < lanes; k++) {
            const int32_t nearest = gguf_nearest(tried[k] * me->x[i][k]);
            const float level = (float)(is_first ? nearest & 255 : nearest);
            const float limited = !is_first && level > most ? most : level;
            const float apart = me->x[i][k] - gguf_mul(scale[k], limited);
            error[k] += gguf_mul3(me->w[i][k], apart, apart);
        }
    for (unsigned k = 0; k < lanes; k++) {
        const bool better = is_first | (error[k] < best[k]);
        best[k] = better ? error[k] : best[k];
        inverse[k] = better ? tried[k] : inverse[k];
    }
}

/* One round of the part that changes levels, as gguf_codes_improve(). */
DTI_LANE bool gguf_levels_improve(struct gguf_levels *restrict me, unsigned n, unsigned lanes,
                                  float most, float *restrict sum_lx, float *restrict sum_l2)
{
    int32_t changed[GGUF_LANES] = {0}, any = 0;
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < lanes; k++) {
            const float x = me->x[i][k], w = me->w[i][k], l = me->level[i][k];
            const float less_lx = sum_lx[k] - gguf_mul3(w, x, l);
            const float less_l2 = sum_l2[k] - gguf_mul3(w, l, l);
            const int32_t nearest = gguf_nearest(gguf_mul(x, less_l2) / less_lx);
            const float other = (float)nearest > most ? most : (float)nearest;
            const float lx = less_lx + gguf_mul3(w, x, other);
            const float l2 = less_l2 + gguf_mul3(w, other, other);
            const bool better =
                (less_lx > 0) & (less_l2 > 0) & (other != l) &
                (gguf_mul3(lx, lx, sum_l2[k]) > gguf_mul3(sum_lx[k], sum_lx[k], l2));
            me->level[i][k] = better ? (float)((int32_t)other & 255) : l;
            sum_lx[k] = better ? lx : sum_lx[k];
            sum_l2[k] = better ? l2 : sum_l2[k];
            changed[k] |= better;
        }
    for (unsigned k = 0; k < lanes; k++)
        any |= changed[k];
    return any != 0;
}

/* make_qp_quants(), in the first lanes. Numbers are rarely negative: their levels wrap. */
DTI_LANE void gguf_levels_search(struct gguf_levels *restrict me, unsigned n, unsigned lanes,
                                 float most)
{
    gguf_lanes largest = {0}, inverse, best, sum_lx = {0}, sum_l2 = {0};
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < lanes; k++)
            largest[k] = largest[k] > me->x[i][k] ? largest[k] : me->x[i][k];
    gguf_levels_try(me, n, lanes, most, most, largest, inverse, best, true);
    for (int step = -4; step <= 4; step++)
        if (step != 0)
            gguf_levels_try(me, n, lanes, gguf_add(gguf_mul(0.1F, (float)step), most), most,
                            largest, inverse, best, false);
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < lanes; k++) {
            const int32_t nearest = gguf_nearest(inverse[k] * me->x[i][k]);
            const float l = (float)nearest > most ? most : (float)nearest;
            me->level[i][k] = (float)((int32_t)l & 255);
            sum_lx[k] += gguf_mul3(me->w[i][k], me->x[i][k], l);
            sum_l2[k] += gguf_mul3(me->w[i][k], l, l);
        }
    for (unsigned round = 0; round < 5; round++)
        if (!gguf_levels_improve(me, n, lanes, most, sum_lx, sum_l2))
            break;
    for (unsigned k = 0; k < lanes; k++) {
        const bool none = largest[k] < GGUF_LEAST_MAGNITUDE;
        me->scale[k] = !none && sum_l2[k] > 0 ? sum_lx[k] / sum_l2[k] : 0;
        for (unsigned i = 0; i < n; i++)
            me->level[i][k] = none ? 0 : me->level[i][k];
    }
}

/* Scales in the lanes of their blocks, then minima. */
GGUF_SHARED void gguf_affine_levels(struct gguf_levels *restrict to,
                                    const struct gguf_affine *restrict found, unsigned groups,
                                    float most)
{
    const unsigned blocks = GGUF_LANES / groups;
    for (unsigned g = 0; g < groups; g++)
        for (unsigned b = 0; b < blocks; b++) {
            to->x[g][b] = found->scale[b * groups + g];
            to->x[g][blocks + b] = -found->least[b * groups + g];
            to->w[g][b] = to->w[g][blocks + b] = found->sum_w[b * groups + g];
        }
    gguf_levels_search(to, groups, 2 * blocks, most);
}

static const struct gguf_tries gguf_weighted_tries = {-0.9F, 0.05F, 36};

GGUF_SHARED void gguf_weighted_affine(struct gguf_affine *restrict to,
                                      const unsigned char *restrict x,
                                      const unsigned char *restrict columns,
                                      const float *restrict means, unsigned n, int most)
{
    gguf_lanes lanes[32], weights[32];
    gguf_transpose(lanes, x, n);
    gguf_weigh(weights, columns, (const gguf_lanes *)lanes, means, n);
    gguf_affine_search(to, (const gguf_lanes *)lanes, (const gguf_lanes *)weights, n, most,
                       gguf_weighted_tries, false);
}

GGUF_SHARED void gguf_weighted_scale(struct gguf_scaled *restrict to, gguf_lanes *restrict weights,
                                     const unsigned char *restrict x,
                                     const unsigned char *restrict columns,
                                     const float *restrict means, unsigned n, int most)
{
    gguf_lanes lanes[32];
    gguf_transpose(lanes, x, n);
    gguf_weigh(weights, columns, (const gguf_lanes *)lanes, means, n);
    gguf_scale_search(to, (const gguf_lanes *)lanes, (const gguf_lanes *)weights, n, most);
}

GGUF_SHARED void gguf_weighted_table(float *restrict scale, const unsigned char *restrict x,
                                     const unsigned char *restrict columns,
                                     const float *restrict means)
{
    gguf_lanes lanes[32], weights[32];
    gguf_transpose(lanes, x, 32);
    gguf_weigh(weights, columns, (const gguf_lanes *)lanes, means, 32);
    gguf_table_search(scale, (const gguf_lanes *)lanes, (const gguf_lanes *)weights);
}

/* The codes of 32 numbers. If they have no scale, all are 0. */
DTI_LANE void gguf_scaled_codes(unsigned char *restrict code, const unsigned char *restrict x,
                                float inverse, int middle)
{
    const int zero = inverse != 0 ? middle : 0;
    for (unsigned i = 0; i < 32; i++)
        code[i] = (unsigned char)(zero + gguf_level(inverse * gguf_at(x, i), -middle, middle - 1));
}

DTI_LANE void gguf_same_means(float *restrict means, float mean)
{
    for (unsigned k = 0; k < GGUF_LANES; k++)
        means[k] = mean;
}

/* Blocks of 32 codes around `middle`, with a scale; a fifth bit of the codes comes before the
 * others.
 */
DTI_LANE void gguf_weigh_scaled(unsigned char *restrict to, const unsigned char *restrict x,
                                size_t count, const unsigned char *restrict columns, float mean,
                                int middle)
{
    struct gguf_scaled found;
    gguf_lanes means, weights[32];
    unsigned char code[32];
    gguf_same_means(means, mean);
    gguf_weighted_scale(&found, weights, x, columns, means, 32, middle);
    for (size_t b = 0; b < count; b++) {
        gguf_scaled_codes(code, x + 128 * b, found.inverse[b], middle);
        gguf_put_half(to, found.scale[b]);
        to += 2;
        if (middle > 8) {
            gguf_put_fifth_bits(to, code);
            to += 4;
        }
        gguf_put_nibbles(to, code, 16);
        to += 16;
    }
}

/* The same for codes from 0 to `most`, with a scale and a minimum. */
DTI_LANE void gguf_weigh_affine(unsigned char *restrict to, const unsigned char *restrict x,
                                size_t count, const unsigned char *restrict columns, float mean,
                                int most)
{
    struct gguf_affine found;
    gguf_lanes means;
    unsigned char code[32];
    gguf_same_means(means, mean);
    gguf_weighted_affine(&found, x, columns, means, 32, most);
    for (size_t b = 0; b < count; b++) {
        gguf_affine_final(code, x + 128 * b, 32, &found, (unsigned)b, 0, 0, most);
        gguf_put_half(to, found.scale[b]);
        gguf_put_half(to + 2, found.least[b]);
        to += 4;
        if (most > 15) {
            gguf_put_fifth_bits(to, code);
            to += 4;
        }
        gguf_put_nibbles(to, code, 16);
        to += 16;
    }
}

/* The following are the functions quantize_row_*_impl() of the types. Those of Q4_0 to Q5_1 use the
 * mean square of the row. */

#define GGUF_WEIGH(word, kind, limit)                                                           \
    DTI_LANE void word##_weigh(unsigned char *restrict to, const unsigned char *restrict x,     \
                               size_t count, const unsigned char *restrict columns, float mean) \
    {                                                                                           \
        gguf_weigh_##kind(to, x, count, columns, mean, limit);                                  \
    }
GGUF_WEIGH(q4_0, scaled, 8)
GGUF_WEIGH(q4_1, affine, 15)
GGUF_WEIGH(q5_0, scaled, 16)
GGUF_WEIGH(q5_1, affine, 31)
#undef GGUF_WEIGH

DTI_LANE void q2_k_weigh(unsigned char *restrict to, const unsigned char *restrict x, size_t count,
                         const unsigned char *restrict columns, float mean)
{
    struct gguf_affine found;
    struct gguf_levels levels;
    gguf_lanes means;
    (void)mean;
    gguf_block_means(means, x, 256, 16, 1, 0x1p-8F);
    gguf_weighted_affine(&found, x, columns, means, 16, 3);
    gguf_affine_levels(&levels, &found, 16, 15);
    for (size_t b = 0; b < count; b++, to += 84) {
        const size_t minima = GGUF_LANES / 16 + b;
        for (unsigned g = 0; g < 16; g++)
            to[g] = (unsigned char)((unsigned)levels.level[g][b] | (unsigned)levels.level[g][minima]
                                                                       << 4);
        gguf_put_half(to + 80, levels.scale[b]);
        gguf_put_half(to + 82, levels.scale[minima]);
        gguf_put_q2_k_codes(to, x + 1024 * b, &found, (unsigned)(16 * b));
    }
}

/* Scales and minima of a block with 8 groups as make_qp_quants() finds them, at most `limit`, and
 * its codes. */
DTI_LANE void gguf_put_levels(unsigned char *restrict to, unsigned char *restrict code,
                              const unsigned char *restrict x,
                              const struct gguf_affine *restrict found,
                              const struct gguf_levels *restrict levels, size_t b, float limit,
                              int most)
{
    const size_t minima = GGUF_LANES / 8 + b;
    unsigned char scale[8], minimum[8];
    for (unsigned g = 0; g < 8; g++) {
        const float s = levels->level[g][b], m = levels->level[g][minima];
        scale[g] = (unsigned char)(s < limit ? s : limit);
        minimum[g] = (unsigned char)(m < limit ? m : limit);
    }
    gguf_put_half(to, levels->scale[b]);
    gguf_put_half(to + 2, levels->scale[minima]);
    gguf_put_affine_codes(to, code, x, found, (unsigned)(8 * b), scale, minimum, most);
}

/* What q4_k and q5_k find for all their blocks; codes are at most `most`. */
GGUF_SHARED void gguf_weighted_levels(struct gguf_affine *restrict found,
                                      struct gguf_levels *restrict levels,
                                      const unsigned char *restrict x,
                                      const unsigned char *restrict columns, int most)
{
    gguf_lanes means;
    gguf_block_means(means, x, 256, 32, 2, 0x1p-8F);
    gguf_weighted_affine(found, x, columns, means, 32, most);
    gguf_affine_levels(levels, found, 8, 63);
}

#define GGUF_WEIGH(word, bytes, limit, most)                                                    \
    DTI_LANE void word##_weigh(unsigned char *restrict to, const unsigned char *restrict x,     \
                               size_t count, const unsigned char *restrict columns, float mean) \
    {                                                                                           \
        struct gguf_affine found;                                                               \
        struct gguf_levels levels;                                                              \
        unsigned char code[256];                                                                \
        (void)mean;                                                                             \
        gguf_weighted_levels(&found, &levels, x, columns, most);                                \
        for (size_t b = 0; b < count; b++, to += (bytes)) {                                     \
            gguf_put_levels(to, code, x + 1024 * b, &found, &levels, b, limit, most);           \
            gguf_put_##word(to, code);                                                          \
        }                                                                                       \
    }
GGUF_WEIGH(q4_k, 144, 255, 15)
GGUF_WEIGH(q5_k, 176, 63, 31)
#undef GGUF_WEIGH

/* The scales of blocks, and the codes of their groups, in lanes. */
GGUF_SHARED void gguf_weighted_q3_k(struct gguf_scaled *restrict blocks, gguf_lanes *restrict code,
                                    gguf_lanes *restrict scales, const unsigned char *restrict x,
                                    const unsigned char *restrict columns)
{
    enum { BLOCKS = GGUF_LANES / 16 };
    struct gguf_scaled found;
    gguf_lanes means, weights[32], sums[16] = {{0}}, sum = {0};
    gguf_block_means(means, x, 256, 16, 2, 0x1p-8F);
    gguf_weighted_scale(&found, weights, x, columns, means, 16, 4);
    gguf_transpose(code, x, 16);
    for (unsigned i = 0; i < 16; i++)
        for (unsigned k = 0; k < GGUF_LANES; k++) {
            const float l = (float)gguf_level(found.inverse[k] * code[i][k], -4, 3);
            code[i][k] = found.inverse[k] != 0 ? l + 4 : 0;
            sum[k] += weights[i][k];
        }
    for (unsigned g = 0; g < 16; g++)
        for (unsigned b = 0; b < BLOCKS; b++) {
            scales[g][b] = found.scale[16 * b + g];
            sums[g][b] = sum[16 * b + g];
        }
    gguf_first_largest(blocks->largest, (const gguf_lanes *)scales, 16);
    gguf_scale_tries(blocks, (const gguf_lanes *)scales, (const gguf_lanes *)sums, 16, 32, BLOCKS);
}

DTI_LANE void q3_k_weigh(unsigned char *restrict to, const unsigned char *restrict x, size_t count,
                         const unsigned char *restrict columns, float mean)
{
    struct gguf_scaled blocks;
    gguf_lanes code[16], scales[16] = {{0}};
    unsigned char stored[16];
    (void)mean;
    gguf_weighted_q3_k(&blocks, code, scales, x, columns);
    for (size_t b = 0; b < count; b++, to += 110) {
        const bool none = fabsf(blocks.largest[b]) < GGUF_LEAST_MAGNITUDE;
        for (unsigned g = 0; g < 16; g++) {
            const int32_t level = gguf_level(blocks.inverse[b] * scales[g][b], -32, 31);
            stored[g] = (unsigned char)(none ? 0 : level + 32);
        }
        gguf_put_half(to + 108, blocks.scale[b]);
        gguf_put_q3_k_codes(to, x + 1024 * b, stored, (const gguf_lanes *)code, 16 * b);
    }
}

/* The weights are those of the columns alone. */
DTI_LANE void q6_k_weigh(unsigned char *restrict to, const unsigned char *restrict x, size_t count,
                         const unsigned char *restrict columns, float mean)
{
    struct gguf_scaled found;
    gguf_lanes lanes[16], weights[16];
    (void)mean;
    gguf_transpose(lanes, x, 16);
    gguf_transpose(weights, columns, 16);
    gguf_scale_search(&found, (const gguf_lanes *)lanes, (const gguf_lanes *)weights, 16, 32);
    for (size_t b = 0; b < count; b++)
        gguf_put_q6_k(to + 210 * b, x + 1024 * b, found.scale + 16 * b, found.inverse + 16 * b);
}

DTI_LANE void iq4_nl_weigh(unsigned char *restrict to, const unsigned char *restrict x,
                           size_t count, const unsigned char *restrict columns, float mean)
{
    gguf_lanes means, scale;
    (void)mean;
    gguf_block_means(means, x, 32, 32, 1, 0x1p-4F);
    gguf_weighted_table(scale, x, columns, means);
    gguf_put_iq4_nl(to, x, scale, count);
}

DTI_LANE void iq4_xs_weigh(unsigned char *restrict to, const unsigned char *restrict x,
                           size_t count, const unsigned char *restrict columns, float mean)
{
    gguf_lanes means, scale;
    (void)mean;
    gguf_block_means(means, x, 256, 32, 1, 0x1p-7F);
    gguf_weighted_table(scale, x, columns, means);
    for (size_t b = 0; b < count; b++)
        gguf_put_table_block(to + 136 * b, x + 1024 * b, scale + 8 * b);
}

#endif

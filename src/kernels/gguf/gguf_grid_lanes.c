/* SPDX-License-Identifier: MIT
 *
 * The searches of encoders of GGUF blocks whose codes are points of a grid: see gguf_grid_search.h.
 * A combination of codes that is no point gives way to the best of the points next to it. A lane
 * is a point, or a scale that is tried. Compiled for the levels without AVX2 and with: longer
 * vectors do not help, because lists of points are short. */
#include <float.h>

#include "kernels/gguf/gguf_encode.h"
#include "kernels/gguf/gguf_grid_search.h"

/* The number of a digit is digit * step + first, which is exact. */
struct gguf_digits {
    float step, first;
};
static const struct gguf_digits gguf_odd = {2, 1}; /* 1, 3, 5 ... */

DTI_LANE float gguf_digit_number(uint32_t point, unsigned shift, unsigned bits,
                                 struct gguf_digits digits)
{
    const int32_t digit = (int32_t)(point >> shift & ((1u << bits) - 1));
    return gguf_add(gguf_mul((float)digit, digits.step), digits.first);
}

/* The point of a list with the smallest error: the first of several. If no error is finite, the
 * first of all; ggml has no answer then. */
DTI_LANE uint16_t gguf_closest(const uint16_t *restrict list, const float *restrict x,
                               const float *restrict w, float scale, struct gguf_digits digits,
                               unsigned length, unsigned bits)
{
    enum { LANES = DTI_GGUF_NEAR_LANES };
    float best[LANES];
    int32_t at[LANES];
    const int32_t count = list[0];
    for (unsigned k = 0; k < LANES; k++) {
        best[k] = FLT_MAX;
        at[k] = 0;
    }
    for (int32_t from = 1; from <= count; from += LANES)
        for (int32_t k = 0; k < LANES; k++) {
            const uint32_t point = list[from + k];
            float error = 0;
#pragma GCC unroll 8
            for (unsigned i = 0; i < length; i++) {
                const float number = gguf_digit_number(point, bits * i, bits, digits);
                const float apart = gguf_sub(gguf_mul(scale, number), x[i]);
                error = gguf_add(error, gguf_mul3(w[i], apart, apart));
            }
            const bool better = error < best[k];
            best[k] = better ? error : best[k];
            at[k] = better ? from + k : at[k];
        }
    float least = FLT_MAX;
    int32_t first = 1;
    for (unsigned k = 0; k < LANES; k++) {
        const bool better = (best[k] < least) | ((best[k] == least) & (at[k] < first));
        if (at[k] > 0 && better) {
            least = best[k];
            first = at[k];
        }
    }
    return list[first];
}

GGUF_SHARED uint16_t gguf_closest_eight(const uint16_t *restrict list, const float *restrict x,
                                        const float *restrict w, float scale,
                                        struct gguf_digits digits)
{
    return gguf_closest(list, x, w, scale, digits, 8, 2);
}

GGUF_SHARED uint16_t gguf_closest_four(const uint16_t *restrict list, const float *restrict x,
                                       const float *restrict w, float scale)
{
    return gguf_closest(list, x, w, scale, gguf_odd, 4, 3);
}

/* The scales that are tried, in lanes, and what they give. */
enum { GGUF_TRIES_MAX = 32 };
struct gguf_grid_tries {
    _Alignas(64) float inverse[GGUF_TRIES_MAX], sum_qx[GGUF_TRIES_MAX], sum_q2[GGUF_TRIES_MAX];
    _Alignas(64) uint32_t combination[GGUF_TRIES_MAX], point[DTI_GGUF_POINTS_MAX][GGUF_TRIES_MAX];
    uint8_t off[GGUF_TRIES_MAX]; /* a bit for each point that was none */
    unsigned lanes;              /* a multiple of 8 */
};

/* The codes of some numbers at each scale, as combinations; numbers beyond the largest code have
 * it. */
DTI_LANE void gguf_combine(uint32_t *restrict combination, const float *restrict inverse,
                           const float *restrict x, unsigned lanes, unsigned length, unsigned base)
{
    for (unsigned t = 0; t < lanes; t++) {
        uint32_t all = 0;
#pragma GCC unroll 8
        for (unsigned i = length; i-- > 0;) {
            const float number = gguf_mul(0.5F, gguf_sub(gguf_mul(inverse[t], x[i]), 1));
            all = all * base + (uint32_t)gguf_level(number, 0, (int32_t)base - 1);
        }
        combination[t] = all;
    }
}

/* Adds products of numbers and codes of a point, at each scale. */
DTI_LANE void gguf_add_point(float *restrict sum_qx, float *restrict sum_q2,
                             const uint32_t *restrict point, const float *restrict x,
                             const float *restrict w, unsigned lanes, unsigned length,
                             unsigned bits)
{
    for (unsigned t = 0; t < lanes; t++) {
        float qx = sum_qx[t], q2 = sum_q2[t];
#pragma GCC unroll 8
        for (unsigned i = 0; i < length; i++) {
            const float q = gguf_digit_number(point[t], bits * i, bits, gguf_odd);
            qx = gguf_add(qx, gguf_mul3(w[i], x[i], q));
            q2 = gguf_add(q2, gguf_mul3(w[i], q, q));
        }
        sum_qx[t] = qx;
        sum_q2[t] = q2;
    }
}

/* The point of a combination. */
DTI_LANE uint32_t gguf_point_of(const struct dti_gguf_near *near, uint32_t combination,
                                const float *restrict x, const float *restrict root, float scale,
                                unsigned length, bool *ret_off)
{
    const uint32_t place = near->places[combination];
    *ret_off = place >= DTI_GGUF_NEAR_LIST;
    if (!*ret_off)
        return near->points[place];
    const uint16_t *const list = near->lists + (place - DTI_GGUF_NEAR_LIST);
    return length == 8 ? gguf_closest_eight(list, x, root, scale, gguf_odd)
                       : gguf_closest_four(list, x, root, scale);
}

DTI_LANE void gguf_try_all(struct gguf_grid_tries *restrict to,
                           const struct dti_gguf_group *restrict group, unsigned n, unsigned count,
                           const struct dti_gguf_near *near, unsigned length)
{
    const unsigned base = length == 8 ? 3 : 8, bits = length == 8 ? 2 : 3;
    memset(to->off, 0, sizeof to->off);
    memset(to->sum_qx, 0, sizeof to->sum_qx);
    memset(to->sum_q2, 0, sizeof to->sum_q2);
    for (unsigned g = 0; g < n / length; g++) {
        const float *const x = group->x + (size_t)g * length;
        const float *const w = group->weight + (size_t)g * length;
        gguf_combine(to->combination, to->inverse, x, to->lanes, length, base);
        for (unsigned t = 0; t < count; t++) {
            bool off;
            to->point[g][t] =
                gguf_point_of(near, to->combination[t], x, group->root + (size_t)g * length,
                              1 / to->inverse[t], length, &off);
            to->off[t] = (uint8_t)(to->off[t] | off << g);
        }
        gguf_add_point(to->sum_qx, to->sum_q2, to->point[g], x, w, to->lanes, length, bits);
    }
}

/* Finds points again with the group's scale, then the scale that fits the points best. */
DTI_LANE void gguf_find_again(struct dti_gguf_group *restrict group, unsigned n, unsigned which,
                              const struct dti_gguf_near *near, unsigned length)
{
    const unsigned base = length == 8 ? 3 : 8, bits = length == 8 ? 2 : 3;
    const float inverse = 1 / group->scale;
    float sum_qx = 0, sum_q2 = 0;
    for (unsigned g = 0; g < n / length; g++) {
        const float *const x = group->x + (size_t)g * length;
        uint32_t combination, point = group->point[g];
        bool off;
        gguf_combine(&combination, &inverse, x, 1, length, base);
        if (which >> g & 1)
            point = gguf_point_of(near, combination, x, group->root + (size_t)g * length,
                                  group->scale, length, &off);
        group->point[g] = (uint16_t)point;
        gguf_add_point(&sum_qx, &sum_q2, &point, x, group->weight + (size_t)g * length, 1, length,
                       bits);
    }
    if (sum_q2 > 0)
        group->scale = sum_qx / sum_q2;
}

DTI_LANE void gguf_grid_search(struct dti_gguf_group *restrict group,
                               const struct dti_gguf_way *restrict way,
                               const struct dti_gguf_near *near, unsigned length)
{
    const unsigned count = 2 * (unsigned)way->tries + 1, points = way->n / length;
    const float top = length == 8 ? 5 : 15;
    struct gguf_grid_tries tries = {.lanes = (count + 7) / 8 * 8};
    unsigned off = way->again == DTI_GGUF_AGAIN_OFF ? 0 : 255;
    float best = 0;
    for (unsigned t = 0; t < tries.lanes; t++)
        tries.inverse[t] =
            gguf_add(top, gguf_mul((float)((int)t - way->tries), way->step)) / group->largest;
    gguf_try_all(&tries, group, way->n, count, near, length);
    memset(group->point, 0, sizeof group->point);
    for (unsigned t = 0; t < count; t++) {
        const float qx = tries.sum_qx[t], q2 = tries.sum_q2[t];
        if (!(q2 > 0 && gguf_mul(qx, qx) > gguf_mul(best, q2)))
            continue;
        group->scale = qx / q2;
        best = group->scale * qx;
        off = tries.off[t];
        for (unsigned g = 0; g < points; g++)
            group->point[g] = (uint16_t)tries.point[g][t];
    }
    if (way->again == DTI_GGUF_AGAIN_ALL || (way->again == DTI_GGUF_AGAIN_ANY && off != 0))
        off = 255;
    if (off != 0 && group->scale > 0)
        gguf_find_again(group, way->n, off, near, length);
}

void DTI_LANES_NAME(dti_gguf_grid_search)(struct dti_gguf_group *group,
                                          const struct dti_gguf_way *way,
                                          const struct dti_gguf_near *near)
{
    if (way->length == 8)
        gguf_grid_search(group, way, near, 8);
    else
        gguf_grid_search(group, way, near, 4);
}

/* IQ1: numbers in ascending order are split in three, of which each has one code, -1, 0 or 1; plus
 * 1/8, or minus. */
struct gguf_split {
    unsigned char order[DTI_GGUF_GROUP_MAX]; /* of the numbers; equal ones as they come */
    unsigned second, third;                  /* where the second and third part begin */
    unsigned less;                           /* bit h: half h of the group has minus 1/8 */
    float scale, score;
    bool found;
};

DTI_LANE struct gguf_digits gguf_thirds(bool less)
{
    return (struct gguf_digits){1, less ? -1.125F : -0.875F};
}

DTI_LANE void gguf_split_init(struct gguf_split *restrict split, const float *restrict x,
                              unsigned n)
{
    *split = (struct gguf_split){.score = -FLT_MAX};
    for (unsigned i = 0; i < n; i++) {
        unsigned k = i;
        for (; k > 0 && x[split->order[k - 1]] > x[i]; k--)
            split->order[k] = split->order[k - 1];
        split->order[k] = (unsigned char)i;
    }
}

DTI_LANE void gguf_split_offer(struct gguf_split *restrict split, float qx, float q2,
                               unsigned second, unsigned third, unsigned less)
{
    if (!(q2 > 0 && gguf_mul(qx, qx) > gguf_mul(split->score, q2)))
        return;
    split->scale = qx / q2;
    split->score = split->scale * qx;
    split->second = second;
    split->third = third;
    split->less = less;
    split->found = true;
}

/* The three parts have the sums a, b and c; their codes are p, q and r. */
DTI_LANE float gguf_three(float a, float p, float b, float q, float c, float r)
{
    return gguf_add(gguf_add(gguf_mul(a, p), gguf_mul(b, q)), gguf_mul(c, r));
}

DTI_LANE float gguf_three_squares(float a, float p, float b, float q, float c, float r)
{
    return gguf_add(gguf_add(gguf_mul3(a, p, p), gguf_mul3(b, q, q)), gguf_mul3(c, r, r));
}

enum { GGUF_SPLITS = 40 }; /* 33, in whole vectors */

/* The splits whose second part begins at `second`: sums up to each place, and of all. */
struct gguf_sums {
    _Alignas(64) float x[GGUF_SPLITS], w[GGUF_SPLITS];
};

DTI_LANE bool gguf_split_row(float qx[2][GGUF_SPLITS], float q2[2][GGUF_SPLITS],
                             const struct gguf_sums *restrict sums, unsigned second, float score)
{
    const float x = sums->x[second], w = sums->w[second], all_x = sums->x[32], all_w = sums->w[32];
    int32_t any = 0;
    for (unsigned h = 0; h < 2; h++) {
        const float zero = h ? -0.125F : 0.125F, low = zero - 1, high = zero + 1;
        for (unsigned i = 0; i < GGUF_SPLITS; i++) {
            const float bx = sums->x[i] - x, cx = all_x - sums->x[i];
            const float bw = sums->w[i] - w, cw = all_w - sums->w[i];
            qx[h][i] = gguf_three(x, low, bx, zero, cx, high);
            q2[h][i] = gguf_three_squares(w, low, bw, zero, cw, high);
            any |= (q2[h][i] > 0) & (gguf_mul(qx[h][i], qx[h][i]) > gguf_mul(score, q2[h][i]));
        }
    }
    return any != 0;
}

/* The best split of 32 numbers. */
DTI_LANE void gguf_split_32(struct gguf_split *restrict split,
                            const struct dti_gguf_group *restrict group)
{
    struct gguf_sums sums = {{0}, {0}};
    _Alignas(64) float qx[2][GGUF_SPLITS], q2[2][GGUF_SPLITS];
    gguf_split_init(split, group->x, 32);
    for (unsigned i = 0; i < 32; i++) {
        const unsigned at = split->order[i];
        sums.x[i + 1] = gguf_add(sums.x[i], gguf_mul(group->weight[at], group->x[at]));
        sums.w[i + 1] = gguf_add(sums.w[i], group->weight[at]);
    }
    for (unsigned second = 0; second <= 32; second++) {
        if (!gguf_split_row(qx, q2, &sums, second, split->score))
            continue;
        for (unsigned third = second; third <= 32; third++)
            for (unsigned h = 0; h < 2; h++)
                gguf_split_offer(split, qx[h][third], q2[h][third], second, third, 3 * h);
    }
}

/* Sums of the products of a number, and of squares: for plus or minus 1/8 in each half. */
struct gguf_terms {
    _Alignas(32) float sum[8];
};

DTI_LANE void gguf_terms_of(struct gguf_terms *restrict to, float x, float w, unsigned half,
                            unsigned code)
{
    for (unsigned k = 0; k < 4; k++) {
        const bool less = k >> (1 - half) & 1;
        const float q = gguf_add((float)code, less ? -1.125F : -0.875F);
        to->sum[k] = gguf_mul3(w, q, x);
        to->sum[4 + k] = gguf_mul3(w, q, q);
    }
}

/* Adds terms in order. */
DTI_LANE void gguf_terms_add(struct gguf_terms *to, const struct gguf_terms *from,
                             const struct gguf_terms *restrict term, unsigned count)
{
    for (unsigned k = 0; k < 8; k++) {
        float sum = from->sum[k];
        for (unsigned i = 0; i < count; i++)
            sum += term[i].sum[k];
        to->sum[k] = sum;
    }
}

/* The best split of 16 numbers, of which each half has its own sign of 1/8. */
DTI_LANE void gguf_split_16(struct gguf_split *restrict split,
                            const struct dti_gguf_group *restrict group)
{
    static const unsigned char less[4] = {0, 2, 1, 3};
    struct gguf_terms terms[3][16], one = {{0}}, two, three;
    gguf_split_init(split, group->x, 16);
    for (unsigned i = 0; i < 16; i++)
        for (unsigned code = 0; code < 3; code++) {
            const unsigned at = split->order[i];
            gguf_terms_of(&terms[code][i], group->x[at], group->weight[at], at / 8, code);
        }
    for (unsigned second = 0; second <= 16; second++) {
        two = one;
        for (unsigned third = second; third <= 16; third++) {
            gguf_terms_add(&three, &two, &terms[2][third], 16 - third);
            for (unsigned k = 0; k < 4; k++)
                gguf_split_offer(split, three.sum[k], three.sum[4 + k], second, third, less[k]);
            if (third < 16)
                gguf_terms_add(&two, &two, &terms[1][third], 1);
        }
        if (second < 16)
            gguf_terms_add(&one, &one, &terms[0][second], 1);
    }
}

/* Codes of a split become points; if some are not on the grid, the scale is fitted again. A
 * negative scale turns all signs. */
DTI_LANE bool gguf_split_points(struct dti_gguf_group *restrict group,
                                const struct gguf_split *restrict split,
                                const struct dti_gguf_near *near, unsigned n)
{
    unsigned char code[DTI_GGUF_GROUP_MAX];
    const bool turned = split->scale < 0;
    float sum_qx = 0, sum_q2 = 0;
    bool off = false;
    if (!split->found)
        return false;
    group->scale = turned ? -split->scale : split->scale;
    for (unsigned i = 0; i < n; i++) {
        const int third = (i >= split->second) + (i >= split->third);
        code[split->order[i]] = (unsigned char)(turned ? 2 - third : third);
    }
    for (unsigned g = 0; g < n / 8; g++) {
        const bool less = (split->less >> (2 * g / (n / 8)) & 1) != turned;
        uint32_t combination = 0;
        for (unsigned i = 8; i-- > 0;)
            combination = combination * 3 + code[8 * g + i];
        const uint32_t place = near->places[combination];
        if (place < DTI_GGUF_NEAR_LIST) {
            group->point[g] = near->points[place];
        } else {
            group->point[g] = gguf_closest_eight(
                near->lists + (place - DTI_GGUF_NEAR_LIST), group->x + (size_t)8 * g,
                group->weight + (size_t)8 * g, group->scale, gguf_thirds(less));
            off = true;
        }
        group->less[g] = less;
    }
    for (unsigned i = 0; i < n; i++) {
        const float q =
            gguf_digit_number(group->point[i / 8], i % 8 * 2, 2, gguf_thirds(group->less[i / 8]));
        sum_qx = gguf_add(sum_qx, gguf_mul3(group->weight[i], q, group->x[i]));
        sum_q2 = gguf_add(sum_q2, gguf_mul3(group->weight[i], q, q));
    }
    if (off && sum_qx > 0 && sum_q2 > 0)
        group->scale = sum_qx / sum_q2;
    return true;
}

bool DTI_LANES_NAME(dti_gguf_thirds_s)(struct dti_gguf_group *group,
                                       const struct dti_gguf_near *near)
{
    struct gguf_split split;
    gguf_split_32(&split, group);
    return gguf_split_points(group, &split, near, 32);
}

bool DTI_LANES_NAME(dti_gguf_thirds_m)(struct dti_gguf_group *group,
                                       const struct dti_gguf_near *near)
{
    struct gguf_split split;
    gguf_split_16(&split, group);
    return gguf_split_points(group, &split, near, 16);
}

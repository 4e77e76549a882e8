/* SPDX-License-Identifier: MIT
 *
 * The searches of GGUF's encoders with sums in registers. Operations on fp32 and their order are
 * those of the portable loops, except that codes are clamped and rounded as numbers: the same
 * for quotients below 2^22. */
#include "kernels/gguf/gguf_search.h"
#include "kernels/x86/quant/quant_back.h"
#include "kernels/x86/quant/quant_places.h"

#ifdef __AVX2__
enum { PARTS = GGUF_LANES / LANES, GROUP_MOST = 32 };
typedef floats parts[PARTS]; /* one number of each group */

DTI_INLINE floats sum_of(floats a, floats b)
{
    return VECTOR_BITS(add_ps)(a, b);
}

DTI_INLINE floats difference(floats a, floats b)
{
    return VECTOR_BITS(sub_ps)(a, b);
}

DTI_INLINE floats product(floats a, floats b)
{
    return VECTOR_BITS(mul_ps)(a, b);
}

DTI_INLINE floats quotient(floats a, floats b)
{
    return VECTOR_BITS(div_ps)(a, b);
}

DTI_INLINE floats magnitude(floats x)
{
    return as_floats(VECTOR_WHOLE(and)(as_bits(x), lanes_of(0x7fffffff)));
}

DTI_INLINE floats part_of(const float *lanes, unsigned part)
{
    return VECTOR_BITS(loadu_ps)(lanes + (size_t)part * LANES);
}

DTI_INLINE void keep_part(float *lanes, unsigned part, floats x)
{
    VECTOR_BITS(storeu_ps)(lanes + (size_t)part * LANES, x);
}

/* Masks of lanes: a comparison, `b` where it holds and else `a`. */
#ifdef __AVX512BW__
typedef __mmask16 where;
#define COMPARE(a, b, how) _mm512_cmp_ps_mask(a, b, how)
#define BOTH(a, b)         ((where)((a) & (b)))
#define EITHER(a, b)       ((where)((a) | (b)))
#define ALL(a)             ((a) == 0xffff)

DTI_INLINE floats pick(where mask, floats a, floats b)
{
    return _mm512_mask_blend_ps(mask, a, b);
}

DTI_INLINE floats nearest(floats x)
{
    return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#else
typedef __m256 where;
#define COMPARE(a, b, how) _mm256_cmp_ps(a, b, how)
#define BOTH(a, b)         _mm256_and_ps(a, b)
#define EITHER(a, b)       _mm256_or_ps(a, b)
#define ALL(a)             (_mm256_movemask_ps(a) == 0xff)

DTI_INLINE floats pick(where mask, floats a, floats b)
{
    return _mm256_blendv_ps(a, b, mask);
}

DTI_INLINE floats nearest(floats x)
{
    return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
#endif

/* The nearest integer from 0 to `most`: bits of positive numbers are in their order as integers,
 * and integer units have less to do here. */
DTI_INLINE floats code_of(floats x, floats most)
{
    const vector above = VECTOR_BITS(max_epi32)(as_bits(x), VECTOR_WHOLE(setzero)());
    return nearest(as_floats(VECTOR_BITS(min_epi32)(above, as_bits(most))));
}

/* The groups of one vector. */
struct groups {
    floats low, high; /* the range with zero, in which all numbers are */
    floats sum_w, sum_x;
    floats scale, least, inverse, base, error; /* the best so far */
};

/* One search: constants after inlining. */
struct search {
    const gguf_lanes *x, *w;
    unsigned n;
    bool absolute;
    floats most;
};

/* Factors for steps / (high - least). Groups of equal numbers get 0, because what is found for
 * them is not used. ret_small: whether no quotient (x - least) factor exceeds 2^22. Subtraction
 * and product are monotonic, so those of both ends of the range tell. */
DTI_INLINE floats factor_of(const struct groups *g, floats inverse, floats least, bool *ret_small)
{
    const floats beyond = floats_of(0x1p22F);
    const where flat = COMPARE(g->high, g->low, _CMP_EQ_OQ);
    const floats low = magnitude(product(inverse, difference(g->low, least)));
    const floats high = magnitude(product(inverse, difference(g->high, least)));
    const where small = BOTH(COMPARE(low, beyond, _CMP_LT_OQ), COMPARE(high, beyond, _CMP_LT_OQ));
    *ret_small &= ALL(EITHER(small, flat));
    return pick(flat, inverse, as_floats(VECTOR_WHOLE(setzero)()));
}

/* The error of `code` with scale and least. */
DTI_INLINE void errors_of(const struct search *s, parts code[GROUP_MOST], const parts scale,
                          const parts least, parts ret)
{
    for (unsigned p = 0; p < PARTS; p++)
        ret[p] = floats_of(0);
    for (unsigned i = 0; i < s->n; i++)
        for (unsigned p = 0; p < PARTS; p++) {
            const floats back = sum_of(product(scale[p], code[i][p]), least[p]);
            const floats apart = difference(back, part_of(s->x[i], p));
            const floats size = s->absolute ? magnitude(apart) : product(apart, apart);
            ret[p] = sum_of(ret[p], product(part_of(s->w[i], p), size));
        }
}

DTI_INLINE bool first_try(const struct search *s, struct groups g[PARTS])
{
    parts code[GROUP_MOST], factor, scale, least, error;
    bool small = true;
    for (unsigned p = 0; p < PARTS; p++) {
        g[p].inverse = quotient(s->most, difference(g[p].high, g[p].low));
        g[p].scale = scale[p] = quotient(floats_of(1), g[p].inverse);
        g[p].base = g[p].least = least[p] = g[p].low;
        factor[p] = factor_of(&g[p], g[p].inverse, least[p], &small);
    }
    for (unsigned i = 0; i < s->n; i++)
        for (unsigned p = 0; p < PARTS; p++)
            code[i][p] =
                code_of(product(factor[p], difference(part_of(s->x[i], p), least[p])), s->most);
    errors_of(s, code, scale, least, error);
    for (unsigned p = 0; p < PARTS; p++)
        g[p].error = error[p];
    return small;
}

/* Fits scale and minimum of a group to the sums of its codes. Returns where they exist. */
DTI_INLINE where fit_group(const struct groups *g, floats sum_l, floats sum_l2, floats sum_xl,
                           floats *ret_scale, floats *ret_least)
{
    const floats zero = floats_of(0);
    const floats d = difference(product(g->sum_w, sum_l2), product(sum_l, sum_l));
    const floats scale =
        quotient(difference(product(g->sum_w, sum_xl), product(g->sum_x, sum_l)), d);
    const floats least = quotient(difference(product(sum_l2, g->sum_x), product(sum_l, sum_xl)), d);
    const where above = COMPARE(least, zero, _CMP_GT_OQ);
    *ret_scale = pick(above, scale, quotient(sum_xl, sum_l2));
    *ret_least = pick(above, least, zero);
    return COMPARE(d, zero, _CMP_GT_OQ);
}

/* gguf_affine_try() */
DTI_INLINE bool next_try(const struct search *s, struct groups g[PARTS], float steps)
{
    parts code[GROUP_MOST], inverse, factor, base, sum_l, sum_l2, sum_xl, scale, least, error;
    where exists[PARTS];
    bool small = true;
    for (unsigned p = 0; p < PARTS; p++) {
        sum_l[p] = sum_l2[p] = sum_xl[p] = floats_of(0);
        base[p] = g[p].least;
        inverse[p] = quotient(floats_of(steps), difference(g[p].high, base[p]));
        factor[p] = factor_of(&g[p], inverse[p], base[p], &small);
    }
    if (!small)
        return false;
    for (unsigned i = 0; i < s->n; i++)
        for (unsigned p = 0; p < PARTS; p++) {
            const floats x = part_of(s->x[i], p);
            const floats l = code_of(product(factor[p], difference(x, base[p])), s->most);
            const floats wl = product(part_of(s->w[i], p), l);
            code[i][p] = l;
            sum_l[p] = sum_of(sum_l[p], wl);
            sum_l2[p] = sum_of(sum_l2[p], product(wl, l));
            sum_xl[p] = sum_of(sum_xl[p], product(wl, x));
        }
    for (unsigned p = 0; p < PARTS; p++)
        exists[p] = fit_group(&g[p], sum_l[p], sum_l2[p], sum_xl[p], &scale[p], &least[p]);
    errors_of(s, code, scale, least, error);
    for (unsigned p = 0; p < PARTS; p++) {
        const where better = BOTH(exists[p], COMPARE(error[p], g[p].error, _CMP_LT_OQ));
        g[p].error = pick(better, g[p].error, error[p]);
        g[p].scale = pick(better, g[p].scale, scale[p]);
        g[p].inverse = pick(better, g[p].inverse, inverse[p]);
        g[p].base = pick(better, g[p].base, base[p]);
        g[p].least = pick(better, g[p].least, least[p]);
    }
    return true;
}

/* gguf_affine_sums() */
DTI_INLINE void take_groups(const struct search *s, struct groups g[PARTS])
{
    parts low, high, sum_w, sum_x;
    for (unsigned p = 0; p < PARTS; p++) {
        low[p] = high[p] = part_of(s->x[0], p);
        sum_w[p] = part_of(s->w[0], p);
        sum_x[p] = product(sum_w[p], low[p]);
    }
    for (unsigned i = 1; i < s->n; i++)
        for (unsigned p = 0; p < PARTS; p++) {
            const floats x = part_of(s->x[i], p), w = part_of(s->w[i], p);
            low[p] = VECTOR_BITS(min_ps)(x, low[p]);
            high[p] = VECTOR_BITS(max_ps)(x, high[p]);
            sum_w[p] = sum_of(sum_w[p], w);
            sum_x[p] = sum_of(sum_x[p], product(w, x));
        }
    for (unsigned p = 0; p < PARTS; p++) {
        /* 0 if positive; a zero keeps its sign */
        g[p].low = VECTOR_BITS(min_ps)(floats_of(0), low[p]);
        g[p].high = high[p];
        g[p].sum_w = sum_w[p];
        g[p].sum_x = sum_x[p];
    }
}

DTI_INLINE bool search_groups(struct gguf_affine *to, const struct search *s,
                              struct gguf_tries tries, float most)
{
    struct groups g[PARTS];
    take_groups(s, g);
    bool small = first_try(s, g);
    for (unsigned i = 0; i <= tries.last && small; i++) {
        const float further = tries.step * (float)i, more = tries.from + further;
        small = next_try(s, g, more + most);
    }
    for (unsigned p = 0; p < PARTS && small; p++) {
        const where flat = COMPARE(g[p].high, g[p].low, _CMP_EQ_OQ);
        keep_part(to->scale, p, pick(flat, g[p].scale, floats_of(0)));
        keep_part(to->inverse, p, pick(flat, g[p].inverse, floats_of(0)));
        keep_part(to->base, p, pick(flat, g[p].base, g[p].low));
        keep_part(to->least, p, pick(flat, g[p].least, g[p].low));
        keep_part(to->sum_w, p, g[p].sum_w);
    }
    return small;
}

bool VECTOR_NAME(dti_gguf_affine_search)(struct gguf_affine *to, const gguf_lanes *x,
                                         const gguf_lanes *w, unsigned n, int most,
                                         struct gguf_tries tries, bool absolute)
{
    const floats all = floats_of((float)most);
    if (absolute)
        return search_groups(to, &(struct search){x, w, n, true, all}, tries, (float)most);
    return search_groups(to, &(struct search){x, w, n, false, all}, tries, (float)most);
}

void VECTOR_NAME(dti_gguf_transpose)(gguf_lanes *to, const unsigned char *x, unsigned n)
{
    for (unsigned k = 0; k < GGUF_LANES; k += 4)
        for (unsigned i = 0; i < n; i += 4) {
            const unsigned char *const from = x + sizeof(float) * ((size_t)k * n + i);
            const size_t row = sizeof(float) * n;
            __m128 a = _mm_loadu_ps((const void *)from);
            __m128 b = _mm_loadu_ps((const void *)(from + row));
            __m128 c = _mm_loadu_ps((const void *)(from + 2 * row));
            __m128 d = _mm_loadu_ps((const void *)(from + 3 * row));
            _MM_TRANSPOSE4_PS(a, b, c, d);
            _mm_storeu_ps(to[i] + k, a);
            _mm_storeu_ps(to[i + 1] + k, b);
            _mm_storeu_ps(to[i + 2] + k, c);
            _mm_storeu_ps(to[i + 3] + k, d);
        }
}

void VECTOR_NAME(dti_gguf_affine_weights)(gguf_lanes *w, const gguf_lanes *x)
{
    parts sum;
    for (unsigned p = 0; p < PARTS; p++)
        sum[p] = floats_of(0);
    for (unsigned i = 0; i < GROUP_MOST; i++)
        for (unsigned p = 0; p < PARTS; p++)
            sum[p] = sum_of(sum[p], product(part_of(x[i], p), part_of(x[i], p)));
    for (unsigned p = 0; p < PARTS; p++)
        sum[p] = VECTOR_BITS(sqrt_ps)(quotient(sum[p], floats_of(GROUP_MOST)));
    for (unsigned i = 0; i < GROUP_MOST; i++)
        for (unsigned p = 0; p < PARTS; p++)
            keep_part(w[i], p, sum_of(sum[p], magnitude(part_of(x[i], p))));
}

/* The best scale of each group so far, and what others are compared with. */
struct group_fit {
    floats scale, inverse, best, largest;
};

/* One search for scales; wx: weights times numbers. Constants after inlining. */
struct scale_search {
    const gguf_lanes *x, *w;
    const parts *wx;
    unsigned n;
    float most;
};

/* gguf_scale_try(). Where there is no scale, what is found is not used; elsewhere no product with
 * `inverse` exceeds 64. */
DTI_INLINE void scale_try(struct group_fit to[PARTS], const struct scale_search *s, float steps,
                          bool is_first)
{
    const floats zero = floats_of(0), least = floats_of(-s->most), most = floats_of(s->most - 1);
    parts inverse, sum_lx, sum_l2;
    for (unsigned p = 0; p < PARTS; p++) {
        inverse[p] = quotient(floats_of(steps), to[p].largest);
        sum_lx[p] = sum_l2[p] = zero;
    }
    for (unsigned i = 0; i < s->n; i++)
        for (unsigned p = 0; p < PARTS; p++) {
            const floats level = product(inverse[p], part_of(s->x[i], p));
            const floats l = nearest(VECTOR_BITS(min_ps)(VECTOR_BITS(max_ps)(level, least), most));
            sum_lx[p] = sum_of(sum_lx[p], product(s->wx[i][p], l));
            sum_l2[p] = sum_of(sum_l2[p], product(product(part_of(s->w[i], p), l), l));
        }
    for (unsigned p = 0; p < PARTS; p++) {
        const where none = COMPARE(sum_l2[p], zero, _CMP_EQ_OQ);
        const where better = BOTH(
            COMPARE(sum_l2[p], zero, _CMP_GT_OQ),
            COMPARE(product(sum_lx[p], sum_lx[p]), product(to[p].best, sum_l2[p]), _CMP_GT_OQ));
        const floats fit = quotient(sum_lx[p], sum_l2[p]);
        const floats scale = is_first ? pick(none, fit, zero) : fit;
        const floats best = product(scale, sum_lx[p]);
        to[p].scale = is_first ? scale : pick(better, to[p].scale, scale);
        to[p].best = is_first ? best : pick(better, to[p].best, best);
        to[p].inverse = is_first ? inverse[p] : pick(better, to[p].inverse, inverse[p]);
    }
}

DTI_INLINE void search_scales(struct gguf_scaled *to, const gguf_lanes *x, const gguf_lanes *w,
                              unsigned n, float most)
{
    struct group_fit found[PARTS];
    parts wx[GROUP_MOST];
    const struct scale_search s = {x, w, (const parts *)wx, n, most};
    for (unsigned p = 0; p < PARTS; p++)
        found[p].largest = part_of(to->largest, p);
    for (unsigned i = 0; i < n; i++)
        for (unsigned p = 0; p < PARTS; p++)
            wx[i][p] = product(part_of(w[i], p), part_of(x[i], p));
    scale_try(found, &s, -most, true);
    for (int step = -9; step <= 9; step++) {
        const float tenths = 0.1F * (float)step, steps = most + tenths;
        if (step != 0)
            scale_try(found, &s, -steps, false);
    }
    for (unsigned p = 0; p < PARTS; p++) {
        const where none = COMPARE(magnitude(found[p].largest), floats_of(1e-15F), _CMP_LT_OQ);
        keep_part(to->scale, p, pick(none, found[p].scale, floats_of(0)));
        keep_part(to->inverse, p, pick(none, found[p].inverse, floats_of(0)));
    }
}

void VECTOR_NAME(dti_gguf_scale_search)(struct gguf_scaled *to, const gguf_lanes *x,
                                        const gguf_lanes *w, unsigned n, int most)
{
    if (n == 16)
        search_scales(to, x, w, 16, (float)most);
    else
        search_scales(to, x, w, GROUP_MOST, (float)most);
}

/* gguf_table_try(). Where there is no scale, what is found is not used; elsewhere no product with
 * `inverse` is a NaN. */
DTI_INLINE void table_try(struct group_fit to[PARTS], const gguf_lanes *x, const gguf_lanes *w,
                          const struct place_limits *limits, struct numbers16 values, bool is_first)
{
    parts sum_qx, sum_q2;
    for (unsigned p = 0; p < PARTS; p++)
        sum_qx[p] = sum_q2[p] = floats_of(0);
    for (unsigned i = 0; i < GROUP_MOST; i++)
        for (unsigned p = 0; p < PARTS; p++) {
            const floats number = part_of(x[i], p);
            const vector place = places_of(limits, product(to[p].inverse, number), true);
            const floats weight = w ? part_of(w[i], p) : product(number, number);
            const floats q = look_up(values, place), wq = product(weight, q);
            sum_qx[p] = sum_of(sum_qx[p], product(wq, number));
            sum_q2[p] = sum_of(sum_q2[p], product(wq, q));
        }
    for (unsigned p = 0; p < PARTS; p++) {
        const where positive = COMPARE(sum_q2[p], floats_of(0), _CMP_GT_OQ);
        const where better = BOTH(positive, COMPARE(product(sum_qx[p], sum_qx[p]),
                                                    product(to[p].best, sum_q2[p]), _CMP_GT_OQ));
        const floats fit = pick(positive, floats_of(0), quotient(sum_qx[p], sum_q2[p]));
        const floats best = product(fit, sum_qx[p]);
        to[p].scale = is_first ? fit : pick(better, to[p].scale, fit);
        to[p].best = is_first ? best : pick(better, to[p].best, best);
    }
}

DTI_INLINE void search_table(float *scale, const gguf_lanes *x, const gguf_lanes *w,
                             const float *largest, const float *middles, const float *steps)
{
    const struct place_limits limits = limits_init(middles);
    struct group_fit found[PARTS];
    struct numbers16 values;
    float numbers[16], value = -127;
    for (unsigned i = 0; i < 16; i++) {
        numbers[LANES == 16 ? i : -i % 16] = value;
        value += i < PLACE_LIMITS ? steps[i] : 0;
    }
    values.low = load_floats((const unsigned char *)numbers);
    values.high = load_floats((const unsigned char *)(numbers + 16 - LANES));
    for (unsigned p = 0; p < PARTS; p++) {
        found[p].largest = part_of(largest, p);
        found[p].inverse = quotient(floats_of(1), quotient(found[p].largest, floats_of(127)));
    }
    table_try(found, x, w, &limits, values, true);
    for (int step = -7; step <= 7; step++) {
        for (unsigned p = 0; p < PARTS; p++)
            found[p].inverse = quotient(floats_of((float)(step - 127)), found[p].largest);
        table_try(found, x, w, &limits, values, false);
    }
    for (unsigned p = 0; p < PARTS; p++) {
        const where none = COMPARE(magnitude(found[p].largest), floats_of(1e-15F), _CMP_LT_OQ);
        keep_part(scale, p, pick(none, found[p].scale, floats_of(0)));
    }
}

void VECTOR_NAME(dti_gguf_table_search)(float *scale, const gguf_lanes *x, const gguf_lanes *w,
                                        const float *largest, const float *middles,
                                        const float *steps)
{
    if (w)
        search_table(scale, x, w, largest, middles, steps);
    else
        search_table(scale, x, NULL, largest, middles, steps);
}
#endif

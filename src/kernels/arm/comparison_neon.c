/* SPDX-License-Identifier: MIT
 *
 * Comparisons of fp32 with Advanced SIMD: a pass over a tile for every four lanes, and one for
 * steps, so that sums stay in registers. */
#include "kernels/arm/neon.h"
#include "kernels/scan/comparison_kernels.h"
#include "kernels/scan/comparison_tile.h"

enum { LANES = DTI_TILE_LANES, FOUR = 4, PAIRS = 8 };

struct comparison_view_neon {
    double ratio, atol, rtol;
    bool tolerant;
};

/* Two lanes in each part. */
struct comparison_sums_neon {
    float64x2_t absolute[2], squared[2], aa[2], bb[2], ab[2];
    float64x2_t largest, above;
    uint64x2_t exceeding;
};

DTI_INLINE void add_two(struct comparison_sums_neon *s, const struct comparison_view_neon *look,
                        unsigned part, float64x2_t a, float64x2_t b, bool tolerant)
{
    const float64x2_t error = vabdq_f64(a, b), size = vabsq_f64(b);
    s->absolute[part] = vaddq_f64(s->absolute[part], error);
    s->squared[part] = vaddq_f64(s->squared[part], vmulq_f64(error, error));
    s->aa[part] = vfmaq_f64(s->aa[part], a, a); /* exact products */
    s->bb[part] = vfmaq_f64(s->bb[part], b, b);
    s->ab[part] = vfmaq_f64(s->ab[part], a, b);
    s->largest = vmaxq_f64(s->largest, error);
    /* if b is 0 the comparison ignores the pair */
    const float64x2_t above = vfmsq_f64(error, vdupq_n_f64(look->ratio), size);
    const uint64x2_t counts = vandq_u64(vreinterpretq_u64_f64(above), vcgtzq_f64(size));
    s->above = vmaxq_f64(s->above, vreinterpretq_f64_u64(counts));
    if (!tolerant)
        return;
    const float64x2_t bar =
        vaddq_f64(vdupq_n_f64(look->atol), vmulq_f64(vdupq_n_f64(look->rtol), size));
    s->exceeding = vsubq_u64(s->exceeding, vcgtq_f64(error, bar));
}

DTI_INLINE void add_four(struct comparison_sums_neon *s, const struct comparison_view_neon *look,
                         const float *a, const float *b, bool tolerant)
{
    const float32x4_t x = neon_load_f32((const unsigned char *)a);
    const float32x4_t y = neon_load_f32((const unsigned char *)b);
    add_two(s, look, 0, vcvt_f64_f32(vget_low_f32(x)), vcvt_f64_f32(vget_low_f32(y)), tolerant);
    add_two(s, look, 1, vcvt_high_f64_f32(x), vcvt_high_f64_f32(y), tolerant);
}

/* The end of an array, at most eight numbers, padded with zeros, which add nothing. */
DTI_INLINE void load_rest(float rest[PAIRS], const float *from, size_t n)
{
    memset(rest, 0, PAIRS * sizeof rest[0]);
    memcpy(rest, from, (n < PAIRS ? n : PAIRS) * sizeof rest[0]);
}

/* Without a loop, so that the compiler has no reason to put sums into memory. */
DTI_INLINE void keep(double lane[FOUR], const float64x2_t sum[2])
{
    vst1q_f64(lane, sum[0]);
    vst1q_f64(lane + 2, sum[1]);
}

/* first: the first of the four lanes. */
DTI_INLINE void add_lanes(struct dti_comparison_found *found,
                          const struct comparison_view_neon *look, const float *a, const float *b,
                          size_t n, size_t first, bool tolerant)
{
    const float64x2_t z = vdupq_n_f64(0);
    struct comparison_sums_neon s = {.absolute = {z, z}, .squared = {z, z}};
    size_t i = first;
    for (; i + FOUR <= n; i += LANES)
        add_four(&s, look, a + i, b + i, tolerant);
    if (i < n) {
        float x[PAIRS], y[PAIRS];
        load_rest(x, a + i, n - i);
        load_rest(y, b + i, n - i);
        add_four(&s, look, x, y, tolerant);
    }
    keep(found->absolute + first, s.absolute);
    keep(found->squared + first, s.squared);
    keep(found->aa + first, s.aa);
    keep(found->bb + first, s.bb);
    keep(found->ab + first, s.ab);
    const double largest = vmaxvq_f64(s.largest);
    found->largest = largest > found->largest ? largest : found->largest;
    found->above = found->above || vmaxvq_f64(s.above) > 0;
    found->exceeding += vaddvq_u64(s.exceeding);
}

static DTI_NOINLINE void go_plain(struct dti_comparison_found *found,
                                  const struct comparison_view_neon *look, const float *a,
                                  const float *b, size_t n, size_t first)
{
    const struct comparison_view_neon l = *look;
    add_lanes(found, &l, a, b, n, first, false);
}

static DTI_NOINLINE void go_tolerant(struct dti_comparison_found *found,
                                     const struct comparison_view_neon *look, const float *a,
                                     const float *b, size_t n, size_t first)
{
    const struct comparison_view_neon l = *look;
    add_lanes(found, &l, a, b, n, first, true);
}

/* The distance of a number from zero on the number line; see comparison_tile.h. */
DTI_INLINE uint32x4_t place(float32x4_t x, uint32x4_t base)
{
    const float32x4_t least = vreinterpretq_f32_u32(base), size = vabsq_f32(x);
    const uint32x4_t small = vcltq_f32(size, least);
    const uint32x4_t evenly = vreinterpretq_u32_f32(vaddq_f32(size, least));
    const uint32x4_t bits = vaddq_u32(vreinterpretq_u32_f32(size), vdupq_n_u32(1 << 23));
    return vsubq_u32(vbslq_u32(small, evenly, bits), base);
}

/* Four pairs: counts those that are equal, and sees the steps between them. */
DTI_INLINE void see_four(uint32x4_t *equal, uint32x4_t *most, const float *a, const float *b,
                         uint32x4_t base, bool steps)
{
    const float32x4_t x = neon_load_f32((const unsigned char *)a);
    const float32x4_t y = neon_load_f32((const unsigned char *)b);
    *equal = vsubq_u32(*equal, vceqq_f32(x, y));
    if (!steps)
        return;
    const uint32x4_t p = place(x, base), q = place(y, base);
    const int32x4_t signs =
        vreinterpretq_s32_u32(veorq_u32(vreinterpretq_u32_f32(x), vreinterpretq_u32_f32(y)));
    const uint32x4_t apart = vbslq_u32(vcltzq_s32(signs), vaddq_u32(p, q), vabdq_u32(p, q));
    *most = vmaxq_u32(*most, apart);
}

DTI_INLINE void count_pairs(struct dti_comparison_found *found, uint32_t base_bits, const float *a,
                            const float *b, size_t n, bool steps)
{
    const uint32x4_t base = vdupq_n_u32(base_bits);
    uint32x4_t most = vdupq_n_u32(0), equal = most;
    size_t i = 0;
    for (; i + PAIRS <= n; i += PAIRS) {
        see_four(&equal, &most, a + i, b + i, base, steps);
        see_four(&equal, &most, a + i + 4, b + i + 4, base, steps);
    }
    if (i < n) {
        float x[PAIRS], y[PAIRS];
        load_rest(x, a + i, n - i);
        load_rest(y, b + i, n - i);
        see_four(&equal, &most, x, y, base, steps);
        see_four(&equal, &most, x + 4, y + 4, base, steps);
    }
    found->ulp = vmaxvq_u32(most);
    found->differing = (n + PAIRS - 1) / PAIRS * PAIRS - vaddlvq_u32(equal);
}

static DTI_NOINLINE void count_steps(struct dti_comparison_found *found, uint32_t base,
                                     const float *a, const float *b, size_t n)
{
    count_pairs(found, base, a, b, n, true);
}

static DTI_NOINLINE void count_differing(struct dti_comparison_found *found, const float *a,
                                         const float *b, size_t n)
{
    count_pairs(found, 0, a, b, n, false);
}

void dti_comparison_f32_neon(const struct dti_comparison_rule *rule, const void *a, const void *b,
                             size_t n, uint64_t index, struct dti_comparison *comparison)
{
    const bool any = rule->ulp.width > 0;
    const struct comparison_view_neon look = {
        .ratio = comparison->max_relative,
        .atol = rule->atol,
        .rtol = rule->rtol,
        .tolerant = dti_comparison_tolerates(rule),
    };
    struct dti_comparison_found found = {.largest = 0};
    for (size_t first = 0; first < LANES; first += FOUR) {
        if (look.tolerant)
            go_tolerant(&found, &look, a, b, n, first);
        else
            go_plain(&found, &look, a, b, n, first);
    }
    if (any)
        count_steps(&found, dti_comparison_base32(&rule->ulp), a, b, n);
    else
        count_differing(&found, a, b, n);
    dti_comparison_end_f32(rule, &found, a, b, n, index, comparison);
}

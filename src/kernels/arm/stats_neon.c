/* SPDX-License-Identifier: MIT
 *
 * Statistics of fp32 with Advanced SIMD. The sixteen lanes of both sums stay in registers. */
#include "kernels/arm/neon.h"
#include "kernels/scan/stats_kernels.h"
#include "kernels/scan/stats_tile.h"

enum { LANES = DTI_TILE_LANES, PARTS = LANES / 4 };

DTI_INLINE void add_two(float64x2_t *sum, float64x2_t *squared, float64x2_t x, float64x2_t shift,
                        bool shifted)
{
    const float64x2_t d = shifted ? vsubq_f64(x, shift) : x;
    *sum = vaddq_f64(*sum, d);
    *squared = shifted ? vaddq_f64(*squared, vmulq_f64(d, d))
                       : vfmaq_f64(*squared, d, d); /* exact squares */
}

DTI_INLINE void go_through(struct dti_stats_pass *p, const float *x, size_t n, double shift_by,
                           bool shifted)
{
    const float64x2_t shift = vdupq_n_f64(shift_by), zero = vdupq_n_f64(0);
    float64x2_t sum[2 * PARTS], squared[2 * PARTS];
    float32x4_t min = vdupq_n_f32(INFINITY), max = vdupq_n_f32(-INFINITY), least = min;
    uint32x4_t signs = vdupq_n_u32(0); /* a tile has fewer elements than a lane can count */
    size_t i = 0;
    for (unsigned part = 0; part < 2 * PARTS; part++)
        sum[part] = squared[part] = zero;
    for (; n - i >= LANES; i += LANES) {
        for (unsigned part = 0; part < PARTS; part++) {
            const float32x4_t v = neon_load_f32((const unsigned char *)(x + i + 4 * part));
            min = vminq_f32(min, v);
            max = vmaxq_f32(max, v);
            least = vminq_f32(least, vabsq_f32(v));
            signs = vsraq_n_u32(signs, vreinterpretq_u32_f32(v), 31);
            add_two(&sum[2 * part], &squared[2 * part], vcvt_f64_f32(vget_low_f32(v)), shift,
                    shifted);
            add_two(&sum[2 * part + 1], &squared[2 * part + 1], vcvt_high_f64_f32(v), shift,
                    shifted);
        }
    }
    for (unsigned part = 0; part < 2 * PARTS; part++) {
        vst1q_f64(p->sum + 2 * part, sum[part]);
        vst1q_f64(p->squared + 2 * part, squared[part]);
    }
    p->min = vminvq_f32(min);
    p->max = vmaxvq_f32(max);
    p->least = vminvq_f32(least);
    p->signs = vaddlvq_u32(signs);
    if (i < n)
        dti_stats_pass_rest(p, x + i, n - i, shift_by);
}

static DTI_NOINLINE void go_unshifted(struct dti_stats_pass *p, const float *x, size_t n)
{
    go_through(p, x, n, 0, false);
}

static DTI_NOINLINE void go_shifted(struct dti_stats_pass *p, const float *x, size_t n,
                                    double shift)
{
    go_through(p, x, n, shift, true);
}

static DTI_NOINLINE void count_small(const float *x, size_t n, float smallest_normal,
                                     struct dti_stats_tile *tile)
{
    const float32x4_t bar = vdupq_n_f32(smallest_normal);
    uint32x4_t zeros = vdupq_n_u32(0), small = zeros, negative = zeros;
    for (size_t i = 0; i < n; i += 4) {
        float rest[4] = {INFINITY, INFINITY, INFINITY, INFINITY}; /* counts nowhere */
        memcpy(rest, x + i, (n - i < 4 ? n - i : 4) * sizeof rest[0]);
        const float32x4_t v = vld1q_f32(rest);
        zeros = vsubq_u32(zeros, vceqzq_f32(v));
        small = vsubq_u32(small, vcltq_f32(vabsq_f32(v), bar));
        negative = vsubq_u32(negative, vcltzq_f32(v));
    }
    tile->zeros = vaddlvq_u32(zeros);
    /* zeros are below any bar but 0 */
    tile->subnormals = smallest_normal > 0 ? vaddlvq_u32(small) - tile->zeros : 0;
    tile->negative = vaddlvq_u32(negative);
}

void dti_stats_f32_neon(const struct dti_stats_rule *rule, const void *numbers, size_t n,
                        uint64_t index, struct dti_stats *stats)
{
    struct dti_stats_pass p;
    if (rule->shift > 0 || rule->shift < 0)
        go_shifted(&p, numbers, n, rule->shift);
    else
        go_unshifted(&p, numbers, n);
    struct dti_stats_tile tile = {
        .negative = p.signs, .sum = dti_tile_sum(p.sum), .squared = dti_tile_sum(p.squared)};
    dti_stats_end_f32(rule, &tile, numbers, n, index, p.min, p.max, p.least, count_small, stats);
}

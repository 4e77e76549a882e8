/* SPDX-License-Identifier: MIT
 *
 * The loss in fp32 with Advanced SIMD: whole groups without special cases (loss_bars.h), all others
 * by loss_any_neon.c. A block of 16 lanes is four vectors. */
#include "kernels/arm/neon.h"
#include "kernels/scan/loss_bars.h"
#include "kernels/scan/loss_kernels.h"

enum { QUARTER = 4 };

DTI_INLINE uint32x4_t all(uint32_t bits)
{
    return vdupq_n_u32(bits);
}

DTI_INLINE bool any(uint32x4_t mask)
{
    return vmaxvq_u32(mask) != 0;
}

/* Values of a group apart from its sums. Magnitudes are compared as integers. */
struct loss_extremes_neon {
    float32x4_t above;
    uint32x4_t high, low, apart;
};

/* Counters of lanes. */
struct loss_counters_neon {
    uint32x4_t exact, to_zero, to_subnormal;
};

/* The sums of four lanes of a block. */
struct loss_sums_neon {
    float32x4_t absolute, squared, source;
    uint32x4_t largest;
};

DTI_INLINE uint32x4_t are_tiny(uint32x4_t largest)
{
    const uint32x4_t one = all(1); /* a zero is not tiny */
    return vcltq_u32(vsubq_u32(largest, one), all(DTI_LOSS_SINGLE_FROM - 1));
}

DTI_INLINE bool are_odd(const struct dti_loss_bars *bars, enum dti_loss_sort sort,
                        const struct loss_extremes_neon *e, const struct loss_sums_neon s[4])
{
    const uint32_t least = sort == DTI_LOSS_PLAIN ? bars->least : DTI_LOSS_SINGLE_FROM - 1;
    uint32x4_t odd = vorrq_u32(vcgeq_u32(e->high, all(bars->limit)), e->apart);
    odd = vorrq_u32(odd, vcltq_u32(e->low, all(least))); /* zeros are the highest */
    odd = vorrq_u32(odd, vorrq_u32(are_tiny(s[0].largest), are_tiny(s[1].largest)));
    odd = vorrq_u32(odd, vorrq_u32(are_tiny(s[2].largest), are_tiny(s[3].largest)));
    return any(odd);
}

DTI_INLINE bool have_risen(const struct dti_loss_bars *bars, const struct loss_extremes_neon *e,
                           const struct loss_sums_neon s[4])
{
    const uint32x4_t bar = vreinterpretq_u32_f32(vdupq_n_f32(bars->largest));
    const uint32x4_t largest =
        vmaxq_u32(vmaxq_u32(s[0].largest, s[1].largest), vmaxq_u32(s[2].largest, s[3].largest));
    return any(vorrq_u32(vcgtzq_f32(e->above), vcgtq_u32(largest, bar)));
}

DTI_INLINE void add_four(const struct dti_loss_bars *bars, enum dti_loss_sort sort, const float *x,
                         const float *y, struct loss_sums_neon *s, struct loss_extremes_neon *e,
                         struct loss_counters_neon *c)
{
    const bool plain = sort == DTI_LOSS_PLAIN;
    const float32x4_t from = neon_load_f32((const unsigned char *)x);
    const uint32x4_t size = vreinterpretq_u32_f32(vabsq_f32(from));
    s->source = vfmaq_f32(s->source, from, from);
    e->high = vmaxq_u32(e->high, size);
    e->low = vminq_u32(e->low, plain ? size : vsubq_u32(size, all(1)));
    if (sort == DTI_LOSS_EXACT)
        return;
    const float32x4_t to = neon_load_f32((const unsigned char *)y), error = vabdq_f32(to, from);
    const float32x4_t ratio = vdupq_n_f32(plain ? bars->plain_ratio : bars->ratio);
    const uint32x4_t error_bits = vreinterpretq_u32_f32(error), same = vceqzq_u32(error_bits);
    c->exact = vsubq_u32(c->exact, same);
    s->absolute = vaddq_f32(s->absolute, error);
    s->squared = vfmaq_f32(s->squared, error, error);
    s->largest = vmaxq_u32(s->largest, error_bits);
    e->above = vmaxnmq_f32(vfmsq_f32(error, ratio, vreinterpretq_f32_u32(size)), e->above);
    if (plain)
        return;
    const uint32x4_t to_size = vreinterpretq_u32_f32(vabsq_f32(to)), is_zero = vceqzq_u32(to_size);
    const uint32x4_t normal = vcgeq_u32(size, all(bars->src_normal));
    const uint32x4_t subnormal = vbicq_u32(vcleq_u32(to_size, all(bars->subnormals)), is_zero);
    e->apart = vorrq_u32(e->apart, vbicq_u32(vcgtq_u32(error_bits, to_size), is_zero));
    c->to_zero = vsubq_u32(c->to_zero, vbicq_u32(is_zero, same));
    c->to_subnormal = vsubq_u32(c->to_subnormal, vandq_u32(normal, subnormal));
}

static DTI_NOINLINE bool raise_maxima(struct dti_loss_work *w, enum dti_loss_sort sort,
                                      const float *x, const float *y, size_t at)
{
    return dti_loss_raise(w, sort, x, y, at);
}

DTI_INLINE void keep_four(const struct loss_sums_neon *s, struct dti_loss_work *w, size_t lane)
{
    vst1q_f32(w->groups.absolute + lane, s->absolute);
    vst1q_f32(w->groups.squared + lane, s->squared);
    vst1q_f32(w->groups.source_squared + lane, s->source);
}

DTI_INLINE void keep(const struct loss_sums_neon s[4], const struct loss_counters_neon *c,
                     enum dti_loss_sort sort, struct dti_loss_work *w, size_t at)
{
    const size_t lane = at / (DTI_LOSS_GROUP / DTI_LOSS_LANES);
    if (sort != DTI_LOSS_EXACT)
        w->counts.inexact += DTI_LOSS_GROUP - vaddvq_u32(c->exact);
    if (sort == DTI_LOSS_SMALL) {
        w->counts.to_zero += vaddvq_u32(c->to_zero);
        w->counts.to_subnormal += vaddvq_u32(c->to_subnormal);
    }
    keep_four(&s[0], w, lane);
    keep_four(&s[1], w, lane + QUARTER);
    keep_four(&s[2], w, lane + 2 * QUARTER);
    keep_four(&s[3], w, lane + 3 * QUARTER);
}

/* The quarters without a loop, so that the compiler keeps their sums in registers. */
DTI_INLINE size_t add_groups(struct dti_loss_work *w, enum dti_loss_sort sort, size_t at)
{
    const float32x4_t nothing = vdupq_n_f32(0);
    const uint32x4_t zero = all(0);
    for (; w->n - at >= DTI_LOSS_GROUP; at += DTI_LOSS_GROUP) {
        const float *const x = w->x + at, *const y = w->y + at;
        const struct loss_sums_neon none = {nothing, nothing, nothing, zero};
        struct loss_sums_neon s[4] = {none, none, none, none};
        struct loss_extremes_neon e = {nothing, zero, all(UINT32_MAX), zero};
        struct loss_counters_neon c = {zero, zero, zero};
        for (size_t i = 0; i < DTI_LOSS_GROUP; i += DTI_LOSS_LANES) {
            add_four(&w->bars, sort, x + i, y + i, &s[0], &e, &c);
            add_four(&w->bars, sort, x + i + QUARTER, y + i + QUARTER, &s[1], &e, &c);
            add_four(&w->bars, sort, x + i + 2 * QUARTER, y + i + 2 * QUARTER, &s[2], &e, &c);
            add_four(&w->bars, sort, x + i + 3 * QUARTER, y + i + 3 * QUARTER, &s[3], &e, &c);
        }
        if (__builtin_expect(are_odd(&w->bars, sort, &e, s), 0))
            break;
        if (sort != DTI_LOSS_EXACT && __builtin_expect(have_risen(&w->bars, &e, s), 0) &&
            !raise_maxima(w, sort, x, y, at))
            break;
        keep(s, &c, sort, w, at);
    }
    return at;
}

DTI_LOSS_GROUPS(add_exact, DTI_LOSS_EXACT)

DTI_LOSS_QUICK_KERNEL(dti_loss_f32_neon, dti_loss_work_through, NULL, dti_loss_any_neon)

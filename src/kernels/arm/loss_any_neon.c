/* SPDX-License-Identifier: MIT
 *
 * The loss of groups of any fp32 numbers (loss_any.h) with Advanced SIMD. Conditions are counted in
 * lanes, and added up once for a group. */
#include "kernels/arm/neon.h"
#include "kernels/scan/loss_bars.h"

enum { WIDTH = 4, WIDE = 2 };
typedef float32x4_t vector_ps;
typedef float64x2_t vector_pd;
typedef uint32x4_t flags, counter;
#define all                       vdupq_n_f32
#define all_pd                    vdupq_n_f64
#define load_ps(from)             neon_load_f32((const unsigned char *)(from))
#define load_pd                   vld1q_f64
#define store_ps                  vst1q_f32
#define store_pd                  vst1q_f64
#define size_of                   vabsq_f32
#define size_of_pd                vabsq_f64
#define larger_size(a, b)         vmaxq_f32(vabsq_f32(a), b)
#define max_ps                    vmaxq_f32
#define max_pd                    vmaxq_f64
#define add_square_ps(sum, x)     vfmaq_f32(sum, x, x)
#define add_square_pd(sum, x)     vfmaq_f64(sum, x, x)
#define less_product_pd           vfmsq_f64
#define are_below                 vcltq_f32
#define are_above                 vcgtq_f32
#define are_from                  vcgeq_f32
#define differ(a, b)              vmvnq_u32(vceqq_f32(a, b))
#define are_special(x)            vmvnq_u32(vcaleq_f32(x, all(FLT_MAX)))
#define EITHER                    vorrq_u32
#define BOTH                      vandq_u32
#define BUT_NOT                   vbicq_u32
#define any(f)                    (vmaxvq_u32(f) != 0)
#define any_above(x, bar)         (vmaxvq_f64(x) > (bar))
#define widen(from)               vcvt_f64_f32(vld1_f32(from))
#define reset(counter)            (void)(*(counter) = vdupq_n_u32(0))
#define count(counter, row, f)    ((void)(row), (void)(*(counter) = vsubq_u32(*(counter), f)))
#define counted(counter, rows)    ((void)(rows), vaddvq_u32(*(counter)))
#define rows_with(counter, first) ((void)(counter), (void)(first), UINT64_MAX)
#define number_of(f)              vaddvq_u32(vshrq_n_u32(f, 31))

DTI_INLINE vector_ps keep_where(flags f, vector_ps x)
{
    return vreinterpretq_f32_u32(vandq_u32(f, vreinterpretq_u32_f32(x)));
}

DTI_INLINE vector_ps drop_where(flags f, vector_ps x)
{
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(x), f));
}

DTI_INLINE vector_ps subtract_where(flags f, vector_ps a, vector_ps b)
{
    return keep_where(f, a) - keep_where(f, b);
}

#define add_where(f, a, b) ((a) + keep_where(f, b))

DTI_INLINE vector_pd choose(flags f, unsigned half, vector_pd a, vector_pd b)
{
    const int32x4_t narrow = vreinterpretq_s32_u32(f);
    const int64x2_t wide = half ? vmovl_high_s32(narrow) : vmovl_s32(vget_low_s32(narrow));
    return vbslq_f64(vreinterpretq_u64_s64(wide), b, a);
}

#include "kernels/scan/loss_any.h"

void dti_loss_any_neon(struct dti_loss_work *w, const float *x, const float *y, size_t at, size_t n)
{
    loss_any(w, x, y, at, n);
}

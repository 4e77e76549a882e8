/* SPDX-License-Identifier: MIT
 *
 * The range of finite numbers with Advanced SIMD. FMIN and FMAX give NaN if a number is NaN, and
 * infinities are extremes: such a run is repeated with portable code. */
#include <float.h>
#include <math.h>

#include "kernels/arm/neon.h"
#include "kernels/quant/quant_kernels.h"

enum { RUN = 4096 }; /* elements */

/* The extremes of n numbers, a multiple of NEON_STEP. False if a number is not finite. */
DTI_INLINE bool run_range(const unsigned char *x, size_t n, float *min, float *max)
{
    const float32x4_t least = vdupq_n_f32(-INFINITY), most = vdupq_n_f32(INFINITY);
    float32x4_t low[4] = {most, most, most, most}, high[4] = {least, least, least, least};
    for (size_t at = 0; at < n; at += NEON_STEP) {
        for (unsigned i = 0; i < 4; i++) {
            const float32x4_t v = neon_load_f32(x + 4 * at + NEON_BYTES * i);
            low[i] = vminq_f32(v, low[i]);
            high[i] = vmaxq_f32(v, high[i]);
        }
    }
    *min = vminvq_f32(vminq_f32(vminq_f32(low[0], low[1]), vminq_f32(low[2], low[3])));
    *max = vmaxvq_f32(vmaxq_f32(vmaxq_f32(high[0], high[1]), vmaxq_f32(high[2], high[3])));
    return *min >= -FLT_MAX && *max <= FLT_MAX;
}

void dti_range_f32_neon(const float *x, size_t n, struct dti_range *range)
{
    const unsigned char *from = (const unsigned char *)x;
    while (n > 0) {
        const size_t whole = n / NEON_STEP * NEON_STEP, some = whole < RUN ? whole : RUN;
        float min, max;
        if (some > 0 && run_range(from, some, &min, &max)) {
            range->min = min < range->min ? min : range->min;
            range->max = max > range->max ? max : range->max;
        } else {
            dti_range_scalar((const float *)(const void *)from, some > 0 ? some : n, range);
        }
        from += 4 * (some > 0 ? some : n);
        n -= some > 0 ? some : n;
    }
}

/* A step of columns; returns false and does nothing if a number is not finite. */
DTI_INLINE bool step_columns(const unsigned char *x, unsigned char *min, unsigned char *max)
{
    float32x4_t v[4], greatest = vdupq_n_f32(0);
    for (unsigned i = 0; i < 4; i++) {
        v[i] = neon_load_f32(x + NEON_BYTES * i);
        greatest = vmaxq_f32(vabsq_f32(v[i]), greatest);
    }
    if (!(vmaxvq_f32(greatest) <= FLT_MAX))
        return false;
    for (unsigned i = 0; i < 4; i++) {
        unsigned char *const low = min + NEON_BYTES * i, *const high = max + NEON_BYTES * i;
        neon_store_f32(low, vminq_f32(v[i], neon_load_f32(low)));
        neon_store_f32(high, vmaxq_f32(v[i], neon_load_f32(high)));
    }
    return true;
}

void dti_range_columns_f32_neon(const float *x, size_t n, float *min, float *max,
                                struct dti_range *specials)
{
    for (size_t at = 0; at < n; at += NEON_STEP) {
        const size_t some = n - at < NEON_STEP ? n - at : NEON_STEP;
        if (some < NEON_STEP ||
            !step_columns((const unsigned char *)(x + at), (unsigned char *)(min + at),
                          (unsigned char *)(max + at)))
            dti_range_columns_scalar(x + at, some, min + at, max + at, specials);
    }
}

/* SPDX-License-Identifier: MIT
 *
 * The range of finite numbers at memory speed: takes the extremes of everything that is not NaN,
 * and only repeats a run that contains a NaN or an infinity with portable code. */
#include "kernels/x86/quant/quant_vector.h"

#ifdef __AVX2__
#include <float.h>
#include <math.h>

enum { STEP = 4 * LANES, RUN = 4096 }; /* elements */

/* The extremes of n numbers, a multiple of STEP. False if a number is not finite. */
DTI_INLINE bool run_range(const unsigned char *x, size_t n, float *min, float *max)
{
    floats low[4], high[4];
    float lanes[2][LANES];
    unsigned unordered = 0;
    for (unsigned i = 0; i < 4; i++) {
        low[i] = floats_of(INFINITY);
        high[i] = floats_of(-INFINITY);
    }
    for (size_t at = 0; at < n; at += STEP) {
        floats v[4];
        prefetch(x + 4 * at, 4 * STEP);
        for (unsigned i = 0; i < 4; i++) {
            v[i] = load_floats(x + 4 * (at + i * LANES));
            low[i] = VECTOR_BITS(min_ps)(v[i], low[i]); /* a NaN leaves the previous value */
            high[i] = VECTOR_BITS(max_ps)(v[i], high[i]);
        }
        unordered |= where_unordered(v[0], v[1]) | where_unordered(v[2], v[3]);
    }
    low[0] = VECTOR_BITS(min_ps)(VECTOR_BITS(min_ps)(low[0], low[1]),
                                 VECTOR_BITS(min_ps)(low[2], low[3]));
    high[0] = VECTOR_BITS(max_ps)(VECTOR_BITS(max_ps)(high[0], high[1]),
                                  VECTOR_BITS(max_ps)(high[2], high[3]));
    VECTOR_BITS(storeu_ps)(lanes[0], low[0]);
    VECTOR_BITS(storeu_ps)(lanes[1], high[0]);
    *min = lanes[0][0];
    *max = lanes[1][0];
    for (unsigned i = 1; i < LANES; i++) {
        *min = lanes[0][i] < *min ? lanes[0][i] : *min;
        *max = lanes[1][i] > *max ? lanes[1][i] : *max;
    }
    return unordered == 0 && *min >= -FLT_MAX && *max <= FLT_MAX;
}

void VECTOR_NAME(dti_range_f32)(const float *x, size_t n, struct dti_range *range)
{
    const unsigned char *from = (const unsigned char *)x;
    while (n >= STEP) {
        const size_t some = n < RUN ? n / STEP * STEP : RUN;
        float min, max;
        if (run_range(from, some, &min, &max)) {
            range->min = min < range->min ? min : range->min;
            range->max = max > range->max ? max : range->max;
        } else {
            VECTOR_NAME(dti_range)((const float *)(const void *)from, some, range);
        }
        from += 4 * some;
        n -= some;
    }
    if (n > 0)
        VECTOR_NAME(dti_range)((const float *)(const void *)from, n, range);
}

/* One vector of columns; returns false and does nothing if a number is not finite. */
DTI_INLINE bool step_columns(const unsigned char *x, unsigned char *min, unsigned char *max)
{
    floats v[4], greatest = floats_of(0);
    const floats sign = floats_of(-0.0f);
    for (unsigned i = 0; i < 4; i++) {
        v[i] = load_floats(x + i * VECTOR);
        greatest = VECTOR_BITS(max_ps)(VECTOR_BITS(andnot_ps)(sign, v[i]), greatest);
    }
    if ((where_unordered(v[0], v[1]) | where_unordered(v[2], v[3])) != 0 ||
        !all_below(greatest, INFINITY))
        return false;
    for (unsigned i = 0; i < 4; i++) {
        const floats low = load_floats(min + i * VECTOR), high = load_floats(max + i * VECTOR);
        store_floats(min + i * VECTOR, VECTOR_BITS(min_ps)(v[i], low), false);
        store_floats(max + i * VECTOR, VECTOR_BITS(max_ps)(v[i], high), false);
    }
    return true;
}

void VECTOR_NAME(dti_range_columns_f32)(const float *x, size_t n, float *min, float *max,
                                        struct dti_range *specials)
{
    const unsigned char *const from = (const unsigned char *)x;
    unsigned char *const low = (unsigned char *)min, *const high = (unsigned char *)max;
    size_t at = 0;
    for (; n - at >= STEP; at += STEP) {
        prefetch(from + 4 * at, 4 * STEP);
        if (!step_columns(from + 4 * at, low + 4 * at, high + 4 * at))
            VECTOR_NAME(dti_range_columns)
        ((const float *)(const void *)(from + 4 * at), STEP, (float *)(void *)(low + 4 * at),
         (float *)(void *)(high + 4 * at), specials);
    }
    if (at < n)
        VECTOR_NAME(dti_range_columns)
    ((const float *)(const void *)(from + 4 * at), n - at, (float *)(void *)(low + 4 * at),
     (float *)(void *)(high + 4 * at), specials);
}
#endif

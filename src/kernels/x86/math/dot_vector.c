/* SPDX-License-Identifier: MIT
 *
 * Dot products with AVX2 and AVX-512: eight registers of sums, so that no multiply-add waits for
 * another. Two arrays are read in parallel, each a separate stream for the hardware prefetcher. */
#include "kernels/math/dot_kernels.h"
#include "kernels/x86/vector.h"

#ifdef __AVX512BW__
typedef __m512 vector_ps;
typedef __m512d vector_pd;
#define NUMBERS_PS(bits) _mm512_castsi512_ps(bits)
#define NUMBERS_PD(bits) _mm512_castsi512_pd(bits)
#define LOAD_FP16(at)    _mm512_cvtph_ps(load256(at))
#define LOAD_INT8(at)    _mm512_cvtepi8_epi16(load256(at))
#else
typedef __m256 vector_ps;
typedef __m256d vector_pd;
#define NUMBERS_PS(bits) _mm256_castsi256_ps(bits)
#define NUMBERS_PD(bits) _mm256_castsi256_pd(bits)
#define LOAD_FP16(at)    _mm256_cvtph_ps(load128(at))
#define LOAD_INT8(at)    _mm256_cvtepi8_epi16(load128(at))
#endif

enum { SUMS = 8, LANES_PS = VECTOR / 4, LANES_PD = VECTOR / 8 };

/* One step: SUMS x LANES elements of both arrays. */
typedef void step_fn(vector_ps sum[SUMS], const unsigned char *a, const unsigned char *b);

DTI_INLINE void step_fp32(vector_ps sum[SUMS], const unsigned char *a, const unsigned char *b)
{
    for (size_t i = 0; i < SUMS; i++)
        sum[i] = VECTOR_BITS(fmadd_ps)(NUMBERS_PS(load_vector(a + i * VECTOR)),
                                       NUMBERS_PS(load_vector(b + i * VECTOR)), sum[i]);
}

DTI_INLINE void step_fp16(vector_ps sum[SUMS], const unsigned char *a, const unsigned char *b)
{
    for (size_t i = 0; i < SUMS; i++)
        sum[i] = VECTOR_BITS(fmadd_ps)(LOAD_FP16(a + i * (VECTOR / 2)),
                                       LOAD_FP16(b + i * (VECTOR / 2)), sum[i]);
}

/* Processes the upper and the lower codes of each 32 bits; both arrays get the same permutation. */
DTI_INLINE void step_bf16(vector_ps sum[SUMS], const unsigned char *a, const unsigned char *b)
{
    const vector upper = VECTOR_BITS(set1_epi32)((int)UINT32_C(0xffff0000));
    for (size_t i = 0; i < SUMS / 2; i++) {
        const vector x = load_vector(a + i * VECTOR), y = load_vector(b + i * VECTOR);
        sum[2 * i] = VECTOR_BITS(fmadd_ps)(NUMBERS_PS(VECTOR_WHOLE(and)(x, upper)),
                                           NUMBERS_PS(VECTOR_WHOLE(and)(y, upper)), sum[2 * i]);
        sum[2 * i + 1] =
            VECTOR_BITS(fmadd_ps)(NUMBERS_PS(VECTOR_BITS(slli_epi32)(x, 16)),
                                  NUMBERS_PS(VECTOR_BITS(slli_epi32)(y, 16)), sum[2 * i + 1]);
    }
}

/* The remainder is padded with zeros to a whole step. */
DTI_INLINE double dot_ps(const unsigned char *a, const unsigned char *b, size_t n, size_t bytes,
                         step_fn *step)
{
    vector_ps sum[SUMS];
    float sums[SUMS * LANES_PS];
    const size_t at_once = SUMS * LANES_PS;
    size_t at = 0;
    for (size_t i = 0; i < SUMS; i++)
        sum[i] = VECTOR_BITS(setzero_ps)();
    for (; n - at >= at_once; at += at_once)
        step(sum, a + at * bytes, b + at * bytes);
    if (at < n) {
        unsigned char x[SUMS * VECTOR] = {0}, y[SUMS * VECTOR] = {0};
        memcpy(x, a + at * bytes, (n - at) * bytes);
        memcpy(y, b + at * bytes, (n - at) * bytes);
        step(sum, x, y);
    }
    for (size_t i = 0; i < SUMS; i++)
        VECTOR_BITS(storeu_ps)(sums + i * LANES_PS, sum[i]);
    return dti_dot_fold_f32(sums, SUMS * LANES_PS);
}

double VECTOR_NAME(dti_dot_fp32)(const void *a, const void *b, size_t n)
{
    return dot_ps(a, b, n, 4, step_fp32);
}

double VECTOR_NAME(dti_dot_fp16)(const void *a, const void *b, size_t n)
{
    return dot_ps(a, b, n, 2, step_fp16);
}

double VECTOR_NAME(dti_dot_bf16)(const void *a, const void *b, size_t n)
{
    return dot_ps(a, b, n, 2, step_bf16);
}

DTI_INLINE void step_fp64(vector_pd sum[SUMS], const unsigned char *a, const unsigned char *b)
{
    for (size_t i = 0; i < SUMS; i++)
        sum[i] = VECTOR_BITS(fmadd_pd)(NUMBERS_PD(load_vector(a + i * VECTOR)),
                                       NUMBERS_PD(load_vector(b + i * VECTOR)), sum[i]);
}

double VECTOR_NAME(dti_dot_fp64)(const void *a, const void *b, size_t n)
{
    const unsigned char *const x = a, *const y = b;
    const size_t at_once = SUMS * LANES_PD;
    vector_pd sum[SUMS];
    double sums[SUMS * LANES_PD];
    size_t at = 0;
    for (size_t i = 0; i < SUMS; i++)
        sum[i] = VECTOR_BITS(setzero_pd)();
    for (; n - at >= at_once; at += at_once)
        step_fp64(sum, x + at * 8, y + at * 8);
    if (at < n) {
        unsigned char last_x[SUMS * VECTOR] = {0}, last_y[SUMS * VECTOR] = {0};
        memcpy(last_x, x + at * 8, (n - at) * 8);
        memcpy(last_y, y + at * 8, (n - at) * 8);
        step_fp64(sum, last_x, last_y);
    }
    for (size_t i = 0; i < SUMS; i++)
        VECTOR_BITS(storeu_pd)(sums + i * LANES_PD, sum[i]);
    return dti_dot_fold_f64(sums, SUMS * LANES_PD);
}

/* A step adds two products of at most 2^14 to each of SUMS x LANES_PS sums, which fit in 31 bits
 * for this many steps. */
enum { STEPS_I8 = 1 << 15, STEP_I8 = SUMS * VECTOR / 2 };

DTI_INLINE int64_t dot_steps_i8(const unsigned char *a, const unsigned char *b, size_t steps)
{
    vector sum[SUMS];
    int32_t sums[SUMS * LANES_PS];
    int64_t total = 0;
    for (size_t i = 0; i < SUMS; i++)
        sum[i] = VECTOR_WHOLE(setzero)();
    for (size_t at = 0; at < steps; at++, a += STEP_I8, b += STEP_I8) {
        for (size_t i = 0; i < SUMS; i++)
            sum[i] = VECTOR_BITS(add_epi32)(
                sum[i], VECTOR_BITS(madd_epi16)(LOAD_INT8(a + i * (VECTOR / 2)),
                                                LOAD_INT8(b + i * (VECTOR / 2))));
    }
    memcpy(sums, sum, sizeof sums);
    for (size_t i = 0; i < SUMS * LANES_PS; i++)
        total += sums[i];
    return total;
}

double VECTOR_NAME(dti_dot_int8)(const void *a, const void *b, size_t n)
{
    return dti_dot_by_steps(a, b, n, STEP_I8, STEPS_I8, dot_steps_i8);
}

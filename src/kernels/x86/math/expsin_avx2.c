/* SPDX-License-Identifier: MIT
 *
 * exp(sin x) of fp32, fp16 and bf16 arrays with AVX2, by the steps of lanes_expsin.h; four
 * registers in parallel, because each step depends on the previous one. */
#include "kernels/math/expsin_far.h"
#include "kernels/math/expsin_kernels.h"
#include "kernels/math/lanes_expsin.h"
#include "kernels/x86/avx2.h"

enum { LANES = 8, VECTORS = 4, STEP = VECTORS * LANES };

DTI_INLINE __m256 reduce(__m256 x)
{
    const float pi[] = DTI_EXPSIN_PI_F32;
    const __m256 integer = _mm256_set1_ps(0x1.8p23F);
    const __m256 shifted = _mm256_fmadd_ps(x, _mm256_set1_ps(pi[0]), integer);
    const __m256 k = _mm256_sub_ps(shifted, integer);
    const __m256 most = _mm256_fnmadd_ps(k, _mm256_set1_ps(pi[1]), x);
    const __m256 r = _mm256_fnmadd_ps(k, _mm256_set1_ps(pi[2]), most);
    const __m256i odd = _mm256_slli_epi32(_mm256_castps_si256(shifted), 31);
    return _mm256_xor_ps(r, _mm256_castsi256_ps(odd));
}

DTI_INLINE __m256 expsin(__m256 x)
{
/* clang-format off */
#define FIRST(c) _mm256_set1_ps(c);
#define TAIL(c)  tail = _mm256_fmadd_ps(tail, square, _mm256_set1_ps(c));
#define SUM(c)   sum = _mm256_fmadd_ps(sum, s, _mm256_set1_ps(c));
    const __m256 r = reduce(x), square = _mm256_mul_ps(r, r);
    __m256 tail = DTI_EXPSIN_SINE_F32(FIRST, TAIL)
    const __m256 s = _mm256_fmadd_ps(_mm256_mul_ps(r, square), tail, r);
    __m256 sum = DTI_EXPSIN_EXP_F32(FIRST, SUM)
    return _mm256_fmadd_ps(_mm256_mul_ps(s, s), sum, _mm256_add_ps(s, _mm256_set1_ps(1.0F)));
#undef FIRST
#undef TAIL
#undef SUM
    /* clang-format on */
}

/* All ones if a lane is NaN or beyond the limit. */
DTI_INLINE __m256 far_lanes(__m256 x)
{
    const __m256 magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0F), x);
    return _mm256_cmp_ps(magnitude, _mm256_set1_ps((float)DTI_EXPSIN_LIMIT), _CMP_NLE_UQ);
}

/* Computes the far lanes one by one. */
static __attribute__((noinline)) __m256 expsin_far(__m256 x, __m256 result)
{
    float argument[LANES], value[LANES];
    _mm256_storeu_ps(argument, x);
    _mm256_storeu_ps(value, result);
    for (int i = 0; i < LANES; i++) {
        if (!dti_lane_expsin_takes(argument[i]))
            value[i] = (float)dti_expsin_far(argument[i]);
    }
    return _mm256_loadu_ps(value);
}

/* How a dtype is loaded as fp32 and stored. */
struct expsin_access_avx2 {
    size_t bytes;
    __m256 (*load)(const unsigned char *src);
    void (*store)(unsigned char *dst, __m256 value);
};

/* Processes STEP elements; dst may be src. */
DTI_INLINE void step(unsigned char *dst, const unsigned char *src,
                     const struct expsin_access_avx2 layout)
{
    const size_t vector = LANES * layout.bytes;
    const __m256 x0 = layout.load(src), x1 = layout.load(src + vector);
    const __m256 x2 = layout.load(src + 2 * vector), x3 = layout.load(src + 3 * vector);
    __m256 y0 = expsin(x0), y1 = expsin(x1), y2 = expsin(x2), y3 = expsin(x3);
    const __m256 far = _mm256_or_ps(_mm256_or_ps(far_lanes(x0), far_lanes(x1)),
                                    _mm256_or_ps(far_lanes(x2), far_lanes(x3)));
    if (_mm256_movemask_ps(far) != 0) {
        y0 = expsin_far(x0, y0);
        y1 = expsin_far(x1, y1);
        y2 = expsin_far(x2, y2);
        y3 = expsin_far(x3, y3);
    }
    layout.store(dst, y0);
    layout.store(dst + vector, y1);
    layout.store(dst + 2 * vector, y2);
    layout.store(dst + 3 * vector, y3);
}

/* The remainder goes through a buffer of one step. */
DTI_INLINE void run(unsigned char *dst, const unsigned char *src, size_t n,
                    const struct expsin_access_avx2 layout)
{
    size_t at = 0;
    for (; n - at >= STEP; at += STEP)
        step(dst + at * layout.bytes, src + at * layout.bytes, layout);
    if (at < n) {
        unsigned char rest[4 * STEP] = {0};
        memcpy(rest, src + at * layout.bytes, (n - at) * layout.bytes);
        step(rest, rest, layout);
        memcpy(dst + at * layout.bytes, rest, (n - at) * layout.bytes);
    }
}

DTI_INLINE void store_fp32(unsigned char *dst, __m256 value)
{
    _mm256_storeu_ps((void *)dst, value);
}

DTI_INLINE void store128(unsigned char *dst, __m128i value)
{
    _mm_storeu_si128((__m128i *)(void *)dst, value);
}

DTI_INLINE __m256 load_fp16(const unsigned char *src)
{
    return _mm256_cvtph_ps(load128(src));
}

DTI_INLINE void store_fp16(unsigned char *dst, __m256 value)
{
    store128(dst, _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

DTI_INLINE __m256 load_bf16(const unsigned char *src)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(load128(src)), 16));
}

/* Results are normal, or a NaN whose lower half is zero. */
DTI_INLINE void store_bf16(unsigned char *dst, __m256 value)
{
    const __m256i bits = _mm256_castps_si256(value);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i half = _mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff));
    const __m256i code = _mm256_srli_epi32(_mm256_add_epi32(half, odd), 16);
    store128(dst,
             _mm_packus_epi32(_mm256_castsi256_si128(code), _mm256_extracti128_si256(code, 1)));
}

void dti_expsin_fp32_avx2(void *dst, const void *src, size_t n)
{
    run(dst, src, n, (struct expsin_access_avx2){4, load256_ps, store_fp32});
}

void dti_expsin_fp16_avx2(void *dst, const void *src, size_t n)
{
    run(dst, src, n, (struct expsin_access_avx2){2, load_fp16, store_fp16});
}

void dti_expsin_bf16_avx2(void *dst, const void *src, size_t n)
{
    run(dst, src, n, (struct expsin_access_avx2){2, load_bf16, store_bf16});
}

/* SPDX-License-Identifier: MIT
 *
 * exp(sin x) of fp32, fp16 and bf16 arrays with AVX-512. The whole function comes from a table
 * indexed by the position within a period: x = k pi/16 + r, and exp(sin(k pi/16 + r)) is a
 * polynomial of degree 5 in r for each of the 32 values of k modulo 32. Two registers hold the
 * 32 coefficients of a power, and one instruction looks up those of 16 elements, on other ports
 * than arithmetic.
 *
 *   shifted = x * 16/pi + 1.5 x 2^23     k is in the lowest bits
 *   r = x - k * (pi/16)                  in two parts */
#include "kernels/math/expsin_far.h"
#include "kernels/math/expsin_kernels.h"
#include "kernels/math/lanes_expsin.h"
#include "kernels/x86/avx512.h"

enum { LANES = 16, VECTORS = 4, STEP = VECTORS * LANES, POWERS = DTI_EXPSIN_TABLE_DEGREE + 1 };

/* Results of at least this many bytes, in one call, use streaming stores. */
#define STREAM_FROM ((size_t)16 << 20)

/* Beyond this, k is no longer close enough to the nearest integer for the polynomials. */
#define TABLE_LIMIT 65536.0F

static const float table[POWERS][DTI_EXPSIN_TABLE] = DTI_EXPSIN_TABLE_F32;

struct constants {
    __m512 low[POWERS], high[POWERS];
    __m512 inverse, integer, step, step_rest;
};

DTI_INLINE struct constants load_constants(void)
{
    const float step[] = DTI_EXPSIN_STEP_F32;
    struct constants c = {.inverse = _mm512_set1_ps(step[0]),
                          .integer = _mm512_set1_ps(0x1.8p23f),
                          .step = _mm512_set1_ps(step[1]),
                          .step_rest = _mm512_set1_ps(step[2])};
    for (int i = 0; i < POWERS; i++) {
        c.low[i] = _mm512_loadu_ps(table[i]);
        c.high[i] = _mm512_loadu_ps(table[i] + LANES);
    }
    return c;
}

DTI_INLINE __m512 coefficient(const struct constants *c, int power, __m512 shifted)
{
    return _mm512_permutex2var_ps(c->low[power], _mm512_castps_si512(shifted), c->high[power]);
}

/* For |x| <= TABLE_LIMIT; NaN and infinities give NaN. */
DTI_INLINE __m512 expsin(const struct constants *c, __m512 x)
{
    const __m512 shifted = _mm512_fmadd_ps(x, c->inverse, c->integer);
    const __m512 k = _mm512_sub_ps(shifted, c->integer);
    const __m512 most = _mm512_fnmadd_ps(k, c->step, x);
    const __m512 r = _mm512_fnmadd_ps(k, c->step_rest, most);
    __m512 sum = coefficient(c, 5, shifted);
    sum = _mm512_fmadd_ps(sum, r, coefficient(c, 4, shifted));
    sum = _mm512_fmadd_ps(sum, r, coefficient(c, 3, shifted));
    sum = _mm512_fmadd_ps(sum, r, coefficient(c, 2, shifted));
    sum = _mm512_fmadd_ps(sum, r, coefficient(c, 1, shifted));
    return _mm512_fmadd_ps(sum, r, coefficient(c, 0, shifted));
}

/* Computes arguments beyond TABLE_LIMIT one by one. */
static __attribute__((noinline)) __m512 expsin_far(__m512 x, __m512 result)
{
    float argument[LANES], value[LANES];
    _mm512_storeu_ps(argument, x);
    _mm512_storeu_ps(value, result);
    for (int i = 0; i < LANES; i++) {
        if (fabsf(argument[i]) > TABLE_LIMIT)
            value[i] = (float)dti_expsin_far(argument[i]);
    }
    return _mm512_loadu_ps(value);
}

/* One bit per lane that is beyond TABLE_LIMIT or NaN. */
DTI_INLINE unsigned far_lanes(__m512 x)
{
    return _mm512_cmp_ps_mask(_mm512_abs_ps(x), _mm512_set1_ps(TABLE_LIMIT), _CMP_NLE_UQ);
}

/* The larger magnitude of each lane. A number wins over a quiet NaN, but not over a signaling
 * NaN, which becomes quiet: check the result before using it again. */
DTI_INLINE __m512 larger(__m512 a, __m512 b)
{
    return _mm512_range_ps(a, b, 0x0b);
}

/* How a dtype is loaded as fp32 and stored; count: number of elements, for the last vector. */
struct expsin_access_avx512 {
    size_t bytes;
    bool has_far;
    __m512 (*load)(const unsigned char *src);
    __m512 (*load_some)(const unsigned char *src, unsigned count);
    void (*store)(unsigned char *dst, __m512 value, bool stream);
    void (*store_some)(unsigned char *dst, __m512 value, unsigned count);
};

DTI_INLINE __m512 expsin_any(const struct constants *c, __m512 x, bool has_far)
{
    const __m512 result = expsin(c, x);
    return has_far && far_lanes(x) ? expsin_far(x, result) : result;
}

DTI_INLINE void run_steps(unsigned char *dst, const unsigned char *src, size_t n,
                          const struct expsin_access_avx512 layout, bool stream)
{
    const struct constants c = load_constants();
    const size_t vector = LANES * layout.bytes;
    size_t at = 0;
    for (; n - at >= STEP; at += STEP) {
        const unsigned char *const in = src + at * layout.bytes;
        unsigned char *const out = dst + at * layout.bytes;
        const __m512 x0 = layout.load(in), x1 = layout.load(in + vector);
        const __m512 x2 = layout.load(in + 2 * vector), x3 = layout.load(in + 3 * vector);
        __m512 y0 = expsin(&c, x0), y1 = expsin(&c, x1);
        __m512 y2 = expsin(&c, x2), y3 = expsin(&c, x3);
        if (layout.has_far && (far_lanes(larger(x0, x1)) | far_lanes(larger(x2, x3)))) {
            y0 = expsin_far(x0, y0);
            y1 = expsin_far(x1, y1);
            y2 = expsin_far(x2, y2);
            y3 = expsin_far(x3, y3);
        }
        layout.store(out, y0, stream);
        layout.store(out + vector, y1, stream);
        layout.store(out + 2 * vector, y2, stream);
        layout.store(out + 3 * vector, y3, stream);
    }
    for (; n - at >= LANES; at += LANES)
        layout.store(dst + at * layout.bytes,
                     expsin_any(&c, layout.load(src + at * layout.bytes), layout.has_far), false);
    if (at < n) {
        const unsigned count = (unsigned)(n - at);
        const __m512 x = layout.load_some(src + at * layout.bytes, count);
        layout.store_some(dst + at * layout.bytes, expsin_any(&c, x, layout.has_far), count);
    }
}

/* Streaming needs alignment, and gains nothing if the cache line has just been read. */
DTI_INLINE void run(unsigned char *dst, const unsigned char *src, size_t n,
                    const struct expsin_access_avx512 layout)
{
    if (n * layout.bytes >= STREAM_FROM && dst != src && (uintptr_t)dst % DTI_CACHE_LINE == 0) {
        run_steps(dst, src, n, layout, true);
        _mm_sfence();
    } else {
        run_steps(dst, src, n, layout, false);
    }
}

DTI_INLINE __mmask16 first(unsigned count)
{
    return (__mmask16)((1U << count) - 1);
}

DTI_INLINE __m512 load_fp32(const unsigned char *src)
{
    return load512_ps(src);
}

DTI_INLINE __m512 load_some_fp32(const unsigned char *src, unsigned count)
{
    return _mm512_maskz_loadu_ps(first(count), src);
}

DTI_INLINE void store_fp32(unsigned char *dst, __m512 value, bool stream)
{
    store512(dst, _mm512_castps_si512(value), stream);
}

DTI_INLINE void store_some_fp32(unsigned char *dst, __m512 value, unsigned count)
{
    _mm512_mask_storeu_ps(dst, first(count), value);
}

DTI_INLINE void store256(unsigned char *dst, __m256i value, bool stream)
{
    if (stream)
        _mm256_stream_si256((__m256i *)(void *)dst, value);
    else
        _mm256_storeu_si256((__m256i *)(void *)dst, value);
}

DTI_INLINE __m512 load_fp16(const unsigned char *src)
{
    return _mm512_cvtph_ps(load256(src));
}

DTI_INLINE __m512 load_some_fp16(const unsigned char *src, unsigned count)
{
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first(count), src));
}

DTI_INLINE __m256i to_fp16(__m512 value)
{
    return _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

DTI_INLINE void store_fp16(unsigned char *dst, __m512 value, bool stream)
{
    store256(dst, to_fp16(value), stream);
}

DTI_INLINE void store_some_fp16(unsigned char *dst, __m512 value, unsigned count)
{
    _mm256_mask_storeu_epi16(dst, first(count), to_fp16(value));
}

DTI_INLINE __m512 from_bf16(__m256i codes)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(codes), 16));
}

DTI_INLINE __m512 load_bf16(const unsigned char *src)
{
    return from_bf16(load256(src));
}

DTI_INLINE __m512 load_some_bf16(const unsigned char *src, unsigned count)
{
    return from_bf16(_mm256_maskz_loadu_epi16(first(count), src));
}

/* Results are normal, or the NaN that the arithmetic returns, whose lower half is zero. */
DTI_INLINE __m256i to_bf16(__m512 value)
{
    const __m512i bits = _mm512_castps_si512(value);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i half = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));
    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_add_epi32(half, odd), 16));
}

DTI_INLINE void store_bf16(unsigned char *dst, __m512 value, bool stream)
{
    store256(dst, to_bf16(value), stream);
}

DTI_INLINE void store_some_bf16(unsigned char *dst, __m512 value, unsigned count)
{
    _mm256_mask_storeu_epi16(dst, first(count), to_bf16(value));
}

void dti_expsin_fp32_avx512(void *dst, const void *src, size_t n)
{
    run(dst, src, n,
        (struct expsin_access_avx512){4, true, load_fp32, load_some_fp32, store_fp32,
                                      store_some_fp32});
}

void dti_expsin_fp16_avx512(void *dst, const void *src, size_t n)
{
    run(dst, src, n,
        (struct expsin_access_avx512){2, false, load_fp16, load_some_fp16, store_fp16,
                                      store_some_fp16});
}

void dti_expsin_bf16_avx512(void *dst, const void *src, size_t n)
{
    run(dst, src, n,
        (struct expsin_access_avx512){2, true, load_bf16, load_some_bf16, store_bf16,
                                      store_some_bf16});
}

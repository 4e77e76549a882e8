/* SPDX-License-Identifier: MIT
 *
 * Matrix products by AVX-512: fp64 and fp32 by fused multiply-adds, and int8 where there is no
 * VNNI: pairs of int16 are multiplied and added into int32, which cannot overflow as products of
 * int8 are at most 2^14, and that is added to int32. */
#include <immintrin.h>

#include "kernels/matmul_pack.h"

static void pack_b_4(unsigned char *panels, const unsigned char *b, size_t stride, size_t columns,
                     size_t k, size_t panel_bytes)
{
    matmul_pack_panels(panels, b, stride, columns, k, panel_bytes, 32, 4, 1, 4, 0, NULL);
}

static void pack_b_8(unsigned char *panels, const unsigned char *b, size_t stride, size_t columns,
                     size_t k, size_t panel_bytes)
{
    matmul_pack_panels(panels, b, stride, columns, k, panel_bytes, 16, 8, 1, 8, 0, NULL);
}

static void pack_b_wide(unsigned char *panels, const unsigned char *b, size_t stride,
                        size_t columns, size_t k, size_t panel_bytes)
{
    matmul_pack_panels(panels, b, stride, columns, k, panel_bytes, 32, 1, 2, 4, 0,
                       matmul_step_wide_pairs);
}

#define NAME              f32_avx512
#define HEIGHT            14
#define VECTOR            __m512
#define LANES             16
#define ELEMENT           4
#define PACKED            4
#define LEAD              0
#define PACK_A            matmul_pack_rows_4
#define PACK_B            pack_b_4
#define LOAD(p)           _mm512_loadu_ps(p)
#define STORE(p, v)       _mm512_storeu_ps(p, v)
#define ADD(v, w)         _mm512_add_ps(v, w)
#define BROADCAST(p)      _mm512_set1_ps(matmul_float_at(p))
#define MULTIPLY(c, a, b) _mm512_fmadd_ps(a, b, c)
#define BEGIN(p)          _mm512_setzero_ps()
#define KEEP(v)           __asm__ volatile("" : "+v"(v))
#define FIRST(v)          (double)_mm512_cvtss_f32(v)
#include "kernels/matmul_rows.h"

#define NAME              f64_avx512
#define HEIGHT            14
#define VECTOR            __m512d
#define LANES             8
#define ELEMENT           8
#define PACKED            8
#define LEAD              0
#define PACK_A            matmul_pack_rows_8
#define PACK_B            pack_b_8
#define LOAD(p)           _mm512_loadu_pd(p)
#define STORE(p, v)       _mm512_storeu_pd(p, v)
#define ADD(v, w)         _mm512_add_pd(v, w)
#define BROADCAST(p)      _mm512_set1_pd(matmul_double_at(p))
#define MULTIPLY(c, a, b) _mm512_fmadd_pd(a, b, c)
#define BEGIN(p)          _mm512_setzero_pd()
#define KEEP(v)           __asm__ volatile("" : "+v"(v))
#define FIRST(v)          _mm512_cvtsd_f64(v)
#include "kernels/matmul_rows.h"

/* gcc 12 would store each sum in every step, were it not told that the sum is in a register. */
static inline __m512i multiply_pairs(__m512i c, __m512i a, __m512i b)
{
    c = _mm512_add_epi32(c, _mm512_madd_epi16(a, b));
    __asm__("" : "+v"(c));
    return c;
}

/* Sums of 32 columns as matmul_pairs.h leaves them. */
static inline void order_pairs(unsigned char *c)
{
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    const __m512i low = _mm512_loadu_si512(c), high = _mm512_loadu_si512(c + 64);
    _mm512_storeu_si512(c, _mm512_permutex2var_epi64(low, first, high));
    _mm512_storeu_si512(c + 64, _mm512_permutex2var_epi64(low, second, high));
}

#define NAME              i8_avx512
#define HEIGHT            12
#define VECTOR            __m512i
#define LANES             16
#define ELEMENT           1
#define PACKED            2
#define LEAD              0
#define PACK_A            matmul_pack_rows_wide
#define PACK_B            pack_b_wide
#define LOAD(p)           _mm512_loadu_si512(p)
#define STORE(p, v)       _mm512_storeu_si512(p, v)
#define ADD(v, w)         _mm512_add_epi32(v, w)
#define BROADCAST(p)      _mm512_set1_epi32(matmul_int32_at(p))
#define MULTIPLY(c, a, b) multiply_pairs(c, a, b)
#define BEGIN(p)          _mm512_setzero_si512()
#define KEEP(v)           __asm__ volatile("" : "+v"(v))
#define FIRST(v)          (double)_mm_cvtsi128_si32(_mm512_castsi512_si128(v))
#define INTEGERS          __m512i
#define SIXTEEN(p)        _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)(const void *)(p)))
#define LOW(x, y)         _mm512_unpacklo_epi16(x, y)
#define HIGH(x, y)        _mm512_unpackhi_epi16(x, y)
#define FACTOR(p)         _mm512_set1_epi32(matmul_wide_pair_at(p))
#define ORDER(c)          order_pairs(c)
#include "kernels/x86/matmul_pairs.h"

#include "kernels/matmul_rows.h"

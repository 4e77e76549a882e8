/* SPDX-License-Identifier: MIT
 *
 * Matrix products by AVX2: fp64 and fp32 by fused multiply-adds; int8 as pairs of int16, which are
 * multiplied and added into int32 without overflow, since products of int8 are at most 2^14. (The
 * instruction for bytes, vpmaddubsw, saturates to int16.) */
#include <immintrin.h>

#include "kernels/matmul_pack.h"

static void pack_b_4(unsigned char *panels, const unsigned char *b, size_t stride, size_t columns,
                     size_t k, size_t panel_bytes)
{
    matmul_pack_panels(panels, b, stride, columns, k, panel_bytes, 16, 4, 1, 4, 0, NULL);
}

static void pack_b_8(unsigned char *panels, const unsigned char *b, size_t stride, size_t columns,
                     size_t k, size_t panel_bytes)
{
    matmul_pack_panels(panels, b, stride, columns, k, panel_bytes, 8, 8, 1, 8, 0, NULL);
}

static void pack_b_wide(unsigned char *panels, const unsigned char *b, size_t stride,
                        size_t columns, size_t k, size_t panel_bytes)
{
    matmul_pack_panels(panels, b, stride, columns, k, panel_bytes, 16, 1, 2, 4, 0,
                       matmul_step_wide_pairs);
}

#define NAME              f32_avx2
#define HEIGHT            6
#define VECTOR            __m256
#define LANES             8
#define ELEMENT           4
#define PACKED            4
#define LEAD              0
#define PACK_A            matmul_pack_rows_4
#define PACK_B            pack_b_4
#define LOAD(p)           _mm256_loadu_ps((const float *)(const void *)(p))
#define STORE(p, v)       _mm256_storeu_ps((float *)(void *)(p), v)
#define ADD(v, w)         _mm256_add_ps(v, w)
#define BROADCAST(p)      _mm256_set1_ps(matmul_float_at(p))
#define MULTIPLY(c, a, b) _mm256_fmadd_ps(a, b, c)
#define BEGIN(p)          _mm256_setzero_ps()
#define KEEP(v)           __asm__ volatile("" : "+x"(v))
#define FIRST(v)          (double)_mm256_cvtss_f32(v)
#include "kernels/matmul_rows.h"

#define NAME              f64_avx2
#define HEIGHT            6
#define VECTOR            __m256d
#define LANES             4
#define ELEMENT           8
#define PACKED            8
#define LEAD              0
#define PACK_A            matmul_pack_rows_8
#define PACK_B            pack_b_8
#define LOAD(p)           _mm256_loadu_pd((const double *)(const void *)(p))
#define STORE(p, v)       _mm256_storeu_pd((double *)(void *)(p), v)
#define ADD(v, w)         _mm256_add_pd(v, w)
#define BROADCAST(p)      _mm256_set1_pd(matmul_double_at(p))
#define MULTIPLY(c, a, b) _mm256_fmadd_pd(a, b, c)
#define BEGIN(p)          _mm256_setzero_pd()
#define KEEP(v)           __asm__ volatile("" : "+x"(v))
#define FIRST(v)          _mm256_cvtsd_f64(v)
#include "kernels/matmul_rows.h"

/* gcc 12 would store each sum in every step, were it not told that the sum is in a register. */
static inline __m256i multiply_pairs(__m256i c, __m256i a, __m256i b)
{
    c = _mm256_add_epi32(c, _mm256_madd_epi16(a, b));
    __asm__("" : "+x"(c));
    return c;
}

/* Sums of 16 columns as matmul_pairs.h leaves them. */
static inline void order_pairs(unsigned char *c)
{
    __m256i *const at = (__m256i *)(void *)c;
    const __m256i low = _mm256_loadu_si256(at), high = _mm256_loadu_si256(at + 1);
    _mm256_storeu_si256(at, _mm256_permute2x128_si256(low, high, 0x20));
    _mm256_storeu_si256(at + 1, _mm256_permute2x128_si256(low, high, 0x31));
}

#define NAME              i8_avx2
#define HEIGHT            6
#define VECTOR            __m256i
#define LANES             8
#define ELEMENT           1
#define PACKED            2
#define LEAD              0
#define PACK_A            matmul_pack_rows_wide
#define PACK_B            pack_b_wide
#define LOAD(p)           _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define STORE(p, v)       _mm256_storeu_si256((__m256i *)(void *)(p), v)
#define ADD(v, w)         _mm256_add_epi32(v, w)
#define BROADCAST(p)      _mm256_set1_epi32(matmul_int32_at(p))
#define MULTIPLY(c, a, b) multiply_pairs(c, a, b)
#define BEGIN(p)          _mm256_setzero_si256()
#define KEEP(v)           __asm__ volatile("" : "+x"(v))
#define FIRST(v)          (double)_mm_cvtsi128_si32(_mm256_castsi256_si128(v))
#define INTEGERS          __m256i
#define SIXTEEN(p)        _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#define LOW(x, y)         _mm256_unpacklo_epi16(x, y)
#define HIGH(x, y)        _mm256_unpackhi_epi16(x, y)
#define FACTOR(p)         _mm256_set1_epi32(matmul_wide_pair_at(p))
#define ORDER(c)          order_pairs(c)
#include "kernels/x86/matmul_pairs.h"

#include "kernels/matmul_rows.h"

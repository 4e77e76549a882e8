/* SPDX-License-Identifier: MIT
 *
 * Matrix products of int8 by vpdpbusd (VNNI), which adds four products of uint8 and int8 to an
 * int32 without saturation. A goes through it as A + 128, so that sums are too large by 128 times
 * the sum of a column of B, which each panel begins with. All is modulo 2^32: results are exact
 * where they fit in int32, which they always do for k below 2^17. */
#include <immintrin.h>

#include "kernels/matmul_pack.h"

enum { COLUMNS = 32, VECTORS = 2, LEAD_BYTES = 4 * COLUMNS };

static void pack_b(unsigned char *panels, const unsigned char *b, size_t stride, size_t columns,
                   size_t k, size_t panel_bytes)
{
    const __m512i offset = _mm512_set1_epi8(-128); /* 128 as uint8 */
    matmul_pack_panels(panels, b, stride, columns, k, panel_bytes, COLUMNS, 1, 4, 4, LEAD_BYTES,
                       matmul_step_fours);
    for (size_t first = 0; first < columns; first += COLUMNS, panels += panel_bytes) {
        __m512i sums[VECTORS] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
        for (size_t at = 0; at < k; at += 4) {
            for (size_t v = 0; v < VECTORS; v++)
                sums[v] = _mm512_dpbusd_epi32(
                    sums[v], offset,
                    _mm512_loadu_si512(panels + LEAD_BYTES + at * COLUMNS + v * sizeof sums[v]));
        }
        for (size_t v = 0; v < VECTORS; v++)
            _mm512_storeu_si512(panels + v * sizeof sums[v],
                                _mm512_sub_epi32(_mm512_setzero_si512(), sums[v]));
    }
}

/* gcc 12 would store each sum in every step without the hint that the sum is in a register. */
static inline __m512i multiply_fours(__m512i c, __m512i a, __m512i b)
{
    c = _mm512_dpbusd_epi32(c, a, b);
    __asm__("" : "+v"(c));
    return c;
}

enum { FOURS_K = 16, FOURS_COLUMNS = 64 };

/* For a single row it is B that goes through it as uint8, and sums are too large by 128 times the
 * sum of the row. Bytes of four rows of B, interleaved in lanes of 128 bits, leave columns
 * 16 i + 4 j to 16 i + 4 j + 3 in lane i of vector j; sums stay in that order until the end. */
static inline void row_block(__m512i sums[4], const unsigned char *b, size_t stride, __m512i a)
{
    const __m512i sign = _mm512_set1_epi8(-128);
    const __m512i w = _mm512_xor_si512(_mm512_loadu_si512(b), sign);
    const __m512i x = _mm512_xor_si512(_mm512_loadu_si512(b + stride), sign);
    const __m512i y = _mm512_xor_si512(_mm512_loadu_si512(b + 2 * stride), sign);
    const __m512i z = _mm512_xor_si512(_mm512_loadu_si512(b + 3 * stride), sign);
    const __m512i wx0 = _mm512_unpacklo_epi8(w, x), wx1 = _mm512_unpackhi_epi8(w, x);
    const __m512i yz0 = _mm512_unpacklo_epi8(y, z), yz1 = _mm512_unpackhi_epi8(y, z);
    sums[0] = _mm512_dpbusd_epi32(sums[0], _mm512_unpacklo_epi16(wx0, yz0), a);
    sums[1] = _mm512_dpbusd_epi32(sums[1], _mm512_unpackhi_epi16(wx0, yz0), a);
    sums[2] = _mm512_dpbusd_epi32(sums[2], _mm512_unpacklo_epi16(wx1, yz1), a);
    sums[3] = _mm512_dpbusd_epi32(sums[3], _mm512_unpackhi_epi16(wx1, yz1), a);
}

/* Vector i of four gets what is in lane i of all four. */
static inline void order_fours(unsigned char *c)
{
    const __m512i x0 = _mm512_loadu_si512(c), x1 = _mm512_loadu_si512(c + 64);
    const __m512i x2 = _mm512_loadu_si512(c + 128), x3 = _mm512_loadu_si512(c + 192);
    const __m512i a = _mm512_shuffle_i64x2(x0, x1, 0x44), b = _mm512_shuffle_i64x2(x0, x1, 0xee);
    const __m512i d = _mm512_shuffle_i64x2(x2, x3, 0x44), e = _mm512_shuffle_i64x2(x2, x3, 0xee);
    _mm512_storeu_si512(c, _mm512_shuffle_i64x2(a, d, 0x88));
    _mm512_storeu_si512(c + 64, _mm512_shuffle_i64x2(a, d, 0xdd));
    _mm512_storeu_si512(c + 128, _mm512_shuffle_i64x2(b, e, 0x88));
    _mm512_storeu_si512(c + 192, _mm512_shuffle_i64x2(b, e, 0xdd));
}

static void row_by_fours(unsigned char *c, const unsigned char *a, const unsigned char *b,
                         size_t stride, size_t columns, size_t k)
{
    uint32_t begin = 0;
    for (size_t i = 0; i < k; i++)
        begin -= (uint32_t)(int32_t)(int8_t)a[i] * 128;
    for (size_t j = 0; j < columns; j++)
        memcpy(c + 4 * j, &begin, sizeof begin);
    for (size_t at = 0; at < k; at += FOURS_K, a += FOURS_K, b += FOURS_K * stride) {
        __m512i factors[FOURS_K / 4];
        for (size_t i = 0; i < FOURS_K / 4; i++)
            factors[i] = _mm512_set1_epi32(matmul_int32_at(a + 4 * i));
        for (size_t j = 0; j < columns; j += FOURS_COLUMNS) {
            unsigned char *const to = c + 4 * j;
            __m512i sums[4];
            for (size_t v = 0; v < 4; v++)
                sums[v] = _mm512_loadu_si512(to + 64 * v);
            for (size_t i = 0; i < FOURS_K / 4; i++)
                row_block(sums, b + 4 * i * stride + j, stride, factors[i]);
            for (size_t v = 0; v < 4; v++)
                _mm512_storeu_si512(to + 64 * v, sums[v]);
        }
    }
    for (size_t j = 0; j < columns; j += FOURS_COLUMNS)
        order_fours(c + 4 * j);
}

#define ROW               row_by_fours
#define ROW_COLUMNS       FOURS_COLUMNS
#define ROW_K             FOURS_K
#define NAME              i8_avx512vbmi
#define HEIGHT            14
#define VECTOR            __m512i
#define ELEMENT           1
#define LEAD              LEAD_BYTES
#define PACK_A            matmul_pack_rows_offset
#define PACK_B            pack_b
#define LOAD(p)           _mm512_loadu_si512(p)
#define STORE(p, v)       _mm512_storeu_si512(p, v)
#define ADD(v, w)         _mm512_add_epi32(v, w)
#define BROADCAST(p)      _mm512_set1_epi32(matmul_int32_at(p))
#define MULTIPLY(c, a, b) multiply_fours(c, a, b)
#define BEGIN(p)          _mm512_loadu_si512(p)
#define FIRST(v)          (double)_mm_cvtsi128_si32(_mm512_castsi512_si128(v))
#include "kernels/matmul_rows.h"

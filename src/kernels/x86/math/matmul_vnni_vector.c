/* SPDX-License-Identifier: MIT
 *
 * Matrix products of int8 by vpdpbusd. A is passed as A + 128, so the sums are too large by 128
 * times the sum of a column of B; each panel starts with these corrections. All arithmetic is
 * modulo 2^32: results are exact if they fit in int32, which they always do for k below 2^17. */
#include "kernels/math/matmul_pack.h"
#include "kernels/x86/math/vnni.h"

enum { VECTORS = 2, LEAD_BYTES = VECTORS * VECTOR, COLUMNS = LEAD_BYTES / 4 };

static void pack_b(unsigned char *panels, const unsigned char *b, size_t stride, size_t columns,
                   size_t k, size_t panel_bytes)
{
    const vector offset = VECTOR_BITS(set1_epi8)(-128); /* 128 as uint8 */
    matmul_pack_panels(panels, b, stride, columns, k, panel_bytes, COLUMNS, 1, 4, 4, LEAD_BYTES,
                       matmul_step_fours);
    for (size_t first = 0; first < columns; first += COLUMNS, panels += panel_bytes) {
        vector sums[VECTORS] = {VECTOR_WHOLE(setzero)(), VECTOR_WHOLE(setzero)()};
        for (size_t at = 0; at < k; at += 4) {
            for (size_t v = 0; v < VECTORS; v++)
                sums[v] =
                    add_fours(sums[v], offset,
                              load_vector(panels + LEAD_BYTES + at * COLUMNS + v * sizeof sums[v]));
        }
        for (size_t v = 0; v < VECTORS; v++)
            store_vector(panels + v * VECTOR,
                         VECTOR_BITS(sub_epi32)(VECTOR_WHOLE(setzero)(), sums[v]), false);
    }
}

enum { FOURS_K = 16, FOURS_COLUMNS = VECTOR };

/* For a single row it is B that is passed as uint8, and the sums are too large by 128 times the
 * sum of the row. Interleaving the bytes of four rows of B in 128-bit lanes puts columns 16 i +
 * 4 j to 16 i + 4 j + 3 in lane i of vector j; sums keep this order until the end. */
static inline void row_block(vector sums[4], const unsigned char *b, size_t stride, vector a)
{
    const vector sign = VECTOR_BITS(set1_epi8)(-128);
    const vector w = VECTOR_WHOLE(xor)(load_vector(b), sign);
    const vector x = VECTOR_WHOLE(xor)(load_vector(b + stride), sign);
    const vector y = VECTOR_WHOLE(xor)(load_vector(b + 2 * stride), sign);
    const vector z = VECTOR_WHOLE(xor)(load_vector(b + 3 * stride), sign);
    const vector wx0 = VECTOR_BITS(unpacklo_epi8)(w, x), wx1 = VECTOR_BITS(unpackhi_epi8)(w, x);
    const vector yz0 = VECTOR_BITS(unpacklo_epi8)(y, z), yz1 = VECTOR_BITS(unpackhi_epi8)(y, z);
    sums[0] = add_fours(sums[0], VECTOR_BITS(unpacklo_epi16)(wx0, yz0), a);
    sums[1] = add_fours(sums[1], VECTOR_BITS(unpackhi_epi16)(wx0, yz0), a);
    sums[2] = add_fours(sums[2], VECTOR_BITS(unpacklo_epi16)(wx1, yz1), a);
    sums[3] = add_fours(sums[3], VECTOR_BITS(unpackhi_epi16)(wx1, yz1), a);
}

/* Vector i of four gets lane i of all four vectors; with half as many lanes, lane i / 2 of the
 * first two or the last two. */
static inline void order_fours(unsigned char *c)
{
    vector x[4];
    for (size_t i = 0; i < 4; i++)
        x[i] = load_vector(c + i * VECTOR);
#ifdef __AVX512VNNI__
    const vector a = _mm512_shuffle_i64x2(x[0], x[1], 0x44);
    const vector b = _mm512_shuffle_i64x2(x[0], x[1], 0xee);
    const vector d = _mm512_shuffle_i64x2(x[2], x[3], 0x44);
    const vector e = _mm512_shuffle_i64x2(x[2], x[3], 0xee);
    const vector ordered[4] = {_mm512_shuffle_i64x2(a, d, 0x88), _mm512_shuffle_i64x2(a, d, 0xdd),
                               _mm512_shuffle_i64x2(b, e, 0x88), _mm512_shuffle_i64x2(b, e, 0xdd)};
#else
    const vector ordered[4] = {
        _mm256_permute2x128_si256(x[0], x[1], 0x20), _mm256_permute2x128_si256(x[2], x[3], 0x20),
        _mm256_permute2x128_si256(x[0], x[1], 0x31), _mm256_permute2x128_si256(x[2], x[3], 0x31)};
#endif
    for (size_t i = 0; i < 4; i++)
        store_vector(c + i * VECTOR, ordered[i], false);
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
        vector factors[FOURS_K / 4];
        for (size_t i = 0; i < FOURS_K / 4; i++)
            factors[i] = VECTOR_BITS(set1_epi32)(matmul_int32_at(a + 4 * i));
        for (size_t j = 0; j < columns; j += FOURS_COLUMNS) {
            unsigned char *const to = c + 4 * j;
            vector sums[4];
            for (size_t v = 0; v < 4; v++)
                sums[v] = load_vector(to + VECTOR * v);
            for (size_t i = 0; i < FOURS_K / 4; i++)
                row_block(sums, b + 4 * i * stride + j, stride, factors[i]);
            for (size_t v = 0; v < 4; v++)
                store_vector(to + VECTOR * v, sums[v], false);
        }
    }
    for (size_t j = 0; j < columns; j += FOURS_COLUMNS)
        order_fours(c + 4 * j);
}

#define ROW         row_by_fours
#define ROW_COLUMNS FOURS_COLUMNS
#define ROW_K       FOURS_K
#define NAME        VNNI_NAME(i8)
#ifdef __AVX512VNNI__
#define HEIGHT 14
#else
#define HEIGHT 6
#endif
#define VECTOR            vector
#define ELEMENT           1
#define LEAD              LEAD_BYTES
#define PACK_A            matmul_pack_rows_offset
#define PACK_B            pack_b
#define LOAD(p)           load_vector(p)
#define STORE(p, v)       store_vector(p, v, false)
#define ADD(v, w)         VECTOR_BITS(add_epi32)(v, w)
#define BROADCAST(p)      VECTOR_BITS(set1_epi32)(matmul_int32_at(p))
#define MULTIPLY(c, a, b) add_fours(c, a, b)
#define BEGIN(p)          load_vector(p)
#define FIRST(v)          (double)matmul_int32_at((const void *)&v)
#include "kernels/math/matmul_rows.h"

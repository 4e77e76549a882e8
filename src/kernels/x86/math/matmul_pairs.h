/* SPDX-License-Identifier: MIT
 *
 * A product of a single row where a step takes two rows of B. They are interleaved in registers;
 * in 128-bit lanes, numbered from 0, that gives
 *
 *     low:  columns 8 i to 8 i + 3 in lane i        high:  columns 8 i + 4 to 8 i + 7
 *
 * and sums keep this order until the end. Include it after the tiles' macros and
 *   SIXTEEN(p)            elements of a row of B as 16 bits each
 *   LOW(x, y) HIGH(x, y)  interleaved
 *   FACTOR(p)             the two elements at p in all lanes, in the form of BROADCAST() */
#ifndef KERNELS_X86_MATH_MATMUL_PAIRS_H
#define KERNELS_X86_MATH_MATMUL_PAIRS_H

#include "kernels/x86/vector.h"

#ifdef __AVX2__
/* Puts two registers of sums in order. */
static inline void order_pairs(unsigned char *c)
{
    const vector low = load_vector(c), high = load_vector(c + sizeof(vector));
#ifdef __AVX512BW__
    const vector first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const vector second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    store_vector(c, _mm512_permutex2var_epi64(low, first, high), false);
    store_vector(c + sizeof(vector), _mm512_permutex2var_epi64(low, second, high), false);
#else
    store_vector(c, _mm256_permute2x128_si256(low, high, 0x20), false);
    store_vector(c + sizeof(vector), _mm256_permute2x128_si256(low, high, 0x31), false);
#endif
}
#endif

#endif
#ifdef NAME
#define ROW         JOIN(row_, NAME, by_pairs)
#define ROW_COLUMNS (sizeof(VECTOR) / 2)
#define ROW_K       8
#ifndef JOIN
#define JOIN_(a, b, c) a##b##_##c
#define JOIN(a, b, c)  JOIN_(a, b, c)
#endif

#define PAIR_FACTOR(i) const VECTOR a##i = FACTOR(a + 2 * (i)*ELEMENT);
#define PAIR_PRODUCT(i)                                                     \
    {                                                                       \
        const size_t here = 2 * (i)*stride + j * ELEMENT;                   \
        const vector x = SIXTEEN(b + here), y = SIXTEEN(b + here + stride); \
        low = MULTIPLY(low, a##i, LOW(x, y));                               \
        high = MULTIPLY(high, a##i, HIGH(x, y));                            \
    }

static void ROW(unsigned char *c, const unsigned char *a, const unsigned char *b, size_t stride,
                size_t columns, size_t k)
{
    memset(c, 0, 4 * columns);
    for (size_t at = 0; at < k; at += ROW_K, a += ROW_K * ELEMENT, b += ROW_K * stride) {
        PAIR_FACTOR(0)
        PAIR_FACTOR(1)
        PAIR_FACTOR(2)
        PAIR_FACTOR(3)
        for (size_t j = 0; j < columns; j += ROW_COLUMNS) {
            unsigned char *const to = c + 4 * j;
            VECTOR low = LOAD(to), high = LOAD(to + sizeof(VECTOR));
            PAIR_PRODUCT(0)
            PAIR_PRODUCT(1)
            PAIR_PRODUCT(2)
            PAIR_PRODUCT(3)
            STORE(to, low);
            STORE(to + sizeof(VECTOR), high);
        }
    }
    for (size_t j = 0; j < columns; j += ROW_COLUMNS)
        order_pairs(c + 4 * j);
}

#undef PAIR_FACTOR
#undef PAIR_PRODUCT
#undef SIXTEEN
#undef LOW
#undef HIGH
#undef FACTOR

#endif

/* SPDX-License-Identifier: MIT
 *
 * Packing for matrix products, in plain loops that compilers vectorize; compiled once per level.
 * Widths are constants at the calls. */
#ifndef KERNELS_MATH_MATMUL_PACK_H
#define KERNELS_MATH_MATMUL_PACK_H

#include <stdint.h>
#include <string.h>

#include "kernels/math/matmul_tile.h"

#if defined __GNUC__
#define MATMUL_INLINE static inline __attribute__((always_inline, unused))
#else
#define MATMUL_INLINE static inline
#endif

/* Copies rows, padded with zeros to a multiple of `unit` bytes: stale memory could contain an
 * infinity, which would not vanish when multiplied by the zeros of B. */
MATMUL_INLINE void matmul_pack_rows(unsigned char *strip, const unsigned char *a, size_t stride,
                                    size_t rows, size_t bytes, size_t unit)
{
    const size_t over = bytes % unit;
    for (size_t i = 0; i < rows; i++) {
        unsigned char *const row = strip + i * DTI_MATMUL_STRIDE;
        memcpy(row, a + i * stride, bytes);
        if (over > 0)
            memset(row + bytes, 0, unit - over);
    }
}

/* For elements of 4 and of 8 bytes. */
MATMUL_INLINE void matmul_pack_rows_4(unsigned char *strip, const unsigned char *a, size_t stride,
                                      size_t rows, size_t k)
{
    matmul_pack_rows(strip, a, stride, rows, 4 * k, 4);
}

MATMUL_INLINE void matmul_pack_rows_8(unsigned char *strip, const unsigned char *a, size_t stride,
                                      size_t rows, size_t k)
{
    matmul_pack_rows(strip, a, stride, rows, 8 * k, 8);
}

/* Loads an element, or several as one, from any address. */
MATMUL_INLINE float matmul_float_at(const unsigned char *p)
{
    float value;
    memcpy(&value, p, sizeof value);
    return value;
}

MATMUL_INLINE double matmul_double_at(const unsigned char *p)
{
    double value;
    memcpy(&value, p, sizeof value);
    return value;
}

MATMUL_INLINE int32_t matmul_int32_at(const unsigned char *p)
{
    int32_t value;
    memcpy(&value, p, sizeof value);
    return value;
}

/* Two int8, widened to int16. */
MATMUL_INLINE int32_t matmul_wide_pair_at(const unsigned char *p)
{
    int8_t pair[2];
    memcpy(pair, p, sizeof pair);
    const int16_t wide[2] = {pair[0], pair[1]};
    int32_t value;
    memcpy(&value, wide, sizeof value);
    return value;
}

/* int8 widened to int16. The padding at the end of a row does not matter here and below, because
 * integers are multiplied by zeros of B. */
MATMUL_INLINE void matmul_pack_rows_wide(unsigned char *strip, const unsigned char *a,
                                         size_t stride, size_t rows, size_t k)
{
    for (size_t i = 0; i < rows; i++) {
        unsigned char *const row = strip + i * DTI_MATMUL_STRIDE;
        for (size_t j = 0; j < k; j++) {
            int8_t narrow;
            memcpy(&narrow, a + i * stride + j, 1);
            const int16_t wide = narrow;
            memcpy(row + 2 * j, &wide, sizeof wide);
        }
    }
}

/* int8 + 128, as uint8. */
MATMUL_INLINE void matmul_pack_rows_offset(unsigned char *strip, const unsigned char *a,
                                           size_t stride, size_t rows, size_t k)
{
    for (size_t i = 0; i < rows; i++) {
        unsigned char *const row = strip + i * DTI_MATMUL_STRIDE;
        for (size_t j = 0; j < k; j++)
            row[j] = a[i * stride + j] ^ 0x80;
    }
}

/* Packs one step of a panel: rows[i] points to `columns` elements of the i-th row of the step. */
typedef void matmul_step_fn(unsigned char *out, const unsigned char *const *rows, size_t columns);

/* A step has the size of an element of C, four bytes: one element of four bytes, two of two, or
 * four of one. */
MATMUL_INLINE void matmul_step_pairs(unsigned char *out, const unsigned char *const *rows,
                                     size_t columns)
{
    for (size_t j = 0; j < columns; j++) {
        uint16_t low, high;
        memcpy(&low, rows[0] + 2 * j, sizeof low);
        memcpy(&high, rows[1] + 2 * j, sizeof high);
        const uint32_t both = low | (uint32_t)high << 16;
        memcpy(out + 4 * j, &both, sizeof both);
    }
}

MATMUL_INLINE void matmul_step_wide_pairs(unsigned char *out, const unsigned char *const *rows,
                                          size_t columns)
{
    for (size_t j = 0; j < columns; j++) {
        int8_t low, high;
        memcpy(&low, rows[0] + j, 1);
        memcpy(&high, rows[1] + j, 1);
        const uint32_t both = (uint32_t)(int32_t)low % 65536 | (uint32_t)(int32_t)high << 16;
        memcpy(out + 4 * j, &both, sizeof both);
    }
}

MATMUL_INLINE void matmul_step_fours(unsigned char *out, const unsigned char *const *rows,
                                     size_t columns)
{
    for (size_t j = 0; j < columns; j++) {
        const uint32_t four = rows[0][j] | (uint32_t)rows[1][j] << 8 | (uint32_t)rows[2][j] << 16 |
                              (uint32_t)rows[3][j] << 24;
        memcpy(out + 4 * j, &four, sizeof four);
    }
}

/* Packs panels of `width` columns row by row, so that B is read in memory order. */
MATMUL_INLINE void matmul_pack_panels(unsigned char *panels, const unsigned char *b, size_t stride,
                                      size_t columns, size_t k, size_t panel_bytes, size_t width,
                                      size_t element, size_t group, size_t step, size_t lead,
                                      matmul_step_fn *interleave)
{
    unsigned char edge[4 * 256]; /* a zero-padded step at the edge of B */
    const unsigned char *rows[4];
    for (size_t at = 0; at < k; at += group) {
        const size_t there = k - at < group ? k - at : group;
        unsigned char *out = panels + lead + at / group * width * step;
        for (size_t first = 0; first < columns; first += width, out += panel_bytes) {
            const unsigned char *const in = b + at * stride + first * element;
            const size_t left = columns - first;
            if (left >= width && there == group) {
                for (size_t i = 0; i < group; i++)
                    rows[i] = in + i * stride;
            } else {
                memset(edge, 0, group * width * element);
                for (size_t i = 0; i < there; i++)
                    memcpy(edge + i * width * element, in + i * stride,
                           (left < width ? left : width) * element);
                for (size_t i = 0; i < group; i++)
                    rows[i] = edge + i * width * element;
            }
            if (interleave)
                interleave(out, rows, width);
            else
                memcpy(out, rows[0], width * step);
        }
    }
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * Matrix products of bf16 by vdpbf16ps, which adds two products to a sum in fp32. The products
 * are exact; each of the two additions rounds to nearest even regardless of the rounding mode,
 * and subnormal operands and sums are zero. */
#include "kernels/math/matmul_pack.h"
#include "kernels/x86/vector.h"

static void pack_a(unsigned char *strip, const unsigned char *a, size_t stride, size_t rows,
                   size_t k)
{
    matmul_pack_rows(strip, a, stride, rows, 2 * k, 4);
}

static void pack_b(unsigned char *panels, const unsigned char *b, size_t stride, size_t columns,
                   size_t k, size_t panel_bytes)
{
    matmul_pack_panels(panels, b, stride, columns, k, panel_bytes, 32, 2, 2, 4, 0,
                       matmul_step_pairs);
}

#define NAME              bf16_avx512bf16
#define HEIGHT            14
#define VECTOR            __m512
#define ELEMENT           2
#define PACK_A            pack_a
#define PACK_B            pack_b
#define LOAD(p)           _mm512_loadu_ps(p)
#define STORE(p, v)       _mm512_storeu_ps(p, v)
#define ADD(v, w)         _mm512_add_ps(v, w)
#define BROADCAST(p)      _mm512_castsi512_ps(_mm512_set1_epi32(matmul_int32_at(p)))
#define MULTIPLY(c, a, b) _mm512_dpbf16_ps(c, (__m512bh)(a), (__m512bh)(b))
#define FIRST(v)          (double)_mm512_cvtss_f32(v)
#define SIXTEEN(p)        _mm512_loadu_si512(p)
#define LOW(x, y)         _mm512_castsi512_ps(_mm512_unpacklo_epi16(x, y))
#define HIGH(x, y)        _mm512_castsi512_ps(_mm512_unpackhi_epi16(x, y))
#define FACTOR(p)         BROADCAST(p)
#include "kernels/x86/math/matmul_pairs.h"

#include "kernels/math/matmul_rows.h"

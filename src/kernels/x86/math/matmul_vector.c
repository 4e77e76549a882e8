/* SPDX-License-Identifier: MIT
 *
 * Matrix products, the same code for AVX2 and AVX-512: fp64 and fp32 by fused multiply-adds;
 * int8, for CPUs without VNNI, by multiplying pairs of int16 and adding them in int32, which
 * cannot overflow because products of int8 are at most 2^14, and adding that to an int32. (The
 * instruction for bytes, vpmaddubsw, saturates to int16.) */
#include "kernels/math/matmul_pack.h"
#include "kernels/x86/vector.h"

#ifdef __AVX512BW__
#define TALL       14
#define TALL_PAIRS 12
#else
#define TALL       6
#define TALL_PAIRS 6
#endif

#define NAME              VECTOR_NAME(f32)
#define HEIGHT            TALL
#define VECTOR            vector_ps
#define ELEMENT           4
#define PACK_A            matmul_pack_rows_4
#define LOAD(p)           VECTOR_BITS(loadu_ps)((const void *)(p))
#define STORE(p, v)       VECTOR_BITS(storeu_ps)((void *)(p), v)
#define ADD(v, w)         VECTOR_BITS(add_ps)(v, w)
#define BROADCAST(p)      VECTOR_BITS(set1_ps)(matmul_float_at(p))
#define MULTIPLY(c, a, b) VECTOR_BITS(fmadd_ps)(a, b, c)
#define FIRST(v)          (double)VECTOR_BITS(cvtss_f32)(v)
#include "kernels/math/matmul_rows.h"

#define NAME              VECTOR_NAME(f64)
#define HEIGHT            TALL
#define VECTOR            vector_pd
#define ELEMENT           8
#define PACK_A            matmul_pack_rows_8
#define LOAD(p)           VECTOR_BITS(loadu_pd)((const void *)(p))
#define STORE(p, v)       VECTOR_BITS(storeu_pd)((void *)(p), v)
#define ADD(v, w)         VECTOR_BITS(add_pd)(v, w)
#define BROADCAST(p)      VECTOR_BITS(set1_pd)(matmul_double_at(p))
#define MULTIPLY(c, a, b) VECTOR_BITS(fmadd_pd)(a, b, c)
#define FIRST(v)          VECTOR_BITS(cvtsd_f64)(v)
#include "kernels/math/matmul_rows.h"

static void pack_b_wide(unsigned char *panels, const unsigned char *b, size_t stride,
                        size_t columns, size_t k, size_t panel_bytes)
{
    matmul_pack_panels(panels, b, stride, columns, k, panel_bytes, sizeof(vector) / 2, 1, 2, 4, 0,
                       matmul_step_wide_pairs);
}

/* Without the hint that the sum is in a register, gcc 12 would store each sum in every step. */
static inline vector multiply_pairs(vector c, vector a, vector b)
{
    c = VECTOR_BITS(add_epi32)(c, VECTOR_BITS(madd_epi16)(a, b));
    __asm__("" : "+v"(c));
    return c;
}

#define NAME              VECTOR_NAME(i8)
#define HEIGHT            TALL_PAIRS
#define VECTOR            vector
#define ELEMENT           1
#define PACKED            2
#define PACK_A            matmul_pack_rows_wide
#define PACK_B            pack_b_wide
#define LOAD(p)           load_vector(p)
#define STORE(p, v)       store_vector(p, v, false)
#define ADD(v, w)         VECTOR_BITS(add_epi32)(v, w)
#define BROADCAST(p)      VECTOR_BITS(set1_epi32)(matmul_int32_at(p))
#define MULTIPLY(c, a, b) multiply_pairs(c, a, b)
#define FIRST(v)          (double)matmul_int32_at((const void *)&v)
#define SIXTEEN(p)        VECTOR_BITS(cvtepi8_epi16)(load_half(p))
#define LOW(x, y)         VECTOR_BITS(unpacklo_epi16)(x, y)
#define HIGH(x, y)        VECTOR_BITS(unpackhi_epi16)(x, y)
#define FACTOR(p)         VECTOR_BITS(set1_epi32)(matmul_wide_pair_at(p))
#include "kernels/x86/math/matmul_pairs.h"

#include "kernels/math/matmul_rows.h"

/* SPDX-License-Identifier: MIT
 *
 * Matrix products of fp16, the same code for AVX2 and AVX-512. Strips and panels are fp32, where
 * products of fp16 are exact and its subnormals are normal. AVX512-FP16 has twice the
 * throughput, but its sums are fp16: they would be wrong after a few dozen terms, and infinite
 * beyond 65504. */
#include "kernels/math/matmul_pack.h"
#include "kernels/x86/vector.h"

enum { LANES_F32 = sizeof(vector_ps) / sizeof(float) };

/* Widens as many elements as a register has lanes. */
static inline vector_ps widened(const unsigned char *p)
{
    return VECTOR_BITS(cvtph_ps)(load_half(p));
}

static void pack_a(unsigned char *strip, const unsigned char *a, size_t stride, size_t rows,
                   size_t k)
{
    const size_t whole = k / LANES_F32 * LANES_F32;
    for (size_t i = 0; i < rows; i++, a += stride, strip += DTI_MATMUL_STRIDE) {
        for (size_t j = 0; j < whole; j += LANES_F32)
            VECTOR_BITS(storeu_ps)((void *)(strip + 4 * j), widened(a + 2 * j));
        if (whole < k) {
            unsigned char last[2 * LANES_F32] = {0}, wide[4 * LANES_F32];
            memcpy(last, a + 2 * whole, 2 * (k - whole));
            VECTOR_BITS(storeu_ps)((void *)wide, widened(last));
            memcpy(strip + 4 * whole, wide, 4 * (k - whole));
        }
    }
}

static inline void widen_step(unsigned char *out, const unsigned char *const *rows, size_t columns)
{
    for (size_t j = 0; j < columns; j += LANES_F32)
        VECTOR_BITS(storeu_ps)((void *)(out + 4 * j), widened(rows[0] + 2 * j));
}

static void pack_b(unsigned char *panels, const unsigned char *b, size_t stride, size_t columns,
                   size_t k, size_t panel_bytes)
{
    matmul_pack_panels(panels, b, stride, columns, k, panel_bytes, 2 * LANES_F32, 2, 1, 4, 0,
                       widen_step);
}

static inline vector_ps broadcast_f16(const unsigned char *p)
{
    uint16_t code;
    memcpy(&code, p, sizeof code);
    return VECTOR_BITS(set1_ps)(_cvtsh_ss(code));
}

#ifdef __AVX512BW__
#define HEIGHT 14
#else
#define HEIGHT 6
#endif
#define NAME              VECTOR_NAME(f16)
#define VECTOR            vector_ps
#define ELEMENT           2
#define PACKED            4
#define PACK_A            pack_a
#define PACK_B            pack_b
#define LOAD(p)           VECTOR_BITS(loadu_ps)((const void *)(p))
#define LOAD_B(p)         widened(p)
#define STORE(p, v)       VECTOR_BITS(storeu_ps)((void *)(p), v)
#define ADD(v, w)         VECTOR_BITS(add_ps)(v, w)
#define BROADCAST(p)      VECTOR_BITS(set1_ps)(matmul_float_at(p))
#define BROADCAST_A(p)    broadcast_f16(p)
#define MULTIPLY(c, a, b) VECTOR_BITS(fmadd_ps)(a, b, c)
#define FIRST(v)          (double)VECTOR_BITS(cvtss_f32)(v)
#include "kernels/math/matmul_rows.h"

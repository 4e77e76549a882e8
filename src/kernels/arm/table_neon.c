/* SPDX-License-Identifier: MIT
 *
 * A complete cast from at most 8 bits by table lookup: TBL looks up 64 bytes at once, so a table
 * of 256 takes four. Wider destinations are looked up one byte plane at a time and zipped
 * together; low planes that are all zero, as for fp8 to fp32, are skipped. 8-bit
 * integers become floats by computing. */
#include <arm_neon.h>
#include <string.h>

#include "kernels/arm/table_integers_neon.h"
#include "kernels/kernels.h"

enum { STEP = 16 }; /* elements */

struct plane_neon {
    uint8x16x4_t quarter[4];
};

static inline struct plane_neon load_plane(const uint8_t bytes[256])
{
    struct plane_neon plane;
    for (int q = 0; q < 4; q++)
        for (int i = 0; i < 4; i++)
            plane.quarter[q].val[i] = vld1q_u8(bytes + 64 * q + 16 * i);
    return plane;
}

/* TBX leaves a byte unchanged if its index is out of range. */
static inline uint8x16_t look_up(const struct plane_neon *plane, uint8x16_t code)
{
    const uint8x16_t next = vdupq_n_u8(64);
    uint8x16_t found = vqtbl4q_u8(plane->quarter[0], code);
    for (int q = 1; q < 4; q++) {
        code = vsubq_u8(code, next);
        found = vqtbx4q_u8(found, plane->quarter[q], code);
    }
    return found;
}

static inline void to_bytes(unsigned char *dst, const unsigned char *src,
                            const struct plane_neon plane[])
{
    vst1q_u8(dst, look_up(&plane[0], vld1q_u8(src)));
}

static inline void to_halves(unsigned char *dst, const unsigned char *src,
                             const struct plane_neon plane[])
{
    const uint8x16_t code = vld1q_u8(src);
    const uint8x16x2_t half = {{look_up(&plane[0], code), look_up(&plane[1], code)}};
    vst2q_u8(dst, half);
}

static inline void to_words(unsigned char *dst, const unsigned char *src,
                            const struct plane_neon plane[])
{
    const uint8x16_t code = vld1q_u8(src);
    const uint8x16x4_t word = {{look_up(&plane[0], code), look_up(&plane[1], code),
                                look_up(&plane[2], code), look_up(&plane[3], code)}};
    vst4q_u8(dst, word);
}

/* The two low planes are zero. */
static inline void to_top_halves(unsigned char *dst, const unsigned char *src,
                                 const struct plane_neon plane[])
{
    const uint8x16_t code = vld1q_u8(src), zero = vdupq_n_u8(0);
    const uint8x16x4_t word = {{zero, zero, look_up(&plane[2], code), look_up(&plane[3], code)}};
    vst4q_u8(dst, word);
}

typedef void step_fn(unsigned char *dst, const unsigned char *src, const struct plane_neon plane[]);

static inline __attribute__((always_inline)) void all(const struct dti_code_table *table,
                                                      unsigned char *dst, const unsigned char *src,
                                                      size_t n, unsigned container, step_fn *step)
{
    struct plane_neon plane[4];
    for (unsigned i = 0; i < container; i++)
        plane[i] = load_plane(table->plane[i]);
    size_t i = 0;
    for (; i + STEP <= n; i += STEP)
        step(dst + container * i, src + i, plane);
    if (i < n) {
        unsigned char from[STEP] = {0}, to[4 * STEP];
        memcpy(from, src + i, n - i);
        step(to, from, plane);
        memcpy(dst + container * i, to, container * (n - i));
    }
}

void dti_table_neon(const struct dti_kernel_args *args, void *restrict dst,
                    const void *restrict src, size_t n)
{
    const struct dti_code_table *table = args->table;
    if (dti_table_integers_neon(table, dst, src, n))
        return;
    if (table->container == 1)
        all(table, dst, src, n, 1, to_bytes);
    else if (table->container == 2)
        all(table, dst, src, n, 2, to_halves);
    else if (table->planes <= 2)
        all(table, dst, src, n, 4, to_top_halves);
    else
        all(table, dst, src, n, 4, to_words);
}

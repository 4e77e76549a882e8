/* SPDX-License-Identifier: MIT
 *
 * Byte swapping. */
#include "kernels/kernels.h"
#include "kernels/lanes_piece.h"

static void swap16(unsigned char *restrict dst, const unsigned char *restrict src, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint16_t word;
        memcpy(&word, src + 2 * i, sizeof word);
        word = (uint16_t)(word << 8 | word >> 8);
        memcpy(dst + 2 * i, &word, sizeof word);
    }
}

static void swap32(unsigned char *restrict dst, const unsigned char *restrict src, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t word = __builtin_bswap32(dti_lane_load32(src + 4 * i));
        memcpy(dst + 4 * i, &word, sizeof word);
    }
}

static void swap64(unsigned char *restrict dst, const unsigned char *restrict src, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t word = __builtin_bswap64(dti_lane_load64(src + 8 * i));
        memcpy(dst + 8 * i, &word, sizeof word);
    }
}

void dti_swap_scalar(const struct dti_kernel_args *args, void *restrict dst,
                     const void *restrict src, size_t n)
{
    if (args->bits == 2)
        swap16(dst, src, n);
    else if (args->bits == 4)
        swap32(dst, src, n);
    else
        swap64(dst, src, n);
}

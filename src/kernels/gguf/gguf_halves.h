/* SPDX-License-Identifier: MIT
 *
 * The order of 4-bit codes in blocks of GGUF: two in a byte that are half a group apart. */
#ifndef KERNELS_GGUF_GGUF_HALVES_H
#define KERNELS_GGUF_GGUF_HALVES_H

#include <stddef.h>
#include <stdint.h>

#include "util/little_endian.h"

/* Spreads 4 bytes to the even ones of 8. */
static inline uint64_t dti_gguf_spread(uint32_t bytes)
{
    const uint64_t pairs = (bytes | (uint64_t)bytes << 16) & UINT64_C(0x0000ffff0000ffff);
    return (pairs | pairs << 8) & UINT64_C(0x00ff00ff00ff00ff);
}

/* Two codes per byte, the first in the low bits, become pairs of codes that are half a group apart;
 * half: bytes of half a group, a multiple of 4. */
static inline void dti_gguf_pair_halves(unsigned char *to, const unsigned char *from, size_t half)
{
    const uint32_t low = UINT32_C(0x0f0f0f0f), high = UINT32_C(0xf0f0f0f0);
    for (size_t i = 0; i < half; i += 4) {
        const uint32_t one = (uint32_t)dti_little_get(from + i, 4);
        const uint32_t other = (uint32_t)dti_little_get(from + half + i, 4);
        const uint32_t even = (one & low) | (other << 4 & high);
        const uint32_t odd = (one >> 4 & low) | (other & high);
        dti_little_put(to + 2 * i, 8, dti_gguf_spread(even) | dti_gguf_spread(odd) << 8);
    }
}

#endif

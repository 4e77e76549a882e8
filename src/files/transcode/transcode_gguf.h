/* SPDX-License-Identifier: MIT
 *
 * Parts of a tensor in a GGUF file: one tensor of blocks, and for nvfp4 one with the scale of the
 * whole tensor. Codes and scales stay; they are stored in each other's neighbourhood. */
#ifndef FILES_TRANSCODE_TRANSCODE_GGUF_H
#define FILES_TRANSCODE_TRANSCODE_GGUF_H

#include "files/transcode/transcode_bytes.h"
#include "util/little_endian.h"

/* Starts with one part of such blocks, of the shape of the numbers. Fails with DTI_WRONG_KIND if
 * rows are not whole blocks. */
enum dti_status dti_gguf_begin(const struct dti_dequant_found *found,
                               const struct dti_gguf_type *type, struct dti_transcoded *ret,
                               struct dti_error *reterr);
/* Starts with the numbers themselves; the caller counts what the cast to the dtype loses. */
void dti_gguf_numbers(const struct dti_dequant_found *found, enum dti_dtype dtype,
                      struct dti_transcoded *ret);
/* Fails: the tensor cannot become the type that was asked for. what: "of 8 bits". */
enum dti_status dti_gguf_refuse_type(const struct dti_dequant_found *found, const char *what,
                                     const char *types, struct dti_error *reterr);

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

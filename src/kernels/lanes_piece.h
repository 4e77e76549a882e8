/* SPDX-License-Identifier: MIT
 *
 * Loops around lane functions work in pieces: the lanes fill a small array of 32- or 64-bit
 * codes, which is then narrowed into containers. So there is one loop per rounding mode, not one
 * per mode and container, and the array stays in the L1 cache. The same applies to random bits. */
#ifndef KERNELS_LANES_PIECE_H
#define KERNELS_LANES_PIECE_H

#include <stddef.h>
#include <string.h>

#include "kernels/lanes_random.h"

#ifndef DTI_LANES
#define DTI_LANES scalar
#endif
/* These files are compiled once per level; DTI_LANES_NAME(dti_encode_f32) is
 * dti_encode_f32_avx2. */
#define DTI_LANES_PASTE(stem, level)  stem##_##level
#define DTI_LANES_EXPAND(stem, level) DTI_LANES_PASTE(stem, level)
#define DTI_LANES_NAME(stem)          DTI_LANES_EXPAND(stem, DTI_LANES)

enum { DTI_PIECE = 512, DTI_PIECE_RANDOM = DTI_PIECE + 8 };

DTI_LANE uint32_t dti_lane_load32(const unsigned char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

DTI_LANE uint64_t dti_lane_load64(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Expands to loop(..., round) seven times; round is a constant in each. */
#define DTI_LANES_BY_ROUND(round, loop, ...)       \
    switch (round) {                               \
    case DTI_ROUND_NEAREST_EVEN:                   \
        loop(__VA_ARGS__, DTI_ROUND_NEAREST_EVEN); \
        break;                                     \
    case DTI_ROUND_NEAREST_AWAY:                   \
        loop(__VA_ARGS__, DTI_ROUND_NEAREST_AWAY); \
        break;                                     \
    case DTI_ROUND_ZERO:                           \
        loop(__VA_ARGS__, DTI_ROUND_ZERO);         \
        break;                                     \
    case DTI_ROUND_UP:                             \
        loop(__VA_ARGS__, DTI_ROUND_UP);           \
        break;                                     \
    case DTI_ROUND_DOWN:                           \
        loop(__VA_ARGS__, DTI_ROUND_DOWN);         \
        break;                                     \
    case DTI_ROUND_ODD:                            \
        loop(__VA_ARGS__, DTI_ROUND_ODD);          \
        break;                                     \
    case DTI_ROUND_STOCHASTIC:                     \
        loop(__VA_ARGS__, DTI_ROUND_STOCHASTIC);   \
        break;                                     \
    }

/* Generates the random bits for n elements from `index` on, in whole blocks of four elements
 * (see dti_random_bits()). Returns those of the first element, or NULL if none are needed. */
static inline const uint32_t *dti_piece_random(uint32_t random[DTI_PIECE_RANDOM],
                                               const struct dti_policy *policy, uint64_t index,
                                               size_t n)
{
    if (policy->round != DTI_ROUND_STOCHASTIC)
        return NULL;
    const uint64_t first = index / 4, blocks = (index % 4 + n + 3) / 4;
    const uint64_t seed = policy->seed;
    const uint32_t stream = policy->stream;
    for (uint64_t block = 0; block < blocks; block++)
        dti_lane_random(seed, stream, first + block, random + 4 * block);
    return random + index % 4;
}

/* Load and store codes of all sizes in containers of `type`, in the functions below. */
#define DTI_PIECE_STORE(type, code)                              \
    for (size_t i = 0; i < n; i++) {                             \
        const type narrow = (type)(code);                        \
        memcpy(dst + i * sizeof narrow, &narrow, sizeof narrow); \
    }
#define DTI_PIECE_LOAD(type)                                     \
    for (size_t i = 0; i < n; i++) {                             \
        type narrow;                                             \
        memcpy(&narrow, src + i * sizeof narrow, sizeof narrow); \
        containers[i] = narrow;                                  \
    }

static inline void dti_piece_narrow32(unsigned char *dst, const uint32_t *codes, size_t n,
                                      unsigned container, unsigned code_shift)
{
    if (container == 1)
        DTI_PIECE_STORE(uint8_t, codes[i])
    else if (container == 2)
        DTI_PIECE_STORE(uint16_t, codes[i])
    else
        DTI_PIECE_STORE(uint32_t, codes[i] << code_shift)
}

static inline void dti_piece_narrow64(unsigned char *dst, const uint64_t *codes, size_t n,
                                      unsigned container, unsigned code_shift)
{
    if (container == 1)
        DTI_PIECE_STORE(uint8_t, codes[i])
    else if (container == 2)
        DTI_PIECE_STORE(uint16_t, codes[i])
    else if (container == 4)
        DTI_PIECE_STORE(uint32_t, codes[i] << code_shift)
    else
        memcpy(dst, codes, 8 * n);
}

static inline void dti_piece_widen32(uint32_t *containers, const unsigned char *src, size_t n,
                                     unsigned container)
{
    if (container == 1)
        DTI_PIECE_LOAD(uint8_t)
    else if (container == 2)
        DTI_PIECE_LOAD(uint16_t)
    else
        memcpy(containers, src, 4 * n);
}

static inline void dti_piece_widen64(uint64_t *containers, const unsigned char *src, size_t n,
                                     unsigned container)
{
    if (container == 1)
        DTI_PIECE_LOAD(uint8_t)
    else if (container == 2)
        DTI_PIECE_LOAD(uint16_t)
    else if (container == 4)
        DTI_PIECE_LOAD(uint32_t)
    else
        memcpy(containers, src, 8 * n);
}

#endif

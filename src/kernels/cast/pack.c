/* SPDX-License-Identifier: MIT
 *
 * Converts codes of 1 to 7 bits between packed and one per byte, in groups of eight: see
 * lanes_packed.h. */
#include "kernels/cast/lanes_packed.h"
#include "kernels/kernels.h"
#include "kernels/lanes_piece.h"

/* Eight bytes as a number whose first byte is the lowest or the highest. */
DTI_LANE uint64_t in_order(uint64_t word, bool high_first)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return high_first ? word : __builtin_bswap64(word);
#else
    return high_first ? __builtin_bswap64(word) : word;
#endif
}

/* Loads a group as a number, from its first `bytes` bytes (the others count as 0), or from the
 * eight bytes that start with it. */
DTI_LANE uint64_t load_group(const unsigned char *src, size_t bytes, unsigned bits, bool high_first)
{
    uint64_t word = 0;
    memcpy(&word, src, bytes); /* in_order() makes the first byte the lowest or the highest */
    word = in_order(word, high_first);
    return high_first ? word >> (64 - 8 * bits) : word & dti_low_bits(8 * bits);
}

DTI_LANE void save_group(unsigned char *dst, uint64_t group, size_t bytes, unsigned bits,
                         bool high_first)
{
    const uint64_t word = in_order(high_first ? group << (64 - 8 * bits) : group, high_first);
    memcpy(dst, &word, bytes);
}

DTI_LANE void unpack_group(unsigned char *dst, const unsigned char *src, size_t bytes,
                           size_t elements, unsigned bits, bool high_first)
{
    const uint64_t group = load_group(src, bytes, bits, high_first);
    const uint64_t word = in_order(dti_lane_spread(group, bits), high_first);
    memcpy(dst, &word, elements);
}

DTI_LANE void pack_group(unsigned char *dst, const unsigned char *src, size_t bytes,
                         size_t elements, unsigned bits, bool high_first)
{
    uint64_t word = 0;
    memcpy(&word, src, elements);
    save_group(dst, dti_lane_press(in_order(word, high_first), bits), bytes, bits, high_first);
}

/* If a group is not a machine word, eight bytes are read or written instead; the following
 * groups read or overwrite the rest. The last groups are exact. */
DTI_LANE bool is_word(unsigned bits)
{
    return bits == 1 || bits == 2 || bits == 4;
}

DTI_LANE void unpack(unsigned char *restrict dst, const unsigned char *restrict src, size_t n,
                     unsigned bits, bool high_first)
{
    const size_t groups = n / 8, rest = n % 8;
    size_t g = 0;
    for (; !is_word(bits) && g + 8 < groups; g++)
        unpack_group(dst + 8 * g, src + g * bits, 8, 8, bits, high_first);
    for (; g < groups; g++)
        unpack_group(dst + 8 * g, src + g * bits, bits, 8, bits, high_first);
    if (rest > 0)
        unpack_group(dst + 8 * g, src + g * bits, (rest * bits + 7) / 8, rest, bits, high_first);
}

DTI_LANE void pack(unsigned char *restrict dst, const unsigned char *restrict src, size_t n,
                   unsigned bits, bool high_first)
{
    const size_t groups = n / 8, rest = n % 8;
    size_t g = 0;
    for (; !is_word(bits) && g + 8 < groups; g++)
        pack_group(dst + g * bits, src + 8 * g, 8, 8, bits, high_first);
    for (; g < groups; g++)
        pack_group(dst + g * bits, src + 8 * g, bits, 8, bits, high_first);
    if (rest > 0)
        pack_group(dst + g * bits, src + 8 * g, (rest * bits + 7) / 8, rest, bits, high_first);
}

#define BY_WIDTH(bits, high_first, loop, ...)  \
    switch ((bits) + ((high_first) ? 8 : 0)) { \
    case 1:                                    \
        loop(__VA_ARGS__, 1, false);           \
        break;                                 \
    case 2:                                    \
        loop(__VA_ARGS__, 2, false);           \
        break;                                 \
    case 3:                                    \
        loop(__VA_ARGS__, 3, false);           \
        break;                                 \
    case 4:                                    \
        loop(__VA_ARGS__, 4, false);           \
        break;                                 \
    case 5:                                    \
        loop(__VA_ARGS__, 5, false);           \
        break;                                 \
    case 6:                                    \
        loop(__VA_ARGS__, 6, false);           \
        break;                                 \
    case 7:                                    \
        loop(__VA_ARGS__, 7, false);           \
        break;                                 \
    case 9:                                    \
        loop(__VA_ARGS__, 1, true);            \
        break;                                 \
    case 10:                                   \
        loop(__VA_ARGS__, 2, true);            \
        break;                                 \
    case 11:                                   \
        loop(__VA_ARGS__, 3, true);            \
        break;                                 \
    case 12:                                   \
        loop(__VA_ARGS__, 4, true);            \
        break;                                 \
    case 13:                                   \
        loop(__VA_ARGS__, 5, true);            \
        break;                                 \
    case 14:                                   \
        loop(__VA_ARGS__, 6, true);            \
        break;                                 \
    case 15:                                   \
        loop(__VA_ARGS__, 7, true);            \
        break;                                 \
    }

void dti_unpack_scalar(const struct dti_kernel_args *args, void *restrict dst,
                       const void *restrict src, size_t n)
{
    BY_WIDTH(args->bits, args->high_first, unpack, dst, src, n)
}

void dti_pack_scalar(const struct dti_kernel_args *args, void *restrict dst,
                     const void *restrict src, size_t n)
{
    BY_WIDTH(args->bits, args->high_first, pack, dst, src, n)
}

/* SPDX-License-Identifier: MIT
 *
 * Eight packed codes of 1 to 7 bits form a group: a number with as many bytes as a code has
 * bits. Three steps spread it over eight bytes, or compress it again:
 *
 *   hgfedcba            ........hgfedcba      8 adjacent codes, a first
 *                       ....hgfe....dcba      halves separated
 *                       ..hg..fe..dc..ba      quarters
 *   h g f e d c b a     .h.g.f.e.d.c.b.a      one per byte
 *
 * In high-first order the group is a big-endian number, and so are the eight bytes. */
#ifndef KERNELS_CAST_LANES_PACKED_H
#define KERNELS_CAST_LANES_PACKED_H

#include "kernels/lanes.h"

/* Separates two neighbours of `bits` bits in every part of the word, where `low` marks the first
 * one: shifts the second up by `by`. The reverse function moves it back. */
DTI_LANE uint64_t dti_lane_part(uint64_t word, uint64_t low, unsigned bits, unsigned by)
{
    return (word & low) | (word & low << bits) << by;
}

DTI_LANE uint64_t dti_lane_join(uint64_t word, uint64_t low, unsigned bits, unsigned by)
{
    return (word & low) | (word >> by & low << bits);
}

DTI_LANE uint64_t dti_lane_spread(uint64_t group, unsigned bits)
{
    group = dti_lane_part(group, dti_low_bits(4 * bits), 4 * bits, 32 - 4 * bits);
    group = dti_lane_part(group, dti_low_bits(2 * bits) * UINT64_C(0x0000000100000001), 2 * bits,
                          16 - 2 * bits);
    return dti_lane_part(group, dti_low_bits(bits) * UINT64_C(0x0001000100010001), bits, 8 - bits);
}

DTI_LANE uint64_t dti_lane_press(uint64_t word, unsigned bits)
{
    word = dti_lane_join(word, dti_low_bits(bits) * UINT64_C(0x0001000100010001), bits, 8 - bits);
    word = dti_lane_join(word, dti_low_bits(2 * bits) * UINT64_C(0x0000000100000001), 2 * bits,
                         16 - 2 * bits);
    return dti_lane_join(word, dti_low_bits(4 * bits), 4 * bits, 32 - 4 * bits);
}

#endif

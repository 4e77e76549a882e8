/* SPDX-License-Identifier: MIT
 *
 * The random bits of four consecutive elements, as dti_random_bits() gives them one by one. */
#ifndef KERNELS_LANES_RANDOM_H
#define KERNELS_LANES_RANDOM_H

#include "kernels/lanes.h"

/* For elements 4 place to 4 place + 3. */
DTI_LANE void dti_lane_random(uint64_t seed, uint32_t stream, uint64_t place, uint32_t ret[4])
{
    const uint32_t seed0 = (uint32_t)seed, seed1 = (uint32_t)(seed >> 32);
    uint32_t c0 = (uint32_t)place, c1 = (uint32_t)(place >> 32), c2 = stream, c3 = 0;
    for (uint32_t round = 0; round < 10; round++) {
        const uint64_t a = (uint64_t)c0 * UINT32_C(0xd2511f53);
        const uint64_t b = (uint64_t)c2 * UINT32_C(0xcd9e8d57);
        c0 = (uint32_t)(b >> 32) ^ c1 ^ (seed0 + round * UINT32_C(0x9e3779b9));
        c1 = (uint32_t)b;
        c2 = (uint32_t)(a >> 32) ^ c3 ^ (seed1 + round * UINT32_C(0xbb67ae85));
        c3 = (uint32_t)a;
    }
    ret[0] = c0;
    ret[1] = c1;
    ret[2] = c2;
    ret[3] = c3;
}

#endif

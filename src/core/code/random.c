/* SPDX-License-Identifier: MIT
 *
 * Random bits for stochastic rounding: a counter-based generator. The bits of an element depend
 * only on the seed and its index, never on threads, chunks or devices. */
#include "core/value.h"

/* Philox4x32-10: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3",
 * SC11. It consists of 32-bit multiplications, which every SIMD level and GPU supports. */
uint32_t dti_random_bits(uint64_t seed, uint32_t stream, uint64_t index)
{
    uint64_t block = index / 4;
    uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), stream, 0};
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)counter[0] * UINT32_C(0xd2511f53);
        uint64_t b = (uint64_t)counter[2] * UINT32_C(0xcd9e8d57);
        counter[0] = (uint32_t)(b >> 32) ^ counter[1] ^ key[0];
        counter[1] = (uint32_t)b;
        counter[2] = (uint32_t)(a >> 32) ^ counter[3] ^ key[1];
        counter[3] = (uint32_t)a;
        key[0] += UINT32_C(0x9e3779b9);
        key[1] += UINT32_C(0xbb67ae85);
    }
    return counter[index % 4];
}

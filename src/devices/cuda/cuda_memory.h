/* SPDX-License-Identifier: MIT
 *
 * Device memory access: aligned loads and stores of 1 to 16 bytes, and elements within the
 * loaded words. Sizes and positions are constants where this is inlined. */
#ifndef DEVICES_CUDA_CUDA_MEMORY_H
#define DEVICES_CUDA_CUDA_MEMORY_H

#include <assert.h>

#include "devices/cuda/cuda_language.h"

enum { DTI_WORDS = 4 }; /* 16 bytes */

#if DTI_ON_DEVICE
/* ld.global.nc: sources are read-only while a kernel runs. Volatile keeps the loads in program
 * order: all are issued before anything waits for the first. */
DTI_LANE void dti_load(uint64_t from, unsigned bytes, uint32_t w[DTI_WORDS])
{
    if (bytes == 16)
        asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                     : "l"(from));
    else if (bytes == 8)
        asm volatile("ld.global.nc.v2.u32 {%0, %1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "l"(from));
    else if (bytes == 4)
        asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(w[0]) : "l"(from));
    else if (bytes == 2)
        asm volatile("ld.global.nc.u16 %0, [%1];" : "=r"(w[0]) : "l"(from));
    else
        asm volatile("ld.global.nc.u8 %0, [%1];" : "=r"(w[0]) : "l"(from));
}

DTI_LANE void dti_store(uint64_t to, unsigned bytes, const uint32_t w[DTI_WORDS])
{
    if (bytes == 16)
        asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                     :
                     : "l"(to), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])
                     : "memory");
    else if (bytes == 8)
        asm volatile("st.global.v2.u32 [%0], {%1, %2};"
                     :
                     : "l"(to), "r"(w[0]), "r"(w[1])
                     : "memory");
    else if (bytes == 4)
        asm volatile("st.global.u32 [%0], %1;" : : "l"(to), "r"(w[0]) : "memory");
    else if (bytes == 2)
        asm volatile("st.global.u16 [%0], %1;" : : "l"(to), "r"(w[0]) : "memory");
    else
        asm volatile("st.global.u8 [%0], %1;" : : "l"(to), "r"(w[0]) : "memory");
}
#else
/* The device would fault in the cases that these assertions catch. */
DTI_LANE void dti_load(uint64_t from, unsigned bytes, uint32_t w[DTI_WORDS])
{
    assert(from % bytes == 0);
    const void *const source = (const void *)(uintptr_t)from;
    if (bytes >= 4) {
        memcpy(w, source, bytes);
    } else if (bytes == 2) {
        uint16_t half;
        memcpy(&half, source, sizeof half);
        w[0] = half;
    } else {
        w[0] = *(const uint8_t *)source;
    }
}

DTI_LANE void dti_store(uint64_t to, unsigned bytes, const uint32_t w[DTI_WORDS])
{
    void *const target = (void *)(uintptr_t)to;
    assert(to % bytes == 0);
    if (bytes >= 4) {
        memcpy(target, w, bytes);
    } else if (bytes == 2) {
        const uint16_t half = (uint16_t)w[0];
        memcpy(target, &half, sizeof half);
    } else {
        *(uint8_t *)target = (uint8_t)w[0];
    }
}
#endif

DTI_LANE uint64_t dti_load_aligned(uint64_t from, unsigned bytes)
{
    uint32_t w[DTI_WORDS] = {0, 0, 0, 0};
    dti_load(from, bytes, w);
    return bytes == 8 ? (uint64_t)w[1] << 32 | w[0] : w[0];
}

/* Any alignment: arrays that start at an unaligned address are rare, and slow. */
DTI_LANE uint64_t dti_load_number(uint64_t from, unsigned bytes)
{
    uint64_t number = 0;
    if (from % bytes == 0)
        return dti_load_aligned(from, bytes);
    for (unsigned i = 0; i < bytes; i++)
        number |= dti_load_aligned(from + i, 1) << 8 * i;
    return number;
}

DTI_LANE void dti_store_aligned(uint64_t to, unsigned bytes, uint64_t number)
{
    const uint32_t w[DTI_WORDS] = {(uint32_t)number, (uint32_t)(number >> 32), 0, 0};
    dti_store(to, bytes, w);
}

DTI_LANE void dti_store_number(uint64_t to, unsigned bytes, uint64_t number)
{
    if (to % bytes == 0) {
        dti_store_aligned(to, bytes, number);
    } else {
        for (unsigned i = 0; i < bytes; i++)
            dti_store_aligned(to + i, 1, number >> 8 * i);
    }
}

/* The same for sizes that are not constants. */
DTI_LANE uint64_t dti_load_container(uint64_t from, unsigned bytes)
{
    switch (bytes) {
    case 1:
        return dti_load_number(from, 1);
    case 2:
        return dti_load_number(from, 2);
    case 4:
        return dti_load_number(from, 4);
    default:
        return dti_load_number(from, 8);
    }
}

DTI_LANE void dti_store_container(uint64_t to, unsigned bytes, uint64_t number)
{
    switch (bytes) {
    case 1:
        dti_store_number(to, 1, number);
        break;
    case 2:
        dti_store_number(to, 2, number);
        break;
    case 4:
        dti_store_number(to, 4, number);
        break;
    default:
        dti_store_number(to, 8, number);
        break;
    }
}

/* Element i, of 1, 2 or 4 bytes, in words; the first in the lowest bits (little-endian).
 * dti_word_put() requires zeroed words. */
DTI_LANE uint32_t dti_word_get(const uint32_t w[DTI_WORDS], unsigned bytes, unsigned i)
{
    const unsigned per = 4 / bytes;
    return bytes == 4 ? w[i] : w[i / per] >> 8 * bytes * (i % per) & (bytes == 1 ? 0xff : 0xffff);
}

DTI_LANE void dti_word_put(uint32_t w[DTI_WORDS], unsigned bytes, unsigned i, uint32_t code)
{
    const unsigned per = 4 / bytes;
    w[i / per] |= code << 8 * bytes * (i % per);
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * Little-endian numbers in files: any alignment, any host byte order. */
#ifndef UTIL_LITTLE_ENDIAN_H
#define UTIL_LITTLE_ENDIAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* size: 1 to 8 bytes. */
static inline uint64_t dti_little_get(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(&value, bytes, size); /* compilers do not merge the loop into one load */
#else
    while (size-- > 0)
        value = value << 8 | bytes[size];
#endif
    return value;
}

/* Stores the lowest `size` bytes of value. */
static inline void dti_little_put(unsigned char *bytes, size_t size, uint64_t value)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(bytes, &value, size);
#else
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
#endif
}

#endif

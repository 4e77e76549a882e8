/* SPDX-License-Identifier: MIT
 *
 * The CRC-32 of zip, over bytes in order or in pieces. */
#ifndef CONTAINERS_ZIP_CRC32_H
#define CONTAINERS_ZIP_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Carried on from crc, which begins as 0. */
uint32_t dti_crc32(uint32_t crc, const void *data, size_t size);

/* What bytes of that crc add to the sum of all, when `after` bytes follow them: the CRC of a whole
 * is the exclusive or of what its pieces add, whatever their order. */
uint32_t dti_crc32_part(uint32_t crc, uint64_t after);

#endif

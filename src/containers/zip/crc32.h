/* SPDX-License-Identifier: MIT
 *
 * The CRC-32 of zip, incremental or combined from pieces. */
#ifndef CONTAINERS_ZIP_CRC32_H
#define CONTAINERS_ZIP_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Continues from crc, which starts at 0. */
uint32_t dti_crc32(uint32_t crc, const void *data, size_t size);

/* The contribution of a piece with this crc, followed by `after` bytes, to the CRC of the whole.
 * The CRC of the whole is the exclusive or of all contributions, in any order. */
uint32_t dti_crc32_part(uint32_t crc, uint64_t after);

#endif

/* SPDX-License-Identifier: MIT
 *
 * CRC by libdeflate, which is several times as fast as zlib and nearly free compared with reading.
 * Only zlib can combine CRCs. */
#include "containers/zip/crc32.h"

#include <libdeflate.h>
#include <zlib.h>

uint32_t dti_crc32(uint32_t crc, const void *data, size_t size)
{
    return libdeflate_crc32(crc, data, size);
}

uint32_t dti_crc32_part(uint32_t crc, uint64_t after)
{
    return (uint32_t)crc32_combine(crc, 0, (z_off_t)after);
}

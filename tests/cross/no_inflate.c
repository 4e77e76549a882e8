/* SPDX-License-Identifier: MIT
 *
 * Replaces src/containers/zip/inflate.c and crc32.c where zlib and libdeflate are missing:
 * inflating always fails, and CRCs are computed bit by bit. Also replaces file_digest.c where
 * nettle is missing: digests are zeros; no test there reads them. */
#include <string.h>

#include "containers/zip/crc32.h"
#include "containers/zip/inflate.h"
#include "files/scan/file_digest.h"

void dti_digest_bytes(const void *bytes, size_t size, struct dti_digest *ret)
{
    (void)bytes;
    (void)size;
    memset(ret, 0, sizeof *ret);
}

struct dti_inflate *dti_inflate_new(void)
{
    return NULL;
}

void dti_inflate_free(struct dti_inflate *stream)
{
    (void)stream;
}

void dti_inflate_start(struct dti_inflate *stream, const struct dti_input *input, uint64_t offset,
                       uint64_t size, const char *label)
{
    (void)stream;
    (void)input;
    (void)offset;
    (void)size;
    (void)label;
}

enum dti_status dti_inflate_read(struct dti_inflate *stream, void *buffer, size_t size,
                                 size_t *ret_size, struct dti_error *reterr)
{
    (void)stream;
    (void)buffer;
    (void)size;
    (void)ret_size;
    return dti_fail(reterr, DTI_UNAVAILABLE, "built without zlib");
}

uint64_t dti_inflate_unused(const struct dti_inflate *stream)
{
    (void)stream;
    return 0;
}

/* Without the inversions at both ends, which cancel out when CRCs are combined. */
static uint32_t shift_in(uint32_t sum, unsigned char byte)
{
    sum ^= byte;
    for (unsigned i = 0; i < 8; i++)
        sum = sum >> 1 ^ (0xEDB88320 & (0 - (sum & 1)));
    return sum;
}

uint32_t dti_crc32(uint32_t crc, const void *data, size_t size)
{
    const unsigned char *const bytes = data;
    crc = ~crc;
    for (size_t i = 0; i < size; i++)
        crc = shift_in(crc, bytes[i]);
    return ~crc;
}

uint32_t dti_crc32_part(uint32_t crc, uint64_t after)
{
    for (uint64_t i = 0; i < after; i++)
        crc = shift_in(crc, 0);
    return crc;
}

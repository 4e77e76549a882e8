/* SPDX-License-Identifier: MIT
 *
 * In place of src/containers/inflate.c where there is no zlib: nothing can be unpacked. */
#include "containers/inflate.h"

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

/* Any sum will do that depends on the bytes. */
uint32_t dti_crc32(uint32_t crc, const void *data, size_t size)
{
    const unsigned char *const bytes = data;
    for (size_t i = 0; i < size; i++)
        crc = crc * 31 + bytes[i];
    return crc;
}

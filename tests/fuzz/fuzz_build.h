/* SPDX-License-Identifier: MIT
 *
 * Builds files around parts chosen by the fuzzer. Lengths and checksums are always correct, so that
 * inputs get past the first check of each container. */
#ifndef DTINFO_FUZZ_BUILD_H
#define DTINFO_FUZZ_BUILD_H

#include <stdint.h>

#include "fuzz.h"
#include "util/buffer.h"

static inline void build_uint(struct dti_buffer *out, uint64_t value, unsigned bytes)
{
    char text[8];
    for (unsigned i = 0; i < bytes; i++)
        text[i] = (char)(value >> (8 * i));
    dti_buffer_append(out, text, bytes);
}

static inline void build_safetensors(struct dti_buffer *out, const char *header, size_t length,
                                     const char *data, size_t size)
{
    build_uint(out, length, 8);
    dti_buffer_append(out, header, length);
    dti_buffer_append(out, data, size);
}

static inline void build_npy(struct dti_buffer *out, const char *header, size_t length,
                             const char *data, size_t size)
{
    const size_t padded = (10 + length + 1 + 63) / 64 * 64 - 10;
    dti_buffer_append(out, "\x93NUMPY\1\0", 8);
    build_uint(out, padded, 2);
    dti_buffer_append(out, header, length);
    for (size_t i = length; i + 1 < padded; i++)
        dti_buffer_append(out, " ", 1);
    dti_buffer_append(out, "\n", 1);
    dti_buffer_append(out, data, size);
}

/* CRC-32 of zip files, bit by bit. */
static inline uint32_t build_crc(const char *data, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= (unsigned char)data[i];
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return ~crc;
}

/* A zip file under construction: its members, and its directory. */
struct build_zip {
    struct dti_buffer *out;
    struct dti_buffer directory;
    unsigned members;
};

static inline void build_zip_member(struct build_zip *zip, const char *name, size_t length,
                                    const char *data, size_t size)
{
    struct dti_buffer facts;
    const size_t offset = zip->out->length;
    if (length > UINT16_MAX)
        length = UINT16_MAX;
    dti_buffer_init(&facts);
    build_uint(&facts, 20, 4); /* version, flags */
    build_uint(&facts, 0, 2);  /* stored */
    build_uint(&facts, UINT32_C(0x210000), 4);
    build_uint(&facts, build_crc(data, size), 4);
    build_uint(&facts, size, 4);
    build_uint(&facts, size, 4);
    build_uint(&facts, length, 2);
    build_uint(&facts, 0, 2);
    dti_buffer_append(zip->out, "PK\3\4", 4);
    dti_buffer_append(zip->out, facts.data, facts.length);
    dti_buffer_append(zip->out, name, length);
    dti_buffer_append(zip->out, data, size);
    dti_buffer_append(&zip->directory, "PK\1\2\x14\0", 6);
    dti_buffer_append(&zip->directory, facts.data, facts.length);
    build_uint(&zip->directory, 0, 8); /* comment, disk, attributes */
    build_uint(&zip->directory, 0, 2);
    build_uint(&zip->directory, offset, 4);
    dti_buffer_append(&zip->directory, name, length);
    zip->members++;
    dti_buffer_free(&facts);
}

static inline void build_zip_begin(struct build_zip *zip, struct dti_buffer *out)
{
    *zip = (struct build_zip){.out = out};
    dti_buffer_init(&zip->directory);
}

static inline void build_zip_end(struct build_zip *zip)
{
    const size_t offset = zip->out->length;
    dti_buffer_append(zip->out, zip->directory.data, zip->directory.length);
    dti_buffer_append(zip->out, "PK\5\6\0\0\0\0", 8);
    build_uint(zip->out, zip->members, 2);
    build_uint(zip->out, zip->members, 2);
    build_uint(zip->out, zip->directory.length, 4);
    build_uint(zip->out, offset, 4);
    build_uint(zip->out, 0, 2);
    dti_buffer_free(&zip->directory);
}

static inline void build_gguf_text(struct dti_buffer *out, const char *text, size_t length)
{
    build_uint(out, length, 8);
    dti_buffer_append(out, text, length);
}

#endif

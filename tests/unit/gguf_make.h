/* SPDX-License-Identifier: MIT
 *
 * Builds GGUF files for tests, piece by piece. */
#ifndef DTINFO_TESTS_GGUF_MAKE_H
#define DTINFO_TESTS_GGUF_MAKE_H

#include "containers/container.h"

#include "folder.h"
#include "unit.h"

/* A file under construction. */
static unsigned char made[1 << 16];
static size_t made_length;
static bool made_big_endian;

static inline void put_number(uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        made[made_length + (made_big_endian ? size - 1 - i : i)] =
            (unsigned char)(value >> (8 * i));
    made_length += size;
}

static inline void put_bytes(const char *text, size_t length)
{
    put_number(length, 8);
    memcpy(made + made_length, text, length);
    made_length += length;
}

static inline void put_text(const char *text)
{
    put_bytes(text, strlen(text));
}

static inline void start(unsigned version, uint64_t tensors, uint64_t pairs)
{
    made_length = 0;
    memcpy(made, "GGUF", 4);
    made_length = 4;
    put_number(version, 4);
    put_number(tensors, 8);
    put_number(pairs, 8);
}

static inline void put_pair(const char *key, unsigned type, uint64_t value, size_t size)
{
    put_text(key);
    put_number(type, 4);
    put_number(value, size);
}

static inline void put_tensor(const char *name, unsigned rank, const uint64_t *dimensions,
                              unsigned type, uint64_t offset)
{
    put_text(name);
    put_number(rank, 4);
    for (unsigned i = 0; i < rank; i++)
        put_number(dimensions[i], 8);
    put_number(type, 4);
    put_number(offset, 8);
}

static inline void put_data(size_t size, size_t alignment)
{
    while (made_length % alignment != 0)
        made[made_length++] = 0;
    memset(made + made_length, 0x11, size);
    made_length += size;
}

static inline enum dti_status open_made(struct dti_container **ret, struct dti_error *reterr)
{
    file_make("x.gguf", made, made_length);
    return dti_container_open(ret, "x.gguf", NULL, reterr);
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * GGUF files with a tensor of blocks of any type, for the dequantization target. */
#ifndef DTINFO_FUZZ_GGUF_BLOCKS_H
#define DTINFO_FUZZ_GGUF_BLOCKS_H

#include <string.h>

#include "core/dtype/gguf_type.h"

static inline void fuzz_gguf_put(char *head, size_t *at, uint64_t value, unsigned bytes,
                                 bool big_endian)
{
    for (unsigned i = 0; i < bytes; i++)
        head[*at + i] = (char)(value >> (8 * (big_endian ? bytes - 1 - i : i)));
    *at += bytes;
}

static inline void fuzz_gguf_info(char *head, size_t *at, const char *name, const uint64_t shape[2],
                                  unsigned type, uint64_t offset, bool big)
{
    fuzz_gguf_put(head, at, strlen(name), 8, big);
    memcpy(head + *at, name, strlen(name));
    *at += strlen(name);
    fuzz_gguf_put(head, at, 2, 4, big);
    fuzz_gguf_put(head, at, shape[0], 8, big);
    fuzz_gguf_put(head, at, shape[1], 8, big);
    fuzz_gguf_put(head, at, type, 4, big);
    fuzz_gguf_put(head, at, offset, 8, big);
}

/* Writes a file up to its data, at most 256 bytes: blocks, and optionally the separate scales that
 * NVFP4 can have. Six bytes select it: unused, type, rows, blocks per row, 'B' for big-endian, '.'
 * for no scales. */
static inline size_t fuzz_gguf_blocks(const uint8_t data[6], char *head)
{
    const struct dti_gguf_type *const type =
        dti_gguf_type_of((enum dti_gguf_blocks)((data[1] - 'a' + 0u) % DTI_GGUF_BLOCKS_COUNT));
    const uint64_t rows = (data[2] - 'a' + 0u) % 9, blocks = (data[3] - 'a' + 0u) % 40;
    const uint64_t shape[2] = {blocks * type->elements, rows},
                   scales[2] = {1, data[5] % 2 ? 1 : rows};
    const bool big = data[4] == 'B';
    size_t at = 4;
    memcpy(head, "GGUF", 4);
    fuzz_gguf_put(head, &at, 3, 4, big);
    fuzz_gguf_put(head, &at, data[5] == '.' ? 1 : 2, 8, big);
    fuzz_gguf_put(head, &at, 0, 8, big);
    fuzz_gguf_info(head, &at, "v.weight", shape, type->id, 0, big);
    if (data[5] != '.')
        fuzz_gguf_info(head, &at, "v.scale", scales, 0,
                       (rows * blocks * type->bytes + 31) / 32 * 32, big);
    while (at % 32 != 0)
        head[at++] = 0;
    return at;
}

#endif

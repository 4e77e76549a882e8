/* SPDX-License-Identifier: MIT
 *
 * The rows of gguf_types.def and gguf_forks.def as tables. */
#include "core/dtype/gguf_type.h"

#include <stddef.h>

#include "util/checked.h"
#include "util/text/ascii.h"

static const struct dti_gguf_type types[] = {
#define GGUF_DTYPE(number, spelling, size, row) \
    {.id = number,                              \
     .name = #spelling,                         \
     .elements = 1,                             \
     .bytes = size,                             \
     .dtype = DTI_##row,                        \
     .blocks = DTI_GGUF_BLOCKS_COUNT},
#define GGUF_BLOCKS(number, spelling, lower, length, size, shared, others, ...) \
    {.id = number,                                                              \
     .name = #spelling,                                                         \
     .word = #lower,                                                            \
     .elements = length,                                                        \
     .bytes = size,                                                             \
     .dtype = DTI_NONE,                                                         \
     .blocks = DTI_GGUF_##spelling,                                             \
     .group = shared,                                                           \
     .other_bytes = others},
#include "core/dtype/gguf_types.def"
#undef GGUF_DTYPE
#undef GGUF_BLOCKS
};
enum { TYPES = sizeof types / sizeof *types };

#define GGUF_DTYPE(...)
#define GGUF_BLOCKS(number, spelling, lower, length, size, shared, others, ...)  \
    _Static_assert((length) <= DTI_GGUF_BLOCK_MAX && (length) % (shared) == 0 && \
                       (others) < (size),                                        \
                   #spelling ": elements, groups and bytes that do not go together");
#include "core/dtype/gguf_types.def"
#undef GGUF_DTYPE
#undef GGUF_BLOCKS

const struct dti_gguf_type *dti_gguf_type_find(uint64_t id)
{
    for (size_t i = 0; i < TYPES; i++) {
        if (types[i].id == id)
            return &types[i];
    }
    return NULL;
}

const struct dti_gguf_type *dti_gguf_type_of(enum dti_gguf_blocks blocks)
{
    return &types[TYPES - DTI_GGUF_BLOCKS_COUNT + blocks]; /* blocks are the last rows */
}

const struct dti_gguf_type *dti_gguf_type_storing(enum dti_dtype dtype)
{
    for (size_t i = 0; i < TYPES - DTI_GGUF_BLOCKS_COUNT; i++) {
        if (types[i].dtype == dtype)
            return &types[i];
    }
    return NULL;
}

const struct dti_gguf_type *dti_gguf_type_named(const char *word)
{
    for (size_t i = TYPES - DTI_GGUF_BLOCKS_COUNT; i < TYPES; i++) {
        if (dti_ascii_equal(types[i].word, word))
            return &types[i];
    }
    return NULL;
}

static const struct dti_gguf_fork forks[] = {
#define GGUF_FORK(number, spelling, program, length, size, row, tensor)                           \
    {.id = (number),                                                                              \
     .name = #spelling,                                                                           \
     .refusal = "is " #spelling " of " program ", whose numbers are not decoded; that program's " \
                "llama-quantize can write a type of llama.cpp",                                   \
     .elements = (length),                                                                        \
     .bytes = (size),                                                                             \
     .row_bytes = (row),                                                                          \
     .tensor_bytes = (tensor)},
#include "core/dtype/gguf_forks.def"
#undef GGUF_FORK
};

const struct dti_gguf_fork *dti_gguf_fork_find(uint64_t id)
{
    for (size_t i = 0; i < sizeof forks / sizeof *forks; i++) {
        if (forks[i].id == id)
            return &forks[i];
    }
    return NULL;
}

bool dti_gguf_fork_bytes(const struct dti_gguf_fork *fork, uint64_t rows, uint64_t row,
                         uint64_t *ret_bytes)
{
    uint64_t bytes;
    return row % fork->elements == 0 && dti_mul_u64(row / fork->elements, fork->bytes, &bytes) &&
           dti_add_u64(bytes, fork->row_bytes, &bytes) && dti_mul_u64(bytes, rows, &bytes) &&
           dti_add_u64(bytes, fork->tensor_bytes, ret_bytes);
}

/* SPDX-License-Identifier: MIT
 *
 * The table of GGUF's element types. */
#include "containers/gguf.h"

static const struct dti_gguf_type types[] = {
#define GGUF_TYPE(number, spelling, length, size, row, block_name) \
    {.id = number,                                                 \
     .name = spelling,                                             \
     .elements = length,                                           \
     .bytes = size,                                                \
     .dtype = DTI_##row,                                           \
     .block = block_name,                                          \
     .refusal = "holds blocks of " spelling ", which are not read here"},
#include "containers/gguf_types.def"
#undef GGUF_TYPE
};

const struct dti_gguf_type *dti_gguf_type(uint64_t id)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].id == id)
            return &types[i];
    }
    return NULL;
}

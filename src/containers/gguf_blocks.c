/* SPDX-License-Identifier: MIT
 *
 * What stands for the bytes of ggml's blocks in a new file: a format that has only the name of
 * their type. */
#include "containers/containers.h"
#include "containers/gguf.h"
#include "dtinfo/gguf_type.h"

static const struct dti_format blocks[DTI_GGUF_BLOCKS_COUNT] = {
#define GGUF_DTYPE(...)
#define GGUF_BLOCKS(number, spelling, word, ...) \
    {.name = #word, .id = DTI_NONE, .kind = DTI_KIND_UINT, .width = 8},
#include "dtinfo/gguf_types.def"
#undef GGUF_BLOCKS
#undef GGUF_DTYPE
};

const struct dti_format *dti_gguf_blocks(const struct dti_gguf_type *type)
{
    return type && type->dtype == DTI_NONE ? &blocks[type->blocks] : NULL;
}

const struct dti_gguf_type *dti_gguf_type_written(const struct dti_format *format)
{
    for (unsigned i = 0; i < DTI_GGUF_BLOCKS_COUNT; i++) {
        if (format == &blocks[i])
            return dti_gguf_type_of((enum dti_gguf_blocks)i);
    }
    return dti_gguf_type_storing(format->id);
}

bool dti_gguf_stores(const struct dti_format *format, struct dti_layout *ret_layout)
{
    if (!dti_gguf_type_written(format))
        return false;
    *ret_layout = dti_file_layout(format, DTI_PACKING_LOW, false);
    return true;
}

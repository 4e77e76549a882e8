/* SPDX-License-Identifier: MIT
 *
 * The names that other systems give to the dtypes, and the block formats: rows as tables, and the
 * plain search through them. There are a few hundred rows, so that an index would cost more than
 * the scan. */
#include "dtinfo/dtype.h"

#include <string.h>

#include "dtinfo/ascii.h"
#include "dtype_names.h"

const struct dti_dtype_name dti_dtype_names[] = {
#define NAME(row, sys, spelling, id) \
    {.dtype = DTI_##row, .system = DTI_SYSTEM_##sys, .name = spelling, .number = id},
#include "dtinfo/dtype_names.def"
#undef NAME
};
const size_t dti_dtype_name_count = sizeof dti_dtype_names / sizeof *dti_dtype_names;

const struct dti_block_format dti_block_formats[] = {
#define BLOCK(row, nm, alias, fam, elem, cd, scl, len, size, text) \
    {.name = nm,                                                   \
     .aliases = alias,                                             \
     .element = elem,                                              \
     .id = DTI_BLOCK_##row,                                        \
     .family = DTI_BLOCKS_##fam,                                   \
     .code = DTI_##cd,                                             \
     .scale = DTI_##scl,                                           \
     .length = len,                                                \
     .bytes = size,                                                \
     .summary = text},
#include "dtinfo/blocks.def"
#undef BLOCK
};
const size_t dti_block_format_count = sizeof dti_block_formats / sizeof *dti_block_formats;

const char *dti_system_title(enum dti_system system)
{
    static const char titles[DTI_SYSTEM_COUNT][12] = {
        [DTI_SYSTEM_COMMON] = "common",
        [DTI_SYSTEM_TORCH] = "torch",
        [DTI_SYSTEM_NUMPY] = "numpy",
        [DTI_SYSTEM_NPY] = "npy",
        [DTI_SYSTEM_ML_DTYPES] = "ml_dtypes",
        [DTI_SYSTEM_XLA] = "XLA",
        [DTI_SYSTEM_MLIR] = "MLIR",
        [DTI_SYSTEM_ONNX] = "ONNX",
        [DTI_SYSTEM_SAFETENSORS] = "safetensors",
        [DTI_SYSTEM_GGUF] = "GGUF",
        [DTI_SYSTEM_CUDA] = "CUDA",
        [DTI_SYSTEM_TRITON] = "Triton",
    };
    return titles[system];
}

static bool is_byte_order_mark(char c)
{
    return c == '<' || c == '>' || c == '=' || c == '|';
}

enum dti_dtype dti_dtype_find(const char *name)
{
    bool marked = is_byte_order_mark(name[0]);
    for (unsigned id = 0; id < DTI_DTYPE_COUNT && !marked; id++) {
        if (dti_ascii_equal(dti_format_get((enum dti_dtype)id)->name, name))
            return (enum dti_dtype)id;
    }
    for (size_t i = 0; i < dti_dtype_name_count; i++) {
        const struct dti_dtype_name *row = &dti_dtype_names[i];
        bool npy = row->system == DTI_SYSTEM_NPY;
        if (npy == marked && dti_ascii_equal(row->name + npy, name + npy))
            return row->dtype;
    }
    return DTI_NONE;
}

/* list: words separated by commas. */
static bool is_among(const char *list, const char *name)
{
    const size_t length = strlen(name);
    while (*list != '\0') {
        const size_t word = strcspn(list, ",");
        if (word == length && dti_ascii_equal_start(list, name, length))
            return true;
        list += word + (list[word] == ',');
    }
    return false;
}

const struct dti_block_format *dti_block_lookup(const char *name)
{
    for (size_t i = 0; i < dti_block_format_count; i++) {
        const struct dti_block_format *block = &dti_block_formats[i];
        if (dti_ascii_equal(block->name, name) || is_among(block->aliases, name))
            return block;
    }
    return NULL;
}

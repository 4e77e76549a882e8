/* SPDX-License-Identifier: MIT
 *
 * The dtype table: rows of dtypes.def as structs, with compile-time checks of their consistency;
 * and the names that other systems use for dtypes and block formats. There are a few hundred
 * names, too few for an index to beat a linear scan. */
#include "core/dtype/dtype.h"

#include <assert.h>
#include <string.h>

#include "core/dtype/dtype_names.h"
#include "util/text/ascii.h"

static const struct dti_format formats[DTI_DTYPE_COUNT] = {
#define DTYPE(row, row_name, k, w, e, m, b, s, p) \
    [DTI_##row] = {.name = row_name,              \
                   .id = DTI_##row,               \
                   .kind = DTI_KIND_##k,          \
                   .specials = DTI_SPECIALS_##s,  \
                   .width = w,                    \
                   .exp_bits = e,                 \
                   .man_bits = m,                 \
                   .bias = b,                     \
                   .component = DTI_##p},
#include "core/dtype/dtypes.def"
#undef DTYPE
};

/* Bits that are neither exponent nor mantissa: the sign, or the unused bits of a bool's byte. */
#define REST_FLOAT(w)   1
#define REST_UFLOAT(w)  0
#define REST_INT(w)     1
#define REST_UINT(w)    0
#define REST_BOOL(w)    7
#define REST_COMPLEX(w) (w)

#define IS_COMPLEX_FLOAT   0
#define IS_COMPLEX_UFLOAT  0
#define IS_COMPLEX_INT     0
#define IS_COMPLEX_UINT    0
#define IS_COMPLEX_BOOL    0
#define IS_COMPLEX_COMPLEX 1

/* clang-format off */
#define DTYPE(row, row_name, k, w, e, m, b, s, p)                                                  \
    _Static_assert(REST_##k(w) + (e) + (m) == (w), row_name ": sign, exponent and mantissa do not fill the width"); \
    _Static_assert((e) <= DTI_EXPONENT_BITS_MAX, row_name ": exponent field too wide");            \
    _Static_assert(sizeof row_name <= DTI_NAME_SIZE, row_name ": name too long");                  \
    _Static_assert(((w) <= 64) || IS_COMPLEX_##k, row_name ": a code must fit 64 bits");           \
    _Static_assert((DTI_##p != DTI_NONE) == IS_COMPLEX_##k, row_name ": complex and nothing else has parts"); \
    _Static_assert(((e) != 0) == (DTI_SPECIALS_##s != DTI_SPECIALS_NONE), row_name ": floats need specials"); \
    _Static_assert(((e) == 0) || DTI_SPECIALS_##s == DTI_SPECIALS_POSIT || ((b) >= 0 && (b) < (1 << (e)) + 1), row_name ": bias outside the exponent field");
#include "core/dtype/dtypes.def"
#undef DTYPE
/* clang-format on */

const struct dti_format *dti_format_get(enum dti_dtype id)
{
    assert((size_t)id < DTI_DTYPE_COUNT);
    return &formats[id];
}

const struct dti_format *dti_real_format(const struct dti_format *dtype)
{
    return dtype->kind == DTI_KIND_COMPLEX ? dti_format_get(dtype->component) : dtype;
}

const char *dti_kind_name(enum dti_kind kind)
{
    static const char names[][16] = {
        [DTI_KIND_FLOAT] = "float", [DTI_KIND_UFLOAT] = "unsigned_float",
        [DTI_KIND_INT] = "int",     [DTI_KIND_UINT] = "uint",
        [DTI_KIND_BOOL] = "bool",   [DTI_KIND_COMPLEX] = "complex",
    };
    return names[kind];
}

const struct dti_dtype_name dti_dtype_names[] = {
#define NAME(row, sys, spelling, id) \
    {.dtype = DTI_##row, .system = DTI_SYSTEM_##sys, .name = spelling, .number = id},
#include "core/dtype/dtype_names.def"
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
#include "core/dtype/blocks.def"
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

/* list: comma-separated words. */
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

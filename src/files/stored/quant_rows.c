/* SPDX-License-Identifier: MIT
 *
 * The table of layouts: their rows, and the names of parts. */
#include <string.h>

#include "files/stored/quant_layout.h"
#include "files/stored/quant_state.h"

const struct dti_quant_row dti_quant_rows[] = {
#define QUANT_STORED DTI_QUANT_ROW
#include "files/stored/quant_layouts.def"
#undef QUANT_STORED
};
const size_t dti_quant_row_count = sizeof dti_quant_rows / sizeof dti_quant_rows[0];

/* Texts are in the rows. NONE: there is no such part. */
#define NONE "\n"
enum { SUFFIX_SIZE = 20, NAMES_WHOLE = 0, NAMES_STEM = 1 };
static const struct {
    char name[SUFFIX_SIZE], packed[SUFFIX_SIZE];
    unsigned char scales, names;
    char suffix[DTI_PART_COUNT][SUFFIX_SIZE]; /* empty: NONE, but for codes */
} layouts[] = {
#define QUANT_LAYOUT(id, name_text, help, scales_id, names_id, codes_, packed_text, scale,    \
                     zero_point, tensor_scale_, shape_, map_, nested_scale, nested_map, bias) \
    {.name = name_text,                                                                       \
     .packed = packed_text,                                                                   \
     .scales = DTI_QUANT_SCALES_##scales_id,                                                  \
     .names = NAMES_##names_id,                                                               \
     .suffix = {[DTI_PART_CODES] = codes_,                                                    \
                [DTI_PART_SCALE] = scale,                                                     \
                [DTI_PART_ZERO_POINT] = zero_point,                                           \
                [DTI_PART_TENSOR_SCALE] = tensor_scale_,                                      \
                [DTI_PART_SHAPE] = shape_,                                                    \
                [DTI_PART_MAP] = map_,                                                        \
                [DTI_PART_NESTED_SCALE] = nested_scale,                                       \
                [DTI_PART_NESTED_MAP] = nested_map,                                           \
                [DTI_PART_BIAS] = bias}},
#include "files/stored/quant_layouts.def"
#undef QUANT_LAYOUT
};
#undef NONE

/* Unsigned integers without a row in dtypes.def. */
#define ODD(bits)                            \
    [bits] = {.name = "uint" #bits,          \
              .id = DTI_NONE,                \
              .kind = DTI_KIND_UINT,         \
              .specials = DTI_SPECIALS_NONE, \
              .width = bits,                 \
              .man_bits = bits,              \
              .component = DTI_NONE}
static const struct dti_format odd_formats[] = {ODD(3), ODD(5), ODD(6)};

/* NULL: the layout has no such part. */
static const char *suffix_of(enum dti_quant_layout layout, enum dti_quant_part part)
{
    const char *const suffix = layouts[layout].suffix[part];
    return suffix[0] == '\n' || (suffix[0] == '\0' && part != DTI_PART_CODES) ? NULL : suffix;
}

const char *dti_quant_layout_name(enum dti_quant_layout layout)
{
    return layouts[layout].name;
}

enum dti_quant_scale_shapes dti_quant_layout_scales(enum dti_quant_layout layout)
{
    return (enum dti_quant_scale_shapes)layouts[layout].scales;
}

bool dti_quant_layout_has_stems(enum dti_quant_layout layout)
{
    return layouts[layout].names == NAMES_STEM;
}

const struct dti_quant_row *dti_quant_row_find(enum dti_quant_layout layout, const char *dtype)
{
    for (size_t i = 0; i < dti_quant_row_count; i++) {
        if (dti_quant_rows[i].layout == layout &&
            strcmp(dti_quant_row_name(&dti_quant_rows[i]), dtype) == 0)
            return &dti_quant_rows[i];
    }
    return NULL;
}

bool dti_quant_layout_is_flat(enum dti_quant_layout layout)
{
    size_t i = 0;
    while (i < dti_quant_state_name_count && dti_quant_state_names[i].layout != layout)
        i++;
    return i < dti_quant_state_name_count;
}

const char *dti_quant_suffix(const struct dti_quant_row *row, enum dti_quant_part part)
{
    if (part == DTI_PART_STATE) {
        const struct dti_quant_state_name *const state = dti_quant_state_name(row);
        return state ? state->suffix : NULL;
    }
    if (part == DTI_PART_CODES && row->packing != DTI_QUANT_PLAIN)
        return layouts[row->layout].packed;
    return suffix_of(row->layout, part);
}

const char *dti_quant_row_name(const struct dti_quant_row *row)
{
    return row->block ? row->block->name : dti_quant_row_code(row)->name;
}

const struct dti_format *dti_quant_row_code(const struct dti_quant_row *row)
{
    if (!row->block && row->number == DTI_NONE)
        return &odd_formats[row->odd];
    return dti_format_get(row->block ? row->block->code : row->number);
}

bool dti_quant_is_side_name(const char *name, size_t length, size_t *ret_length)
{
    size_t longest = 0;
    for (unsigned i = 0; i < DTI_LAYOUT_COUNT; i++) {
        if (dti_quant_layout_has_stems((enum dti_quant_layout)i))
            continue; /* files/dequant/dequant_layouts.c */
        for (int part = DTI_PART_SCALE; part < DTI_PART_COUNT; part++) {
            const char *const suffix =
                suffix_of((enum dti_quant_layout)i, (enum dti_quant_part)part);
            const size_t end = suffix ? strlen(suffix) : 0;
            if (end > longest && end < length && memcmp(name + length - end, suffix, end) == 0)
                longest = end;
        }
    }
    for (size_t i = 0; i < dti_quant_state_name_count; i++) {
        const char *const suffix = dti_quant_state_names[i].suffix;
        const size_t end = strlen(suffix);
        if (end > longest && end < length && memcmp(name + length - end, suffix, end) == 0)
            longest = end;
    }
    *ret_length = length - longest;
    return longest > 0;
}

const struct dti_quant_state_name dti_quant_state_names[] = {
#define QUANT_STATE(id, dtype_name, state_word, state_suffix) \
    {.layout = DTI_LAYOUT_##id, .dtype = dtype_name, .word = state_word, .suffix = state_suffix},
#include "files/stored/quant_layouts.def"
#undef QUANT_STATE
};
const size_t dti_quant_state_name_count =
    sizeof dti_quant_state_names / sizeof dti_quant_state_names[0];

const struct dti_quant_state_name *dti_quant_state_name(const struct dti_quant_row *row)
{
    for (size_t i = 0; i < dti_quant_state_name_count; i++) {
        if (dti_quant_state_names[i].layout == row->layout &&
            strcmp(dti_quant_state_names[i].dtype, dti_quant_row_name(row)) == 0)
            return &dti_quant_state_names[i];
    }
    return NULL;
}

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

static const struct {
    const char *name, *packed;
    enum dti_quant_scale_shapes scales;
    const char *suffix[DTI_PART_COUNT];
} layouts[] = {
#define QUANT_LAYOUT(id, name_text, help, scales, codes, packed_text, scale, zero_point, \
                     tensor_scale, shape, map, nested_scale, nested_map)                 \
    {name_text,                                                                          \
     packed_text,                                                                        \
     DTI_QUANT_SCALES_##scales,                                                          \
     {codes, scale, zero_point, tensor_scale, shape, map, nested_scale, nested_map}},
#include "files/stored/quant_layouts.def"
#undef QUANT_LAYOUT
};

const char *dti_quant_layout_name(enum dti_quant_layout layout)
{
    return layouts[layout].name;
}

enum dti_quant_scale_shapes dti_quant_layout_scales(enum dti_quant_layout layout)
{
    return layouts[layout].scales;
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
    const struct dti_quant_state_name *const state = dti_quant_state_name(row);
    if (part == DTI_PART_STATE)
        return state ? state->suffix : NULL;
    if (part == DTI_PART_CODES && row->packing != DTI_QUANT_PLAIN)
        return layouts[row->layout].packed;
    return layouts[row->layout].suffix[part];
}

const char *dti_quant_row_name(const struct dti_quant_row *row)
{
    return row->block ? row->block->name : dti_format_get(row->number)->name;
}

const struct dti_format *dti_quant_row_code(const struct dti_quant_row *row)
{
    return dti_format_get(row->block ? row->block->code : row->number);
}

bool dti_quant_is_side_name(const char *name, size_t length, size_t *ret_length)
{
    size_t longest = 0;
    for (size_t i = 0; i < DTI_LAYOUT_COUNT; i++) {
        for (int part = DTI_PART_SCALE; part < DTI_PART_COUNT; part++) {
            const char *const suffix = layouts[i].suffix[part];
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

/* SPDX-License-Identifier: MIT
 *
 * Matrices whose format is named by a part of its own, as ComfyUI has them: the names and shapes of
 * their parts, and the text that says what they are. Sources: comfy-kitchen 0.2.40
 * (tensor/nvfp4.py, tensor/mxfp8.py), ComfyUI (comfy/ops.py). */
#include "files/stored/quant_marks.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "files/stored/quant_names.h"
#include "files/stored/scale_tiles.h"

static const char weight[] = ".weight";

const struct dti_quant_mark dti_quant_marks[] = {
#define QUANT_MARK(id, dtype_name, format, multiple) \
    {.layout = DTI_LAYOUT_##id, .dtype = dtype_name, .word = format, .rows = multiple},
#include "files/stored/quant_layouts.def"
#undef QUANT_MARK
};
const size_t dti_quant_mark_count = sizeof dti_quant_marks / sizeof dti_quant_marks[0];

const struct dti_quant_mark *dti_quant_mark(const struct dti_quant_row *row)
{
    for (size_t i = 0; i < dti_quant_mark_count; i++) {
        if (dti_quant_marks[i].layout == row->layout &&
            strcmp(dti_quant_marks[i].dtype, dti_quant_row_name(row)) == 0)
            return &dti_quant_marks[i];
    }
    return NULL;
}

bool dti_quant_layout_marks(enum dti_quant_layout layout)
{
    size_t i = 0;
    while (i < dti_quant_mark_count && dti_quant_marks[i].layout != layout)
        i++;
    return i < dti_quant_mark_count;
}

bool dti_quant_can_mark(const char *name, size_t length, unsigned rank)
{
    return (rank == 2 || rank == 3) && dti_quant_name_ends(name, length, weight);
}

size_t dti_quant_mark_stem(size_t length)
{
    return length - (sizeof weight - 1);
}

size_t dti_quant_mark_text(const struct dti_quant_stored *stored, bool padded,
                           char buffer[DTI_QUANT_MARK_SIZE])
{
    const struct dti_quant_mark *const mark = dti_quant_mark(stored->row);
    assert(mark); /* rows of this layout have one */
    int used = snprintf(buffer, DTI_QUANT_MARK_SIZE, "{\"format\": \"%s\"", mark->word);
    for (unsigned i = 0; i < stored->rank && padded; i++)
        used += snprintf(buffer + used, DTI_QUANT_MARK_SIZE - (size_t)used, "%s%llu%s",
                         i == 0 ? ", \"orig_shape\": [" : ", ",
                         (unsigned long long)stored->shape[i], i + 1 == stored->rank ? "]" : "");
    if (stored->rotation > 0)
        used += snprintf(
            buffer + used, DTI_QUANT_MARK_SIZE - (size_t)used, "%s, \"convrot_groupsize\": %u",
            dti_quant_is_rotated(stored->row) ? "" : ", \"convrot\": true", stored->rotation);
    used += snprintf(buffer + used, DTI_QUANT_MARK_SIZE - (size_t)used, "}");
    return (size_t)used;
}

static enum dti_status check_rotation(const struct dti_quant_stored *stored,
                                      struct dti_error *reterr)
{
    const char *const layout = dti_quant_layout_name(stored->row->layout);
    if (stored->rotation == 0)
        return dti_fail(reterr, DTI_WRONG_KIND, "would not be rotated, and %s has no other %s",
                        layout, dti_quant_row_name(stored->row));
    if (stored->rank != 2 || stored->shape[1] % stored->rotation != 0)
        return dti_fail(
            reterr, DTI_WRONG_KIND,
            "has rows of %llu elements, which are no whole groups of %u for the rotation",
            (unsigned long long)stored->shape[stored->rank - 1], stored->rotation);
    if (stored->per == DTI_PER_CHANNEL && stored->axis == 0)
        return DTI_OK;
    return dti_fail(reterr, DTI_WRONG_KIND, "needs a scale for each row, as %s has with a rotation",
                    layout);
}

void dti_quant_mark_squares(uint64_t side, char buffer[DTI_QUANT_MARK_SIZE])
{
    (void)snprintf(buffer, DTI_QUANT_MARK_SIZE,
                   "{\"format\": \"int8_blockwise\", \"group_size\": %llu}",
                   (unsigned long long)side);
}

void dti_quant_marks_entry(const char *layers, size_t length, struct dti_buffer *ret)
{
    dti_buffer_puts(ret, "{\"format_version\": \"1.0\", \"layers\": ");
    dti_buffer_append(ret, layers, length);
    dti_buffer_puts(ret, "}");
}

/* What shares a scale must be what ComfyUI expects for this format. */
static enum dti_status check_scales(const struct dti_quant_stored *stored, struct dti_error *reterr)
{
    const bool integers = !stored->row->block && stored->row->number == DTI_INT8;
    const unsigned last = stored->rank - 1;
    if (dti_quant_is_rotated(stored->row) || stored->rotation > 0)
        return check_rotation(stored, reterr);
    if (stored->row->block ? stored->axis == last
                           : stored->per == DTI_PER_TENSOR ||
                                 (integers && stored->per == DTI_PER_CHANNEL && stored->rank == 2))
        return DTI_OK;
    if (stored->row->block)
        return dti_fail(reterr, DTI_WRONG_KIND, "has blocks along axis %u; %s has them along rows",
                        stored->axis, dti_quant_layout_name(stored->row->layout));
    return dti_fail(reterr, DTI_WRONG_KIND, "needs %s; %s has %s for %s",
                    stored->per == DTI_PER_GROUP ? "a scale for each group"
                                                 : "a scale for each channel",
                    dti_quant_layout_name(stored->row->layout),
                    integers ? "one scale, or one for each row of a matrix," : "one scale",
                    dti_quant_row_name(stored->row));
}

/* Fills up rows of codes, and whole tiles of scales. */
static enum dti_status fill_up(const struct dti_quant_stored *stored, uint64_t multiple,
                               struct dti_quant_part_shape *codes,
                               struct dti_quant_part_shape *scale, struct dti_error *reterr)
{
    const unsigned last = stored->rank - 1;
    const uint64_t rows = stored->shape[last - 1];
    const uint64_t unit = stored->rank > 2 ? DTI_TILE_ROWS : multiple;
    const char *const layout = dti_quant_layout_name(stored->row->layout);
    if (rows > UINT64_MAX - DTI_TILE_ROWS)
        return dti_fail(reterr, DTI_WRONG_KIND, "is too large to be padded");
    if (rows % unit != 0 && stored->rank > 2)
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "has matrices of %llu rows; %s stacks those of a multiple of %llu",
                        (unsigned long long)rows, layout, (unsigned long long)unit);
    if (rows % unit != 0 && !stored->pad)
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "has %llu rows, and %s has a multiple of %llu, with rows of zeros",
                        (unsigned long long)rows, layout, (unsigned long long)unit);
    codes->shape[last - 1] = dti_divide_up(rows, unit) * unit;
    scale->shape[last - 1] = dti_divide_up(rows, DTI_TILE_ROWS) * DTI_TILE_ROWS;
    scale->shape[last] = dti_tiled_columns(scale->shape[last]);
    return DTI_OK;
}

enum dti_status dti_quant_mark_parts(const struct dti_quant_stored *stored,
                                     struct dti_quant_part_shape parts[DTI_PART_COUNT],
                                     struct dti_error *reterr)
{
    const struct dti_quant_mark *const mark = dti_quant_mark(stored->row);
    struct dti_quant_part_shape *const codes = &parts[DTI_PART_CODES];
    char text[DTI_QUANT_MARK_SIZE];
    assert(mark); /* rows of this layout have one */
    if (stored->rank != 2 && stored->rank != 3)
        return dti_fail(reterr, DTI_WRONG_KIND, "has %u dimensions; %s has matrices", stored->rank,
                        dti_quant_layout_name(stored->row->layout));
    enum dti_status status = check_scales(stored, reterr);
    if (status == DTI_OK && (stored->row->flags & DTI_QUANT_TILED) != 0)
        status = fill_up(stored, mark->rows, codes, &parts[DTI_PART_SCALE], reterr);
    if (status != DTI_OK)
        return status;
    if (dti_quant_is_rotated(stored->row))
        parts[DTI_PART_SCALE].rank = 1; /* [N], as comfy-kitchen has it */
    parts[DTI_PART_STATE] = (struct dti_quant_part_shape){
        .there = true,
        .dtype = DTI_UINT8,
        .rank = 1,
        .shape = {dti_quant_mark_text(stored, dti_quant_is_filled_up(stored, codes), text)}};
    return DTI_OK;
}

bool dti_quant_is_filled_up(const struct dti_quant_stored *stored,
                            const struct dti_quant_part_shape *codes)
{
    const unsigned bits = dti_quant_row_bits(stored->row), last = stored->rank - 1;
    const uint64_t in_byte = stored->row->packing == DTI_QUANT_BITS ? 8 / bits : 1;
    return codes->shape[last] * in_byte != stored->shape[last] ||
           codes->shape[last - 1] != stored->shape[last - 1];
}

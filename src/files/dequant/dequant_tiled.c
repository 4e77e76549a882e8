/* SPDX-License-Identifier: MIT
 *
 * Matrices of blocks, single or stacked, whose scales are stored as GPU matrix kernels need them:
 * in padded tiles of 128 rows by 4 columns. If the matrix is a whole number of tiles, the shapes
 * equal those of scales in rows: only the layout distinguishes them. */
#include <string.h>

#include "files/dequant/dequant_layouts.h"
#include "files/stored/scale_tiles.h"
#include "util/checked.h"

static enum dti_status check(const struct dti_dequant_group *group,
                             const struct dti_block_format *block, uint64_t per_byte,
                             uint64_t *ret_columns, struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    const struct dti_dequant_part *const part = &group->part[DTI_PART_SCALE];
    uint64_t expected, columns;
    const unsigned last = codes->rank - 1;
    if (codes->rank < 2 || !dti_mul_u64(codes->shape[last], per_byte, &columns) ||
        columns % block->length != 0)
        return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                                  "expected matrices with rows of whole blocks of %u",
                                  block->length);
    if (scales->format->id != block->scale && scales->format->id != DTI_UINT8)
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP, "expected scales of %s",
                                  dti_format_get(block->scale)->name);
    const uint64_t rows = columns > 0 ? codes->elements / codes->shape[last] : 0;
    if (rows > UINT64_MAX - DTI_TILE_ROWS ||
        !dti_mul_u64(dti_divide_up(rows, DTI_TILE_ROWS) * DTI_TILE_ROWS,
                     dti_tiled_columns(columns / block->length), &expected) ||
        scales->elements != expected)
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "its %llu scales are no whole tiles of 128 x 4 for %llu rows of "
                                  "%llu blocks",
                                  (unsigned long long)scales->elements, (unsigned long long)rows,
                                  (unsigned long long)(columns / block->length));
    *ret_columns = columns;
    return DTI_OK;
}

static enum dti_status check_original(const struct dti_dequant_group *group,
                                      const struct dti_block_format *block,
                                      const uint64_t original[2], uint64_t columns,
                                      struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const uint64_t unit = block->length;
    if (codes->rank == 2 && dti_divide_up(original[0], unit) == codes->shape[0] / unit &&
        dti_divide_up(original[1], unit) == columns / unit && codes->shape[0] % unit == 0)
        return DTI_OK;
    return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                              "its original shape [%llu, %llu], filled up to multiples of %u, is "
                              "not the shape that it has",
                              (unsigned long long)original[0], (unsigned long long)original[1],
                              block->length);
}

/* Leaves out rows and columns of padding. */
static void cut(struct dti_dequant_tensor *how, const uint64_t original[2], uint64_t shape[2])
{
    how->is->rows = how->is->scale_rows = shape[0] = original[0];
    how->is->columns = shape[1] = original[1];
    how->is->elements = original[0] * original[1]; /* cannot overflow: fewer than before */
    how->is->scale_count = original[0] * how->is->scale_columns;
}

enum dti_status dti_dequant_set_tiled(struct dti_file_dequant *dequant,
                                      const struct dti_dequant_group *group,
                                      const struct dti_block_format *block,
                                      enum dti_block_order order, const uint64_t *original,
                                      struct dti_dequant_found *ret, struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const unsigned bits = dti_format_get(block->code)->width;
    struct dti_dequant_tensor *const how = &ret->how;
    uint64_t columns = 0;
    enum dti_status status = check(group, block, 8 / bits, &columns, reterr);
    if (status == DTI_OK && original)
        status = check_original(group, block, original, columns, reterr);
    if (status != DTI_OK)
        return status;
    const unsigned last = codes->rank - 1;
    const uint64_t blocks = columns / block->length;
    uint64_t shape[DTI_QUANT_RANK_MAX];
    memcpy(shape, codes->shape, codes->rank * sizeof *shape);
    shape[last] = columns;
    how->is->block = block;
    DTI_SET_PART(how, codes, group->part[DTI_PART_CODES]);
    DTI_SET_PART(how, scales, group->part[DTI_PART_SCALE]);
    how->is->rows = columns > 0 ? codes->elements / codes->shape[last] : 0;
    how->is->columns = columns;
    how->is->elements = codes->elements * (8 / bits); /* cannot overflow: bounded by bits */
    how->is->slab = how->is->stored_slab = 1;
    how->is->row_bytes = codes->shape[last];
    how->is->bits = bits;
    how->is->order = bits < 8 ? order : DTI_BLOCK_BYTES;
    how->is->map = (struct dti_scale_map){.length = 1,
                                          .mid = 1,
                                          .group_rows = 1,
                                          .group_columns = block->length,
                                          .of_outer = blocks,
                                          .of_column = 1};
    how->is->tiled = true;
    how->is->scale_rows = how->is->rows;
    how->is->scale_columns = blocks;
    how->is->scale_count = how->is->elements / block->length;
    if (original)
        cut(how, original, shape);
    how->tensor_scale = 1;
    how->is->parts = dti_dequant_block_parts(dequant, block);
    how->is->scale_plan = dti_dequant_scale_plan(dequant, dti_format_get(block->scale),
                                                 &dti_dequant_of(group, DTI_PART_SCALE)->layout);
    if (!how->is->parts || !how->is->scale_plan)
        return dti_no_memory(reterr);
    ret->form.is->dtype = block->name;
    ret->form.is->layout = group->layout_read->name;
    ret->form.is->per = DTI_PER_GROUP;
    ret->form.is->axis = last;
    ret->form.is->group[1] = block->length;
    ret->form.is->tensor_scale = dti_dequant_has(group, DTI_PART_TENSOR_SCALE);
    if (ret->form.is->tensor_scale) {
        const enum dti_status read =
            dti_dequant_tensor_scale(dequant, group, &how->tensor_scale, reterr);
        if (read != DTI_OK)
            return read;
    }
    return dti_dequant_show(dequant, group, codes->rank, shape, ret, reterr);
}

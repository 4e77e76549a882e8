/* SPDX-License-Identifier: MIT
 *
 * Matrices whose rows were rotated before they were quantized (ConvRot): each group of columns was
 * multiplied by the regular Hadamard matrix of its length, divided by the square root of that
 * length. The matrix is symmetric and its own inverse, so the same product restores the numbers.
 * All codes of a group have the same scale: the sums are those of integers, which are exact, and a
 * number is rounded once. */
#include "files/dequant/dequant_layouts.h"
#include "files/dequant/dequant_piece.h"
#include "util/checked.h"

/* Reads whole groups. `codes` has room for them. */
static enum dti_status read_groups(const struct dti_dequant_tensor *tensor, uint64_t first,
                                   size_t groups, float scale, float *numbers,
                                   struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const struct dti_unrotate_args args = {
        .group = tensor->is->rotation, .middle = tensor->is->zero_offset, .scale = scale};
    const unsigned char *codes = NULL;
    const enum dti_status status =
        dti_dequant_codes(tensor, first, groups * tensor->is->rotation, scratch, &codes, reterr);
    if (status == DTI_OK)
        tensor->method->rotate->run.unrotate(&args, numbers, codes, groups);
    return dti_window_done(scratch->view, status, reterr);
}

enum dti_status dti_dequant_rotated_read(const struct dti_dequant_tensor *tensor,
                                         const struct dti_dequant_segment *segment,
                                         struct dti_dequant_scratch *scratch,
                                         struct dti_error *reterr)
{
    float group[DTI_UNROTATE_MOST];
    const uint64_t row = segment->row * tensor->is->columns;
    const uint64_t at = dti_dequant_scale_of(&tensor->is->map, segment->row, segment->column);
    enum dti_status status = dti_dequant_load(tensor, &scratch->window, at, 1, reterr);
    for (size_t done = 0; done < segment->n && status == DTI_OK;) {
        const uint64_t column = segment->column + done;
        const size_t skip = (size_t)(column % tensor->is->rotation), left = segment->n - done;
        const size_t groups = skip == 0 ? left / tensor->is->rotation : 0;
        const float scale = scratch->window.scale[at - scratch->window.first];
        size_t n = groups * tensor->is->rotation;
        if (groups > 0) {
            status = read_groups(tensor, row + column, groups, scale, segment->numbers + done,
                                 scratch, reterr);
        } else {
            n = tensor->is->rotation - skip < left ? tensor->is->rotation - skip : left;
            status = read_groups(tensor, row + column - skip, 1, scale, group, scratch, reterr);
            if (status == DTI_OK)
                memcpy(segment->numbers + done, group + skip, n * sizeof *group);
        }
        done += n;
    }
    return status;
}

static bool is_power_of_4(uint64_t length)
{
    while (length > 1 && length % 4 == 0)
        length /= 4;
    return length == 1;
}

static enum dti_status check(const struct dti_dequant_group *group, uint64_t per_byte,
                             uint64_t length, struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    const struct dti_dequant_part *const part = &group->part[DTI_PART_CODES];
    uint64_t columns;
    if (length < 4 || length > DTI_UNROTATE_MOST || !is_power_of_4(length))
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "it is rotated in groups of %llu columns; expected a power of 4 "
                                  "from 4 to %d",
                                  (unsigned long long)length, (int)DTI_UNROTATE_MOST);
    if (codes->rank != 2 || !dti_mul_u64(codes->shape[1], per_byte, &columns) ||
        columns % length != 0)
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "it is rotated in groups of %llu columns; expected a matrix with "
                                  "rows of whole groups",
                                  (unsigned long long)length);
    if (!dti_dequant_is_float_scale(scales->format) ||
        (scales->elements != 1 &&
         (scales->rank == 0 || scales->rank > 2 || scales->shape[0] != codes->shape[0] ||
          scales->elements != codes->shape[0])))
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_KEEP,
                                  "expected one scale, or one per row, as F32, F16 or BF16");
    return DTI_OK;
}

enum dti_status dti_dequant_set_rotated(struct dti_file_dequant *dequant,
                                        const struct dti_dequant_group *group, unsigned bits,
                                        uint64_t length, struct dti_dequant_found *ret,
                                        struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    struct dti_dequant_tensor *const how = &ret->how;
    enum dti_status status = DTI_OK;
    for (unsigned i = 0; i < DTI_PART_COUNT && status == DTI_OK; i++)
        status = dti_dequant_check_part(&group->part[i], reterr);
    if (status == DTI_OK)
        status = check(group, 8 / bits, length, reterr);
    if (status == DTI_OK)
        status = dti_dequant_set_unsigned(dequant, group, bits, ret, reterr);
    if (status != DTI_OK)
        return status;
    how->is->rotation = (unsigned)length;
    how->is->rows = codes->shape[0];
    how->is->columns = codes->shape[1] * (8 / bits);
    how->is->elements = codes->elements * (8 / bits); /* cannot overflow: bounded by bits */
    how->is->row_bytes = codes->shape[1];
    if (bits < 8) {
        how->is->order = DTI_BLOCK_LOW;
        how->is->zero_offset = how->is->flip = 8; /* makes two's complement unsigned */
    } else {
        how->is->affine =
            (struct dti_affine){.code = *dti_format_get(DTI_INT8), .low = -128, .high = 127};
    }
    how->is->map =
        (struct dti_scale_map){.length = 1, .mid = 1, .group_rows = 1, .group_columns = 1};
    ret->form.is->per = DTI_PER_TENSOR;
    if (how->is->scale_count > 1) {
        how->is->map.length = how->is->rows;
        how->is->map.of_length = 1;
        ret->form.is->per = DTI_PER_CHANNEL;
    }
    ret->form.is->dtype = bits < 8 ? "int4" : "int8";
    ret->form.is->layout = group->layout_read->name;
    ret->form.is->rotation = (unsigned)length;
    return dti_dequant_show(dequant, group, 2, (const uint64_t[]){how->is->rows, how->is->columns},
                            ret, reterr);
}

/* SPDX-License-Identifier: MIT
 *
 * Checks whether all parts of a quantized tensor fit together, and reads the small ones. Rejects
 * parts that do not fit: the result would be numbers that were never stored. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "files/dequant/dequant_find.h"
#include "files/stored/layouts.h"
#include "util/checked.h"

/* Reads the shape of the numbers from the part that stores it. */
static enum dti_status read_shape(const struct dti_dequant_group *group,
                                  uint64_t shape[DTI_QUANT_RANK_MAX], struct dti_error *reterr)
{
    const struct dti_dequant_part *const part = &group->part[DTI_PART_SHAPE];
    const struct dti_tensor *const tensor = dti_dequant_part_tensor(part);
    const unsigned rank = dti_dequant_of(group, DTI_PART_CODES)->rank;
    unsigned char raw[8 * DTI_QUANT_RANK_MAX];
    if ((tensor->format->id != DTI_INT64 && tensor->format->id != DTI_INT32) ||
        tensor->elements != rank)
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "expected the %u dimensions of the original tensor, as I64",
                                  rank);
    const enum dti_status status = dti_dequant_read_all(part, raw, (size_t)tensor->bytes, reterr);
    for (unsigned i = 0; i < rank && status == DTI_OK; i++)
        shape[i] = dti_storage_get(tensor->format, &tensor->layout, raw, i);
    return status;
}

/* Zero points in the dtype of the codes, or packed in words down the rows of scales. */
static enum dti_status match_zeros(const struct dti_dequant_group *group,
                                   const struct dti_dequant_scheme *scheme,
                                   struct dti_dequant_found *found, struct dti_error *reterr)
{
    const struct dti_dequant_part *const part = &group->part[DTI_PART_ZERO_POINT];
    struct dti_dequant_tensor *const how = &found->how;
    const bool words = scheme->row->packing == DTI_QUANT_WORDS;
    const int32_t middle = words ? INT32_C(1) << (scheme->bits - 1) : 0;
    how->is->zero_offset = middle;
    if (!dti_dequant_has(group, DTI_PART_ZERO_POINT)) {
        if (!scheme->asymmetric)
            return DTI_OK;
        dti_dequant_set_rule(group, DTI_LINT_PART_MISSING);
        return dti_dequant_refuse(
            &group->part[DTI_PART_CODES], reterr, DTI_REMEDY_OVERRIDE_CONFIG,
            "config.json says symmetric false, but there is no tensor '..._zero_point'");
    }
    const struct dti_tensor *const zeros = dti_dequant_part_tensor(part);
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    found->form.is->zero_points = true;
    DTI_SET_PART(how, zeros, *part);
    if (scheme->block || dti_format_is_float(&scheme->code))
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP, "%s codes have no zero points",
                                  dti_quant_row_name(scheme->row));
    if (words && zeros->format->id == DTI_INT32 && scales->rank >= 2 &&
        zeros->rank == scales->rank) {
        const unsigned last = scales->rank - 1;
        const uint64_t rows = scales->shape[last - 1], packed = zeros->shape[last - 1];
        const bool whole = packed == dti_divide_up(rows, 32 / scheme->bits);
        const bool cross = rows <= UINT64_MAX / 8 && 32 % scheme->bits != 0 &&
                           packed == dti_divide_up(rows * scheme->bits, 32);
        bool fits = zeros->shape[last] == scales->shape[last] && (whole || cross);
        for (unsigned i = 0; i + 1 < last; i++)
            fits = fits && zeros->shape[i] == scales->shape[i];
        if (fits) {
            if (whole && cross && packed > 1 && how->is->arrangement != DTI_CODES_WHOLE &&
                dti_dequant_of(group, DTI_PART_CODES)->shape[last] <= 1)
                return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                          "its zero points of %u bits fill its words whether they "
                                          "cross them or not, and nothing says which",
                                          scheme->bits);
            how->is->zero_form = cross && (!whole || how->is->arrangement != DTI_CODES_WHOLE)
                                     ? DTI_ZERO_DOWN
                                     : DTI_ZERO_WORDS;
            how->is->zero_offset = 0;
            return DTI_OK;
        }
    }
    const enum dti_dtype id = zeros->format->id;
    const bool integers = id == DTI_INT8 || id == DTI_UINT8 || id == DTI_INT16 ||
                          id == DTI_UINT16 || id == DTI_INT32 || id == DTI_INT64;
    if (!integers || zeros->elements != scales->elements)
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "it has %llu elements of %s; expected one zero point of %s codes "
                                  "per scale, %llu in all",
                                  (unsigned long long)zeros->elements, zeros->format->name,
                                  scheme->code.name, (unsigned long long)scales->elements);
    how->is->zero_form = DTI_ZERO_PLAIN;
    return DTI_OK;
}

static enum dti_status match_order(struct dti_file_dequant *dequant,
                                   const struct dti_dequant_group *group,
                                   const struct dti_dequant_scheme *scheme, const uint64_t *shape,
                                   struct dti_dequant_found *ret, struct dti_error *reterr)
{
    if (dti_dequant_has(group, DTI_PART_ORDER))
        return dti_dequant_order_columns(dequant, group, shape, ret, reterr);
    if (!scheme->ordered || ret->form.is->per != DTI_PER_GROUP || ret->how.is->scale_columns <= 1)
        return DTI_OK;
    dti_dequant_set_rule(group, DTI_LINT_PART_MISSING);
    return dti_dequant_refuse(
        &group->part[DTI_PART_CODES], reterr, DTI_REMEDY_OVERRIDE_CONFIG,
        "config.json says actorder group, but there is no tensor '..._g_idx'");
}

/* Integers as they were written; floats through their decoder. */
static void set_affine(const struct dti_dequant_scheme *scheme, struct dti_dequant_tensor *how)
{
    how->is->affine.code = scheme->code;
    if (dti_format_is_float(&scheme->code))
        return;
    const bool sign = scheme->code.kind == DTI_KIND_INT;
    how->is->affine.low = sign ? -(INT32_C(1) << (scheme->bits - 1)) : 0;
    how->is->affine.high = (INT32_C(1) << (sign ? scheme->bits - 1 : scheme->bits)) - 1;
}

/* Sets how codes and scales are decoded. */
static enum dti_status set_decoding(struct dti_file_dequant *dequant,
                                    const struct dti_dequant_group *group,
                                    const struct dti_dequant_scheme *scheme,
                                    struct dti_dequant_tensor *how, struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    const struct dti_format *scale = scales->format;
    const bool packed = scheme->row->packing != DTI_QUANT_PLAIN || codes->format->width < 8;
    const bool high =
        scheme->row->packing == DTI_QUANT_BITS && (group->entry_high || dequant->request.high);
    how->is->order = !packed || scheme->bits >= 8 ? DTI_BLOCK_BYTES
                     : high                       ? DTI_BLOCK_HIGH
                                                  : DTI_BLOCK_LOW;
    if (codes->format->width < 8 && codes->layout.packing == DTI_PACKING_BYTES)
        how->is->order = DTI_BLOCK_BYTES;
    how->is->codes_swapped = codes->layout.swapped;
    if (scheme->block) {
        how->is->parts = dti_dequant_block_parts(dequant, scheme->block);
        if (!how->is->parts)
            return dti_no_memory(reterr);
        if (dti_format_container(scale) > 1 && dti_is_big_endian(&scales->layout))
            return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_NONE,
                                      "scales of blocks must be little-endian");
        scale = dti_format_get(scheme->block->scale);
    } else {
        set_affine(scheme, how);
    }
    how->is->scale_plan = dti_dequant_scale_plan(dequant, scale, &scales->layout);
    return how->is->scale_plan ? DTI_OK : dti_no_memory(reterr);
}

/* Codes and zero points in words are addressed by bytes, so big-endian words are refused. */
static enum dti_status check_words(const struct dti_dequant_group *group, enum dti_quant_part which,
                                   struct dti_error *reterr)
{
    if (!dti_dequant_has(group, which) ||
        dti_dequant_of(group, DTI_PART_CODES)->format->id != DTI_INT32 ||
        dti_dequant_of(group, which)->format->id != DTI_INT32 ||
        !dti_is_big_endian(&dti_dequant_of(group, which)->layout))
        return DTI_OK;
    return dti_dequant_refuse(&group->part[which], reterr, DTI_REMEDY_NONE,
                              "codes packed in words must be little-endian");
}

enum dti_status dti_dequant_match(struct dti_file_dequant *dequant,
                                  const struct dti_dequant_knowledge *known,
                                  const struct dti_dequant_group *group,
                                  struct dti_dequant_found *ret, struct dti_error *reterr)
{
    uint64_t given[DTI_QUANT_RANK_MAX], shape[DTI_QUANT_RANK_MAX];
    const bool tells = dti_dequant_has(group, DTI_PART_SHAPE);
    struct dti_dequant_scheme scheme = {.row = NULL};
    enum dti_status status = DTI_OK;
    for (unsigned i = 0; i < DTI_PART_COUNT && status == DTI_OK; i++)
        status = dti_dequant_check_part(&group->part[i], reterr);
    if (status == DTI_OK && tells)
        status = read_shape(group, given, reterr);
    if (status != DTI_OK)
        return status;
    status = check_words(group, DTI_PART_CODES, reterr);
    if (status == DTI_OK)
        status = check_words(group, DTI_PART_ZERO_POINT, reterr);
    if (status != DTI_OK)
        return status;
    DTI_SET_PART(&ret->how, codes, group->part[DTI_PART_CODES]);
    DTI_SET_PART(&ret->how, scales, group->part[DTI_PART_SCALE]);
    ret->how.tensor_scale = 1;
    status = dti_dequant_choose(known, group, tells ? given : NULL, shape, &scheme, ret, reterr);
    if (status == DTI_OK)
        status = match_zeros(group, &scheme, ret, reterr);
    if (status == DTI_OK)
        status = match_order(dequant, group, &scheme, shape, ret, reterr);
    if (status == DTI_OK)
        status = set_decoding(dequant, group, &scheme, &ret->how, reterr);
    if (status == DTI_OK && dti_dequant_has(group, DTI_PART_TENSOR_SCALE))
        status = dti_dequant_tensor_scale(dequant, group, &ret->how.tensor_scale, reterr);
    if (status != DTI_OK)
        return status;
    if (dti_dequant_has(group, DTI_PART_TENSOR_SCALE) &&
        (scheme.row->flags & DTI_QUANT_INVERSE) != 0) {
        ret->how.tensor_divisor = ret->how.tensor_scale;
        ret->how.tensor_scale = 1 / ret->how.tensor_scale;
    }
    ret->form.is->dtype = dti_dequant_scheme_name(&scheme);
    ret->form.is->layout = group->inverse         ? dti_layout_fp8.name
                           : group->sibling_scale ? dti_layout_scale.name
                                                  : dti_quant_layout_name(scheme.row->layout);
    ret->form.is->tensor_scale = dti_dequant_has(group, DTI_PART_TENSOR_SCALE);
    return dti_dequant_show(dequant, group, dti_dequant_of(group, DTI_PART_CODES)->rank, shape, ret,
                            reterr);
}

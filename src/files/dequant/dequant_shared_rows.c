/* SPDX-License-Identifier: MIT
 *
 * Matrices in which several rows share bytes, the first in the low bits. BitNet: a weight U8 [N/4,
 * K] has rows r, r + N/4, r + N/2 and so on, of 2 bits, plus 1. Its single scale is a divisor, or a
 * factor if the configuration has linear_class autobitlinear. Source: transformers 5.23
 * (integrations/bitnet.py). */
#include <string.h>

#include "files/dequant/dequant_layouts.h"
#include "util/checked.h"

enum dti_status dti_dequant_set_rows(struct dti_file_dequant *dequant,
                                     const struct dti_dequant_group *group, unsigned bits,
                                     struct dti_dequant_found *ret, struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const unsigned last = codes->rank - 1, per_byte = 8 / bits;
    struct dti_dequant_tensor *const how = &ret->how;
    uint64_t shape[DTI_QUANT_RANK_MAX];
    memcpy(shape, codes->shape, codes->rank * sizeof *shape);
    if (!dti_mul_u64(shape[last - 1], per_byte, &shape[last - 1]) ||
        !dti_mul_u64(codes->elements, per_byte, &how->is->elements))
        return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_NONE,
                                  "its dimensions are too large");
    const enum dti_status status = dti_dequant_set_unsigned(dequant, group, bits, ret, reterr);
    if (status != DTI_OK)
        return status;
    how->is->arrangement = DTI_CODES_ROWS;
    how->is->columns = how->is->row_bytes = shape[last];
    how->is->rows = how->is->columns > 0 ? how->is->elements / how->is->columns : 0;
    how->is->map =
        (struct dti_scale_map){.length = 1, .mid = 1, .group_rows = 1, .group_columns = 1};
    ret->form.is->layout = group->layout_read->name;
    return dti_dequant_show(dequant, group, codes->rank, shape, ret, reterr);
}

/* Bytes with one scale could also be uint8: only the configuration distinguishes them. */
static bool is_bitnet(const struct dti_dequant_group *group)
{
    if (!dti_dequant_has(group, DTI_PART_SCALE) ||
        dti_dequant_of(group, DTI_PART_CODES)->rank != 2 ||
        dti_dequant_of(group, DTI_PART_SCALE)->elements != 1)
        return false;
    const struct dti_quant_config *const config = dti_dequant_config(group->view);
    return config && strcmp(config->method, "bitnet") == 0;
}

static enum dti_status match_bitnet(struct dti_file_dequant *dequant,
                                    const struct dti_dequant_group *group,
                                    const struct dti_quant_config *config,
                                    struct dti_dequant_found *ret, struct dti_error *reterr)
{
    const struct dti_dequant_part *const scale = &group->part[DTI_PART_SCALE];
    const bool divides = strcmp(config->linear_class, "bitlinear") == 0;
    if (!dti_dequant_is_float_scale(dti_dequant_part_tensor(scale)->format))
        return dti_dequant_refuse(scale, reterr, DTI_REMEDY_KEEP, "expected a scale as a float");
    if (!divides && strcmp(config->linear_class, "autobitlinear") != 0)
        return dti_dequant_refuse(
            &group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
            "its scale may be a factor or a divisor, and %s does not say which: set its "
            "quantization_config.linear_class to autobitlinear or bitlinear",
            config->file);
    const enum dti_status status = dti_dequant_set_rows(dequant, group, 2, ret, reterr);
    ret->how.is->row_step = dti_dequant_of(group, DTI_PART_CODES)->shape[0];
    ret->how.is->zero_offset = 1;
    ret->how.is->divisors = divides;
    ret->form.is->dtype = "uint2";
    ret->form.is->per = DTI_PER_TENSOR;
    return status;
}

const struct dti_layout_ops dti_layout_bitnet = {
    .name = "bitnet",
    .dtype = DTI_UINT8,
    .codes = ".weight",
    .numbers = ".weight",
    .suffix = {[DTI_PART_SCALE] = ".weight_scale"},
    .fits = is_bitnet,
    .match = match_bitnet,
    .methods = {"bitnet"},
    .scale = ".weight_scale",
};

/* SPDX-License-Identifier: MIT
 *
 * Matrices of which several rows share bytes:
 *
 *                         weight        weight_scale
 *   ModelOpt W4A16_AWQ    U8 [N/2, K]   [N, groups]   rows 2r, 2r + 1; int4 in two's complement
 *   BitNet                U8 [N/4, K]   one           rows r, r + N/4, r + N/2 ..; 2 bits, plus 1
 *
 * the first row in the lowest bits. BitNet's scale is divided by, or multiplied with where the
 * configuration says linear_class autobitlinear. Sources: ModelOpt 0.47 (export/quant_utils.py),
 * transformers 5.23 (integrations/bitnet.py). */
#include <string.h>

#include "dtinfo/checked.h"
#include "files/dequant/dequant_layouts.h"

static bool is_float(const struct dti_format *format)
{
    return format->id == DTI_FP32 || format->id == DTI_FP16 || format->id == DTI_BF16;
}

/* Twice as many rows of scales as of codes, in equal groups. */
static bool are_pairs(const struct dti_dequant_group *group)
{
    if (!dti_dequant_has(group, DTI_PART_SCALE))
        return true;
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    const unsigned rank = codes->rank;
    if ((rank != 2 && rank != 3) || scales->rank != rank || !scales->format ||
        !is_float(scales->format) || codes->elements == 0 || scales->elements == 0 ||
        scales->shape[rank - 2] % 2 != 0 || scales->shape[rank - 2] / 2 != codes->shape[rank - 2])
        return false;
    return rank == 2 || codes->shape[0] == scales->shape[0];
}

static enum dti_status set(struct dti_file_dequant *dequant, const struct dti_dequant_group *group,
                           unsigned bits, struct dti_dequant_found *ret, struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const unsigned last = codes->rank - 1, per_byte = 8 / bits;
    struct dti_dequant_tensor *const how = &ret->how;
    uint64_t shape[DTI_QUANT_RANK_MAX];
    memcpy(shape, codes->shape, codes->rank * sizeof *shape);
    if (!dti_mul_u64(shape[last - 1], per_byte, &shape[last - 1]) ||
        !dti_mul_u64(codes->elements, per_byte, &how->elements))
        return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_NONE,
                                  "its dimensions are too large");
    const enum dti_status status = dti_dequant_set_unsigned(dequant, group, bits, ret, reterr);
    if (status != DTI_OK)
        return status;
    how->arrangement = DTI_CODES_ROWS;
    how->columns = how->row_bytes = shape[last];
    how->rows = how->columns > 0 ? how->elements / how->columns : 0;
    how->map = (struct dti_scale_map){.length = 1, .mid = 1, .group_rows = 1, .group_columns = 1};
    ret->form.layout = group->layout_read->name;
    return dti_dequant_show(dequant, group, codes->rank, shape, ret, reterr);
}

static enum dti_status match_pairs(struct dti_file_dequant *dequant,
                                   const struct dti_dequant_group *group,
                                   const struct dti_quant_config *config,
                                   struct dti_dequant_found *ret, struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    const uint64_t columns = codes->shape[codes->rank - 1];
    const uint64_t groups = scales->shape[scales->rank - 1], length = columns / groups;
    if (dti_dequant_has(group, DTI_PART_TENSOR_SCALE))
        return dti_dequant_refuse(&group->part[DTI_PART_TENSOR_SCALE], reterr, DTI_REMEDY_KEEP,
                                  "a second scale of rows in pairs (W4A8_AWQ) is not supported");
    if (columns % groups != 0)
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_KEEP,
                                  "its %llu groups do not divide %llu columns",
                                  (unsigned long long)groups, (unsigned long long)columns);
    if (dequant->request.block > 0 && dequant->request.block != length)
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_NONE,
                                  "it has groups of %llu, not %llu", (unsigned long long)length,
                                  (unsigned long long)dequant->request.block);
    if (dequant->request.block == 0 && config->group_size > 0 && config->group_size != length)
        return dti_dequant_refuse_config(group, config, "groups of", config->group_size, length,
                                         reterr);
    const enum dti_status status = set(dequant, group, 4, ret, reterr);
    ret->how.row_step = 1;
    ret->how.zero_offset = ret->how.flip = 8;
    ret->how.map.group_columns = length;
    ret->how.map.of_column = 1;
    ret->how.map.of_outer = groups;
    ret->form.dtype = "int4";
    ret->form.per = DTI_PER_GROUP;
    ret->form.axis = codes->rank - 1;
    ret->form.group[1] = length;
    return status;
}

/* One scale of bytes could be that of uint8: only the configuration tells. */
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
    if (!is_float(dti_dequant_part_tensor(scale)->format))
        return dti_dequant_refuse(scale, reterr, DTI_REMEDY_KEEP, "expected a scale as a float");
    if (!divides && strcmp(config->linear_class, "autobitlinear") != 0)
        return dti_dequant_refuse(
            &group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
            "its scale may be a factor or a divisor, and %s does not say which: set its "
            "quantization_config.linear_class to autobitlinear or bitlinear",
            config->file);
    const enum dti_status status = set(dequant, group, 2, ret, reterr);
    ret->how.row_step = dti_dequant_of(group, DTI_PART_CODES)->shape[0];
    ret->how.zero_offset = 1;
    ret->how.divisors = divides;
    ret->form.dtype = "uint2";
    ret->form.per = DTI_PER_TENSOR;
    return status;
}

const struct dti_layout_ops dti_layout_pairs = {
    .name = "modelopt",
    .dtype = DTI_UINT8,
    .codes = ".weight",
    .numbers = ".weight",
    .suffix = {[DTI_PART_SCALE] = ".weight_scale", [DTI_PART_TENSOR_SCALE] = ".weight_scale_2"},
    .fits = are_pairs,
    .match = match_pairs,
};
const struct dti_layout_ops dti_layout_bitnet = {
    .name = "bitnet",
    .dtype = DTI_UINT8,
    .codes = ".weight",
    .numbers = ".weight",
    .suffix = {[DTI_PART_SCALE] = ".weight_scale"},
    .fits = is_bitnet,
    .match = match_bitnet,
    .methods = {"bitnet"},
};

/* SPDX-License-Identifier: MIT
 *
 * AMD Quark's integers, where they differ from compressed-tensors:
 *
 *                               weight           scale     zero_point
 *   int4, uint4, per group      I32 [K, N/8]     [G, N]    I32 [G, N/8]     transposed
 *   same, per channel           I32 [N, K/8]     [N]       I32 [N/8]
 *         per tensor            I32 [N, K/8]     []        I32 []
 *   int8, uint8, per group      I8, U8 [K, N]    [G, N]    I8, U8 [G, N]    transposed
 *
 * A word has 8 codes, in AWQ's order (pack_method reorder) or in sequence; int4 is two's
 * complement. Only config.json distinguishes these. Source: Quark 0.13 (torch/utils/pack.py,
 * torch/export/nn/modules/realquantizer.py). */
#include <string.h>

#include "files/dequant/dequant_layouts.h"
#include "util/checked.h"

/* 8 bits per channel and per tensor, and floats, have the usual names and shapes. */
static bool is_quark(const struct dti_dequant_group *group)
{
    const enum dti_dtype id = dti_dequant_of(group, DTI_PART_CODES)->format->id;
    if (id != DTI_INT32 && id != DTI_INT8 && id != DTI_UINT8)
        return false;
    const struct dti_quant_config *const config = dti_dequant_config(group->view);
    if (!config)
        return id == DTI_INT32; /* no other layout reads it, so match reports the configuration
                                 * error */
    if (strcmp(config->method, "quark") != 0)
        return false;
    return id == DTI_INT32 || config->quark.mixed ||
           (strcmp(config->quark.weight.scheme, "per_group") == 0 &&
            strstr(config->quark.weight.dtype, "int"));
}

struct quark_shape {
    bool sign, transposed;
    unsigned bits, packed; /* bits, and codes per element */
    uint64_t rows, columns;
};

static enum dti_status refuse_shapes(const struct dti_dequant_group *group,
                                     const struct dti_quark_weight *weight,
                                     struct dti_error *reterr)
{
    char scheme[DTI_QUOTE_SIZE];
    return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                              "its parts do not have the shapes of %s, %s", weight->dtype,
                              dti_quote(scheme, weight->scheme, strlen(weight->scheme)));
}

/* Looks up the dtype by its name in the configuration. */
static enum dti_status find_dtype(const struct dti_dequant_group *group,
                                  const struct dti_quant_config *config, struct quark_shape *ret,
                                  struct dti_error *reterr)
{
    static const struct {
        const char *name;
        enum dti_dtype codes;
        bool sign;
    } dtypes[] = {{"int4", DTI_INT32, true},
                  {"uint4", DTI_INT32, false},
                  {"int8", DTI_INT8, true},
                  {"uint8", DTI_UINT8, false}};
    const struct dti_dequant_part *const part = &group->part[DTI_PART_CODES];
    const struct dti_format *const codes = dti_dequant_part_tensor(part)->format;
    const struct dti_quark_weight *const weight = &config->quark.weight;
    char quoted[DTI_QUOTE_SIZE];
    if (config->quark.mixed)
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "%s has layers with different weights, and which it is cannot be "
                                  "seen in the file",
                                  config->file);
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        if (strcmp(dtypes[i].name, weight->dtype) != 0)
            continue;
        if (dtypes[i].codes != codes->id)
            return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                      "%s says that its dtype is %s, which is not stored as %s",
                                      config->file, dtypes[i].name, codes->name);
        ret->sign = dtypes[i].sign;
        ret->packed = codes->id == DTI_INT32 ? 8 : 1;
        ret->bits = ret->packed == 8 ? 4 : 8;
        return DTI_OK;
    }
    return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                              "%s says that its dtype is %s, which is not supported", config->file,
                              dti_quote(quoted, weight->dtype, strlen(weight->dtype)));
}

/* Zero points are packed as codes are, along the rows of scales. */
static enum dti_status set_zeros(const struct dti_dequant_group *group,
                                 const struct quark_shape *shape, bool lanes,
                                 struct dti_dequant_tensor *how, struct dti_error *reterr)
{
    const struct dti_dequant_part *const part = &group->part[DTI_PART_ZERO_POINT];
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    const bool words = shape->packed == 8;
    how->is->flip = words && shape->sign ? 8 : 0;
    how->is->zero_offset = how->is->flip;
    how->is->zero_form = DTI_ZERO_NONE;
    if (!part->container)
        return shape->sign ? DTI_OK : dti_dequant_need(group, DTI_PART_ZERO_POINT, reterr);
    const struct dti_tensor *const zeros = dti_dequant_part_tensor(part);
    bool fits = zeros->rank == scales->rank &&
                zeros->format->id == dti_dequant_of(group, DTI_PART_CODES)->format->id;
    for (unsigned i = 0; i < zeros->rank && fits; i++)
        fits = zeros->shape[i] ==
               (i + 1 == zeros->rank ? scales->shape[i] / shape->packed : scales->shape[i]);
    if (!fits || (words && scales->rank > 0 && scales->shape[scales->rank - 1] % 8 != 0))
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "expected zero points packed as the codes are, for %llu scales",
                                  (unsigned long long)scales->elements);
    how->is->zero_form = !words || scales->rank == 0 ? DTI_ZERO_PLAIN
                         : lanes                     ? DTI_ZERO_LANES
                                                     : DTI_ZERO_ALONG;
    return DTI_OK;
}

static enum dti_status find_shape(const struct dti_dequant_group *group,
                                  const struct dti_quark_weight *weight, struct quark_shape *shape,
                                  struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    const unsigned rank = strcmp(weight->scheme, "per_group") == 0     ? 2
                          : strcmp(weight->scheme, "per_channel") == 0 ? 1
                                                                       : 0;
    const enum dti_dtype scale = scales->format->id;
    if (scale != DTI_FP32 && scale != DTI_FP16 && scale != DTI_BF16)
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_KEEP,
                                  "expected scales as F32, F16 or BF16, and it holds %s",
                                  scales->format->name);
    if (codes->rank != 2 || scales->rank != rank ||
        (rank == 0 && strcmp(weight->scheme, "per_tensor") != 0) ||
        !dti_mul_u64(codes->shape[1], shape->packed, &shape->columns) ||
        !dti_mul_u64(codes->shape[0], shape->columns, &(uint64_t){0}))
        return refuse_shapes(group, weight, reterr);
    shape->transposed = rank == 2;
    shape->rows = codes->shape[0];
    if (rank == 1 && scales->shape[0] != shape->rows)
        return refuse_shapes(group, weight, reterr);
    if (rank == 2 &&
        (scales->shape[1] != shape->columns || weight->group == 0 ||
         shape->rows % weight->group != 0 || scales->shape[0] != shape->rows / weight->group))
        return refuse_shapes(group, weight, reterr);
    return DTI_OK;
}

static enum dti_status match(struct dti_file_dequant *dequant,
                             const struct dti_dequant_group *group,
                             const struct dti_quant_config *config, struct dti_dequant_found *ret,
                             struct dti_error *reterr)
{
    const struct dti_quark_weight *const weight = &config->quark.weight;
    const bool lanes = strcmp(config->quark.packing, "reorder") == 0;
    struct dti_dequant_tensor *const how = &ret->how;
    struct quark_shape shape = {.bits = 0};
    enum dti_status status = find_dtype(group, config, &shape, reterr);
    if (status == DTI_OK && shape.packed == 8 && !lanes &&
        strcmp(config->quark.packing, "order") != 0)
        status = dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                                    "%s does not say how it is packed: its export.pack_method is "
                                    "neither reorder nor order",
                                    config->file);
    if (status == DTI_OK)
        status = find_shape(group, weight, &shape, reterr);
    if (status == DTI_OK)
        status = dti_dequant_set_unsigned(dequant, group, shape.bits, ret, reterr);
    if (status == DTI_OK)
        status = set_zeros(group, &shape, lanes, how, reterr);
    if (status != DTI_OK)
        return status;
    if (shape.bits == 8 && shape.sign)
        how->is->affine =
            (struct dti_affine){.code = *dti_format_get(DTI_INT8), .low = -128, .high = 127};
    if (shape.bits == 4 && lanes)
        how->is->arrangement = DTI_CODES_LANES;
    else if (shape.bits == 4)
        how->is->order = DTI_BLOCK_LOW;
    how->is->rows = shape.rows;
    how->is->columns = shape.columns;
    how->is->elements = shape.rows * shape.columns;
    how->is->row_bytes = shape.columns / 8 * shape.bits + shape.columns % 8;
    how->is->map =
        (struct dti_scale_map){.length = 1, .mid = 1, .group_rows = 1, .group_columns = 1};
    ret->form.is->per = DTI_PER_TENSOR;
    if (shape.transposed) {
        how->is->matrix = how->is->map.length = shape.rows;
        how->is->stripes = &dequant->stripes;
        how->is->map.group_rows = weight->group;
        how->is->map.of_column = 1;
        how->is->map.of_length = shape.columns;
        ret->form.is->per = DTI_PER_GROUP;
        ret->form.is->axis = 1;
        ret->form.is->group[1] = weight->group;
    } else if (how->is->scale_count > 1) {
        how->is->map.length = shape.rows;
        how->is->map.of_length = 1;
        ret->form.is->per = DTI_PER_CHANNEL;
    }
    const uint64_t numbers[] = {shape.transposed ? shape.columns : shape.rows,
                                shape.transposed ? shape.rows : shape.columns};
    ret->form.is->dtype =
        shape.bits == 4 ? (shape.sign ? "int4" : "uint4") : (shape.sign ? "int8" : "uint8");
    ret->form.is->layout = "quark";
    ret->form.is->zero_points = how->is->zero_form != DTI_ZERO_NONE;
    return dti_dequant_show(dequant, group, 2, numbers, ret, reterr);
}

const struct dti_layout_ops dti_layout_quark = {
    .name = "quark",
    .dtype = DTI_NONE,
    .codes = ".weight",
    .numbers = ".weight",
    .suffix = {[DTI_PART_SCALE] = ".weight_scale", [DTI_PART_ZERO_POINT] = ".weight_zero_point"},
    .fits = is_quark,
    .match = match,
    .methods = {"quark"},
    .scale = ".weight_scale",
};

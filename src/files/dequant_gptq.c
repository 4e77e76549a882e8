/* SPDX-License-Identifier: MIT
 *
 * GPTQ and AWQ: a matrix [N, K] is stored transposed, with groups along K.
 *
 *              qweight             qzeros            scales    g_idx
 *   GPTQ       [K bits / 32, N]    [G, N bits / 32]  [G, N]    [K], or none: k / group size
 *   AWQ        [K, N / 8]          [G, N / 8]        [G, N]
 *
 * GPTQ's codes run down the columns, its zero points along the rows, both without gaps, and what is
 * stored is the zero point minus one unless the checkpoint's format is "gptq_v2". AWQ has 4 bits,
 * in an order of its own within a word, and zero points as they are. A number is
 * scale x (code - zero point). Sources: GPTQModel 7.7 (utils/model_dequant.py,
 * nn_modules/qlinear), AutoAWQ 0.2.9 (modules/linear/gemm.py). */
#include <stdlib.h>
#include <string.h>

#include "dtinfo/checked.h"
#include "files/dequant_layouts.h"

static bool is_matrix(const struct dti_dequant_group *group, enum dti_quant_part part)
{
    return dti_dequant_has(group, part) && dti_dequant_of(group, part)->rank == 2;
}

static bool are_matrices(const struct dti_dequant_group *group)
{
    return is_matrix(group, DTI_PART_CODES) && is_matrix(group, DTI_PART_SCALE) &&
           dti_format_is_float(dti_dequant_of(group, DTI_PART_SCALE)->format);
}

/* In AWQ, eight columns are one of words. */
static bool is_awq(const struct dti_dequant_group *group)
{
    return are_matrices(group) &&
           dti_dequant_of(group, DTI_PART_SCALE)->shape[1] / 8 ==
               dti_dequant_of(group, DTI_PART_CODES)->shape[1] &&
           dti_dequant_of(group, DTI_PART_SCALE)->shape[1] % 8 == 0;
}

struct transposed {
    uint64_t rows, columns; /* K and N */
    uint64_t groups, group; /* G; how many rows share one: 0 where there are none */
    unsigned bits;
};

static enum dti_status refuse_shapes(const struct dti_dequant_group *group, const char *expected,
                                     struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                              "its parts have shapes that do not fit %s: expected %s with qweight "
                              "of %llu elements",
                              group->layout_read->name, expected,
                              (unsigned long long)codes->elements);
}

/* Rows share groups of equal length, as the caller, the configuration or the shapes say. */
static enum dti_status find_group(const struct dti_file_dequant *dequant,
                                  const struct dti_dequant_group *group,
                                  const struct dti_quant_config *config, struct transposed *shape,
                                  struct dti_error *reterr)
{
    const uint64_t asked = dequant->request.block;
    const uint64_t said = asked > 0 ? asked : config->group_size;
    shape->group = said > 0 ? said : dti_divide_up(shape->rows, shape->groups ? shape->groups : 1);
    const uint64_t count = shape->group > 0 ? dti_divide_up(shape->rows, shape->group) : 0;
    const bool equal = shape->group == 0 || shape->rows % shape->group == 0;
    if (count == shape->groups && (said > 0 || equal))
        return DTI_OK;
    if (asked > 0)
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_NONE,
                                  "it has %llu groups; %llu rows in groups of %llu are %llu",
                                  (unsigned long long)shape->groups,
                                  (unsigned long long)shape->rows, (unsigned long long)asked,
                                  (unsigned long long)count);
    if (said > 0)
        return dti_dequant_refuse_config(group, config, "groups", count, shape->groups, reterr);
    return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_SAY_BLOCK,
                              "its %llu groups do not divide %llu rows",
                              (unsigned long long)shape->groups, (unsigned long long)shape->rows);
}

static enum dti_status check_bits(const struct dti_file_dequant *dequant,
                                  const struct dti_dequant_group *group,
                                  const struct dti_quant_config *config, unsigned bits,
                                  struct dti_error *reterr)
{
    const unsigned asked = dequant->request.bits;
    if (asked > 0 && asked != bits)
        return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_NONE,
                                  "by the shapes of its parts it has codes of %u bits, not %u",
                                  bits, asked);
    if (asked == 0 && config->bits > 0 && config->bits != bits)
        return dti_dequant_refuse_config(group, config, "bits", config->bits, bits, reterr);
    return DTI_OK;
}

/* Which group a row has. Most files have the order that follows from the length of groups. */
static enum dti_status read_order(struct dti_file_dequant *dequant,
                                  const struct dti_dequant_group *group,
                                  const struct transposed *shape, struct dti_dequant_found *ret,
                                  struct dti_error *reterr)
{
    const struct dti_dequant_part *const part = &group->part[DTI_PART_ORDER];
    const struct dti_tensor *const order = dti_dequant_part_tensor(part);
    if (order->format->id != DTI_INT32 || order->elements != shape->rows ||
        shape->groups > UINT16_MAX + 1)
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "expected the group of each of %llu rows, as I32",
                                  (unsigned long long)shape->rows);
    const size_t rows = (size_t)shape->rows;
    unsigned char *const raw = malloc(rows > 0 ? (size_t)order->bytes : 1);
    uint16_t *const group_of = dti_pool_array(&dequant->pool, rows + 1, sizeof *group_of);
    enum dti_status status = raw && group_of ? DTI_OK : dti_no_memory(reterr);
    if (status == DTI_OK)
        status = dti_dequant_read_all(part, raw, (size_t)order->bytes, reterr);
    bool usual = true;
    for (size_t i = 0; i < rows && status == DTI_OK; i++) {
        const uint64_t found = dti_storage_get(order->format, &order->layout, raw, i);
        if (found >= shape->groups)
            status = dti_dequant_refuse(
                part, reterr, DTI_REMEDY_KEEP, "element %zu is %d; there are groups 0 to %llu", i,
                (int)(int32_t)(uint32_t)found, (unsigned long long)(shape->groups - 1));
        else
            group_of[i] = (uint16_t)found;
        usual = usual && found == i / shape->group;
    }
    free(raw);
    if (status == DTI_OK && !usual)
        ret->how.map.group_of = group_of;
    return status;
}

static enum dti_status set(struct dti_file_dequant *dequant, const struct dti_dequant_group *group,
                           const struct transposed *shape, struct dti_dequant_found *ret,
                           struct dti_error *reterr)
{
    static const char *const dtypes[] = {
        [2] = "uint2", [3] = "uint3", [4] = "uint4", [8] = "uint8"};
    struct dti_dequant_tensor *const how = &ret->how;
    const uint64_t numbers[] = {shape->columns, shape->rows};
    const enum dti_status status =
        dti_dequant_set_unsigned(dequant, group, shape->bits, ret, reterr);
    if (status != DTI_OK)
        return status;
    if (!dti_mul_u64(shape->rows, shape->columns, &how->elements))
        return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_NONE,
                                  "its dimensions are too large");
    how->rows = how->matrix = shape->rows;
    how->columns = shape->columns;
    how->stripes = &dequant->stripes;
    how->map.length = shape->rows;
    how->map.mid = 1;
    how->map.group_rows = shape->group > 0 ? shape->group : 1;
    how->map.group_columns = how->map.of_column = 1;
    how->map.of_length = shape->columns;
    ret->form.dtype = dtypes[shape->bits];
    ret->form.per = DTI_PER_GROUP;
    ret->form.axis = 1;
    ret->form.group[1] = shape->group;
    ret->form.zero_points = how->zeros.container != NULL;
    return dti_dequant_show(dequant, group, 2, numbers, ret, reterr);
}

/* Whether every field of the zero points is `value`. */
static enum dti_status all_zeros_are(const struct dti_dequant_group *group, unsigned bits,
                                     unsigned value, bool *ret, struct dti_error *reterr)
{
    const struct dti_tensor *const zeros = dti_dequant_of(group, DTI_PART_ZERO_POINT);
    const size_t size = (size_t)zeros->bytes;
    unsigned char *const raw = malloc(size > 0 ? size : 1);
    if (!raw)
        return dti_no_memory(reterr);
    const enum dti_status status =
        dti_dequant_read_all(&group->part[DTI_PART_ZERO_POINT], raw, size, reterr);
    uint64_t window = 0;
    unsigned filled = 0;
    *ret = status == DTI_OK;
    for (size_t i = 0; i < size && *ret; i++) {
        window |= (uint64_t)raw[i] << filled;
        for (filled += 8; filled >= bits; filled -= bits, window >>= bits)
            *ret = *ret && (window & ((1U << bits) - 1)) == value;
    }
    free(raw);
    return status;
}

/* Symmetric ones tell by themselves which of the two they are. */
static enum dti_status find_offset(const struct dti_dequant_group *group,
                                   const struct dti_quant_config *config, unsigned bits,
                                   int32_t *ret, struct dti_error *reterr)
{
    const unsigned middle = 1U << (bits - 1);
    bool minus = false, plain = false;
    const bool said = strcmp(config->method, "gptq") == 0;
    *ret = strcmp(config->checkpoint_format, "gptq_v2") == 0 ? 0 : 1;
    if (said)
        return DTI_OK;
    enum dti_status status = all_zeros_are(group, bits, middle - 1, &minus, reterr);
    if (status == DTI_OK && !minus)
        status = all_zeros_are(group, bits, middle, &plain, reterr);
    *ret = plain ? 0 : 1;
    if (status != DTI_OK || minus || plain)
        return status;
    return dti_dequant_refuse(&group->part[DTI_PART_ZERO_POINT], reterr, DTI_REMEDY_KEEP,
                              "it holds zero points or zero points minus one, and no config.json "
                              "says which: set its quantization_config.checkpoint_format to "
                              "gptq_v2 or gptq");
}

static enum dti_status match_gptq(struct dti_file_dequant *dequant,
                                  const struct dti_dequant_group *group,
                                  const struct dti_quant_config *config,
                                  struct dti_dequant_found *ret, struct dti_error *reterr)
{
    enum dti_status status = dti_dequant_need(group, DTI_PART_ZERO_POINT, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    const struct dti_tensor *const zeros = dti_dequant_of(group, DTI_PART_ZERO_POINT);
    static const char expected[] =
        "qweight [K bits / 32, N], qzeros [groups, N bits / 32] and scales [groups, N]";
    if (!are_matrices(group) || zeros->rank != 2 || zeros->format->id != DTI_INT32 ||
        scales->shape[1] != codes->shape[1] || zeros->shape[0] != scales->shape[0])
        return refuse_shapes(group, expected, reterr);
    struct transposed shape = {.columns = codes->shape[1], .groups = scales->shape[0]};
    for (unsigned bits = 2; bits <= 8; bits++) {
        if ((bits <= 4 || bits == 8) && shape.columns % 32 * bits % 32 == 0 &&
            shape.columns / 32 * bits + shape.columns % 32 * bits / 32 == zeros->shape[1] &&
            codes->shape[0] <= UINT64_MAX / 32 && codes->shape[0] * 32 % bits == 0)
            shape.bits = bits;
    }
    if (shape.bits == 0)
        return refuse_shapes(group, expected, reterr);
    shape.rows = codes->shape[0] * 32 / shape.bits;
    status = check_bits(dequant, group, config, shape.bits, reterr);
    if (status == DTI_OK)
        status = find_group(dequant, group, config, &shape, reterr);
    if (status == DTI_OK)
        status = set(dequant, group, &shape, ret, reterr);
    if (status == DTI_OK && dti_dequant_has(group, DTI_PART_ORDER))
        status = read_order(dequant, group, &shape, ret, reterr);
    ret->how.arrangement = DTI_CODES_DOWN;
    ret->how.zero_form = DTI_ZERO_ALONG;
    if (status == DTI_OK)
        status = find_offset(group, config, shape.bits, &ret->how.zero_offset, reterr);
    ret->form.layout = ret->how.zero_offset == 0 ? "gptq_v2" : "gptq";
    return status;
}

static enum dti_status match_awq(struct dti_file_dequant *dequant,
                                 const struct dti_dequant_group *group,
                                 const struct dti_quant_config *config,
                                 struct dti_dequant_found *ret, struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    const bool zeros = dti_dequant_has(group, DTI_PART_ZERO_POINT);
    struct transposed shape = {.rows = codes->shape[0],
                               .columns = scales->shape[1],
                               .groups = scales->shape[0],
                               .bits = 4};
    if (zeros) {
        const struct dti_tensor *const packed = dti_dequant_of(group, DTI_PART_ZERO_POINT);
        if (packed->rank != 2 || packed->format->id != DTI_INT32 ||
            packed->shape[0] != shape.groups || packed->shape[1] != codes->shape[1])
            return refuse_shapes(group,
                                 "qweight [K, N / 8], qzeros [groups, N / 8] and scales "
                                 "[groups, N]",
                                 reterr);
    }
    char version[DTI_QUOTE_SIZE];
    if (config->version[0] != '\0' && strcmp(config->version, "gemm") != 0)
        return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                                  "%s says that its version is %s, and only gemm is supported",
                                  config->file,
                                  dti_quote(version, config->version, strlen(config->version)));
    enum dti_status status = check_bits(dequant, group, config, shape.bits, reterr);
    if (status == DTI_OK)
        status = find_group(dequant, group, config, &shape, reterr);
    if (status == DTI_OK)
        status = set(dequant, group, &shape, ret, reterr);
    ret->how.arrangement = DTI_CODES_LANES;
    ret->how.row_bytes = codes->shape[1] * 4;
    ret->how.zero_form = zeros ? DTI_ZERO_LANES : DTI_ZERO_NONE;
    ret->how.zero_offset = zeros ? 0 : 8;
    ret->form.layout = "awq";
    return status;
}

static bool is_gptq(const struct dti_dequant_group *group)
{
    return !is_awq(group);
}

#define PARTS                                                                    \
    .codes = ".qweight", .numbers = ".weight", .dtype = DTI_INT32, .sure = true, \
    .suffix = {[DTI_PART_SCALE] = ".scales",                                     \
               [DTI_PART_ZERO_POINT] = ".qzeros",                                \
               [DTI_PART_ORDER] = ".g_idx"}
const struct dti_read_layout dti_layout_gptq = {
    .name = "gptq", PARTS, .fits = is_gptq, .match = match_gptq};
const struct dti_read_layout dti_layout_awq = {
    .name = "awq", PARTS, .fits = is_awq, .match = match_awq};

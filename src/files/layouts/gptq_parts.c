/* SPDX-License-Identifier: MIT
 *
 * What GPTQ stores beside codes and scales.
 *
 * g_idx: which group each row of codes belongs to, where it quantized them in an order of its own
 * ("desc_act"). The rows are stored in the order of the matrix. compressed-tensors up to 0.15 has
 * the same of columns, as weight_g_idx ("actorder": "group"), of which all are -1 only in memory.
 *
 * Zero points: themselves, or themselves minus one. A checkpoint's format says which, else an entry
 * of the metadata, and words of symmetric quantization, whose zero points are all in the middle of
 * the codes, tell by themselves. */
#include "files/layouts/words.h"

#include <string.h>

#include "dtinfo/little_endian.h"

/* Which group each row has; fill: NULL, or memory for them. *ret_usual: those that follow from the
 * length of groups. */
static enum dti_status look_at_order(const struct dti_dequant_group *group,
                                     const struct dti_gptq_shape *shape, uint16_t *fill,
                                     bool *ret_usual, struct dti_error *reterr)
{
    enum { ROWS_AT_ONCE = 1024 };
    const struct dti_dequant_part *const part = &group->part[DTI_PART_ORDER];
    const struct dti_tensor *const order = dti_dequant_part_tensor(part);
    unsigned char raw[4 * ROWS_AT_ONCE];
    bool usual = true;
    for (uint64_t done = 0; done < shape->rows; done += ROWS_AT_ONCE) {
        const uint64_t left = shape->rows - done;
        const size_t n = left < ROWS_AT_ONCE ? (size_t)left : ROWS_AT_ONCE;
        const enum dti_status status = dti_dequant_read_part(part, raw, 4 * n, 4 * done, reterr);
        if (status != DTI_OK)
            return status;
        for (size_t i = 0; i < n; i++) {
            const uint64_t found = dti_storage_get(order->format, &order->layout, raw, i);
            if (found >= shape->groups) {
                dti_dequant_blame(group, DTI_LINT_GROUP_INDEX);
                return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                          "element %llu is %d, which is none of its %llu groups",
                                          (unsigned long long)(done + i),
                                          (int)(int32_t)(uint32_t)found,
                                          (unsigned long long)shape->groups);
            }
            usual = usual && found == (done + i) / shape->group;
            if (fill)
                fill[done + i] = (uint16_t)found;
        }
    }
    *ret_usual = usual;
    return DTI_OK;
}

/* Most files have the usual order, which needs no memory. */
enum dti_status dti_gptq_order(struct dti_file_dequant *dequant,
                               const struct dti_dequant_group *group,
                               const struct dti_gptq_shape *shape, struct dti_scale_map *map,
                               struct dti_error *reterr)
{
    enum { ROWS_MAX = 1 << 22 };
    const struct dti_dequant_part *const part = &group->part[DTI_PART_ORDER];
    const struct dti_tensor *const order = dti_dequant_part_tensor(part);
    char words[DTI_DEQUANT_SHAPE_TEXT];
    bool usual = false;
    if (order->format->id != DTI_INT32 || order->rank != 1 || order->elements != shape->rows)
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "it is %s %s; expected int32 [%llu], the group of each",
                                  order->format->name, dti_dequant_shape_words(order, words),
                                  (unsigned long long)shape->rows);
    enum dti_status status = look_at_order(group, shape, NULL, &usual, reterr);
    if (status != DTI_OK || usual)
        return status;
    if (shape->rows > ROWS_MAX || shape->groups > UINT16_MAX + 1)
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "it is too long: at most %d rows and %d groups may have an order "
                                  "of their own",
                                  (int)ROWS_MAX, UINT16_MAX + 1);
    uint16_t *const group_of =
        dti_pool_array(&dequant->pool, (size_t)shape->rows, sizeof *group_of);
    if (!group_of)
        return dti_no_memory(reterr);
    status = look_at_order(group, shape, group_of, &usual, reterr);
    map->group_of = group_of;
    return status;
}

enum dti_status dti_dequant_order_columns(struct dti_file_dequant *dequant,
                                          const struct dti_dequant_group *group,
                                          const uint64_t *shape, struct dti_dequant_found *ret,
                                          struct dti_error *reterr)
{
    const struct dti_dequant_part *const part = &group->part[DTI_PART_ORDER];
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    struct dti_dequant_tensor *const how = &ret->how;
    const bool rows = ret->form.per == DTI_PER_CHANNEL && ret->form.axis == 0;
    const bool groups =
        ret->form.per == DTI_PER_GROUP && ret->form.axis == 1 && ret->form.group[0] == 0;
    if (codes->rank != 2 || scales->rank != 2 || how->block || !(rows || groups) ||
        scales->shape[1] > DTI_DEQUANT_WINDOW || shape[0] != codes->shape[0])
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "it has a group for each column of a matrix, and the scales are "
                                  "not those of groups in its rows");
    if (how->elements == 0)
        return DTI_OK;
    const struct dti_gptq_shape lengths = {.rows = shape[1],
                                           .groups = scales->shape[1],
                                           .group = rows ? shape[1] : ret->form.group[1]};
    struct dti_scale_map map = {.group_of = NULL};
    const enum dti_status status = dti_gptq_order(dequant, group, &lengths, &map, reterr);
    if (status != DTI_OK || !map.group_of)
        return status;
    how->rows = shape[0];
    how->columns = shape[1];
    how->row_bytes = codes->bytes / codes->shape[0];
    how->slab = how->stored_slab = 1;
    how->map = (struct dti_scale_map){.length = 1,
                                      .mid = 1,
                                      .group_rows = 1,
                                      .group_columns = 1,
                                      .column_of = map.group_of,
                                      .of_outer = lengths.groups,
                                      .of_column = 1};
    return DTI_OK;
}

enum { AT_ONCE = 4096, FEW = 16384 }; /* bytes; the latter is enough of a glance */

/* The fields of zero points: whether all are equal to `first`, and whether any has all bits. */
struct zero_fields {
    bool equal, ones;
    unsigned first;
    uint64_t count;
};

static void look_at_field(struct zero_fields *fields, unsigned field, unsigned bits)
{
    if (fields->count++ == 0)
        fields->first = field;
    fields->equal = field == fields->first && (fields->equal || fields->count == 1);
    fields->ones = fields->ones || field == (1U << bits) - 1;
}

/* Rows end with whole words. */
static enum dti_status look_at_zeros(const struct dti_dequant_group *group, unsigned bits,
                                     uint64_t most, struct zero_fields *ret,
                                     struct dti_error *reterr)
{
    const struct dti_tensor *const zeros = dti_dequant_of(group, DTI_PART_ZERO_POINT);
    const uint64_t columns = dti_dequant_of(group, DTI_PART_SCALE)->shape[1];
    const uint64_t size = zeros->bytes < most ? zeros->bytes : most;
    struct zero_fields fields = {.count = 0};
    unsigned char raw[AT_ONCE];
    uint64_t window = 0, left = columns, words = zeros->shape[1];
    unsigned filled = 0;
    for (uint64_t done = 0; done < size; done += sizeof raw) {
        const size_t n = size - done < sizeof raw ? (size_t)(size - done) : sizeof raw;
        const enum dti_status status =
            dti_dequant_read_part(&group->part[DTI_PART_ZERO_POINT], raw, n, done, reterr);
        if (status != DTI_OK)
            return status;
        for (size_t i = 0; i + 4 <= n; i += 4) {
            window |= dti_little_get(raw + i, 4) << filled;
            for (filled += 32; filled >= bits && left > 0; filled -= bits, window >>= bits, left--)
                look_at_field(&fields, (unsigned)window & ((1U << bits) - 1), bits);
            if (--words == 0) { /* of this row */
                window = filled = 0;
                left = columns;
                words = zeros->shape[1];
            }
        }
    }
    *ret = fields;
    return DTI_OK;
}

/* Things that are read as they are said to be, and look as if something else was meant. */
static enum dti_status warn(struct dti_file_dequant *dequant, const struct dti_dequant_group *group,
                            const struct dti_quant_config *config, unsigned bits, int32_t offset,
                            const struct zero_fields *fields, struct dti_error *reterr)
{
    const struct dti_dequant_part *const part = &group->part[DTI_PART_ZERO_POINT];
    const unsigned middle = 1U << (bits - 1), other = offset > 0 ? middle : middle - 1;
    char buffer[DTI_TENSOR_PLACE];
    const char *const place = dti_tensor_place(part->container, part->tensor, buffer);
    if (fields->equal && fields->first == other)
        return dti_dequant_warn(
            dequant, group->at, DTI_LINT_ZERO_POINT_LABEL, "zero_points_label", reterr,
            "%s: all zero points are stored as %u, as in symmetric checkpoints of the format %s, "
            "but %s says %s, by which they are %u",
            place, fields->first, offset > 0 ? "gptq_v2" : "gptq", config->file,
            offset > 0 ? "gptq" : "gptq_v2", fields->first + (offset > 0 ? 1 : 0));
    if (offset > 0 && fields->ones)
        return dti_dequant_warn(
            dequant, group->at, DTI_LINT_ZERO_POINT_WRAP, "zero_points_wrapped", reterr,
            "%s: zero points minus one are stored as %u, which is read as zero point 0; programs "
            "differ here, some read %u",
            place, (1U << bits) - 1, 1U << bits);
    return DTI_OK;
}

/* By the metadata, which dtinfo writes: "gptq" or "gptq_v2"; NULL: it says nothing. */
static const char *told_of(struct dti_file_dequant *dequant, const struct dti_dequant_group *group)
{
    static const char *const formats[] = {"gptq", "gptq_v2"};
    const struct dti_metadata *const entry = dti_dequant_told(dequant, group);
    for (size_t i = 0; i < 2 && entry; i++) {
        if (entry->value_length == strlen(formats[i]) &&
            memcmp(entry->value, formats[i], entry->value_length) == 0)
            return formats[i];
    }
    return NULL;
}

enum dti_status dti_gptq_zero_offset(struct dti_file_dequant *dequant,
                                     const struct dti_dequant_group *group,
                                     const struct dti_quant_config *config, unsigned bits,
                                     int32_t *ret, struct dti_error *reterr)
{
    const unsigned middle = 1U << (bits - 1);
    const bool said = strcmp(config->method, "gptq") == 0;
    const bool glance = said && dequant->request.logical && !dequant->request.lint;
    const char *const format = !said                                               ? ""
                               : strcmp(config->checkpoint_format, "gptq_v2") == 0 ? "gptq_v2"
                                                                                   : "gptq";
    const char *const told = told_of(dequant, group);
    struct zero_fields fields;
    if (said && told && strcmp(told, format) != 0)
        return dti_dequant_refuse(&group->part[DTI_PART_ZERO_POINT], reterr, DTI_REMEDY_KEEP,
                                  "%s says checkpoint_format %s, and the file's own metadata %s",
                                  config->file, format, told);
    const enum dti_status status =
        look_at_zeros(group, bits, glance ? FEW : UINT64_MAX, &fields, reterr);
    if (status != DTI_OK)
        return status;
    if (said) {
        *ret = strcmp(format, "gptq_v2") == 0 ? 0 : 1;
        return warn(dequant, group, config, bits, *ret, &fields, reterr);
    }
    if (told) {
        *ret = strcmp(told, "gptq_v2") == 0 ? 0 : 1;
        return DTI_OK;
    }
    if (fields.equal && (fields.first == middle || fields.first == middle - 1)) {
        *ret = fields.first == middle ? 0 : 1;
        return DTI_OK;
    }
    dti_dequant_blame(group, DTI_LINT_AMBIGUOUS);
    return dti_dequant_refuse(
        &group->part[DTI_PART_ZERO_POINT], reterr, DTI_REMEDY_KEEP,
        "it holds zero points, or zero points minus one, and no configuration says which: give it "
        "a config.json whose quantization_config has quant_method gptq, and checkpoint_format gptq "
        "if they are minus one, gptq_v2 if not");
}

/* SPDX-License-Identifier: MIT
 *
 * Group orders: the group of each row of codes that was quantized in a custom order ("desc_act"),
 * or of each column ("actorder"). */
#include "files/dequant/dequant_find.h"

/* Reads the group of each row; fill: memory for them, or NULL. *ret_usual: whether they follow from
 * the group length. */
static enum dti_status look_at_order(const struct dti_dequant_group *group,
                                     const struct dti_order_shape *shape, uint16_t *fill,
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
            const uint64_t element = done + i;
            if (found >= shape->groups) {
                dti_dequant_set_rule(group, DTI_LINT_GROUP_INDEX);
                return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                          "element %llu is %d, which is not one of its %llu groups",
                                          (unsigned long long)element,
                                          (int)(int32_t)(uint32_t)found,
                                          (unsigned long long)shape->groups);
            }
            usual = usual && found == element / shape->group;
            if (fill)
                fill[element] = (uint16_t)found;
        }
    }
    *ret_usual = usual;
    return DTI_OK;
}

enum dti_status dti_dequant_order_of(struct dti_file_dequant *dequant,
                                     const struct dti_dequant_group *group,
                                     const struct dti_order_shape *shape, struct dti_scale_map *map,
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

/* Most files have the default order, which needs no memory. */
enum dti_status dti_dequant_order_columns(struct dti_file_dequant *dequant,
                                          const struct dti_dequant_group *group,
                                          const uint64_t *shape, struct dti_dequant_found *ret,
                                          struct dti_error *reterr)
{
    const struct dti_dequant_part *const part = &group->part[DTI_PART_ORDER];
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    struct dti_dequant_tensor *const how = &ret->how;
    const bool rows = ret->form.is->per == DTI_PER_CHANNEL && ret->form.is->axis == 0;
    const bool groups = ret->form.is->per == DTI_PER_GROUP && ret->form.is->axis == 1 &&
                        ret->form.is->group[0] == 0;
    if (codes->rank != 2 || scales->rank != 2 || how->is->block || !(rows || groups) ||
        scales->shape[1] > DTI_DEQUANT_WINDOW || shape[0] != codes->shape[0])
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "it has a group for each column of a matrix, and the scales are "
                                  "not those of groups in its rows");
    if (how->is->elements == 0)
        return DTI_OK;
    const struct dti_order_shape lengths = {.rows = shape[1],
                                            .groups = scales->shape[1],
                                            .group = rows ? shape[1] : ret->form.is->group[1]};
    struct dti_scale_map map = {.group_of = NULL};
    const enum dti_status status = dti_dequant_order_of(dequant, group, &lengths, &map, reterr);
    if (status != DTI_OK || !map.group_of)
        return status;
    how->is->rows = shape[0];
    how->is->columns = shape[1];
    how->is->row_bytes = codes->bytes / codes->shape[0];
    how->is->slab = how->is->stored_slab = 1;
    how->is->map = (struct dti_scale_map){.length = 1,
                                          .mid = 1,
                                          .group_rows = 1,
                                          .group_columns = 1,
                                          .column_of = map.group_of,
                                          .of_outer = lengths.groups,
                                          .of_column = 1};
    return DTI_OK;
}

/* SPDX-License-Identifier: MIT
 *
 * Which scale an element has: told by the shapes of codes and scales alone. */
#include "files/dequant_find.h"

enum { RECTANGLE = 128 }; /* usual side */

static uint64_t product(const uint64_t *shape, unsigned from, unsigned to)
{
    uint64_t result = 1;
    for (unsigned i = from; i < to; i++)
        result *= shape[i];
    return result;
}

static void one_scale(struct dti_dequant_found *found)
{
    found->form.per = DTI_PER_TENSOR;
}

static bool per_channel(const struct dti_dequant_shape *shape, unsigned axis,
                        struct dti_dequant_found *found)
{
    struct dti_scale_map *const map = &found->how.map;
    const unsigned last = shape->rank - 1;
    found->form.per = DTI_PER_CHANNEL;
    found->form.axis = axis;
    if (axis == last) {
        map->of_column = 1;
    } else {
        map->length = shape->shape[axis];
        map->mid = product(shape->shape, axis + 1, last);
        map->of_length = 1;
    }
    return true;
}

/* scales: their shape, shortened along the axis alone. */
static bool per_group(const struct dti_dequant_shape *shape, unsigned axis, uint64_t group,
                      const uint64_t *scales, struct dti_dequant_found *found)
{
    struct dti_scale_map *const map = &found->how.map;
    const unsigned last = shape->rank - 1;
    found->form.per = DTI_PER_GROUP;
    found->form.axis = axis;
    found->form.group[1] = group;
    map->of_column = 1;
    if (axis == last) {
        map->of_outer = scales[last];
        map->group_columns = group;
        return true;
    }
    map->length = shape->shape[axis];
    map->mid = product(shape->shape, axis + 1, last);
    map->group_rows = group;
    map->of_mid = scales[last];
    map->of_length = product(scales, axis + 1, shape->rank);
    map->of_outer = scales[axis] * map->of_length;
    return true;
}

static uint64_t side_of(uint64_t length, uint64_t count)
{
    if (count > 0 && (length + RECTANGLE - 1) / RECTANGLE == count)
        return RECTANGLE;
    return count > 0 && length % count == 0 ? length / count : 0;
}

static bool per_rectangle(const struct dti_dequant_shape *shape, const uint64_t *scales,
                          struct dti_dequant_found *found)
{
    struct dti_scale_map *const map = &found->how.map;
    const unsigned last = shape->rank - 1;
    const uint64_t rows = side_of(shape->stored[last - 1], scales[last - 1]);
    const uint64_t columns = side_of(shape->stored[last], scales[last]);
    if (rows == 0 || columns == 0)
        return false;
    for (unsigned i = 0; i + 2 < shape->rank; i++) {
        if (scales[i] != shape->stored[i])
            return false;
    }
    found->form.per = DTI_PER_GROUP;
    found->form.axis = last;
    found->form.group[0] = rows;
    found->form.group[1] = columns;
    map->length = shape->shape[last - 1];
    map->group_rows = rows;
    map->group_columns = columns;
    map->of_column = 1;
    map->of_length = scales[last];
    map->of_outer = scales[last - 1] * scales[last];
    return true;
}

/* Blocks of a fixed length along one axis. */
static bool place_blocks(const struct dti_dequant_shape *shape, uint64_t length,
                         struct dti_dequant_found *found)
{
    const struct dti_tensor *const scales = shape->scales;
    unsigned axis = shape->rank, others = 0;
    if (scales->rank != shape->rank)
        return false;
    for (unsigned i = 0; i < shape->rank; i++) {
        if (scales->shape[i] == shape->stored[i])
            continue;
        others++;
        if (shape->stored[i] % length == 0 && scales->shape[i] == shape->stored[i] / length)
            axis = i;
    }
    for (unsigned i = 0; i < shape->rank && others == 0; i++) { /* no blocks of no elements */
        if (shape->stored[i] == 0)
            axis = i;
    }
    return others <= 1 && axis < shape->rank &&
           per_group(shape, axis, length, scales->shape, found);
}

/* Of rows that are filled up, only groups are: along the axis that is longer than the numbers'. */
static bool place_padded(const struct dti_dequant_shape *shape, unsigned axis,
                         struct dti_dequant_found *found)
{
    const struct dti_tensor *const scales = shape->scales;
    if (scales->rank != shape->rank || scales->shape[axis] == 0 ||
        shape->stored[axis] % scales->shape[axis] != 0)
        return false;
    for (unsigned i = 0; i < shape->rank; i++) {
        if (i != axis && scales->shape[i] != shape->stored[i])
            return false;
    }
    return per_group(shape, axis, shape->stored[axis] / scales->shape[axis], scales->shape, found);
}

static bool place_affine(const struct dti_dequant_shape *shape, bool rectangles,
                         struct dti_dequant_found *found)
{
    const struct dti_tensor *const scales = shape->scales;
    const unsigned rank = shape->rank;
    unsigned differ = 0, ones = 0, axis = 0, channel = 0;
    for (unsigned i = 0; i < rank && !rectangles; i++) {
        if (shape->shape[i] != shape->stored[i])
            return place_padded(shape, i, found); /* that of no other is: is_within() */
    }
    if (scales->elements == 1) {
        one_scale(found);
        return true;
    }
    if (scales->rank == 1 && rank > 0 && scales->shape[0] == shape->shape[0])
        return per_channel(shape, 0, found);
    if (scales->rank != rank)
        return false;
    for (unsigned i = 0; i < rank; i++) {
        if (scales->shape[i] != shape->stored[i]) {
            differ++;
            axis = i;
        }
        if (scales->shape[i] == 1)
            ones++;
        else
            channel = i;
    }
    if (rectangles)
        return rank >= 2 && per_rectangle(shape, scales->shape, found);
    if (ones == rank - 1 && scales->shape[channel] == shape->shape[channel])
        return per_channel(shape, channel, found);
    if (differ == 1 && scales->shape[axis] > 0 && shape->stored[axis] % scales->shape[axis] == 0)
        return per_group(shape, axis, shape->stored[axis] / scales->shape[axis], scales->shape,
                         found);
    if (differ == 0 && scales->elements == 0)
        return per_group(shape, rank - 1, 1, scales->shape, found);
    return rank >= 2 && per_rectangle(shape, scales->shape, found);
}

/* Whether rows lie without gaps, all of them. */
static bool is_dense(const struct dti_dequant_tensor *how)
{
    const uint64_t rest = how->columns % 8 * how->bits;
    return how->slab == how->stored_slab && rest % 8 == 0 &&
           how->row_bytes == how->columns / 8 * how->bits + rest / 8;
}

static void join_rows(struct dti_dequant_tensor *how, uint64_t rows)
{
    how->columns *= rows;
    how->row_bytes *= rows;
    how->rows /= rows;
    how->slab = how->stored_slab = 1;
}

/* Rows of one scale, and rows of whole groups, are taken together: short ones cost time. */
static void join(struct dti_dequant_tensor *how, enum dti_quant_per per)
{
    struct dti_scale_map *const map = &how->map;
    if (!is_dense(how) || how->elements == 0)
        return;
    if (per == DTI_PER_TENSOR) {
        join_rows(how, how->rows);
    } else if (per == DTI_PER_CHANNEL && map->of_column == 0) {
        join_rows(how, map->mid);
        map->mid = 1;
    } else if (map->group_columns > 1 && map->length == 1 && map->mid == 1 &&
               how->columns % map->group_columns == 0 &&
               map->of_outer == how->columns / map->group_columns) {
        join_rows(how, how->rows);
        map->of_outer = 0;
    }
}

bool dti_dequant_place_scales(const struct dti_dequant_shape *shape, unsigned block_length,
                              bool rectangles, struct dti_dequant_found *ret)
{
    struct dti_dequant_tensor *const how = &ret->how;
    const struct dti_tensor *const scales = shape->scales;
    const unsigned rank = shape->rank;
    how->map = (struct dti_scale_map){.length = 1, .mid = 1, .group_rows = 1, .group_columns = 1};
    ret->form.group[0] = ret->form.group[1] = 0;
    if (block_length > 0 ? !place_blocks(shape, block_length, ret)
                         : !place_affine(shape, rectangles, ret))
        return false;
    how->columns = rank > 0 ? shape->shape[rank - 1] : 1;
    how->rows = rank > 0 ? product(shape->shape, 0, rank - 1) : 1;
    how->slab = how->stored_slab = 1;
    for (unsigned i = 1; i + 1 < rank; i++) { /* at most one is padded; the first may be */
        if (shape->shape[i] != shape->stored[i]) {
            how->slab = product(shape->shape, i, rank - 1);
            how->stored_slab = product(shape->stored, i, rank - 1);
        }
    }
    how->scale_count = scales->elements;
    how->scale_rows = scales->rank > 1 ? scales->shape[scales->rank - 2] : 1;
    how->scale_columns = scales->rank > 0 ? scales->shape[scales->rank - 1] : 1;
    join(how, ret->form.per);
    return true;
}

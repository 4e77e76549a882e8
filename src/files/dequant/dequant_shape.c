/* SPDX-License-Identifier: MIT
 *
 * Finds the scale of each element from the shapes of codes and scales, and from hints.
 */
#include "files/dequant/dequant_find.h"
#include "files/stored/quant_reading.h"
#include "util/checked.h"

static uint64_t product(const uint64_t *shape, unsigned from, unsigned to)
{
    uint64_t result = 1;
    for (unsigned i = from; i < to; i++)
        result *= shape[i];
    return result;
}

static void one_scale(struct dti_dequant_found *found)
{
    found->form.is->per = DTI_PER_TENSOR;
}

static bool per_channel(const struct dti_dequant_shape *shape, unsigned axis,
                        struct dti_dequant_found *found)
{
    struct dti_scale_map *const map = &found->how.is->map;
    const unsigned last = shape->rank - 1;
    found->form.is->per = DTI_PER_CHANNEL;
    found->form.is->axis = axis;
    if (axis == last) {
        map->of_column = 1;
    } else {
        map->length = shape->shape[axis];
        map->mid = product(shape->shape, axis + 1, last);
        map->of_length = 1;
    }
    return true;
}

/* scales: their shape, which is shorter only along the axis. */
static bool per_group(const struct dti_dequant_shape *shape, unsigned axis, uint64_t group,
                      const uint64_t *scales, struct dti_dequant_found *found)
{
    struct dti_scale_map *const map = &found->how.is->map;
    const unsigned last = shape->rank - 1;
    found->form.is->per = DTI_PER_GROUP;
    found->form.is->axis = axis;
    found->form.is->group[1] = group;
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

enum division { DIVIDED_IN_GROUPS, DIVIDED_IN_EITHER, DIVIDED_IN_RECTANGLES };

/* How many positions along an axis share a scale; 0: impossible. */
static uint64_t length_along(const struct dti_dequant_shape *shape, unsigned axis,
                             enum division division)
{
    const uint64_t length = shape->stored[axis], count = shape->scales->shape[axis];
    const struct dti_quant_hint *const hint = shape->hint;
    const bool trivial = (count == 1 || count == length) && !shape->powers;
    const uint64_t given = hint->strategy == DTI_STRATEGY_BLOCK && axis + 2 == shape->rank
                               ? hint->group[0]
                               : hint->group[1];
    if (count == 0)
        return 0;
    if (given > 0 && (hint->strategy != DTI_STRATEGY_OPEN || !trivial))
        return dti_divide_up(length, given) == count ? given : 0;
    if (trivial)
        return dti_divide_up(length, count);
    const struct dti_quant_lengths found =
        division == DIVIDED_IN_RECTANGLES
            ? dti_quant_sides_of(length, count, shape->rectangles)
            : dti_quant_lengths_of(length, count, division == DIVIDED_IN_EITHER);
    if (found.other > 0)
        *shape->ambiguity = (struct dti_dequant_ambiguity){.axis = axis, .lengths = found};
    return found.length;
}

static bool per_rectangle(const struct dti_dequant_shape *shape, const uint64_t *scales,
                          struct dti_dequant_found *found)
{
    struct dti_scale_map *const map = &found->how.is->map;
    const unsigned last = shape->rank - 1;
    for (unsigned i = 0; i + 2 < shape->rank; i++) {
        if (scales[i] != shape->stored[i])
            return false;
    }
    const uint64_t rows = length_along(shape, last - 1, DIVIDED_IN_RECTANGLES);
    const uint64_t columns = rows > 0 ? length_along(shape, last, DIVIDED_IN_RECTANGLES) : 0;
    if (rows == 0 || columns == 0)
        return false;
    found->form.is->per = DTI_PER_GROUP;
    found->form.is->axis = last;
    found->form.is->group[0] = rows;
    found->form.is->group[1] = columns;
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
    for (unsigned i = 0; i < shape->rank && others == 0; i++) { /* no elements means no blocks */
        if (shape->stored[i] == 0)
            axis = i;
    }
    return others <= 1 && axis < shape->rank &&
           per_group(shape, axis, length, scales->shape, found);
}

/* Where rows are padded, only groups are possible: along the axis that is longer than that of the
 * numbers. */
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

/* Whether the dimensions of the scales equal those of the tensor, except the last `from`. */
static bool equal_before(const struct dti_dequant_shape *shape, unsigned from)
{
    if (shape->scales->rank != shape->rank || shape->rank < from)
        return false;
    for (unsigned i = 0; i + from < shape->rank; i++) {
        if (shape->scales->shape[i] != shape->stored[i])
            return false;
    }
    return true;
}

/* Whether the shape of the scales fits the strategy of the hint. */
static bool is_strategy(const struct dti_dequant_shape *shape)
{
    const struct dti_tensor *const scales = shape->scales;
    const uint64_t *const group = shape->hint->group;
    const unsigned rank = shape->rank;
    switch (shape->hint->strategy) {
    case DTI_STRATEGY_TENSOR:
        return scales->elements == 1 ||
               (rank > 2 && equal_before(shape, 2) && product(scales->shape, rank - 2, rank) == 1);
    case DTI_STRATEGY_CHANNEL:
        return (scales->rank == 1 && rank > 0 && scales->shape[0] == shape->shape[0]) ||
               (rank > 0 && equal_before(shape, 1) && scales->shape[rank - 1] == 1);
    case DTI_STRATEGY_GROUP:
        return rank > 0 && equal_before(shape, 1) &&
               (group[1] == 0 ||
                scales->shape[rank - 1] == dti_divide_up(shape->stored[rank - 1], group[1]));
    case DTI_STRATEGY_BLOCK:
        return rank > 1 && equal_before(shape, 2) &&
               (group[0] == 0 ||
                (scales->shape[rank - 2] == dti_divide_up(shape->stored[rank - 2], group[0]) &&
                 scales->shape[rank - 1] == dti_divide_up(shape->stored[rank - 1], group[1])));
    default:
        return true;
    }
}

static bool place_affine(const struct dti_dequant_shape *shape, struct dti_dequant_found *found)
{
    const struct dti_tensor *const scales = shape->scales;
    const unsigned rank = shape->rank;
    unsigned differ = 0, ones = 0, axis = 0, channel = 0;
    if (!is_strategy(shape))
        return false;
    for (unsigned i = 0; i < rank && !shape->rectangles; i++) {
        if (shape->shape[i] != shape->stored[i])
            return place_padded(shape, i, found); /* no other axis is padded: is_within() */
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
    if (shape->rectangles)
        return rank >= 2 && per_rectangle(shape, scales->shape, found);
    if (ones == rank - 1 && scales->shape[channel] == shape->shape[channel])
        return per_channel(shape, channel, found);
    if (differ == 1) {
        const bool thin = !shape->words && dti_quant_is_thin(shape->stored, rank, axis);
        const uint64_t length =
            length_along(shape, axis, thin ? DIVIDED_IN_EITHER : DIVIDED_IN_GROUPS);
        return length > 0 && per_group(shape, axis, length, scales->shape, found);
    }
    if (differ == 0 && scales->elements == 0)
        return per_group(shape, rank - 1, 1, scales->shape, found);
    return rank >= 2 && per_rectangle(shape, scales->shape, found);
}

/* Sets the rows of numbers, and what is known about the scales. */
static void place_rows(const struct dti_dequant_shape *shape, struct dti_dequant_found *ret)
{
    struct dti_dequant_tensor *const how = &ret->how;
    const struct dti_tensor *const scales = shape->scales;
    const unsigned rank = shape->rank;
    how->is->columns = rank > 0 ? shape->shape[rank - 1] : 1;
    how->is->rows = rank > 0 ? product(shape->shape, 0, rank - 1) : 1;
    how->is->slab = how->is->stored_slab = 1;
    how->is->scale_count = scales->elements;
    how->is->scale_rows = scales->rank > 1 ? scales->shape[scales->rank - 2] : 1;
    how->is->scale_columns = scales->rank > 0 ? scales->shape[scales->rank - 1] : 1;
}

static void join_rows(struct dti_dequant_tensor *how, uint64_t rows)
{
    how->is->columns *= rows;
    how->is->row_bytes *= rows;
    how->is->rows /= rows;
    how->is->slab = how->is->stored_slab = 1;
}

/* Joins rows that share one scale and rows of whole groups: short rows are slow. */
static void join(struct dti_dequant_tensor *how, enum dti_quant_per per)
{
    struct dti_scale_map *const map = &how->is->map;
    if (!dti_dequant_is_flat(how) || how->is->elements == 0)
        return;
    if (per == DTI_PER_TENSOR) {
        join_rows(how, how->is->rows);
    } else if (per == DTI_PER_CHANNEL && map->of_column == 0) {
        join_rows(how, map->mid);
        map->mid = 1;
    } else if (map->group_columns > 1 && map->length == 1 && map->mid == 1 &&
               how->is->columns % map->group_columns == 0 &&
               map->of_outer == how->is->columns / map->group_columns) {
        join_rows(how, how->is->rows);
        map->of_outer = 0;
    }
}

/* Initializes the map to a single scale. */
static void start(struct dti_dequant_found *ret)
{
    ret->how.is->map =
        (struct dti_scale_map){.length = 1, .mid = 1, .group_rows = 1, .group_columns = 1};
    ret->form.is->group[0] = ret->form.is->group[1] = 0;
}

bool dti_dequant_is_spread(const struct dti_tensor *scales, unsigned rank, uint64_t ret[2])
{
    if (rank != 2 || scales->rank != 4 || scales->shape[1] != 1 || scales->shape[3] != 1)
        return false;
    ret[0] = scales->shape[0];
    ret[1] = scales->shape[2];
    return true;
}

bool dti_dequant_place_scales(const struct dti_dequant_shape *shape, unsigned block_length,
                              struct dti_dequant_found *ret)
{
    struct dti_dequant_tensor *const how = &ret->how;
    const unsigned rank = shape->rank;
    start(ret);
    if (block_length > 0 ? !is_strategy(shape) || !place_blocks(shape, block_length, ret)
                         : !place_affine(shape, ret))
        return false;
    place_rows(shape, ret);
    for (unsigned i = 1; i + 1 < rank; i++) { /* at most one is padded; padding of the first needs
                                               * no slabs */
        if (shape->shape[i] != shape->stored[i]) {
            how->is->slab = product(shape->shape, i, rank - 1);
            how->is->stored_slab = product(shape->stored, i, rank - 1);
        }
    }
    join(how, ret->form.is->per);
    return true;
}

void dti_dequant_place_known(const struct dti_dequant_shape *shape, enum dti_quant_per per,
                             unsigned axis, uint64_t group, struct dti_dequant_found *ret)
{
    start(ret);
    if (per == DTI_PER_TENSOR)
        one_scale(ret);
    else if (per == DTI_PER_CHANNEL)
        (void)per_channel(shape, axis, ret);
    else
        (void)per_group(shape, axis, group, shape->scales->shape, ret);
    place_rows(shape, ret);
    join(&ret->how, per);
}

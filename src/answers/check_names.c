/* SPDX-License-Identifier: MIT
 *
 * Assertions that names, dtypes and shapes alone decide. */
#include <string.h>

#include "answers/amounts.h"
#include "answers/check_parts.h"
#include "dtinfo/glob.h"

bool dti_check_item_fits(const struct dti_check_item *item, const struct dti_tensor *tensor)
{
    return !item->glob ||
           dti_glob_match(item->glob, item->glob_length, tensor->name, tensor->name_length);
}

/* Whether any of the items is about this tensor. */
bool dti_check_names_fit(const struct dti_check_assertion *assertion,
                         const struct dti_tensor *tensor)
{
    for (size_t i = 0; i < assertion->item_count; i++) {
        if (dti_check_item_fits(&assertion->items[i], tensor))
            return true;
    }
    return false;
}

static bool is_of(const struct dti_check_item *item, const struct dti_tensor *tensor)
{
    if (item->block)
        return tensor->block == item->block;
    return tensor->format && strcmp(tensor->format->name, item->format.name) == 0;
}

/* The last item with a pattern that fits decides; without one, any of those that have none. */
bool dti_check_dtype_holds(const struct dti_check_assertion *assertion,
                           const struct dti_tensor *tensor)
{
    bool defaults = false, holds = false;
    for (size_t i = assertion->item_count; i-- > 0;) {
        const struct dti_check_item *const item = &assertion->items[i];
        if (item->glob && dti_check_item_fits(item, tensor))
            return is_of(item, tensor);
        defaults = defaults || !item->glob;
        holds = holds || (!item->glob && is_of(item, tensor));
    }
    return holds || !defaults;
}

/* The next dimension of a pattern: a number, or any. False at the end and at nonsense. */
static bool next_dimension(const char **text, size_t *length, bool *ret_any, uint64_t *ret_number)
{
    *ret_any = *length > 0 && **text == '*';
    if (*ret_any)
        (*text)++, (*length)--;
    else if (!dti_amount_digits(text, length, ret_number))
        return false;
    if (*length == 0)
        return true;
    if (*length == 1 || (**text != ',' && **text != 'x'))
        return false;
    (*text)++, (*length)--;
    return true;
}

bool dti_check_shape_is_pattern(const char *text, size_t length)
{
    bool any;
    uint64_t number;
    while (length > 0) {
        if (!next_dimension(&text, &length, &any, &number))
            return false;
    }
    return true;
}

static bool shape_fits(const struct dti_check_item *item, const struct dti_tensor *tensor)
{
    const char *text = item->shape;
    size_t length = item->shape_length;
    unsigned rank = 0;
    bool any;
    uint64_t number;
    while (length > 0 && next_dimension(&text, &length, &any, &number)) {
        if (rank == tensor->rank || (!any && tensor->shape[rank] != number))
            return false;
        rank++;
    }
    return rank == tensor->rank;
}

/* As with dtypes the last item that fits decides. */
bool dti_check_shape_holds(const struct dti_check_assertion *assertion,
                           const struct dti_tensor *tensor)
{
    for (size_t i = assertion->item_count; i-- > 0;) {
        if (dti_check_item_fits(&assertion->items[i], tensor))
            return shape_fits(&assertion->items[i], tensor);
    }
    return true;
}

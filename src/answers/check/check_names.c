/* SPDX-License-Identifier: MIT
 *
 * The assertions on dtypes and shapes: lists of items with name patterns. */
#include "answers/check/check_answer.h"

#include <string.h>

#include "answers/amounts.h"
#include "answers/tensors.h"
#include "util/text/glob.h"

static bool item_fits(const struct dti_check_item *item, const struct dti_tensor *tensor)
{
    return !item->glob ||
           dti_glob_match(item->glob, item->glob_length, tensor->name, tensor->name_length);
}

/* Whether any item applies to this tensor. */
static bool names_fit(const struct dti_check_assertion *assertion, const struct dti_tensor *tensor)
{
    for (size_t i = 0; i < assertion->item_count; i++) {
        if (item_fits(&assertion->items[i], tensor))
            return true;
    }
    return false;
}

static bool is_of(const struct dti_check_item *item, const struct dti_tensor *tensor)
{
    const char *const name = item->block ? item->block : item->format.name;
    return (tensor->format || dti_tensor_block(tensor) || dti_tensor_gguf(tensor)) &&
           strcmp(dti_tensor_dtype(tensor), name) == 0;
}

/* The last item with a matching pattern decides; without one, any item without a pattern. */
static bool dtype_holds(const struct dti_check_assertion *assertion,
                        const struct dti_tensor *tensor)
{
    bool defaults = false, holds = false;
    for (size_t i = assertion->item_count; i-- > 0;) {
        const struct dti_check_item *const item = &assertion->items[i];
        if (item->glob && item_fits(item, tensor))
            return is_of(item, tensor);
        defaults = defaults || !item->glob;
        holds = holds || (!item->glob && is_of(item, tensor));
    }
    return holds || !defaults;
}

/* Parses the next dimension of a pattern: a number or a wildcard. False at the end and for invalid
 * text. */
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

/* As with dtypes, the last matching item decides. */
static bool shape_holds(const struct dti_check_assertion *assertion,
                        const struct dti_tensor *tensor)
{
    for (size_t i = assertion->item_count; i-- > 0;) {
        if (item_fits(&assertion->items[i], tensor))
            return shape_fits(&assertion->items[i], tensor);
    }
    return true;
}

/* An item whose name pattern matches no tensor is a failure. */
static enum dti_status check_items(struct dti_check_report *report, size_t at,
                                   const size_t *tensors, size_t count, struct dti_error *reterr)
{
    const struct dti_check_assertion *const assertion = &report->request->assertions[at];
    enum dti_status status = DTI_OK;
    for (size_t item = 0; item < assertion->item_count && status == DTI_OK; item++) {
        size_t i = 0;
        while (i < count &&
               !item_fits(&assertion->items[item], &report->container->tensors[tensors[i]]))
            i++;
        const struct dti_check_failure failure = {
            .assertion = at, .tensor = SIZE_MAX, .fault = DTI_CHECK_UNMATCHED, .index = item};
        if (i == count && assertion->items[item].glob)
            status = dti_check_fail(report, &failure, reterr);
    }
    return status;
}

enum dti_status dti_check_names(struct dti_check_report *report, size_t at, const size_t *tensors,
                                size_t count, struct dti_error *reterr)
{
    const struct dti_check_assertion *const assertion = &report->request->assertions[at];
    const bool dtype = assertion->kind == DTI_CHECK_DTYPE;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = &report->container->tensors[tensors[i]];
        const struct dti_check_failure failure = {.assertion = at,
                                                  .tensor = tensors[i],
                                                  .fault = dtype ? DTI_CHECK_WRONG_DTYPE
                                                                 : DTI_CHECK_WRONG_SHAPE,
                                                  .index = UINT64_MAX};
        report->tally[at].tensors += names_fit(assertion, tensor);
        if (!(dtype ? dtype_holds(assertion, tensor) : shape_holds(assertion, tensor)))
            status = dti_check_fail(report, &failure, reterr);
    }
    return dtype || status != DTI_OK ? status : check_items(report, at, tensors, count, reterr);
}

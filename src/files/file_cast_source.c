/* SPDX-License-Identifier: MIT
 *
 * Where a tensor's elements are read in the order in which they are written, and what is made of
 * its loss. */
#include <stdio.h>
#include <string.h>

#include "files/file_cast_parts.h"

static enum dti_status find(struct dti_file_cast *cast, size_t at, struct dti_file_cast_source *ret,
                            struct dti_error *reterr)
{
    const struct dti_file_view *const view = cast->request.view;
    const size_t tensor = cast->tensors[at].source;
    ret->source = NULL;
    if (view)
        return view->find(view->context, tensor, &ret->source, &ret->input, &ret->offset, reterr);
    return dti_container_data(cast->container, tensor, &ret->input, &ret->offset, reterr);
}

enum dti_status dti_file_cast_source_open(struct dti_file_cast *cast, size_t at,
                                          uint64_t max_memory, struct dti_file_cast_source *ret,
                                          struct dti_error *reterr)
{
    const struct dti_tensor *const tensor = dti_file_cast_source(cast, at);
    ret->is_reordered = false;
    enum dti_status status = find(cast, at, ret, reterr);
    if (status != DTI_OK || ret->source || !tensor->fortran ||
        cast->request.kind == DTI_CONTAINER_NPY)
        return status;
    status =
        dti_tensor_reorder(tensor, ret->input, ret->offset, max_memory, &ret->reordered, reterr);
    if (status != DTI_OK)
        return status;
    ret->is_reordered = true;
    ret->input = &ret->reordered;
    ret->offset = 0;
    return DTI_OK;
}

void dti_file_cast_source_close(struct dti_file_cast_source *source)
{
    if (source->is_reordered)
        dti_input_close(&source->reordered);
    source->is_reordered = false;
}

static enum dti_status check_nan(const struct dti_file_cast *cast, size_t at,
                                 const struct dti_loss *loss, struct dti_error *reterr)
{
    const struct dti_format *const without =
        dti_loss_without_nan(loss, &cast->request.cast, cast->request.rule);
    char place[DTI_TENSOR_PLACE], element[48] = "a NaN";
    if (!without)
        return DTI_OK;
    if (loss->first_no_code != UINT64_MAX)
        (void)snprintf(element, sizeof element, "element %llu is NaN",
                       (unsigned long long)loss->first_no_code);
    return dti_fail_remedy(
        reterr, DTI_NOT_REPRESENTABLE, DTI_REMEDY_SATURATE, "%s: %s; %s has no NaN",
        dti_tensor_place(cast->container, cast->tensors[at].source, place), element, without->name);
}

enum dti_status dti_file_cast_add_loss(struct dti_file_cast *cast, size_t at,
                                       const struct dti_loss *loss, struct dti_error *reterr)
{
    const enum dti_status status = check_nan(cast, at, loss, reterr);
    if (status != DTI_OK)
        return status;
    dti_loss_summarize(loss, &cast->tensors[at].loss);
    if (loss->max_absolute > cast->loss.max_absolute)
        cast->max_tensor = at;
    dti_loss_merge(&cast->loss, loss);
    return DTI_OK;
}

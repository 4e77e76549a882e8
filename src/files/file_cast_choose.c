/* SPDX-License-Identifier: MIT
 *
 * Which tensors of a file are written, and which of those are cast. */
#include <stdlib.h>
#include <string.h>

#include "files/file_cast_parts.h"

static enum dti_fate fate_of(const struct dti_file_cast_request *request,
                             const struct dti_tensor *tensor, size_t at)
{
    const struct dti_format *const format = tensor->format;
    const struct dti_file_view *const view = request->view;
    enum dti_fate fate;
    if (view && view->keeps(view->context, at, &fate))
        return fate;
    if (dti_tensor_fits(request->keep, tensor))
        return DTI_FATE_KEEP;
    if (request->only && !dti_tensor_fits(request->only, tensor))
        return DTI_FATE_ONLY;
    if (format->kind == DTI_KIND_COMPLEX)
        return DTI_FATE_COMPLEX;
    if (dti_format_is_integer(format) && !request->ints)
        return DTI_FATE_INTEGER;
    /* in every stack a cast to the same dtype returns the tensor as it is */
    if (request->rule && format->id < DTI_DTYPE_COUNT && format->id == request->cast.dst.id)
        return DTI_FATE_SAME;
    const struct dti_request plan = {.src = *format, .cast = request->cast, .rule = request->rule};
    return dti_request_is_copy(&plan) ? DTI_FATE_SAME : DTI_FATE_CAST;
}

/* Said once, where otherwise nothing would seem to have happened. */
static void warn_of_no_cast(const struct dti_file_cast *cast)
{
    const struct dti_file_cast_request *const request = &cast->request;
    bool integers = cast->tensor_count > 0;
    for (size_t i = 0; i < cast->tensor_count; i++) {
        if (cast->tensors[i].fate == DTI_FATE_SAME)
            return;
        integers = integers && cast->tensors[i].fate == DTI_FATE_INTEGER;
    }
    if (request->warn && cast->tensor_count > 0 && cast->cast_count == 0)
        request->warn(request->warn_context, "nothing_cast",
                      integers ? "nothing is cast: there are integers alone; --ints casts them"
                               : "nothing is cast: all tensors keep their dtypes");
}

enum dti_status dti_file_cast_choose(struct dti_file_cast *cast, struct dti_error *reterr)
{
    const struct dti_container *const container = cast->container;
    const struct dti_file_cast_request *const request = &cast->request;
    size_t unreadable = 0, first = 0;
    cast->tensors = calloc(container->tensor_count + 1, sizeof *cast->tensors);
    if (!cast->tensors)
        return dti_file_cast_no_memory(reterr);
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        if (request->select && !dti_tensor_fits(request->select, tensor))
            continue;
        if (!tensor->format || tensor->refusal) {
            first = unreadable++ == 0 ? i : first;
            continue;
        }
        struct dti_file_cast_tensor *const chosen = &cast->tensors[cast->tensor_count++];
        chosen->source = i;
        chosen->fate = fate_of(request, tensor, i);
        cast->cast_count += chosen->fate == DTI_FATE_CAST;
    }
    if (unreadable > 0)
        return dti_refuse_unreadable(container, first, unreadable, reterr);
    if (request->select && cast->tensor_count == 0)
        return dti_refuse_selection(container, request->select, reterr);
    const struct dti_idle_patterns idle = {
        .container = container,
        .fits = request->view ? request->view->fits : NULL,
        .fits_context = request->view ? request->view->context : NULL,
        .warn = request->warn,
        .warn_context = request->warn_context,
    };
    dti_warn_idle_patterns(&idle, "--select", request->select);
    dti_warn_idle_patterns(&idle, "--only", request->only);
    dti_warn_idle_patterns(&idle, "--keep", request->keep);
    warn_of_no_cast(cast);
    return DTI_OK;
}

/* SPDX-License-Identifier: MIT
 *
 * Which tensors of a file are written, and which of those are cast. */
#include <stdlib.h>
#include <string.h>

#include "dtinfo/scaled_codes.h"
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
    const struct dti_note note = {
        .code = "nothing_cast",
        .text = integers ? "nothing is cast: there are integers alone"
                         : "nothing is cast: all tensors keep their dtypes",
        .remedy = integers ? DTI_REMEDY_CAST_INTEGERS : DTI_REMEDY_NONE,
    };
    if (request->warn && cast->tensor_count > 0 && cast->cast_count == 0)
        request->warn(request->warn_context, &note);
}

/* Codes are cast as they are. A view has applied scales. */
static enum dti_status warn_of_codes(const struct dti_file_cast *cast, struct dti_error *reterr)
{
    const struct dti_file_cast_request *const request = &cast->request;
    struct dti_scaled_codes codes = {.count = 0};
    char text[DTI_SCALED_CODES_TEXT];
    size_t count = 0;
    if (request->view || !request->warn)
        return DTI_OK;
    const struct dti_tensor **const those = calloc(cast->tensor_count + 1, sizeof *those);
    for (size_t i = 0; i < cast->tensor_count && those; i++) {
        if (cast->tensors[i].fate == DTI_FATE_CAST)
            those[count++] = dti_file_cast_source(cast, i);
    }
    const bool done = those && dti_scaled_codes_find(&codes, cast->container, those, count);
    free((void *)those);
    if (!done)
        return dti_file_cast_no_memory(reterr);
    if (codes.count == 0)
        return DTI_OK;
    const struct dti_note note = dti_scaled_codes_note(&codes, text);
    request->warn(request->warn_context, &note);
    return DTI_OK;
}

enum dti_status dti_file_cast_choose(struct dti_file_cast *cast, struct dti_error *reterr)
{
    const struct dti_container *const container = cast->container;
    const struct dti_file_cast_request *const request = &cast->request;
    size_t *places;
    enum dti_status status =
        dti_choose_tensors(container, request->select, &places, &cast->tensor_count, reterr);
    if (status != DTI_OK)
        return status;
    cast->tensors = calloc(cast->tensor_count + 1, sizeof *cast->tensors);
    for (size_t i = 0; i < cast->tensor_count && cast->tensors; i++) {
        struct dti_file_cast_tensor *const chosen = &cast->tensors[i];
        chosen->source = places[i];
        chosen->fate = fate_of(request, &container->tensors[places[i]], places[i]);
        cast->cast_count += chosen->fate == DTI_FATE_CAST;
    }
    free(places);
    if (!cast->tensors)
        return dti_file_cast_no_memory(reterr);
    const struct dti_idle_patterns idle = {
        .container = container,
        .fits = request->view ? request->view->fits : NULL,
        .fits_context = request->view ? request->view->context : NULL,
        .warn = request->warn,
        .warn_context = request->warn_context,
        .correct_only = DTI_REMEDY_CORRECT_CAST,
    };
    dti_warn_idle_choices(&idle, request->select, request->only, request->keep);
    warn_of_no_cast(cast);
    return warn_of_codes(cast, reterr);
}

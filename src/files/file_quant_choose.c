/* SPDX-License-Identifier: MIT
 *
 * Which tensors of a file are written, and which of those are quantized. */
#include <stdlib.h>
#include <string.h>

#include "containers/name_order.h"
#include "files/file_quant_parts.h"

/* What is quantized already, by the names of its parts. */
struct parts_of_others {
    const struct dti_container *container;
    struct dti_name_order names;
    bool any; /* names are filled */
};

static bool has_codes(const struct parts_of_others *others, const char *name, size_t length)
{
    size_t at;
    if (!dti_name_order_find(&others->names, name, length, &at))
        return false;
    const struct dti_format *const format = others->container->tensors[at].format;
    return format && format->kind != DTI_KIND_COMPLEX &&
           (format->width <= 8 || dti_format_is_integer(format));
}

/* Whether a tensor is the X_scale or the like of codes X, or X_packed. */
static bool is_part(const struct parts_of_others *others, const struct dti_tensor *tensor)
{
    static const char packed[] = "_packed";
    size_t length;
    if (!others->any || !dti_quant_is_side_name(tensor->name, tensor->name_length, &length))
        return false;
    if (has_codes(others, tensor->name, length))
        return true;
    char *const name = malloc(length + sizeof packed);
    if (!name)
        return false;
    memcpy(name, tensor->name, length);
    memcpy(name + length, packed, sizeof packed);
    const bool found = has_codes(others, name, length + sizeof packed - 1);
    free(name);
    return found;
}

static enum dti_status find_parts(const struct dti_container *container,
                                  struct parts_of_others *ret, struct dti_error *reterr)
{
    *ret = (struct parts_of_others){.container = container};
    for (size_t i = 0; i < container->tensor_count && !ret->any; i++) {
        size_t length;
        const struct dti_tensor *const tensor = &container->tensors[i];
        ret->any = dti_quant_is_side_name(tensor->name, tensor->name_length, &length);
    }
    if (!ret->any)
        return DTI_OK;
    if (!dti_name_order_init(&ret->names, container->tensor_count))
        return dti_file_quant_no_memory(reterr);
    for (size_t i = 0; i < container->tensor_count; i++)
        dti_name_order_add(&ret->names, container->tensors[i].name,
                           container->tensors[i].name_length);
    dti_name_order_sort(&ret->names);
    return DTI_OK;
}

static enum dti_quant_fate fate_of(const struct dti_file_quant_request *request,
                                   const struct parts_of_others *others,
                                   const struct dti_tensor *tensor)
{
    const struct dti_format *const format = tensor->format;
    if (dti_tensor_fits(request->keep, tensor))
        return DTI_QUANT_FATE_KEEP;
    if (request->only && !dti_tensor_fits(request->only, tensor))
        return DTI_QUANT_FATE_ONLY;
    if (format->kind == DTI_KIND_COMPLEX)
        return DTI_QUANT_FATE_COMPLEX;
    if (dti_format_is_integer(format))
        return DTI_QUANT_FATE_INTEGER;
    if (format->width <= 8)
        return DTI_QUANT_FATE_NARROW;
    if (is_part(others, tensor))
        return DTI_QUANT_FATE_PART;
    if (tensor->rank == 0)
        return DTI_QUANT_FATE_SCALAR;
    return DTI_QUANT_FATE_QUANTIZED;
}

/* Said once, where otherwise nothing would seem to have happened. */
static void warn_of_nothing(const struct dti_file_quant *quant)
{
    const struct dti_file_quant_request *const request = &quant->request;
    const struct dti_note note = {
        .code = "nothing_quantized",
        .text = "nothing is quantized: all tensors keep their dtypes",
    };
    if (request->warn && quant->tensor_count > 0 && quant->quantized_count == 0)
        request->warn(request->warn_context, &note);
}

static enum dti_status choose(struct dti_file_quant *quant, const struct parts_of_others *others,
                              struct dti_error *reterr)
{
    const struct dti_container *const container = quant->container;
    const struct dti_file_quant_request *const request = &quant->request;
    size_t *places;
    enum dti_status status =
        dti_choose_tensors(container, request->select, &places, &quant->tensor_count, reterr);
    if (status != DTI_OK)
        return status;
    quant->tensors = calloc(quant->tensor_count + 1, sizeof *quant->tensors);
    for (size_t i = 0; i < quant->tensor_count && quant->tensors; i++) {
        struct dti_file_quant_tensor *const chosen = &quant->tensors[i];
        chosen->source = places[i];
        chosen->fate = fate_of(request, others, &container->tensors[places[i]]);
        quant->quantized_count += chosen->fate == DTI_QUANT_FATE_QUANTIZED;
    }
    free(places);
    if (!quant->tensors)
        return dti_file_quant_no_memory(reterr);
    return DTI_OK;
}

enum dti_status dti_file_quant_choose(struct dti_file_quant *quant, struct dti_error *reterr)
{
    const struct dti_file_quant_request *const request = &quant->request;
    struct parts_of_others others;
    enum dti_status status = find_parts(quant->container, &others, reterr);
    if (status == DTI_OK)
        status = choose(quant, &others, reterr);
    if (others.any)
        dti_name_order_free(&others.names);
    if (status != DTI_OK)
        return status;
    const struct dti_idle_patterns idle = {.container = quant->container,
                                           .warn = request->warn,
                                           .warn_context = request->warn_context,
                                           .correct_only = DTI_REMEDY_CORRECT_QUANT};
    dti_warn_idle_choices(&idle, request->select, request->only, request->keep);
    warn_of_nothing(quant);
    return DTI_OK;
}

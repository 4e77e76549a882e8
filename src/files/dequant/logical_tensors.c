/* SPDX-License-Identifier: MIT
 *
 * Containers with quantized tensors instead of their parts: see logical_tensors.h. */
#include "files/dequant/logical_tensors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "files/dequant/dequant_parts.h"
#include "io/unread.h"

/* Whether the refusal means that data is broken. Ambiguous, unsupported and foreign tensors are
 * shown as stored, with a note. */
static bool is_broken(const struct dti_dequant_refusal *refusal)
{
    switch (refusal->rule) {
    case DTI_LINT_CONFIG_UNREADABLE:
    case DTI_LINT_CONFIG_CONFLICT:
    case DTI_LINT_CONFIG_DIFFERS:
    case DTI_LINT_IGNORED:
    case DTI_LINT_NOT_COVERED:
    case DTI_LINT_PART_MISSING:
    case DTI_LINT_PART_SURPLUS:
    case DTI_LINT_CODES_MISSING:
    case DTI_LINT_PARTS:
    case DTI_LINT_TENSOR_SCALE:
    case DTI_LINT_GROUP_INDEX:
        return true;
    default:
        return false;
    }
}

static enum dti_status refuse(const struct dti_dequant_refusal *refusal, struct dti_error *reterr)
{
    const enum dti_remedy remedy =
        refusal->remedy == DTI_REMEDY_NONE ? DTI_REMEDY_READ_STORED : refusal->remedy;
    return dti_fail_remedy(reterr, DTI_BAD_INPUT, remedy, "%s", refusal->text);
}

static const struct dti_dequant_refusal *broken(const struct dti_container *container,
                                                const struct dti_tensor *tensor)
{
    if (!container->stored)
        return NULL;
    const struct dti_file_dequant *const dequant = container->own;
    const size_t at = container->stored_at[tensor - container->tensors];
    const struct dti_dequant_refusal *const refusal = dequant->refused[at];
    const struct dti_onnx_weight *const weight = dti_container_weight(dequant->container, at);
    if (weight && weight->problem) /* a problem of its nodes, which may derive several tensors from
                                    * it */
        return NULL;
    return refusal && is_broken(refusal) ? refusal : NULL;
}

enum dti_status dti_logical_refuse(const struct dti_container *container,
                                   const struct dti_tensor *tensor, struct dti_error *reterr)
{
    const struct dti_dequant_refusal *const refusal = broken(container, tensor);
    return refusal ? refuse(refusal, reterr) : DTI_OK;
}

const char *dti_logical_refusal(const struct dti_container *container,
                                const struct dti_tensor *tensor)
{
    const struct dti_dequant_refusal *const refusal = broken(container, tensor);
    return refusal ? refusal->text : NULL;
}

const char *dti_logical_ambiguity(const struct dti_container *container,
                                  const struct dti_tensor *tensor)
{
    if (!container->stored || dti_tensor_form(tensor) || tensor->coded_weights)
        return NULL;
    const struct dti_file_dequant *const dequant = container->own;
    const struct dti_dequant_refusal *const refusal =
        dequant->refused[container->stored_at[tensor - container->tensors]];
    return refusal ? refusal->text : NULL;
}

enum dti_status dti_logical_refuse_named(const struct dti_container *container, const char *name,
                                         size_t length, struct dti_error *reterr)
{
    const struct dti_file_dequant *const dequant = container->stored ? container->own : NULL;
    size_t module = length;
    while (module > 0 && name[module - 1] != '.')
        module--;
    for (size_t i = 0; dequant && i < dequant->container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &dequant->container->tensors[i];
        if (dequant->refused[i] && is_broken(dequant->refused[i]) && tensor->name_length > module &&
            memcmp(tensor->name, name, module) == 0 &&
            (!memchr(tensor->name + module, '.', tensor->name_length - module) ||
             (tensor->name_length > length && memcmp(tensor->name, name, length) == 0)))
            return refuse(dequant->refused[i], reterr);
    }
    return DTI_OK;
}

/* Most files contain nothing quantized, and need no view. */
static bool may_be_quantized(const struct dti_container *container)
{
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        if (dti_may_be_codes(tensor) || dti_dequant_is_ggml(container, i) ||
            dti_quant_names_part(tensor))
            return true;
    }
    return false;
}

enum dti_status dti_logical_of(struct dti_container **ret, struct dti_container *container,
                               const struct dti_logical_options *options, struct dti_error *reterr)
{
    struct dti_file_dequant *dequant = NULL;
    struct dti_file_dequant_request request = {.bits = options->bits,
                                               .block = options->block,
                                               .reciprocal = options->reciprocal,
                                               .stated_by = options->stated_by,
                                               .level = options->level,
                                               .logical = true,
                                               .lint = options->lint};
    enum dti_status status = DTI_OK;
    if (options->open)
        request.open = *options->open;
    if (!options->raw && !dti_container_has(container->kind, DTI_TRAIT_BARE) &&
        (options->lint || may_be_quantized(container)))
        status = dti_file_dequant_new(&dequant, container, &request, reterr);
    if (status != DTI_OK) {
        dti_container_free(container);
        return status;
    }
    *ret = container;
    if (!dequant)
        return DTI_OK;
    if (dequant->found_count == 0 && dequant->ambiguities.count == 0 && !options->lint) {
        dti_file_dequant_free(dequant);
        return DTI_OK;
    }
    *ret = dti_file_dequant_container(dequant);
    (*ret)->stored = container;
    (*ret)->own = dequant;
    return DTI_OK;
}

enum dti_status dti_logical_open(struct dti_container **ret, const char *path,
                                 const struct dti_logical_options *options,
                                 struct dti_error *reterr)
{
    struct dti_container *container = NULL;
    const enum dti_status status = dti_container_open(&container, path, options->open, reterr);
    return status == DTI_OK ? dti_logical_of(ret, container, options, reterr) : status;
}

enum dti_status dti_logical_data(struct dti_container *container, size_t tensor,
                                 struct dti_batch_source *ret_source,
                                 const struct dti_input **ret_input, uint64_t *ret_offset,
                                 struct dti_error *reterr)
{
    if (container->stored)
        return dti_file_dequant_data(container->own, tensor, ret_source, ret_input, ret_offset,
                                     reterr);
    *ret_source = (struct dti_batch_source){.read = NULL};
    return dti_container_data(container, tensor, ret_input, ret_offset, reterr);
}

const size_t *dti_logical_comfy(const struct dti_container *container)
{
    const struct dti_file_dequant *const dequant = container->stored ? container->own : NULL;
    enum dti_comfy_known known;
    return dequant && dti_comfy_newest(dequant->comfy_count, &known) < DTI_COMFY_FORMATS
               ? dequant->comfy_count
               : NULL;
}

void dti_logical_close(struct dti_container *container)
{
    if (container && container->stored) {
        struct dti_container *const stored = container->stored;
        dti_file_dequant_free(container->own);
        dti_container_free(stored);
    } else {
        dti_container_free(container);
    }
}

uint64_t dti_logical_scale_bytes(const struct dti_dequant_form *form)
{
    const struct dti_dequant_traits *const is = dti_form_how(form)->is;
    return form->is->stored_bytes - dti_form_part(form, DTI_PART_CODES)->bytes +
           (is->gguf ? is->elements / is->gguf->elements * is->gguf->other_bytes : 0);
}

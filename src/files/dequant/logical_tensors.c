/* SPDX-License-Identifier: MIT
 *
 * Containers with quantized tensors instead of their parts: see logical_tensors.h. */
#include "dtinfo/logical_tensors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dtinfo/unread.h"
#include "files/dequant/dequant_parts.h"

/* What the caller can say. Elsewhere the parts are shown, and there is nothing to be done. */
static enum dti_remedy remedy_of(enum dti_remedy remedy)
{
    switch (remedy) {
    case DTI_REMEDY_SAY_BITS:
    case DTI_REMEDY_CHOOSE_BITS:
    case DTI_REMEDY_READ_8_BITS:
    case DTI_REMEDY_SAY_BLOCK:
    case DTI_REMEDY_SAY_BITS_OR_BLOCK:
    case DTI_REMEDY_OVERRIDE_CONFIG:
        return remedy;
    case DTI_REMEDY_KEEP_OR_OVERRIDE:
        return DTI_REMEDY_OVERRIDE_CONFIG;
    default:
        return DTI_REMEDY_NONE;
    }
}

/* Reasons are distinguished by their remedies, of which there are few. */
static enum dti_status add_doubt(struct dti_file_dequant *dequant, const struct dti_error *error,
                                 struct dti_error *reterr)
{
    struct dti_dequant_doubts *const doubts = &dequant->doubts;
    const enum dti_remedy remedy = remedy_of(error->remedy);
    size_t at = 0;
    while (at < doubts->count && doubts->list[at].remedy != remedy)
        at++;
    struct dti_dequant_reason *const reason = &doubts->list[at];
    if (at == doubts->count) {
        const char *const text = dti_pool_text(&dequant->pool, error->text, strlen(error->text));
        if (!text)
            return dti_no_memory(reterr);
        *reason = (struct dti_dequant_reason){.remedy = remedy, .first = text};
        doubts->count++;
    }
    reason->tensors++;
    return DTI_OK;
}

/* What a refusal is about, unless it was said. */
static enum dti_lint_rule rule_of(enum dti_remedy remedy)
{
    switch (remedy) {
    case DTI_REMEDY_OVERRIDE_CONFIG:
    case DTI_REMEDY_KEEP_OR_OVERRIDE:
        return DTI_LINT_CONFIG_DIFFERS;
    case DTI_REMEDY_SAY_BITS:
    case DTI_REMEDY_CHOOSE_BITS:
    case DTI_REMEDY_READ_8_BITS:
    case DTI_REMEDY_SAY_BLOCK:
    case DTI_REMEDY_SAY_BITS_OR_BLOCK:
        return DTI_LINT_AMBIGUOUS;
    default:
        return DTI_LINT_PARTS;
    }
}

/* False: memory ran out. */
static bool keep_refusal(struct dti_file_dequant *dequant, size_t at, enum dti_lint_rule rule,
                         enum dti_remedy remedy, const char *text)
{
    struct dti_dequant_refusal *const refusal = dti_pool_alloc(&dequant->pool, sizeof *refusal);
    const char *const copy = dti_pool_text(&dequant->pool, text, strlen(text));
    if (!refusal || !copy)
        return false;
    *refusal = (struct dti_dequant_refusal){
        .next = dequant->refusals, .at = at, .rule = rule, .remedy = remedy, .text = copy};
    dequant->refusals = refusal;
    if (!dequant->refused[at])
        dequant->refused[at] = refusal;
    return true;
}

enum dti_status dti_dequant_settle(struct dti_file_dequant *dequant, size_t at,
                                   enum dti_status status, const struct dti_error *error,
                                   struct dti_dequant_found **found, struct dti_error *reterr)
{
    const enum dti_lint_rule blame = dequant->blame;
    const bool unread = dti_input_was_unread(); /* no verdict about the tensor */
    dequant->blame = DTI_LINT_RULES;
    if (status == DTI_OK)
        return DTI_OK;
    if (dequant->request.logical && status == DTI_BAD_INPUT && !unread) {
        const enum dti_lint_rule rule = blame < DTI_LINT_RULES ? blame : rule_of(error->remedy);
        *found = NULL;
        dequant->states[at] = DTI_DEQUANT_PLAIN;
        if (!keep_refusal(dequant, at, rule, remedy_of(error->remedy), error->text))
            return dti_no_memory(reterr);
        return add_doubt(dequant, error, reterr);
    }
    if (reterr)
        *reterr = *error;
    return status;
}

enum dti_status dti_dequant_warn(struct dti_file_dequant *dequant, size_t tensor,
                                 enum dti_lint_rule rule, const char *code,
                                 struct dti_error *reterr, const char *format, ...)
{
    struct dti_dequant_warnings *const warnings = &dequant->warnings;
    char text[DTI_ERROR_TEXT];
    size_t at = 0;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (dequant->request.lint && !keep_refusal(dequant, tensor, rule, DTI_REMEDY_NONE, text))
        return dti_no_memory(reterr);
    while (at < warnings->count && strcmp(warnings->list[at].code, code) != 0)
        at++;
    struct dti_dequant_warning *const warning = &warnings->list[at];
    if (at == warnings->count) {
        const char *const first = dti_pool_text(&dequant->pool, text, strlen(text));
        if (!first)
            return dti_no_memory(reterr);
        *warning = (struct dti_dequant_warning){.code = code, .first = first};
        warnings->count++;
    }
    warning->tensors++;
    return DTI_OK;
}

/* Each kind once. */
static bool note_warnings(struct dti_file_dequant *dequant, struct dti_note *notes)
{
    for (size_t i = 0; i < dequant->warnings.count; i++) {
        const struct dti_dequant_warning *const warning = &dequant->warnings.list[i];
        char text[DTI_ERROR_TEXT + 64], more[64] = "";
        if (warning->tensors > 1)
            (void)snprintf(more, sizeof more, " (and %zu more tensors)", warning->tensors - 1);
        (void)snprintf(text, sizeof text, "%s%s", warning->first, more);
        notes[i] = (struct dti_note){.code = warning->code,
                                     .text = dti_pool_text(&dequant->pool, text, strlen(text))};
        if (!notes[i].text)
            return false;
    }
    return true;
}

enum dti_status dti_dequant_notes(struct dti_file_dequant *dequant, struct dti_error *reterr)
{
    const struct dti_dequant_doubts *const doubts = &dequant->doubts;
    struct dti_container *const view = &dequant->view;
    const size_t before = view->note_count, warnings = dequant->warnings.count;
    struct dti_note *const notes =
        dti_pool_array(&dequant->pool, before + doubts->count + warnings + 1, sizeof *notes);
    if (!notes)
        return dti_no_memory(reterr);
    if (before > 0)
        memcpy(notes, view->notes, before * sizeof *notes);
    for (size_t i = 0; i < doubts->count; i++) {
        const struct dti_dequant_reason *const reason = &doubts->list[i];
        char text[DTI_ERROR_TEXT + 128];
        if (reason->tensors == 1)
            (void)snprintf(text, sizeof text, "a quantized tensor is read as stored: %s",
                           reason->first);
        else
            (void)snprintf(text, sizeof text,
                           "%zu quantized tensors are read as stored; the first: %s",
                           reason->tensors, reason->first);
        notes[before + i] =
            (struct dti_note){.code = "read_as_stored",
                              .text = dti_pool_text(&dequant->pool, text, strlen(text)),
                              .remedy = reason->remedy};
        if (!notes[before + i].text)
            return dti_no_memory(reterr);
    }
    if (!note_warnings(dequant, notes + before + doubts->count))
        return dti_no_memory(reterr);
    view->notes = notes;
    view->note_count += doubts->count + warnings;
    return DTI_OK;
}

/* What is open, not read, or another's, is shown as it is stored, with a note. */
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

enum dti_status dti_logical_refuse(const struct dti_container *container,
                                   const struct dti_tensor *tensor, struct dti_error *reterr)
{
    if (!container->stored)
        return DTI_OK;
    const struct dti_file_dequant *const dequant = container->own;
    const size_t at = dequant->entries[tensor - container->tensors].tensor;
    const struct dti_dequant_refusal *const refusal = dequant->refused[at];
    const struct dti_onnx_weight *const weight = tensor->weight;
    if (weight && weight->problem) /* of its nodes, which may make several numbers of it */
        return DTI_OK;
    return refusal && is_broken(refusal) ? refuse(refusal, reterr) : DTI_OK;
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

/* Most files have nothing that could be quantized, and need no view. */
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

enum dti_status dti_logical_open(struct dti_container **ret, const char *path,
                                 const struct dti_logical_options *options,
                                 struct dti_error *reterr)
{
    struct dti_container *container = NULL;
    struct dti_file_dequant *dequant = NULL;
    struct dti_file_dequant_request request = {.bits = options->bits,
                                               .block = options->block,
                                               .reciprocal = options->reciprocal,
                                               .said_by = options->said_by,
                                               .level = options->level,
                                               .logical = true,
                                               .lint = options->lint};
    enum dti_status status = dti_container_open(&container, path, options->open, reterr);
    if (status != DTI_OK)
        return status;
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
    if (dequant->found_count == 0 && dequant->doubts.count == 0 && !options->lint) {
        dti_file_dequant_free(dequant);
        return DTI_OK;
    }
    *ret = dti_file_dequant_container(dequant);
    (*ret)->stored = container;
    (*ret)->own = dequant;
    return DTI_OK;
}

enum dti_status dti_logical_data(struct dti_container *container, size_t tensor,
                                 const struct dti_batch_source **ret_source,
                                 const struct dti_input **ret_input, uint64_t *ret_offset,
                                 struct dti_error *reterr)
{
    if (container->stored)
        return dti_file_dequant_data(container->own, tensor, ret_source, ret_input, ret_offset,
                                     reterr);
    *ret_source = NULL;
    return dti_container_data(container, tensor, ret_input, ret_offset, reterr);
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
    const struct dti_gguf_type *const gguf = form->how->gguf;
    return form->stored_bytes - form->parts[DTI_PART_CODES]->bytes +
           (gguf ? form->how->elements / gguf->elements * gguf->other_bytes : 0);
}

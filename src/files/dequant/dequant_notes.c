/* SPDX-License-Identifier: MIT
 *
 * Reports tensors that cannot be dequantized, or are ambiguous: refusals, ambiguities and notes of
 * a view.
 */
#include "files/dequant/logical_tensors.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "files/dequant/dequant_parts.h"
#include "io/unread.h"

/* The option that helps, if there is one. For other problems the parts are shown, and no option
 * helps. */
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
static enum dti_status add_ambiguity(struct dti_file_dequant *dequant,
                                     const struct dti_error *error, struct dti_error *reterr)
{
    struct dti_dequant_ambiguities *const ambiguities = &dequant->ambiguities;
    const enum dti_remedy remedy = remedy_of(error->remedy);
    size_t at = 0;
    while (at < ambiguities->count && ambiguities->list[at].remedy != remedy)
        at++;
    struct dti_dequant_reason *const reason = &ambiguities->list[at];
    if (at == ambiguities->count) {
        const char *const text = dti_pool_text(&dequant->pool, error->text, strlen(error->text));
        if (!text)
            return dti_no_memory(reterr);
        *reason = (struct dti_dequant_reason){.remedy = remedy, .first = text};
        ambiguities->count++;
    }
    reason->tensors++;
    return DTI_OK;
}

/* The rule of a refusal that did not set one. */
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

/* Returns false if memory ran out. */
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
                                   struct dti_dequant_found *found, struct dti_error *reterr)
{
    const enum dti_lint_rule refusal_rule = dequant->refusal_rule;
    const bool unread = dti_input_was_unread(); /* no verdict about the tensor */
    dequant->refusal_rule = DTI_LINT_RULES;
    if (status == DTI_OK && found) {
        dti_dequant_share(dequant, found);
        dequant->found_of[at] = (uint32_t)dequant->settled;
    }
    if (status == DTI_OK)
        return DTI_OK;
    if (dequant->request.logical && status == DTI_BAD_INPUT && !unread) {
        const enum dti_lint_rule rule =
            refusal_rule < DTI_LINT_RULES ? refusal_rule : rule_of(error->remedy);
        dequant->found_of[at] = 0;
        dequant->states[at] = DTI_DEQUANT_PLAIN;
        if (!keep_refusal(dequant, at, rule, remedy_of(error->remedy), error->text))
            return dti_no_memory(reterr);
        return add_ambiguity(dequant, error, reterr);
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

/* Adds one note per kind. */
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
    const struct dti_dequant_ambiguities *const ambiguities = &dequant->ambiguities;
    struct dti_container *const view = &dequant->view;
    const size_t before = view->note_count, warnings = dequant->warnings.count;
    struct dti_note *const notes =
        dti_pool_array(&dequant->pool, before + ambiguities->count + warnings + 1, sizeof *notes);
    if (!notes)
        return dti_no_memory(reterr);
    if (before > 0)
        memcpy(notes, view->notes, before * sizeof *notes);
    for (size_t i = 0; i < ambiguities->count; i++) {
        const struct dti_dequant_reason *const reason = &ambiguities->list[i];
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
    if (!note_warnings(dequant, notes + before + ambiguities->count))
        return dti_no_memory(reterr);
    view->notes = notes;
    view->note_count += ambiguities->count + warnings;
    return DTI_OK;
}

/* SPDX-License-Identifier: MIT
 *
 * The findings of lint.h, and those that are known when a checkpoint is open: what the reader
 * refuses of its tensors, one by one. */
#include "files/lint/lint_parts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dtinfo/glob.h"
#include "files/stored/tensor_choice.h"

const struct dti_lint_row dti_lint_rows[DTI_LINT_RULES] = {
#define LINT_RULE(id, word, about, remedy) {word, about, remedy},
#include "dtinfo/lint_rules.def"
#undef LINT_RULE
};

/* With the lock, if there are threads. */
static bool append(struct dti_lint *lint, const struct dti_lint_finding *finding, const char *text)
{
    if (lint->count == lint->capacity) {
        const size_t capacity = lint->capacity > 0 ? 2 * lint->capacity : 16;
        struct dti_lint_finding *const grown =
            realloc(lint->findings, capacity * sizeof *lint->findings);
        if (!grown)
            return false;
        lint->findings = grown;
        lint->capacity = capacity;
    }
    const char *const copy = dti_pool_text(&lint->pool, text, strlen(text));
    if (!copy)
        return false;
    lint->findings[lint->count] = *finding;
    lint->findings[lint->count++].text = copy;
    return true;
}

enum dti_status dti_lint_add(struct dti_lint *lint, enum dti_lint_rule rule,
                             const struct dti_tensor *tensor, struct dti_error *reterr,
                             const char *format, ...)
{
    char text[DTI_ERROR_TEXT];
    struct dti_lint_finding finding = {.rule = rule};
    va_list args;
    if (tensor && lint->only && !dti_glob_list_match(lint->only, tensor->name, tensor->name_length))
        return DTI_OK;
    if (tensor) {
        finding.tensor = tensor->name;
        finding.tensor_length = tensor->name_length;
    }
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pthread_mutex_lock(&lint->lock);
    const bool added = append(lint, &finding, text);
    pthread_mutex_unlock(&lint->lock);
    return added ? DTI_OK : dti_no_memory(reterr);
}

const char *dti_lint_place(char buffer[DTI_LINT_PLACE], const struct dti_tensor *tensor,
                           uint64_t element)
{
    size_t used = 0;
    uint64_t left = tensor->elements;
    buffer[used++] = '[';
    for (unsigned i = 0; i < tensor->rank && used < DTI_LINT_PLACE - 30; i++) {
        left = tensor->shape[i] > 0 ? left / tensor->shape[i] : 0;
        used += (size_t)snprintf(buffer + used, DTI_LINT_PLACE - used, "%s%llu", i > 0 ? ", " : "",
                                 (unsigned long long)(left > 0 ? element / left : 0));
        element = left > 0 ? element % left : 0;
    }
    (void)snprintf(buffer + used, DTI_LINT_PLACE - used, "]");
    return buffer;
}

const char *dti_lint_number(char buffer[DTI_LINT_NUMBER], double number)
{
    struct dti_value value;
    uint64_t code;
    memcpy(&code, &number, sizeof code);
    dti_decode(dti_format_get(DTI_FP64), code, &value);
    (void)dti_spell_digits(buffer, &value, 6);
    return buffer;
}

/* Without the tensor in front, if that is the one that is named anyway, and without its file. */
static const char *without_place(const struct dti_lint *lint, size_t at, const char *text)
{
    const struct dti_container *const container = lint->dequant->container;
    const struct dti_tensor *const tensor = &container->tensors[at];
    char place[DTI_TENSOR_PLACE], label[DTI_QUOTE_SIZE];
    const size_t length = strlen(dti_tensor_place(container, at, place));
    const size_t file = strlen(dti_input_label(&container->files[tensor->file].input, label));
    if (strncmp(text, place, length) == 0 && strncmp(text + length, ": ", 2) == 0)
        return text + length + 2;
    return strncmp(text, label, file) == 0 && strncmp(text + file, ": ", 2) == 0 ? text + file + 2
                                                                                 : text;
}

/* A configuration that cannot be read is one finding. */
static enum dti_status add_refusals(struct dti_lint *lint, struct dti_error *reterr)
{
    const struct dti_file_dequant *const dequant = lint->dequant;
    enum dti_status status = DTI_OK;
    for (const struct dti_dequant_refusal *refusal = dequant->refusals; refusal && status == DTI_OK;
         refusal = refusal->next) {
        const struct dti_tensor *const tensor = &dequant->container->tensors[refusal->at];
        const bool warning =
            refusal->rule == DTI_LINT_ZERO_POINT_WRAP || refusal->rule == DTI_LINT_ZERO_POINT_LABEL;
        if (!warning && (!lint->only || dti_tensor_fits(lint->only, tensor)))
            lint->refused++;
        if (refusal->rule != DTI_LINT_CONFIG_UNREADABLE)
            status = dti_lint_add(lint, refusal->rule, tensor, reterr, "%s",
                                  without_place(lint, refusal->at, refusal->text));
    }
    return status;
}

/* What the reader of files says of the index. */
static enum dti_status add_notes(struct dti_lint *lint, struct dti_error *reterr)
{
    const struct dti_container *const container = lint->dequant->container;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < container->note_count && status == DTI_OK; i++) {
        if (strcmp(container->notes[i].code, "total_size") == 0)
            status = dti_lint_add(lint, DTI_LINT_TOTAL_SIZE, NULL, reterr, "%s",
                                  container->notes[i].text);
    }
    return status;
}

static enum dti_status look(struct dti_lint *lint, struct dti_error *reterr)
{
    lint->tensors = calloc(lint->view->tensor_count + 1, sizeof *lint->tensors);
    if (!lint->tensors ||
        !dti_name_order_of(&lint->names, lint->view->tensors, lint->view->tensor_count,
                           DTI_NAMED(struct dti_tensor, name)))
        return dti_no_memory(reterr);
    enum dti_status status = add_refusals(lint, reterr);
    if (status == DTI_OK)
        status = add_notes(lint, reterr);
    if (status == DTI_OK)
        status = dti_lint_config(lint, reterr);
    return status == DTI_OK ? dti_lint_fused(lint, reterr) : status;
}

enum dti_status dti_lint_new(struct dti_lint **ret, struct dti_container *container,
                             const char *only, struct dti_error *reterr)
{
    struct dti_lint *const lint = calloc(1, sizeof *lint);
    if (!lint)
        return dti_no_memory(reterr);
    pthread_mutex_init(&lint->lock, NULL);
    lint->view = container;
    lint->dequant = container->own;
    lint->only = only;
    lint->probed = SIZE_MAX;
    const enum dti_status status = look(lint, reterr);
    if (status == DTI_OK)
        *ret = lint;
    else
        dti_lint_free(lint);
    return status;
}

void dti_lint_free(struct dti_lint *lint)
{
    if (!lint)
        return;
    pthread_mutex_destroy(&lint->lock);
    dti_name_order_free(&lint->names);
    dti_pool_free(&lint->pool);
    free(lint->findings);
    free(lint->tensors);
    free(lint);
}

bool dti_lint_wants(const struct dti_lint *lint, size_t tensor)
{
    return dti_lint_found(lint, tensor) && !lint->tensors[tensor].unreadable &&
           (!lint->only || dti_tensor_fits(lint->only, &lint->view->tensors[tensor]));
}

size_t dti_lint_tensors(const struct dti_lint *lint)
{
    size_t count = lint->refused;
    for (size_t i = 0; i < lint->view->tensor_count; i++)
        count += dti_lint_found(lint, i) &&
                 (!lint->only || dti_tensor_fits(lint->only, &lint->view->tensors[i]));
    return count;
}

/* By rules, then by names, then by what is said: the same whichever thread found it. */
static int by_rule(const void *a, const void *b)
{
    const struct dti_lint_finding *const left = a, *const right = b;
    const size_t shorter =
        left->tensor_length < right->tensor_length ? left->tensor_length : right->tensor_length;
    if (left->rule != right->rule)
        return left->rule < right->rule ? -1 : 1;
    const int names = shorter > 0 ? memcmp(left->tensor, right->tensor, shorter) : 0;
    if (names != 0)
        return names;
    if (left->tensor_length != right->tensor_length)
        return left->tensor_length < right->tensor_length ? -1 : 1;
    return strcmp(left->text, right->text);
}

const struct dti_lint_finding *dti_lint_findings(struct dti_lint *lint, size_t *ret_count)
{
    if (lint->count > 0)
        qsort(lint->findings, lint->count, sizeof *lint->findings, by_rule);
    *ret_count = lint->count;
    return lint->findings;
}

/* SPDX-License-Identifier: MIT
 *
 * The list of findings: how the parts of lint.h add to it, in words, and its order. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/lint/lint_parts.h"
#include "util/run/grown.h"
#include "util/text/glob.h"

const struct dti_lint_row dti_lint_rows[DTI_LINT_RULES] = {
#define LINT_RULE(id, word, about, remedy) {word, about, remedy},
#include "files/lint_rules.def"
#undef LINT_RULE
};

/* Hold the lock if there are several threads. */
static bool append(struct dti_lint *lint, const struct dti_lint_finding *finding, const char *text)
{
    struct dti_lint_finding *const grown =
        dti_grown(lint->findings, lint->count, &lint->capacity, sizeof *grown);
    if (!grown)
        return false;
    lint->findings = grown;
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

/* By rule, then tensor name, then text: independent of the thread that found it. */
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

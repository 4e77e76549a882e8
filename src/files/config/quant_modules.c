/* SPDX-License-Identifier: MIT
 *
 * Finds the rule for a module: names through an index, patterns through one automaton, so that
 * lookup does not scan rules one by one. */
#include "files/config/quant_modules.h"

#include <stdlib.h>
#include <string.h>

#include "containers/name_order.h"
#include "util/run/allocate.h"
#include "util/run/grown.h"
#include "util/text/regexes.h"

struct rule_list {
    size_t *rules;
    size_t count, capacity;
};

struct dti_quant_modules {
    struct dti_module_rule *rules;
    size_t count, capacity;
    struct rule_list names, patterns; /* the rule of each */
    struct dti_name_order order;      /* index of names, valid if `ready` */
    bool ready;
    struct dti_regexes *regexes;
    bool *used; /* one flag per rule, allocated on first use; or NULL */
};

struct dti_quant_modules *dti_quant_modules_new(void)
{
    struct dti_quant_modules *const modules = dti_calloc(1, sizeof *modules);
    struct dti_regexes *const regexes = dti_regexes_new();
    if (modules && regexes) {
        modules->regexes = regexes;
        return modules;
    }
    dti_regexes_free(regexes);
    dti_free(modules);
    return NULL;
}

void dti_quant_modules_free(struct dti_quant_modules *modules)
{
    if (!modules)
        return;
    if (modules->ready)
        dti_name_order_free(&modules->order);
    dti_regexes_free(modules->regexes);
    dti_free(modules->used);
    dti_free(modules->names.rules);
    dti_free(modules->patterns.rules);
    dti_free(modules->rules);
    dti_free(modules);
}

static bool append(struct rule_list *list, size_t rule)
{
    size_t *const grown = dti_grown(list->rules, list->count, &list->capacity, sizeof *grown);
    if (!grown)
        return false;
    list->rules = grown;
    list->rules[list->count++] = rule;
    return true;
}

static enum dti_status add_pattern(struct dti_quant_modules *modules, enum dti_regex_kind kind,
                                   const struct dti_module_rule *rule, struct dti_error *reterr)
{
    if (!append(&modules->patterns, modules->count))
        return dti_no_memory(reterr);
    const enum dti_status status = dti_regexes_add(
        modules->regexes, kind, rule->text + rule->prefix, rule->length - rule->prefix, reterr);
    if (status != DTI_OK)
        modules->patterns.count--;
    return status;
}

enum dti_status dti_quant_modules_add(struct dti_quant_modules *modules, unsigned meanings,
                                      const struct dti_module_rule *rule, struct dti_error *reterr)
{
    static const struct {
        unsigned meaning;
        enum dti_regex_kind kind;
    } kinds[] = {{DTI_MODULE_END, DTI_REGEX_END},
                 {DTI_MODULE_REGEX, DTI_REGEX_START},
                 {DTI_MODULE_PART, DTI_REGEX_PART},
                 {DTI_MODULE_WILDCARD, DTI_REGEX_WILDCARD}};
    enum dti_status status = DTI_OK;
    if (modules->ready)
        dti_name_order_free(&modules->order);
    modules->ready = false;
    struct dti_module_rule *const grown =
        dti_grown(modules->rules, modules->count, &modules->capacity, sizeof *grown);
    if (!grown)
        return dti_no_memory(reterr);
    modules->rules = grown;
    if ((meanings & DTI_MODULE_NAME) != 0 && !append(&modules->names, modules->count))
        return dti_no_memory(reterr);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && status == DTI_OK; i++) {
        if ((meanings & kinds[i].meaning) != 0)
            status = add_pattern(modules, kinds[i].kind, rule, reterr);
    }
    if (status == DTI_OK)
        modules->rules[modules->count++] = *rule;
    return status;
}

/* Builds the index of names. Of equal ones the last wins, in the first one's place, as in a Python
 * dict. */
static bool prepare(struct dti_quant_modules *modules)
{
    if (modules->ready)
        return true;
    if (!dti_name_order_init(&modules->order, modules->names.count))
        return false;
    modules->ready = true;
    for (size_t i = 0; i < modules->names.count; i++) {
        const struct dti_module_rule *const rule = &modules->rules[modules->names.rules[i]];
        dti_name_order_add(&modules->order, rule->text, rule->length);
    }
    dti_name_order_sort(&modules->order);
    for (size_t i = 0; i < modules->names.count; i++) {
        const struct dti_module_rule *const rule = &modules->rules[modules->names.rules[i]];
        size_t at;
        if (!dti_name_order_find(&modules->order, rule->text, rule->length, &at))
            continue;
        struct dti_module_rule *const first = &modules->rules[modules->names.rules[at]];
        if (at < i && !first->ignore && !rule->ignore)
            *first = *rule;
    }
    return true;
}

static bool is_before(const struct dti_module_rule *a, const struct dti_module_rule *b)
{
    const size_t shorter = a->length < b->length ? a->length : b->length;
    const int order = shorter > 0 ? memcmp(a->text, b->text, shorter) : 0;
    return order != 0 ? order < 0 : a->length < b->length;
}

enum dti_status dti_quant_modules_find(struct dti_quant_modules *modules, const char *name,
                                       size_t length, const struct dti_module_rule **ret_first,
                                       const struct dti_module_rule **ret_other,
                                       struct dti_error *reterr)
{
    const size_t *matches;
    size_t count, at, first = modules->count;
    const struct dti_module_rule *other = NULL;
    if (!prepare(modules))
        return dti_no_memory(reterr);
    const enum dti_status status =
        dti_regexes_match(modules->regexes, name, length, &matches, &count, reterr);
    if (status != DTI_OK)
        return status;
    for (size_t i = 0; i < count; i++) {
        const size_t index = modules->patterns.rules[matches[i]];
        const struct dti_module_rule *const rule = &modules->rules[index];
        first = index < first ? index : first;
        if (!rule->ignore && (!other || is_before(rule, other)))
            other = rule;
    }
    if (modules->names.count > 0 && dti_name_order_find(&modules->order, name, length, &at)) {
        const size_t index = modules->names.rules[at];
        first = index < first ? index : first;
        other = modules->rules[index].ignore ? other : &modules->rules[index];
    }
    *ret_first = first < modules->count ? &modules->rules[first] : NULL;
    *ret_other = other;
    return DTI_OK;
}

enum dti_status dti_quant_modules_use(struct dti_quant_modules *modules, const char *name,
                                      size_t length, struct dti_error *reterr)
{
    const size_t *matches;
    size_t count, at;
    if (!prepare(modules))
        return dti_no_memory(reterr);
    if (!modules->used)
        modules->used = dti_calloc(modules->count + 1, sizeof *modules->used);
    if (!modules->used)
        return dti_no_memory(reterr);
    const enum dti_status status =
        dti_regexes_match(modules->regexes, name, length, &matches, &count, reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++)
        modules->used[modules->patterns.rules[matches[i]]] = true;
    if (modules->names.count > 0 && dti_name_order_find(&modules->order, name, length, &at))
        modules->used[modules->names.rules[at]] = true;
    return status;
}

void dti_quant_modules_trust(struct dti_quant_modules *modules)
{
    dti_free(modules->used);
    modules->used = NULL;
    dti_regexes_trust(modules->regexes);
}

const struct dti_module_rule *dti_quant_modules_unused(struct dti_quant_modules *modules,
                                                       size_t *at)
{
    while (modules->used && *at < modules->count) {
        const struct dti_module_rule *const rule = &modules->rules[*at];
        const bool used = modules->used[(*at)++];
        size_t first;
        if (!used && !(modules->names.count > 0 &&
                       dti_name_order_find(&modules->order, rule->text, rule->length, &first) &&
                       modules->used[modules->names.rules[first]]))
            return rule;
    }
    return NULL;
}

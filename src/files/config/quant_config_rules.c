/* SPDX-License-Identifier: MIT
 *
 * What a configuration says about a module, by its name, looked up as the loaders of each method
 * do. Where loaders differ, a module counts as ignored only if all of them ignore it. Sources:
 * compressed-tensors 0.20 (utils/match.py), vLLM 0.33 (quantization/quant_utils.py), transformers
 * 5.23 (quantizers_utils.py), and those named in the rows of layouts. */
#include <stdlib.h>
#include <string.h>

#include "files/config/quant_config_block.h"
#include "files/stored/layouts.h"
#include "util/run/allocate.h"

static enum dti_status add_rule(const struct dti_config_reading *reading,
                                struct dti_quant_config *config, unsigned meanings,
                                const struct dti_module_rule *rule, struct dti_error *reterr)
{
    struct dti_error why;
    char text[DTI_QUOTE_SIZE];
    const enum dti_status status = dti_quant_modules_add(config->modules, meanings, rule, &why);
    if (status == DTI_OK)
        return DTI_OK;
    if (status == DTI_NO_MEMORY)
        return dti_no_memory(reterr);
    return dti_fail_remedy(reterr, status, DTI_REMEDY_OVERRIDE_CONFIG, "%s: its pattern %s %s",
                           reading->label, dti_quote(text, rule->text, rule->length), why.text);
}

static bool is_regex(const struct dti_module_rule *rule)
{
    return rule->length >= 3 && memcmp(rule->text, "re:", 3) == 0;
}

/* Adds a rule; its text decides whether it is a name or a pattern. */
static enum dti_status add_text(const struct dti_config_reading *reading,
                                struct dti_quant_config *config, unsigned meanings,
                                const struct dti_module_rule *entry, bool ignore,
                                struct dti_error *reterr)
{
    struct dti_module_rule rule = *entry;
    rule.ignore = ignore;
    if ((meanings & DTI_MODULE_REGEX) != 0) {
        meanings = is_regex(entry) ? DTI_MODULE_REGEX : DTI_MODULE_NAME;
        rule.prefix = is_regex(entry) ? 3 : 0;
    } else if ((meanings & DTI_MODULE_WILDCARD) != 0) {
        const bool plain = !memchr(rule.text, '*', rule.length) &&
                           !memchr(rule.text, '?', rule.length) &&
                           !memchr(rule.text, '[', rule.length);
        meanings = plain ? DTI_MODULE_NAME : DTI_MODULE_WILDCARD;
    }
    return add_rule(reading, config, meanings, &rule, reterr);
}

static enum dti_status add_ignored(const struct dti_config_reading *reading,
                                   const struct dti_config_block *block,
                                   const struct dti_layout_ops *layout,
                                   struct dti_quant_config *config, struct dti_error *reterr)
{
    const struct dti_config_entries *entries = &block->lists[layout->ignored[0]];
    enum dti_status status = DTI_OK;
    if (entries->count == 0 && layout->ignored[1] > 0)
        entries = &block->lists[layout->ignored[1]];
    for (size_t i = 0; i < entries->count && status == DTI_OK; i++)
        status = add_text(reading, config, layout->ignored_as, &entries->list[i], true, reterr);
    return status;
}

/* The layout whose loaders read the configuration; without a method, inferred from the other
 * members. */
static const struct dti_layout_ops *layout_of(const struct dti_quant_config *config,
                                              const struct dti_config_block *block)
{
    const struct dti_layout_ops *const *row = dti_layouts;
    if (config->method[0] != '\0')
        return dti_layout_of_method(config->method);
    while (block->algorithm[0] != '\0' && !(*row)->algorithms)
        row++;
    return *row;
}

/* A target that begins with a capital is a class name. Names do not reveal a module's class; we
 * assume that every module with a weight is Linear. */
static bool is_class(const struct dti_module_rule *target)
{
    return target->length > 0 && target->text[0] >= 'A' && target->text[0] <= 'Z' &&
           !memchr(target->text, '.', target->length);
}

/* Targets are keys of a dict: of equal ones the last wins, in the first one's place. `list` is a
 * copy; entries that lose get a NULL text. Returns false if memory ran out. */
static bool unite(struct dti_module_rule *list, size_t count)
{
    struct dti_name_order order;
    if (!dti_name_order_of(
            &order, list, count,
            ((struct dti_named){.size = sizeof *list,
                                .name = offsetof(struct dti_module_rule, text),
                                .length = offsetof(struct dti_module_rule, length)})))
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t first = i;
        (void)dti_name_order_find(&order, list[i].text, list[i].length, &first);
        if (first < i) {
            list[first].hint = list[i].hint;
            list[i].text = NULL;
        }
    }
    dti_name_order_free(&order);
    return true;
}

static enum dti_status add_targets(const struct dti_config_reading *reading,
                                   const struct dti_config_block *block,
                                   struct dti_quant_config *config, struct dti_error *reterr)
{
    const struct dti_config_entries *const targets = &block->lists[DTI_LIST_TARGETS];
    struct dti_module_rule *const list = dti_malloc((targets->count + 1) * sizeof *list);
    uint32_t classes = 0;
    enum dti_status status = DTI_OK;
    if (list && targets->count > 0)
        memcpy(list, targets->list, targets->count * sizeof *list);
    if (!list || !unite(list, targets->count))
        status = dti_no_memory(reterr);
    for (size_t i = 0; i < targets->count && status == DTI_OK; i++) {
        const struct dti_module_rule *const target = &list[i];
        if (!target->text)
            continue;
        status =
            add_text(reading, config, DTI_MODULE_NAME | DTI_MODULE_REGEX, target, false, reterr);
        config->linear |= target->length == 6 && memcmp(target->text, "Linear", 6) == 0;
        if (is_class(target))
            classes |= UINT32_C(1) << target->hint;
    }
    dti_free(list);
    for (size_t i = 0; i < block->count; i++) {
        if ((classes >> i & 1) != 0)
            config->of_classes[config->class_count++] = config->hints[i];
    }
    return status;
}

enum dti_status dti_config_make_rules(const struct dti_config_reading *reading,
                                      const struct dti_config_block *block,
                                      struct dti_quant_config *config, struct dti_error *reterr)
{
    const struct dti_config_entries *const dynamic = &block->lists[DTI_LIST_DYNAMIC];
    const struct dti_config_entries *const layers = &block->lists[DTI_LIST_LAYERS];
    const bool mixed = !config->whole && layers->count > 0; /* DTI_MIXED_PRECISION */
    const struct dti_layout_ops *const layout = layout_of(config, block);
    config->layered = layers->count > 0;
    config->modules = dti_quant_modules_new();
    if (!config->modules)
        return dti_no_memory(reterr);
    enum dti_status status =
        layout && layout->ignored_as ? add_ignored(reading, block, layout, config, reterr) : DTI_OK;
    if (status == DTI_OK && !config->whole && !mixed)
        status = add_targets(reading, block, config, reterr);
    for (size_t i = 0; i < layers->count && mixed && status == DTI_OK; i++)
        status = add_rule(reading, config, DTI_MODULE_NAME, &layers->list[i], reterr);
    config->targeted = !config->whole && block->count > 0;
    for (size_t i = 0; i < dynamic->count && status == DTI_OK; i++)
        status = add_rule(reading, config, DTI_MODULE_REGEX, &dynamic->list[i], reterr);
    return status;
}

enum dti_status dti_quant_config_module(const struct dti_quant_config *config, const char *name,
                                        size_t length, struct dti_quant_module *ret,
                                        struct dti_error *reterr)
{
    const struct dti_module_rule *first = NULL, *other = NULL;
    enum dti_status status = DTI_OK;
    if (config->modules)
        status = dti_quant_modules_find(config->modules, name, length, &first, &other, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_quant_module module = {.stated = DTI_STATED_QUANTIZED,
                                      .hints = config->hints,
                                      .count = config->count,
                                      .bits = config->bits,
                                      .group_size = config->group_size};
    if (first) {
        module.rule = first->text;
        module.rule_length = first->length;
    }
    if (first && first->ignore) {
        module.stated = DTI_STATED_IGNORED;
    } else if (first && first->hint != DTI_RULE_NO_HINT) {
        module.picked[0] = config->hints[first->hint];
        module.count = 1;
        if (other && other->hint != first->hint)
            module.picked[module.count++] = config->hints[other->hint];
        module.hints = NULL;
    } else if (first) {
        module.bits = first->bits > 0 ? first->bits : config->bits;
        module.group_size = first->has_group ? first->group_size : config->group_size;
    } else if (config->class_count > 0) {
        module.hints = config->of_classes;
        module.count = config->class_count;
    } else if (config->targeted) {
        module.stated = DTI_STATED_NOTHING;
    }
    *ret = module;
    if (!ret->hints)
        ret->hints = ret->picked;
    return DTI_OK;
}

size_t dti_quant_module_length(const struct dti_tensor *tensor)
{
    size_t length = tensor->name_length;
    while (length > 0 && tensor->name[length - 1] != '.')
        length--;
    return length - (length > 0);
}

/* Marks rules used by the modules that own tensors; by their parent modules, where loaders match
 * entries that way; and by a tied output layer, which has no tensor. */
enum dti_status dti_quant_config_use(const struct dti_quant_config *config,
                                     const struct dti_container *container,
                                     struct dti_error *reterr)
{
    static const char *const outputs[] = {"lm_head", "model.lm_head", "language_model.lm_head"};
    const bool wide = strncmp(config->method, "compressed", 10) != 0;
    const char *before = "";
    size_t before_length = 0;
    bool output = false;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; config->modules && i < container->tensor_count && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        const char *const name = tensor->name;
        const size_t length = dti_quant_module_length(tensor);
        size_t same = 0;
        while (same < length && same < before_length && name[same] == before[same])
            same++;
        for (size_t end = same; wide && end < length && status == DTI_OK; end++) {
            if (name[end] == '.')
                status = dti_quant_modules_use(config->modules, name, end, reterr);
        }
        if (status == DTI_OK && (same < length || same < before_length || i == 0))
            status = dti_quant_modules_use(config->modules, name, length, reterr);
        output = output || (length >= 7 && memcmp(name + length - 7, "lm_head", 7) == 0 &&
                            (length == 7 || name[length - 8] == '.'));
        before = name;
        before_length = length;
    }
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs && !output && status == DTI_OK; i++)
        status = config->modules ? dti_quant_modules_use(config->modules, outputs[i],
                                                         strlen(outputs[i]), reterr)
                                 : DTI_OK;
    return status;
}

enum dti_status dti_quant_config_judge(const struct dti_quant_config *config,
                                       const struct dti_container *container,
                                       struct dti_error *reterr)
{
    const enum dti_status status = dti_quant_config_use(config, container, reterr);
    if (status == DTI_OK && config->modules)
        dti_quant_modules_trust(config->modules);
    return status;
}

const struct dti_module_rule *dti_quant_config_unused(const struct dti_quant_config *config,
                                                      size_t *at)
{
    const struct dti_module_rule *rule = NULL;
    while (config->modules && (rule = dti_quant_modules_unused(config->modules, at)) != NULL) {
        if (!is_class(rule))
            return rule;
    }
    return NULL;
}

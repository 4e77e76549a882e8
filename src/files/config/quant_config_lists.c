/* SPDX-License-Identifier: MIT
 *
 * Members of a configuration that name modules: lists of names and patterns, and objects with such
 * keys. */
#include <stdio.h>
#include <string.h>

#include "files/config/quant_config_block.h"
#include "util/run/memory_pool.h"

enum { WORD = DTI_CONFIG_WORD };

static const char *const members[DTI_CONFIG_LISTS] = {
    [DTI_LIST_IGNORE] = "ignore",
    [DTI_LIST_EXCLUDED] = "exclude_modules",
    [DTI_LIST_IGNORED_LAYERS] = "ignored_layers",
    [DTI_LIST_NOT_CONVERTED] = "modules_to_not_convert",
    [DTI_LIST_SKIPPED] = "llm_int8_skip_modules",
    [DTI_LIST_DYNAMIC] = "dynamic",
    [DTI_LIST_LAYERS] = "quantized_layers",
};

bool dti_config_is_list(const char *key, enum dti_config_list *ret)
{
    for (unsigned i = 0; i < DTI_CONFIG_LISTS; i++) {
        if (members[i] && strcmp(key, members[i]) == 0) {
            *ret = (enum dti_config_list)i;
            return true;
        }
    }
    return false;
}

/* Adds an entry with the string or key that was read last. */
static enum dti_status add_entry(struct dti_config_reading *reading, const char *key,
                                 struct dti_config_entries *entries, struct dti_error *reterr)
{
    const char *text;
    size_t length;
    dti_json_string_value(&reading->json, &text, &length);
    if (entries->count == DTI_CONFIG_ENTRIES_MAX)
        return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_OVERRIDE_CONFIG,
                               "%s: its \"%s\" has more than %d entries", reading->label, key,
                               (int)DTI_CONFIG_ENTRIES_MAX);
    if (entries->count == entries->capacity) {
        const size_t more = entries->capacity > 0 ? entries->capacity * 2 : 16;
        void *const list =
            dti_pool_grow(reading->pool, entries->list, entries->count * sizeof *entries->list,
                          more * sizeof *entries->list);
        if (!list)
            return dti_no_memory(reterr);
        entries->list = list;
        entries->capacity = more;
    }
    const char *const copy = dti_pool_text(reading->pool, text, length);
    if (!copy)
        return dti_no_memory(reterr);
    entries->list[entries->count++] =
        (struct dti_module_rule){.text = copy, .length = length, .hint = DTI_RULE_NO_HINT};
    return DTI_OK;
}

enum dti_status dti_config_read_strings(struct dti_config_reading *reading, const char *key,
                                        struct dti_config_entries *entries,
                                        struct dti_error *reterr)
{
    enum dti_json_token token;
    enum dti_status status;
    while ((status = dti_config_next(reading, &token, reterr)) == DTI_OK &&
           token != DTI_JSON_ARRAY_END) {
        if (token != DTI_JSON_STRING)
            return dti_config_fail_type(reading, key, "a list of strings", reterr);
        status = add_entry(reading, key, entries, reterr);
        if (status != DTI_OK)
            return status;
    }
    return status;
}

/* Reads the overrides of a module in "dynamic". */
static enum dti_status read_override(struct dti_config_reading *reading,
                                     struct dti_module_rule *rule, struct dti_error *reterr)
{
    char key[WORD];
    bool there;
    enum dti_status status = dti_config_open_object(reading, "dynamic", &there, reterr);
    while (status == DTI_OK && there &&
           (status = dti_config_next_key(reading, key, reterr)) == DTI_OK && key[0] != '\0') {
        if (strcmp(key, "bits") == 0) {
            status = dti_config_read_bits(reading, key, &rule->bits, reterr);
        } else if (strcmp(key, "group_size") == 0) {
            rule->has_group = true;
            status = dti_config_read_count(reading, key, NULL, &rule->group_size, reterr);
        } else {
            status = dti_config_skip(reading, reterr);
        }
    }
    return status;
}

/* Reads the scheme of a module in "quantized_layers". */
static enum dti_status read_layer(struct dti_config_reading *reading,
                                  struct dti_config_block *block, struct dti_module_rule *rule,
                                  struct dti_error *reterr)
{
    char key[WORD], algorithm[WORD] = "";
    bool there;
    uint64_t group_size = 0;
    struct dti_quant_hint hint;
    enum dti_status status = dti_config_open_object(reading, "quantized_layers", &there, reterr);
    while (status == DTI_OK && there &&
           (status = dti_config_next_key(reading, key, reterr)) == DTI_OK && key[0] != '\0') {
        if (strcmp(key, "quant_algo") == 0)
            status = dti_config_read_word(reading, key, algorithm, reterr);
        else if (strcmp(key, "group_size") == 0)
            status = dti_config_read_count(reading, key, NULL, &group_size, reterr);
        else
            status = dti_config_skip(reading, reterr);
    }
    if (status != DTI_OK)
        return status;
    if (!dti_config_algorithm(algorithm, group_size, &hint))
        hint = (struct dti_quant_hint){.bits = 0};
    return dti_config_add_hint(reading, block, &hint, &rule->hint, reterr);
}

/* Reads an object whose keys are the texts. */
static enum dti_status read_object(struct dti_config_reading *reading,
                                   struct dti_config_block *block, enum dti_config_list which,
                                   struct dti_error *reterr)
{
    struct dti_config_entries *const entries = &block->lists[which];
    enum dti_json_token token;
    enum dti_status status;
    while ((status = dti_config_next(reading, &token, reterr)) == DTI_OK && token == DTI_JSON_KEY) {
        status = add_entry(reading, members[which], entries, reterr);
        if (status != DTI_OK)
            return status;
        struct dti_module_rule *const rule = &entries->list[entries->count - 1];
        status = which == DTI_LIST_DYNAMIC ? read_override(reading, rule, reterr)
                                           : read_layer(reading, block, rule, reterr);
        if (status != DTI_OK)
            return status;
        if (which == DTI_LIST_DYNAMIC && rule->length >= 2 && rule->text[1] == ':' &&
            (rule->text[0] == '-' || rule->text[0] == '+')) {
            rule->ignore = rule->text[0] == '-';
            rule->prefix = 2;
        }
    }
    return status;
}

enum dti_status dti_config_read_list(struct dti_config_reading *reading,
                                     struct dti_config_block *block, const char *key,
                                     enum dti_config_list which, struct dti_error *reterr)
{
    const bool object = which == DTI_LIST_DYNAMIC || which == DTI_LIST_LAYERS;
    enum dti_json_token token;
    const enum dti_status status = dti_config_next(reading, &token, reterr);
    if (status != DTI_OK)
        return status;
    block->lists[which].count = 0;
    if (token == DTI_JSON_NULL)
        return DTI_OK;
    if (token == (object ? DTI_JSON_OBJECT : DTI_JSON_ARRAY))
        return object ? read_object(reading, block, which, reterr)
                      : dti_config_read_strings(reading, key, &block->lists[which], reterr);
    return dti_config_fail_type(reading, key, object ? "an object" : "a list of strings", reterr);
}

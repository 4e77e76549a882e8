/* SPDX-License-Identifier: MIT
 *
 * Members of a configuration whose keys are module paths. */
#include "files/config/quant_config_modules.h"

#include <string.h>

#include "files/config/quant_config_block.h"

static enum dti_status add_module(struct dti_config_reading *reading,
                                  struct dti_config_modules *modules,
                                  const struct dti_config_module *module, struct dti_error *reterr)
{
    if (modules->count == modules->room) {
        const size_t room = modules->room > 0 ? modules->room * 2 : 16;
        const size_t size = sizeof *modules->list;
        struct dti_config_module *const list =
            dti_pool_grow(reading->pool, modules->list, modules->count * size, room * size);
        if (!list)
            return dti_no_memory(reterr);
        modules->list = list;
        modules->room = room;
    }
    modules->list[modules->count++] = *module;
    return DTI_OK;
}

/* Reads the members of an object that has begun. */
static enum dti_status read_scheme(struct dti_config_reading *reading,
                                   struct dti_module_scheme *scheme, bool *ret_any,
                                   struct dti_error *reterr)
{
    char key[DTI_CONFIG_WORD], mode[DTI_CONFIG_WORD];
    enum dti_status status = DTI_OK;
    *ret_any = false;
    while (status == DTI_OK && (status = dti_config_next_key(reading, key, reterr)) == DTI_OK &&
           key[0] != '\0') {
        const bool mode_follows = strcmp(key, "mode") == 0;
        const bool bits = strcmp(key, "bits") == 0, group = strcmp(key, "group_size") == 0;
        *ret_any = *ret_any || mode_follows || bits || group;
        if (mode_follows) {
            status = dti_config_read_word(reading, key, mode, reterr);
            if (status == DTI_OK)
                memcpy(scheme->mode, mode, sizeof scheme->mode);
            scheme->mode[sizeof scheme->mode - 1] = '\0';
        } else if (bits) {
            status = dti_config_read_bits(reading, key, &scheme->bits, reterr);
        } else if (group) {
            status = dti_config_read_count(reading, key, NULL, &scheme->group_size, reterr);
        } else {
            status = dti_config_skip(reading, reterr);
        }
    }
    return status;
}

enum dti_status dti_config_read_module(struct dti_config_reading *reading,
                                       struct dti_config_modules *modules, struct dti_error *reterr)
{
    const char *name;
    size_t length;
    enum dti_json_token token;
    bool any = false;
    dti_json_string_value(&reading->json, &name, &length);
    struct dti_config_module module = {.path = dti_pool_text(reading->pool, name, length),
                                       .path_length = length};
    if (!module.path)
        return dti_no_memory(reterr);
    enum dti_status status = dti_config_next(reading, &token, reterr);
    if (status == DTI_OK && token == DTI_JSON_OBJECT)
        status = read_scheme(reading, &module.scheme, &any, reterr);
    else if (status == DTI_OK && token != DTI_JSON_FALSE)
        return dti_config_skip_rest(reading, token, reterr);
    module.scheme.plain = token == DTI_JSON_FALSE;
    return status == DTI_OK && (any || module.scheme.plain)
               ? add_module(reading, modules, &module, reterr)
               : status;
}

bool dti_config_sort_modules(struct dti_config_modules *modules)
{
    if (!dti_name_order_init(&modules->order, modules->count))
        return false;
    for (size_t i = modules->count; i-- > 0;)
        dti_name_order_add(&modules->order, modules->list[i].path, modules->list[i].path_length);
    dti_name_order_sort(&modules->order);
    return true;
}

const struct dti_module_scheme *dti_config_find_module(const struct dti_config_modules *modules,
                                                       const char *path, size_t length)
{
    size_t at;
    if (modules->count == 0 || !dti_name_order_find(&modules->order, path, length, &at))
        return NULL;
    return &modules->list[modules->count - 1 - at].scheme;
}

void dti_config_free_modules(struct dti_config_modules *modules)
{
    dti_name_order_free(&modules->order);
    *modules = (struct dti_config_modules){.list = NULL};
}

/* SPDX-License-Identifier: MIT
 *
 * Numbers of heads, from the key-values of a GGUF or from a checkpoint's config.json. */
#include "files/model/model_heads.h"

#include <stdio.h>

#include "containers/gguf/gguf_edits.h"
#include "files/model/model_config.h"
#include "util/json/json_read.h"

enum dti_model_arch dti_model_arch_of(const struct dti_container *gguf, const char **ret_name,
                                      size_t *ret_length)
{
    const struct dti_metadata *const entry = dti_gguf_pair_of(gguf, "general.architecture");
    const bool text = entry && entry->kind == DTI_METADATA_STRING;
    *ret_name = text ? entry->value : NULL;
    *ret_length = text ? entry->value_length : 0;
    return text ? dti_model_arch_named(entry->value, entry->value_length) : DTI_MODEL_ARCHS;
}

/* A number, or the numbers of all layers: 0 if there is none, or *ret_differ. */
static uint64_t read_count(const struct dti_container *gguf, enum dti_model_arch arch,
                           const char *name, bool *ret_differ)
{
    char key[64];
    struct dti_json_reader json;
    enum dti_json_token token;
    uint64_t count = 0, next = 0, listed = 0;
    (void)snprintf(key, sizeof key, "%s.attention.%s", dti_model_arch_name(arch), name);
    const struct dti_metadata *const entry = dti_gguf_pair_of(gguf, key);
    if (!entry || entry->kind == DTI_METADATA_STRING)
        return 0;
    dti_json_reader_init(&json, entry->value, entry->value_length);
    while (dti_json_next(&json, &token) && token != DTI_JSON_END) {
        if (token != DTI_JSON_NUMBER || !dti_json_u64(&json, &next))
            continue;
        *ret_differ = *ret_differ || (listed > 0 && next != count);
        count = next;
        listed++;
    }
    dti_json_reader_free(&json);
    if (entry->count > 1 && listed != entry->count) /* the rest is not listed */
        *ret_differ = true;
    return count;
}

static enum dti_status look_in_config(struct dti_model_heads *ret,
                                      const struct dti_container *checkpoint,
                                      struct dti_error *reterr)
{
    struct dti_model_config config;
    const enum dti_status status = dti_model_config_read(&config, checkpoint, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_model_member *const heads =
        dti_model_config_find(&config, "num_attention_heads");
    const struct dti_model_member *const kv_heads =
        dti_model_config_find(&config, "num_key_value_heads");
    if (heads)
        (void)dti_model_member_integer(heads, &ret->heads);
    if (kv_heads && ret->kv_heads == 0)
        (void)dti_model_member_integer(kv_heads, &ret->kv_heads);
    dti_model_config_free(&config);
    return DTI_OK;
}

enum dti_status dti_model_heads_read(struct dti_model_heads *ret, const struct dti_container *gguf,
                                     enum dti_model_arch arch,
                                     const struct dti_container *checkpoint,
                                     struct dti_error *reterr)
{
    *ret = (struct dti_model_heads){.differ = false};
    ret->heads = read_count(gguf, arch, "head_count", &ret->differ);
    ret->kv_heads = read_count(gguf, arch, "head_count_kv", &ret->differ);
    if (ret->heads == 0) {
        const enum dti_status status = look_in_config(ret, checkpoint, reterr);
        if (status != DTI_OK)
            return status;
    }
    if (ret->kv_heads == 0)
        ret->kv_heads = ret->heads;
    return DTI_OK;
}

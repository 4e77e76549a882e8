/* SPDX-License-Identifier: MIT
 *
 * Numbers of heads, from the key-values of a GGUF or from a checkpoint's config.json. */
#include "files/model/model_heads.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io/input.h"
#include "util/json/json_read.h"
#include "util/run/allocate.h"

enum { CONFIG_MOST = 16 << 20 };

static const struct dti_metadata *find(const struct dti_container *gguf, const char *key)
{
    const size_t length = strlen(key);
    for (size_t i = 0; i < gguf->metadata_count; i++) {
        const struct dti_metadata *const entry = &gguf->metadata[i];
        if (entry->key_length == length && memcmp(entry->key, key, length) == 0)
            return entry;
    }
    return NULL;
}

enum dti_model_arch dti_model_arch_of(const struct dti_container *gguf, const char **ret_name,
                                      size_t *ret_length)
{
    const struct dti_metadata *const entry = find(gguf, "general.architecture");
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
    const struct dti_metadata *const entry = find(gguf, key);
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

static uint64_t *member_of(struct dti_model_heads *heads, const struct dti_json_reader *json)
{
    return dti_json_string_is(json, "num_attention_heads")   ? &heads->heads
           : dti_json_string_is(json, "num_key_value_heads") ? &heads->kv_heads
                                                             : NULL;
}

/* The members of the document, and of its text_config. False: not JSON. */
static bool read_config(struct dti_model_heads *ret, struct dti_json_reader *json)
{
    enum dti_json_token token;
    unsigned depth = 0;
    if (!dti_json_next(json, &token) || token != DTI_JSON_OBJECT)
        return false;
    while (dti_json_next(json, &token)) {
        if (token == DTI_JSON_OBJECT_END && depth-- == 0)
            return dti_json_next(json, &token); /* the end */
        if (token != DTI_JSON_KEY)
            continue;
        uint64_t *const member = member_of(ret, json);
        const bool text = depth == 0 && dti_json_string_is(json, "text_config");
        uint64_t count;
        if (!dti_json_next(json, &token))
            return false;
        if (text && token == DTI_JSON_OBJECT) {
            depth++;
            continue;
        }
        if (member && *member == 0 && token == DTI_JSON_NUMBER && dti_json_u64(json, &count))
            *member = count;
        if (!dti_json_skip(json, token))
            return false;
    }
    return false;
}

static enum dti_status read_file(struct dti_model_heads *ret, const char *path,
                                 struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    struct dti_input input;
    struct dti_json_reader json;
    struct dti_buffer text;
    enum dti_status status = dti_input_open(&input, path, reterr);
    if (status != DTI_OK)
        return status;
    dti_buffer_init(&text);
    status = dti_input_read_all(&input, CONFIG_MOST, "a configuration", &text, reterr);
    if (status == DTI_OK) {
        dti_json_reader_init(&json, text.data, text.length);
        json.nonfinite = true;
        if (!read_config(ret, &json))
            status = dti_fail(reterr, DTI_BAD_INPUT, "%s is not a JSON object: %s",
                              dti_input_label(&input, quoted),
                              json.problem ? json.problem : "it begins with another value");
        dti_json_reader_free(&json);
    }
    dti_buffer_free(&text);
    dti_input_close(&input);
    return status;
}

static enum dti_status look_in_config(struct dti_model_heads *ret,
                                      const struct dti_container *checkpoint,
                                      struct dti_error *reterr)
{
    static const char name[] = "config.json";
    const char *const first = checkpoint->file_count > 0 ? checkpoint->files[0].path : "-";
    const char *const slash = strrchr(first, '/');
    const size_t folder = slash ? (size_t)(slash - first) + 1 : 0;
    enum dti_status status = DTI_OK;
    if (strcmp(first, "-") == 0)
        return DTI_OK;
    char *const path = dti_malloc(folder + sizeof name);
    if (!path)
        return dti_no_memory(reterr);
    memcpy(path, first, folder);
    memcpy(path + folder, name, sizeof name);
    if (dti_input_there(path) != ENOENT)
        status = read_file(ret, path, reterr);
    dti_free(path);
    return status;
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

/* SPDX-License-Identifier: MIT
 *
 * Key-values as the user states them: --set KEY=VALUE, --set-from FILE.json. */
#include <string.h>

#include "containers/name_order.h"
#include "io/input.h"
#include "requests/rewrite/gguf_job.h"
#include "util/json/json_read.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"
#include "util/text/utf8.h"

enum { KEY_MAX = 65535, JSON_MAX = 100000000 };

/* Where key-values come from, for messages: "--set" or the label of a file. */
struct settings_source {
    const char *words;
    enum dti_status status; /* of errors */
    size_t first;           /* edit */
};

static enum dti_status check_key(const struct settings_source *source, const char *key,
                                 size_t length, struct dti_error *reterr)
{
    const char *const problem = length == 0                    ? "is empty"
                                : length > KEY_MAX             ? "has more than 65535 bytes"
                                : !dti_utf8_valid(key, length) ? "is not UTF-8"
                                : length > 6 && memcmp(key, "split.", 6) == 0
                                    ? "is written by --max-shard-size"
                                    : NULL;
    if (!problem)
        return DTI_OK;
    return dti_fail_word(reterr, source->status, key, length, "%s: the key %s %s", source->words,
                         DTI_QUOTED(key, length), problem);
}

/* Splits "KEY:TYPE" at its last colon. A key without a type has that of the table, if any. */
static enum dti_status read_key(const struct settings_source *source, const char *key,
                                size_t *length, struct dti_gguf_typed *ret,
                                struct dti_error *reterr)
{
    size_t at = *length;
    while (at > 0 && key[at - 1] != ':')
        at--;
    *ret = (struct dti_gguf_typed){DTI_GGUF_VALUES, DTI_GGUF_VALUES};
    if (at == 0) {
        (void)dti_gguf_key_type(key, *length, ret);
        return check_key(source, key, *length, reterr);
    }
    if (!dti_gguf_value_named(key + at, *length - at, ret))
        return dti_fail_word(reterr, source->status, key + at, *length - at,
                             "%s: %s is no type of a key; use %s", source->words,
                             DTI_QUOTED(key + at, *length - at), dti_gguf_value_words());
    *length = at - 1;
    return check_key(source, key, *length, reterr);
}

/* Adds the source and the key to an error about a value. */
static enum dti_status fail_value(const struct settings_source *source, const char *key,
                                  size_t length, enum dti_status status,
                                  const struct dti_error *why, struct dti_error *reterr)
{
    if (status == DTI_NO_MEMORY)
        return dti_no_memory(reterr);
    return dti_fail_word(reterr, source->status, key, length, "%s: %s: %s", source->words,
                         DTI_QUOTED(key, length), why->text);
}

/* "KEY=VALUE"; keys have no '=' */
static enum dti_status add_item(struct dti_gguf_edits *edits, const struct settings_source *source,
                                const char *item, struct dti_error *reterr)
{
    const char *const sign = strchr(item, '=');
    struct dti_gguf_typed type;
    struct dti_error why;
    if (!sign || sign == item)
        return dti_fail_word(reterr, source->status, item, strlen(item),
                             "--set takes KEY=VALUE, as in general.architecture=flux, or "
                             "KEY:TYPE=VALUE; got %s",
                             DTI_QUOTED(item, strlen(item)));
    size_t length = (size_t)(sign - item);
    enum dti_status status = read_key(source, item, &length, &type, reterr);
    if (status != DTI_OK)
        return status;
    dti_gguf_edits_begin(edits, item, length);
    status = dti_gguf_value_text(&edits->text, &type, sign + 1, strlen(sign + 1), &why);
    if (status != DTI_OK)
        return fail_value(source, item, length, status, &why, reterr);
    dti_gguf_edits_end(edits);
    return DTI_OK;
}

/* Whether a key of this source is stated twice. */
static enum dti_status check_twice(const struct dti_gguf_edits *edits,
                                   const struct settings_source *source, struct dti_error *reterr)
{
    struct dti_name_order order;
    if (edits->failed || !dti_name_order_init(&order, edits->count - source->first))
        return dti_no_memory(reterr);
    for (size_t i = source->first; i < edits->count; i++)
        dti_name_order_add(&order, edits->text.data + edits->list[i].at, edits->list[i].key_length);
    dti_name_order_sort(&order);
    const size_t again = dti_name_order_repeated(&order);
    dti_name_order_free(&order);
    if (again == SIZE_MAX)
        return DTI_OK;
    const struct dti_gguf_edit *const edit = &edits->list[source->first + again];
    const char *const key = edits->text.data + edit->at;
    return dti_fail_word(reterr, source->status, key, edit->key_length,
                         "%s: the key %s is there twice", source->words,
                         DTI_QUOTED(key, edit->key_length));
}

/* State while a JSON file is read. */
struct json_settings {
    struct dti_json_reader json;
    struct dti_gguf_edits *edits;
    const struct settings_source *source;
    struct dti_buffer key;
};

/* Reads the value after a key. */
static enum dti_status add_member(struct json_settings *work, struct dti_error *reterr)
{
    struct dti_json_reader *const json = &work->json;
    enum dti_json_token token;
    struct dti_gguf_typed type;
    struct dti_error why;
    size_t length = work->key.length;
    enum dti_status status = read_key(work->source, work->key.data, &length, &type, reterr);
    if (status != DTI_OK)
        return status;
    if (!dti_json_next(json, &token))
        return DTI_BAD_VALUE;
    const char *const start = token == DTI_JSON_ARRAY    ? json->at - 1
                              : token == DTI_JSON_STRING ? json->token - 1
                                                         : json->token;
    if (!dti_json_skip(json, token))
        return DTI_BAD_VALUE;
    if (token == DTI_JSON_OBJECT || token == DTI_JSON_NULL)
        return dti_fail_word(reterr, work->source->status, work->key.data, length,
                             "%s: %s is %s; a value is a number, a string, true, false or an array "
                             "of these",
                             work->source->words, DTI_QUOTED(work->key.data, length),
                             token == DTI_JSON_NULL ? "null" : "an object");
    dti_gguf_edits_begin(work->edits, work->key.data, length);
    status =
        dti_gguf_value_json(&work->edits->text, &type, start, (size_t)(json->at - start), &why);
    if (status != DTI_OK)
        return fail_value(work->source, work->key.data, length, status, &why, reterr);
    dti_gguf_edits_end(work->edits);
    return DTI_OK;
}

/* DTI_BAD_VALUE without an error: it is no JSON object. */
static enum dti_status add_members(struct json_settings *work, struct dti_error *reterr)
{
    struct dti_json_reader *const json = &work->json;
    enum dti_json_token token;
    const char *key;
    size_t length;
    if (!dti_json_next(json, &token) || token != DTI_JSON_OBJECT)
        return DTI_BAD_VALUE;
    while (dti_json_next(json, &token)) {
        if (token == DTI_JSON_OBJECT_END)
            return dti_json_next(json, &token) ? DTI_OK : DTI_BAD_VALUE;
        dti_json_string_value(json, &key, &length);
        dti_buffer_clear(&work->key);
        dti_buffer_append(&work->key, key, length);
        if (work->key.failed)
            return dti_no_memory(reterr);
        const enum dti_status status = add_member(work, reterr);
        if (status != DTI_OK)
            return status;
    }
    return DTI_BAD_VALUE;
}

static enum dti_status add_file(struct dti_gguf_edits *edits, const char *path,
                                struct dti_error *reterr)
{
    struct dti_input input;
    struct dti_buffer text;
    char label[DTI_QUOTE_SIZE];
    enum dti_status status = dti_input_open(&input, path, reterr);
    if (status != DTI_OK)
        return status;
    dti_buffer_init(&text);
    const struct settings_source source = {dti_input_label(&input, label), DTI_BAD_INPUT,
                                           edits->count};
    struct json_settings work = {.edits = edits, .source = &source};
    dti_buffer_init(&work.key);
    status = dti_input_read_all(&input, JSON_MAX, "--set-from", &text, reterr);
    dti_input_close(&input);
    if (status == DTI_OK) {
        dti_json_reader_init(&work.json, text.data, text.length);
        status = add_members(&work, reterr);
        if (status == DTI_BAD_VALUE)
            status = dti_fail(reterr, DTI_BAD_INPUT,
                              "%s: %s at byte %zu; --set-from takes a JSON "
                              "object",
                              label, work.json.problem ? work.json.problem : "no object begins",
                              (size_t)(work.json.at - text.data));
        dti_json_reader_free(&work.json);
    }
    if (status == DTI_OK)
        status = check_twice(edits, &source, reterr);
    dti_buffer_free(&work.key);
    dti_buffer_free(&text);
    return status;
}

enum dti_status dti_gguf_settings(struct dti_gguf_edits *edits, const struct dti_option_list *set,
                                  const char *set_from, struct dti_error *reterr)
{
    enum dti_status status = set_from ? add_file(edits, set_from, reterr) : DTI_OK;
    const struct settings_source source = {"--set", DTI_USAGE, edits->count};
    for (size_t i = 0; i < set->count && status == DTI_OK; i++)
        status = add_item(edits, &source, set->items[i], reterr);
    return status == DTI_OK ? check_twice(edits, &source, reterr) : status;
}

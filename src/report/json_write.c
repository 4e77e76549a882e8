/* SPDX-License-Identifier: MIT
 *
 * Printing a JSON document, whole or array element by array element: the containers that are open
 * then have been written in part, and are made anew and empty. */
#include <assert.h>
#include <string.h>

#include "report/json_tree.h"

static char *put(char *out, const char *text, size_t length)
{
    memcpy(out, text, length);
    return out + length;
}

/* Keys are ours and plain; one that is not cannot end its string all the same. */
static char *print_key(char *out, const struct dti_item *item)
{
    const size_t length = item->key_length;
    *out++ = '"';
    for (size_t i = 0;
         (i += dti_json_copy_plain(out + i, item->node.string + i, length - i)) < length;)
        out[i++] = '?';
    out += length;
    *out++ = '"';
    *out++ = ':';
    return out;
}

/* Prints a value and returns the end; as deep as dti_json_object() lets the tree become. The type
 * is read as it is: cJSON_IsRaw() and its like are calls into the library. */
static char *print(char *out, const struct dti_item *item)
{
    const int type = item->node.type & 0xFF; /* above are flags */
    if (type == cJSON_Raw)
        return put(out, item->node.valuestring, item->text_length);
    if (type == cJSON_NULL)
        return put(out, "null", 4);
    if (type == cJSON_True)
        return put(out, "true", 4);
    if (type == cJSON_False)
        return put(out, "false", 5);

    const bool is_object = type == cJSON_Object;
    *out++ = is_object ? '{' : '[';
    for (const cJSON *node = item->node.child; node; node = node->next) {
        const struct dti_item *const child = (const struct dti_item *)node;
        if (is_object)
            out = print_key(out, child);
        out = print(out, child);
        if (node->next)
            *out++ = ',';
    }
    *out++ = is_object ? '}' : ']';
    return out;
}

/* Prints what was added to the open containers since they were last written, from a level on. The
 * containers below it that are open stay so. */
static char *print_open(char *out, const struct dti_json *json, size_t level)
{
    const struct dti_item *const item = json->open[level];
    const struct dti_item *const inner = level + 1 < json->depth ? json->open[level + 1] : NULL;
    const bool is_object = (item->node.type & 0xFF) == cJSON_Object;
    bool comma = level < json->begun && json->has_members[level];
    if (level >= json->begun)
        *out++ = is_object ? '{' : '[';
    for (const cJSON *node = item->node.child; node; node = node->next) {
        const struct dti_item *const child = (const struct dti_item *)node;
        if (comma)
            *out++ = ',';
        comma = true;
        if (is_object)
            out = print_key(out, child);
        out = child == inner ? print_open(out, json, level + 1) : print(out, child);
    }
    return out;
}

/* Into the text buffer, with room for a few bytes more. NULL when memory ran out. */
static char *print_text(struct dti_json *json, size_t level, size_t *ret_length)
{
    dti_buffer_clear(&json->text);
    if (json->failed || !dti_buffer_reserve(&json->text, json->bound)) {
        json->failed = true;
        return NULL;
    }
    *ret_length = (size_t)(print_open(json->text.data, json, level) - json->text.data);
    assert(*ret_length <= json->bound);
    return json->text.data;
}

/* Empties the arena down to new, childless containers on the open path, all of them begun. */
static void restart(struct dti_json *json)
{
    int types[DTI_JSON_DEEPEST];
    for (size_t i = 0; i < json->depth; i++)
        types[i] = json->open[i]->node.type & 0xFF;
    json->current = json->first;
    json->first->used = 0;
    json->bound = 64;
    for (size_t i = 0; i < json->depth; i++) {
        json->open[i] = dti_json_item(json, types[i], 0);
        if (!json->open[i])
            return;
        json->has_members[i] = true;
    }
    json->begun = json->depth;
}

/* Nothing is written before the first element is there: an error until then leaves no half
 * document. */
void dti_json_stream(struct dti_json *json, FILE *out)
{
    if (json->failed)
        return;
    assert(cJSON_IsArray(&json->open[json->depth - 1]->node));
    json->stream = out;
    json->stream_depth = json->depth;
}

/* A container was closed that was written in part. */
static void write_end(struct dti_json *json)
{
    size_t length;
    const bool is_object = (json->open[json->depth]->node.type & 0xFF) == cJSON_Object;
    char *const text = print_text(json, json->depth, &length);
    if (!text)
        return;
    text[length++] = is_object ? '}' : ']';
    (void)fwrite(text, 1, length, json->stream);
    restart(json);
}

static void write_element(struct dti_json *json)
{
    size_t length;
    const char *const text = print_text(json, json->begun > 0 ? json->begun - 1 : 0, &length);
    if (!text)
        return;
    (void)fwrite(text, 1, length, json->stream);
    restart(json);
}

void dti_json_stream_end(struct dti_json *json)
{
    if (json->begun > json->depth)
        write_end(json);
    else if (json->depth == json->stream_depth)
        write_element(json);
    if (json->depth < json->stream_depth)
        json->stream_depth = 0;
}

enum dti_status dti_json_write(struct dti_json *json, FILE *out, struct dti_error *reterr)
{
    size_t length;
    char *const text = print_text(json, 0, &length);
    if (!text)
        return dti_fail(reterr, DTI_NO_MEMORY,
                        "out of memory for one JSON document; --jsonl needs less");
    assert(json->depth == 1);
    text[length++] = '}';
    text[length++] = '\n';
    if (fwrite(text, 1, length, out) != length)
        return dti_fail(reterr, DTI_WRITE_FAILED, "cannot write the JSON document");
    return DTI_OK;
}

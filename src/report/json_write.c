/* SPDX-License-Identifier: MIT
 *
 * Printing a JSON document, whole or array element by array element. */
#include <assert.h>
#include <string.h>

#include "report/json_tree.h"

static char *put(char *out, const char *text, size_t length)
{
    memcpy(out, text, length);
    return out + length;
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
        if (is_object) {
            *out++ = '"';
            out = put(out, node->string, child->key_length);
            *out++ = '"';
            *out++ = ':';
        }
        out = print(out, child);
        if (node->next)
            *out++ = ',';
    }
    *out++ = is_object ? '}' : ']';
    return out;
}

/* Prints an item into the text buffer with room for a few bytes around it. NULL when memory ran
 * out. */
static char *print_text(struct dti_json *json, const struct dti_item *item, size_t *ret_length)
{
    dti_buffer_clear(&json->text);
    if (json->failed || !dti_buffer_reserve(&json->text, json->bound)) {
        json->failed = true;
        return NULL;
    }
    *ret_length = (size_t)(print(json->text.data, item) - json->text.data);
    assert(*ret_length <= json->bound);
    return json->text.data;
}

/* Empties the arena down to new, childless containers on the open path. */
static void restart(struct dti_json *json, size_t depth)
{
    json->current = json->first;
    json->first->used = 0;
    json->bound = 64;
    for (size_t i = 0; i < depth; i++) {
        json->open[i] = dti_json_item(json, i == 0 ? cJSON_Object : cJSON_Array);
        if (!json->open[i])
            return;
    }
}

/* Nothing is written before the first element is there: an error until then leaves no half
 * document. */
void dti_json_stream(struct dti_json *json, FILE *out)
{
    if (json->failed)
        return;
    assert(json->depth == DTI_JSON_STREAM_DEPTH && cJSON_IsArray(&json->open[1]->node));
    json->stream = out;
}

static void write_element(struct dti_json *json)
{
    size_t length;
    const struct dti_item *const shown =
        json->streamed ? (const struct dti_item *)json->open[1]->node.child : json->open[0];
    const char *const text = print_text(json, shown, &length);
    if (!text)
        return;
    if (json->streamed)
        (void)fputc(',', json->stream);
    else
        length -= 2; /* the brackets of the array and of the document stay open */
    (void)fwrite(text, 1, length, json->stream);
    json->streamed = true;
    restart(json, DTI_JSON_STREAM_DEPTH);
}

void dti_json_stream_end(struct dti_json *json)
{
    if (json->depth == DTI_JSON_STREAM_DEPTH) {
        write_element(json);
        return;
    }
    if (json->streamed) {
        assert(!json->open[1]->node.child); /* elements are objects or arrays */
        (void)fputc(']', json->stream);
        restart(json, 1);
    }
    json->stream = NULL;
}

enum dti_status dti_json_write(struct dti_json *json, FILE *out, struct dti_error *reterr)
{
    size_t length;
    char *text = print_text(json, json->open[0], &length);
    if (!text)
        return dti_fail(reterr, DTI_NO_MEMORY,
                        "out of memory for one JSON document; --jsonl needs less");
    assert(json->depth == 1);
    if (json->streamed && length > 2)
        text[0] = ','; /* these members follow those already written */
    else if (json->streamed) {
        text++;
        length--;
    }
    text[length++] = '\n';
    if (fwrite(text, 1, length, out) != length)
        return dti_fail(reterr, DTI_WRITE_FAILED, "cannot write the JSON document");
    return DTI_OK;
}

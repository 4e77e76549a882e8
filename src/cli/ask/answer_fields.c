/* SPDX-License-Identifier: MIT
 *
 * Members of a document as text: see answer_fields.h. */
#include "cli/ask/answer_fields.h"

#include <stdlib.h>
#include <string.h>

#include "core/dtype/dtype.h"
#include "util/json/json_read.h"
#include "util/sink.h"

/* JSON text, not owned. */
struct json_span {
    const char *text;
    size_t length;
};

/* Reads the rest of the value whose first token was read last. */
static struct json_span whole_value(struct dti_json_reader *reader, enum dti_json_token first)
{
    const char *const start = reader->token - (first == DTI_JSON_STRING);
    if (!dti_json_skip(reader, first))
        return (struct json_span){.text = NULL};
    return (struct json_span){start, (size_t)(reader->at - start)};
}

/* Goes to the next member of an object or element of an array that `reader` is in. */
static bool next_value(struct dti_json_reader *reader, bool members, struct json_span *ret_key,
                       struct json_span *ret_value)
{
    enum dti_json_token token;
    if (!dti_json_next(reader, &token))
        return false;
    if (members) {
        if (token != DTI_JSON_KEY)
            return false;
        *ret_key = (struct json_span){reader->token, reader->token_length};
        if (!dti_json_next(reader, &token))
            return false;
    }
    if (token == DTI_JSON_ARRAY_END)
        return false;
    *ret_value = whole_value(reader, token);
    return ret_value->text != NULL;
}

/* The member with that name; empty if the value is not an object with that member. */
static struct json_span member(struct json_span object, const char *name, size_t length)
{
    struct dti_json_reader reader;
    enum dti_json_token token;
    struct json_span key, value, found = {.text = NULL};
    dti_json_reader_init(&reader, object.text, object.length);
    if (dti_json_next(&reader, &token) && token == DTI_JSON_OBJECT) {
        while (!found.text && next_value(&reader, true, &key, &value)) {
            if (key.length == length && memcmp(key.text, name, length) == 0)
                found = value;
        }
    }
    dti_json_reader_free(&reader);
    return found;
}

/* "max.bits": a member of a member. */
static struct json_span member_at(struct json_span record, const char *path, size_t length)
{
    for (const char *const end = path + length; record.text;) {
        const char *const dot = memchr(path, '.', (size_t)(end - path));
        record = member(record, path, (size_t)((dot ? dot : end) - path));
        if (!dot)
            break;
        path = dot + 1;
    }
    return record;
}

static void put_value(FILE *out, struct json_span value)
{
    const struct json_span text = value.text ? member(value, "text", 4) : value;
    if (text.text)
        value = text;
    if (!value.text || (value.length == 4 && memcmp(value.text, "null", 4) == 0)) {
        (void)fputc('-', out);
        return;
    }
    const bool quoted = value.text[0] == '"' && !memchr(value.text, '\\', value.length);
    (void)fwrite(value.text + quoted, 1, value.length - (quoted ? 2 : 0), out);
}

/* The records of a document, in any number. */
struct records {
    struct dti_json_reader reader;
    bool open;
};

static void records_start(struct records *ret, struct json_span document, const char *name)
{
    enum dti_json_token token;
    const struct json_span array = member(document, name, strlen(name));
    dti_json_reader_init(&ret->reader, array.text ? array.text : "", array.length);
    ret->open = dti_json_next(&ret->reader, &token) && token == DTI_JSON_ARRAY;
}

static bool records_next(struct records *records, struct json_span *ret_record)
{
    struct json_span none;
    return records->open && next_value(&records->reader, false, &none, ret_record);
}

static bool any_has(struct json_span document, const char *name, const char *path, size_t length)
{
    struct records records;
    struct json_span record;
    bool found = false, any = false;
    records_start(&records, document, name);
    while (!found && records_next(&records, &record)) {
        any = true;
        found = member_at(record, path, length).text != NULL;
    }
    dti_json_reader_free(&records.reader);
    return found || !any;
}

static enum dti_status unknown_field(struct json_span document, const char *name, const char *field,
                                     size_t length, struct dti_error *reterr)
{
    char list[DTI_ERROR_TEXT] = "";
    size_t used = 0;
    struct records records;
    struct json_span record = {"{}", 2}, key, value;
    records_start(&records, document, name);
    (void)records_next(&records, &record);
    dti_json_reader_free(&records.reader);
    struct dti_json_reader reader;
    enum dti_json_token token;
    dti_json_reader_init(&reader, record.text, record.length);
    (void)dti_json_next(&reader, &token);
    while (next_value(&reader, true, &key, &value) && used + key.length + 3 < sizeof list)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.*s", used > 0 ? " " : "",
                                 (int)key.length, key.text);
    dti_json_reader_free(&reader);
    return dti_fail_word(reterr, DTI_USAGE, field, length, "no field %s; the fields are %s",
                         DTI_QUOTED(field, length), list);
}

static enum dti_status print(FILE *out, struct json_span document, const char *name,
                             const char *fields, struct dti_error *reterr)
{
    struct records records;
    struct json_span record;
    for (const char *at = fields;; at++) { /* validated before anything is printed */
        const size_t length = strcspn(at, ",");
        if (!any_has(document, name, at, length))
            return unknown_field(document, name, at, length, reterr);
        at += length;
        if (*at == '\0')
            break;
    }
    records_start(&records, document, name);
    while (records_next(&records, &record)) {
        for (const char *at = fields;; at++) {
            const size_t length = strcspn(at, ",");
            put_value(out, member_at(record, at, length));
            at += length;
            (void)fputc(*at == ',' ? '\t' : '\n', out);
            if (*at == '\0')
                break;
        }
    }
    dti_json_reader_free(&records.reader);
    return DTI_OK;
}

enum dti_status dti_fields_print(const struct dti_command_context *cx, const char *records,
                                 const char *fields, struct dti_error *reterr)
{
    struct dti_buffer text;
    dti_buffer_init(&text);
    const struct dti_sink sink = dti_sink_to_buffer(&text);
    enum dti_status status = dti_json_write(cx->json, &sink, reterr);
    if (text.failed)
        status = dti_no_memory(reterr);
    if (status == DTI_OK)
        status =
            print(cx->out, (struct json_span){text.data, text.length}, records, fields, reterr);
    dti_buffer_free(&text);
    return status;
}

/* Whether a word names a limit: "finfo fp16 eps". */
static bool is_limit(const char *word)
{
    static const char *const limits[] = {
        "max",  "min",        "lowest",          "eps",
        "bits", "resolution", "smallest_normal", "smallest_subnormal"};
    size_t i = 0;
    while (i < sizeof limits / sizeof *limits && strcmp(word, limits[i]) != 0)
        i++;
    return i < sizeof limits / sizeof *limits;
}

enum dti_status dti_fields_wanted(const struct dti_command_context *cx, const char *field,
                                  const char *bare, char **operands, int *count,
                                  const char **ret_fields, struct dti_error *reterr)
{
    *ret_fields = field;
    if (field && cx->output != DTI_OUTPUT_HUMAN)
        return dti_fail(reterr, DTI_USAGE, "--field prints text; leave it out with --json");
    if (!field && !cx->quiet && *count > 1 && is_limit(operands[*count - 1]))
        return dti_fail_word(reterr, DTI_USAGE, operands[*count - 1], strlen(operands[*count - 1]),
                             "'%s' is not a dtype; --field NAME,... prints members of the answer",
                             operands[*count - 1]);
    if (field || !cx->quiet || cx->output != DTI_OUTPUT_HUMAN)
        return DTI_OK;
    *ret_fields = bare;
    if (*count < 2)
        return DTI_OK;
    char name[DTI_NAME_SIZE];
    const char *const last = operands[*count - 1];
    const size_t length = strcspn(last, ",");
    struct dti_format format;
    struct dti_error error;
    (void)snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : 0), last);
    if (dti_format_lookup(name, &format, NULL, &error) == DTI_UNKNOWN_DTYPE)
        *ret_fields = operands[--*count];
    return DTI_OK;
}

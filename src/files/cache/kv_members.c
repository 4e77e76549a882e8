/* SPDX-License-Identifier: MIT
 *
 * Reads the members of configurations, which are untrusted, and gathers layers. */
#include "files/cache/kv_members.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/run/allocate.h"
#include "util/run/grown.h"

enum dti_status dti_kv_refuse(const char *label, struct dti_error *reterr, const char *format, ...)
{
    char text[DTI_ERROR_TEXT];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return dti_fail(reterr, DTI_BAD_INPUT, "%s: %s", label, text);
}

static enum dti_status fail_json(const struct dti_kv_members *members,
                                 const struct dti_json_reader *json, struct dti_error *reterr)
{
    if (json->string.failed)
        return dti_no_memory(reterr);
    return dti_kv_refuse(members->label, reterr, "it is not JSON: %s", json->problem);
}

static bool grow(struct dti_kv_members *members)
{
    struct dti_kv_member *const list =
        dti_grown(members->list, members->count, &members->capacity, sizeof *list);
    if (list)
        members->list = list;
    return list != NULL;
}

/* After a key: its value, as a slice of the text. */
static enum dti_status add_member(struct dti_kv_members *members, struct dti_json_reader *json,
                                  struct dti_error *reterr)
{
    enum dti_json_token token;
    if (!grow(members))
        return dti_no_memory(reterr);
    struct dti_kv_member *const member = &members->list[members->count];
    member->name = json->token;
    member->name_length = json->token_length;
    if (!dti_json_next(json, &token))
        return fail_json(members, json, reterr);
    member->value = json->token - (token == DTI_JSON_STRING);
    if (!dti_json_skip(json, token))
        return fail_json(members, json, reterr);
    member->value_length = (size_t)(json->at - member->value);
    members->count++;
    return DTI_OK;
}

enum dti_status dti_kv_members_read(struct dti_kv_members *ret, const char *label, const char *text,
                                    size_t length, struct dti_error *reterr)
{
    struct dti_json_reader json;
    enum dti_json_token token;
    enum dti_status status = DTI_OK;
    *ret = (struct dti_kv_members){.label = label};
    dti_json_reader_init(&json, text, length);
    json.nonfinite = true;
    if (!dti_json_next(&json, &token))
        status = fail_json(ret, &json, reterr);
    else if (token != DTI_JSON_OBJECT)
        status = dti_kv_refuse(label, reterr, "it is not a JSON object");
    while (status == DTI_OK && token != DTI_JSON_END) {
        if (!dti_json_next(&json, &token))
            status = fail_json(ret, &json, reterr);
        else if (token == DTI_JSON_KEY)
            status = add_member(ret, &json, reterr);
    }
    dti_json_reader_free(&json);
    return status;
}

void dti_kv_members_free(struct dti_kv_members *members)
{
    dti_free(members->list);
    members->list = NULL;
    members->count = members->capacity = 0;
}

static bool is_null(const struct dti_kv_member *member)
{
    return member->value_length == 4 && memcmp(member->value, "null", 4) == 0;
}

/* The last member of a name, as in Python's json. */
static const struct dti_kv_member *find_one(const struct dti_kv_members *members, const char *name,
                                            size_t length)
{
    for (size_t i = members->count; i > 0; i--) {
        const struct dti_kv_member *const member = &members->list[i - 1];
        if (member->name_length == length && memcmp(member->name, name, length) == 0)
            return is_null(member) ? NULL : member;
    }
    return NULL;
}

const struct dti_kv_member *dti_kv_find(const struct dti_kv_members *members, const char *names)
{
    for (const char *at = names;; at++) {
        const size_t length = strcspn(at, "|");
        const struct dti_kv_member *const member = find_one(members, at, length);
        at += length;
        if (member || *at == '\0')
            return member;
    }
}

/* The first token of a value. */
static bool first_token(struct dti_json_reader *json, const struct dti_kv_member *member,
                        enum dti_json_token *ret)
{
    dti_json_reader_init(json, member->value, member->value_length);
    json->nonfinite = true;
    return dti_json_next(json, ret);
}

/* A number that is written as 2.0 is one, too. */
static bool read_number(const char *text, size_t length, uint64_t *ret)
{
    uint64_t number = 0;
    size_t at = 0;
    for (; at < length && text[at] >= '0' && text[at] <= '9'; at++) {
        number = 10 * number + (uint64_t)(text[at] - '0');
        if (number >> DTI_KV_NUMBER_BITS != 0)
            return false;
    }
    if (at == 0 || (at < length && text[at] != '.'))
        return false;
    for (at += at < length; at < length; at++) {
        if (text[at] != '0')
            return false;
    }
    *ret = number;
    return true;
}

enum dti_status dti_kv_number(const struct dti_kv_members *members, const char *names,
                              uint64_t otherwise, uint64_t *ret, struct dti_error *reterr)
{
    const struct dti_kv_member *const member = dti_kv_find(members, names);
    char quoted[DTI_QUOTE_SIZE];
    if (!member && otherwise == DTI_KV_NEEDED)
        return dti_kv_refuse(members->label, reterr,
                             "it has no %.*s, which the size of its cache follows from",
                             (int)strcspn(names, "|"), names);
    if (!member)
        *ret = otherwise;
    else if (!read_number(member->value, member->value_length, ret))
        return dti_kv_refuse(members->label, reterr, "its %.*s is %s, not an integer below 2^%d",
                             (int)member->name_length, member->name,
                             dti_quote(quoted, member->value, member->value_length),
                             (int)DTI_KV_NUMBER_BITS);
    return DTI_OK;
}

static void copy_text(const struct dti_json_reader *json, char ret[DTI_KV_WORD])
{
    const char *text;
    size_t length;
    dti_json_string_value(json, &text, &length);
    ret[0] = '\0';
    if (length >= DTI_KV_WORD || memchr(text, '\0', length))
        return;
    memcpy(ret, text, length);
    ret[length] = '\0';
}

void dti_kv_text(const struct dti_kv_members *members, const char *names, char ret[DTI_KV_WORD])
{
    const struct dti_kv_member *const member = dti_kv_find(members, names);
    struct dti_json_reader json;
    enum dti_json_token token;
    ret[0] = '\0';
    if (!member)
        return;
    if (first_token(&json, member, &token) && token == DTI_JSON_STRING)
        copy_text(&json, ret);
    dti_json_reader_free(&json);
}

bool dti_kv_letters(const struct dti_kv_members *members, const char *names, char *ret, size_t size)
{
    const struct dti_kv_member *const member = dti_kv_find(members, names);
    if (!member || member->value_length < 2 || *member->value != '"' ||
        member->value_length - 2 >= size)
        return false;
    memcpy(ret, member->value + 1, member->value_length - 2);
    ret[member->value_length - 2] = '\0';
    return true;
}

bool dti_kv_is_true(const struct dti_kv_members *members, const char *names)
{
    const struct dti_kv_member *const member = dti_kv_find(members, names);
    return member && member->value_length == 4 && memcmp(member->value, "true", 4) == 0;
}

/* A string, a number, or true and false as 1 and 0. */
static bool read_element(const struct dti_json_reader *json, enum dti_json_token token,
                         struct dti_kv_element *ret)
{
    *ret = (struct dti_kv_element){.number = token == DTI_JSON_TRUE};
    if (token == DTI_JSON_STRING)
        copy_text(json, ret->text);
    return token == DTI_JSON_STRING || token == DTI_JSON_TRUE || token == DTI_JSON_FALSE ||
           (token == DTI_JSON_NUMBER && read_number(json->token, json->token_length, &ret->number));
}

enum dti_status dti_kv_each(const struct dti_kv_members *members, const struct dti_kv_member *of,
                            enum dti_status (*take)(void *context, size_t index,
                                                    const struct dti_kv_element *element,
                                                    struct dti_error *reterr),
                            void *context, size_t *ret_count, struct dti_error *reterr)
{
    struct dti_json_reader json;
    enum dti_json_token token;
    enum dti_status status = DTI_OK;
    size_t count = 0;
    bool good = first_token(&json, of, &token) && token == DTI_JSON_ARRAY;
    while (good && status == DTI_OK) {
        struct dti_kv_element element;
        good = dti_json_next(&json, &token);
        if (good && token == DTI_JSON_ARRAY_END)
            break;
        good = good && read_element(&json, token, &element);
        if (good)
            status = take(context, count++, &element, reterr);
    }
    dti_json_reader_free(&json);
    *ret_count = count;
    if (!good)
        return dti_kv_refuse(members->label, reterr,
                             "its %.*s is not a list of words or small integers",
                             (int)of->name_length, of->name);
    return status;
}

enum dti_status dti_kv_add(struct dti_kv_model *model, const char *label,
                           const struct dti_kv_group *layer, struct dti_error *reterr)
{
    for (size_t i = 0; i < model->count; i++) {
        struct dti_kv_group *const group = &model->groups[i];
        if (group->kind == layer->kind && group->fp32 == layer->fp32 &&
            group->window == layer->window && group->heads == layer->heads &&
            group->key == layer->key && group->value == layer->value) {
            group->layers++;
            return DTI_OK;
        }
    }
    if (model->count == DTI_KV_GROUPS)
        return dti_kv_refuse(label, reterr, "its layers are of more than %d kinds",
                             (int)DTI_KV_GROUPS);
    struct dti_kv_group *const group = &model->groups[model->count++];
    *group = *layer;
    group->layers = 1;
    return DTI_OK;
}

void dti_kv_note_default(struct dti_kv_model *model, const char *name, uint64_t value)
{
    const size_t used = strlen(model->defaults);
    (void)snprintf(model->defaults + used, sizeof model->defaults - used, "%s%.*s %llu",
                   used > 0 ? ", " : "", (int)strcspn(name, "|"), name, (unsigned long long)value);
}

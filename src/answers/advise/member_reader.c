/* SPDX-License-Identifier: MIT
 *
 * Reads the program's own documents again: see member_reader.h. */
#include "answers/advise/member_reader.h"

#include <stdio.h>
#include <string.h>

#include "core/number/number.h"
#include "io/input.h"
#include "kernels/fp64.h"

void dti_members_open(struct dti_member_reader *ret, const char *path, const char *purpose,
                      struct dti_error *reterr)
{
    struct dti_input input;
    *ret = (struct dti_member_reader){.reterr = reterr};
    (void)dti_quote(ret->label, path, strlen(path));
    dti_buffer_init(&ret->text);
    dti_json_reader_init(&ret->json, "", 0);
    ret->status = dti_input_open(&input, path, reterr);
    if (ret->status != DTI_OK)
        return;
    ret->status = dti_input_read_all(&input, DTI_MEMBERS_BYTES_MAX, purpose, &ret->text, reterr);
    dti_input_close(&input);
    if (ret->status == DTI_OK)
        dti_json_reader_init(&ret->json, ret->text.data, ret->text.length);
}

void dti_members_close(struct dti_member_reader *reader)
{
    dti_json_reader_free(&reader->json);
    dti_buffer_free(&reader->text);
}

void dti_members_refuse(struct dti_member_reader *reader, const char *why)
{
    if (reader->status != DTI_OK)
        return;
    reader->status =
        reader->json.string.failed
            ? dti_no_memory(reader->reterr)
            : dti_fail(reader->reterr, DTI_BAD_INPUT, "%s: byte %zu: %s", reader->label,
                       (size_t)(reader->json.at - reader->json.start), why);
}

static void no_memory(struct dti_member_reader *reader)
{
    if (reader->status == DTI_OK)
        reader->status = dti_no_memory(reader->reterr);
}

/* The next token; DTI_JSON_END after a failure. */
static enum dti_json_token next(struct dti_member_reader *reader)
{
    enum dti_json_token token = DTI_JSON_END;
    if (reader->status != DTI_OK)
        return DTI_JSON_END;
    if (reader->held) {
        reader->held = false;
        return reader->token;
    }
    if (!dti_json_next(&reader->json, &token)) {
        dti_members_refuse(reader, reader->json.problem);
        return DTI_JSON_END;
    }
    return token;
}

/* Whether a token of that kind is next. */
static bool takes(struct dti_member_reader *reader, enum dti_json_token wanted, const char *why)
{
    const bool there = next(reader) == wanted;
    if (!there)
        dti_members_refuse(reader, why);
    return there && reader->status == DTI_OK;
}

bool dti_members_object(struct dti_member_reader *reader)
{
    return takes(reader, DTI_JSON_OBJECT, "an object is missing");
}

bool dti_members_next(struct dti_member_reader *reader)
{
    return next(reader) == DTI_JSON_KEY;
}

bool dti_members_is(const struct dti_member_reader *reader, const char *key)
{
    return dti_json_string_is(&reader->json, key);
}

bool dti_members_list(struct dti_member_reader *reader)
{
    return takes(reader, DTI_JSON_ARRAY, "a list is missing");
}

bool dti_members_element(struct dti_member_reader *reader)
{
    reader->token = next(reader);
    reader->held = reader->status == DTI_OK && reader->token != DTI_JSON_ARRAY_END;
    return reader->held;
}

void dti_members_skip(struct dti_member_reader *reader)
{
    const enum dti_json_token first = next(reader);
    if (reader->status == DTI_OK && !dti_json_skip(&reader->json, first))
        dti_members_refuse(reader, reader->json.problem);
}

uint64_t dti_members_u64(struct dti_member_reader *reader)
{
    uint64_t number = 0;
    if (takes(reader, DTI_JSON_NUMBER, "a number is missing") &&
        !dti_json_u64(&reader->json, &number))
        dti_members_refuse(reader, "an integer of at most 64 bits is missing");
    return number;
}

double dti_members_double(struct dti_member_reader *reader)
{
    struct dti_value value;
    struct dti_error error;
    if (!takes(reader, DTI_JSON_NUMBER, "a number is missing"))
        return 0;
    if (dti_value_parse(&value, reader->json.token, reader->json.token_length, &error) != DTI_OK) {
        dti_members_refuse(reader, "a number cannot be read");
        return 0;
    }
    return dti_fp64_from_value(&value);
}

const char *dti_members_text(struct dti_member_reader *reader, struct dti_pool *pool,
                             size_t *ret_length)
{
    const enum dti_json_token token = next(reader);
    const char *text;
    size_t length;
    if (token != DTI_JSON_STRING) {
        if (token != DTI_JSON_NULL)
            dti_members_refuse(reader, "a text is missing");
        return NULL;
    }
    dti_json_string_value(&reader->json, &text, &length);
    const char *const copy = dti_pool_text(pool, text, length);
    if (!copy)
        no_memory(reader);
    else if (!ret_length && strlen(copy) != length)
        dti_members_refuse(reader, "a text has a zero byte");
    if (ret_length)
        *ret_length = length;
    return copy;
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void dti_members_hex(struct dti_member_reader *reader, struct dti_pool *pool, const char **ret,
                     size_t *ret_length)
{
    size_t length = 0;
    const char *const digits = dti_members_text(reader, pool, &length);
    char *const bytes = digits ? dti_pool_alloc(pool, length / 2 + 1) : NULL;
    if (digits && !bytes)
        no_memory(reader);
    for (size_t i = 0; bytes && i + 1 < length; i += 2) {
        const int high = digit_of(digits[i]), low = digit_of(digits[i + 1]);
        if (high < 0 || low < 0)
            dti_members_refuse(reader, "hexadecimal digits are missing");
        bytes[i / 2] = (char)((unsigned)high << 4 | (unsigned)low);
    }
    if (length % 2 != 0)
        dti_members_refuse(reader, "hexadecimal digits are missing");
    if (!bytes)
        return;
    bytes[length / 2] = '\0';
    *ret = bytes;
    *ret_length = length / 2;
}

void dti_members_schema(struct dti_member_reader *reader, const char *schema)
{
    char why[DTI_QUOTE_SIZE];
    if (!takes(reader, DTI_JSON_STRING, "the schema is missing") ||
        dti_json_string_is(&reader->json, schema))
        return;
    (void)snprintf(why, sizeof why, "the schema is not %s", schema);
    dti_members_refuse(reader, why);
}

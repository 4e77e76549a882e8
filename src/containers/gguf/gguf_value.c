/* SPDX-License-Identifier: MIT
 *
 * Values of GGUF keys from text and from JSON. Numbers go from their digits to the stored type: no
 * detour through double, so integers of 64 bits are exact and floats are rounded once. */
#include <stdio.h>
#include <string.h>

#include "containers/gguf/gguf_edits.h"
#include "core/number/number.h"
#include "util/json/json_read.h"
#include "util/little_endian.h"
#include "util/text/ascii.h"
#include "util/text/glob.h"
#include "util/text/utf8.h"

static const struct {
    char word[8], name[8];
    unsigned bytes;
    enum dti_dtype dtype; /* of numbers */
} types[DTI_GGUF_VALUES] = {
    [DTI_GGUF_UINT8] = {"u8", "uint8", 1, DTI_UINT8},
    [DTI_GGUF_INT8] = {"i8", "int8", 1, DTI_INT8},
    [DTI_GGUF_UINT16] = {"u16", "uint16", 2, DTI_UINT16},
    [DTI_GGUF_INT16] = {"i16", "int16", 2, DTI_INT16},
    [DTI_GGUF_UINT32] = {"u32", "uint32", 4, DTI_UINT32},
    [DTI_GGUF_INT32] = {"i32", "int32", 4, DTI_INT32},
    [DTI_GGUF_FLOAT32] = {"f32", "float32", 4, DTI_FP32},
    [DTI_GGUF_BOOL] = {"bool", "bool", 1, DTI_NONE},
    [DTI_GGUF_STRING] = {"str", "string", 8, DTI_NONE},
    [DTI_GGUF_ARRAY] = {"arr", "array", 12, DTI_NONE},
    [DTI_GGUF_UINT64] = {"u64", "uint64", 8, DTI_UINT64},
    [DTI_GGUF_INT64] = {"i64", "int64", 8, DTI_INT64},
    [DTI_GGUF_FLOAT64] = {"f64", "float64", 8, DTI_FP64},
};

const char *dti_gguf_value_words(void)
{
    return "u8, i8, u16, i16, u32, i32, u64, i64, f32, f64, bool, str or arr[...]";
}

static bool is_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && dti_ascii_equal_start(word, text, length);
}

static enum dti_gguf_value scalar_named(const char *word, size_t length)
{
    unsigned i = 0;
    while (i < DTI_GGUF_VALUES && (i == DTI_GGUF_ARRAY || (!is_word(types[i].word, word, length) &&
                                                           !is_word(types[i].name, word, length))))
        i++;
    return (enum dti_gguf_value)i;
}

bool dti_gguf_value_named(const char *word, size_t length, struct dti_gguf_typed *ret)
{
    static const char array[] = "arr[";
    const size_t before = sizeof array - 1;
    const bool is_array = length > before + 1 && dti_ascii_equal_start(array, word, before) &&
                          word[length - 1] == ']';
    const enum dti_gguf_value element =
        is_array ? scalar_named(word + before, length - before - 1) : scalar_named(word, length);
    *ret = (struct dti_gguf_typed){is_array ? DTI_GGUF_ARRAY : element, element};
    return element < DTI_GGUF_VALUES;
}

bool dti_gguf_key_type(const char *key, size_t length, struct dti_gguf_typed *ret)
{
    static const struct {
        char pattern[40];
        struct dti_gguf_typed typed;
    } keys[] = {
#define GGUF_KEY(glob, type, of) {glob, {DTI_GGUF_##type, DTI_GGUF_##of}},
#include "containers/gguf/gguf_keys.def"
#undef GGUF_KEY
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!dti_glob_match(keys[i].pattern, strlen(keys[i].pattern), key, length))
            continue;
        *ret = keys[i].typed;
        return true;
    }
    return false;
}

static void put(struct dti_buffer *out, size_t size, uint64_t value)
{
    unsigned char bytes[8];
    dti_little_put(bytes, size, value);
    dti_buffer_append(out, (const char *)bytes, size);
}

static enum dti_status put_string(struct dti_buffer *ret, const char *text, size_t length,
                                  struct dti_error *reterr)
{
    if (!dti_utf8_valid(text, length))
        return dti_fail_word(reterr, DTI_BAD_VALUE, text, length,
                             "%s is not UTF-8, which strings of GGUF are",
                             DTI_QUOTED(text, length));
    put(ret, 8, length);
    dti_buffer_append(ret, text, length);
    return DTI_OK;
}

/* Integers must be exact; floats are rounded to nearest and may not overflow. */
static enum dti_status put_number(struct dti_buffer *ret, enum dti_gguf_value type,
                                  const char *text, size_t length, struct dti_error *reterr)
{
    const struct dti_format *const format = dti_format_get(types[type].dtype);
    const bool is_float = dti_format_is_float(format);
    struct dti_value value;
    struct dti_outcome outcome;
    const enum dti_status status = dti_value_parse(&value, text, length, reterr);
    if (status != DTI_OK)
        return status;
    dti_encode(format, &value, &(struct dti_policy){0}, 0, &outcome);
    if ((outcome.flags & (unsigned)(is_float ? DTI_FLAG_OVERFLOW : ~0)) != 0)
        return dti_fail_word(reterr, DTI_BAD_VALUE, text, length, "%s is no %s: it %s",
                             DTI_QUOTED(text, length), types[type].name,
                             (outcome.flags & DTI_FLAG_OVERFLOW) != 0 ? "is out of range"
                                                                      : "has a fraction");
    put(ret, types[type].bytes, outcome.code);
    return DTI_OK;
}

static enum dti_status put_scalar(struct dti_buffer *ret, enum dti_gguf_value type,
                                  const char *text, size_t length, struct dti_error *reterr)
{
    if (type == DTI_GGUF_STRING)
        return put_string(ret, text, length, reterr);
    if (type != DTI_GGUF_BOOL)
        return put_number(ret, type, text, length, reterr);
    const bool yes = dti_text_is(text, length, "true");
    if (!yes && !dti_text_is(text, length, "false"))
        return dti_fail_word(reterr, DTI_BAD_VALUE, text, length,
                             "%s is no bool; use true or false", DTI_QUOTED(text, length));
    put(ret, 1, yes);
    return DTI_OK;
}

/* What the elements of a value have in common. */
struct value_kinds {
    bool strings, bools, fractions, integers;
    bool negative, wide, wide_signed; /* beyond uint32; beyond int32 */
};

/* digits: at most a sign, then digits */
static void add_integer(struct value_kinds *kinds, const char *text, size_t length)
{
    const bool negative = text[0] == '-';
    uint64_t magnitude = 0;
    bool large = false;
    for (size_t i = negative; i < length; i++) {
        large = large || magnitude > UINT32_MAX;
        magnitude = large ? UINT64_MAX : magnitude * 10 + (uint64_t)(text[i] - '0');
    }
    const uint64_t lowest = (uint64_t)INT32_MAX + 1;
    kinds->integers = true;
    kinds->negative = kinds->negative || (negative && magnitude > 0);
    kinds->wide = kinds->wide || large || magnitude > UINT32_MAX;
    kinds->wide_signed = kinds->wide_signed || large || magnitude > lowest - !negative;
}

static bool is_integer(const char *text, size_t length)
{
    const size_t sign = length > 0 && text[0] == '-';
    size_t i = sign;
    while (i < length && text[i] >= '0' && text[i] <= '9')
        i++;
    return i == length && length > sign;
}

static bool is_number(const char *text, size_t length)
{
    struct dti_value value;
    struct dti_error ignored;
    const char first = length > 0 ? text[text[0] == '-' && length > 1] : ' ';
    return ((first >= '0' && first <= '9') || first == '.') &&
           dti_value_parse(&value, text, length, &ignored) == DTI_OK;
}

static void add_kind(struct value_kinds *kinds, const char *text, size_t length, bool quoted)
{
    if (quoted)
        kinds->strings = true;
    else if (dti_text_is(text, length, "true") || dti_text_is(text, length, "false"))
        kinds->bools = true;
    else if (is_integer(text, length))
        add_integer(kinds, text, length);
    else if (is_number(text, length))
        kinds->fractions = true;
    else
        kinds->strings = true;
}

/* The type for all elements; DTI_GGUF_VALUES: they are of several kinds, or there are none. Arrays
 * of integers are int32 where that holds them, as programs that read GGUF expect. */
static enum dti_gguf_value infer(const struct value_kinds *kinds, bool array)
{
    const int count = kinds->strings + kinds->bools + (kinds->fractions || kinds->integers);
    if (count != 1)
        return DTI_GGUF_VALUES;
    if (kinds->strings || kinds->bools)
        return kinds->strings ? DTI_GGUF_STRING : DTI_GGUF_BOOL;
    if (kinds->fractions)
        return DTI_GGUF_FLOAT32;
    if (kinds->negative || (array && !kinds->wide_signed))
        return kinds->wide_signed ? DTI_GGUF_INT64 : DTI_GGUF_INT32;
    return kinds->wide ? DTI_GGUF_UINT64 : DTI_GGUF_UINT32;
}

/* The elements of a text one by one: of a JSON array, or between commas. */
struct element_reader {
    struct dti_json_reader json;
    bool is_json, done;
    const char *at, *end;
};

static void start_elements(struct element_reader *ret, const char *text, size_t length)
{
    *ret = (struct element_reader){
        .is_json = length > 0 && text[0] == '[', .at = text, .end = text + length};
    ret->done = length == 0;
    dti_json_reader_init(&ret->json, text, length);
}

static enum dti_status fail_json(const struct element_reader *reader, struct dti_error *reterr)
{
    const char *const start = reader->json.start;
    const size_t length = (size_t)(reader->json.end - start);
    if (reader->json.string.failed)
        return dti_no_memory(reterr);
    return dti_fail_word(reterr, DTI_BAD_VALUE, start, length, "%s is no JSON array of scalars: %s",
                         DTI_QUOTED(start, length),
                         reader->json.problem ? reader->json.problem : "it has other values");
}

static enum dti_status next_json(struct element_reader *reader, const char **ret,
                                 size_t *ret_length, bool *ret_quoted, struct dti_error *reterr)
{
    struct dti_json_reader *const json = &reader->json;
    enum dti_json_token token;
    const bool first = json->at == json->start;
    if ((first && (!dti_json_next(json, &token) || token != DTI_JSON_ARRAY)) ||
        !dti_json_next(json, &token))
        return fail_json(reader, reterr);
    *ret = json->token;
    *ret_length = json->token_length;
    *ret_quoted = token == DTI_JSON_STRING;
    if (*ret_quoted)
        dti_json_string_value(json, ret, ret_length);
    if (token == DTI_JSON_ARRAY_END) {
        reader->done = true;
        return dti_json_next(json, &token) ? DTI_OK : fail_json(reader, reterr);
    }
    return token == DTI_JSON_STRING || token == DTI_JSON_NUMBER || token == DTI_JSON_TRUE ||
                   token == DTI_JSON_FALSE
               ? DTI_OK
               : fail_json(reader, reterr);
}

/* reader->done is set, and *ret is no element, after the last. */
static enum dti_status next_element(struct element_reader *reader, const char **ret,
                                    size_t *ret_length, bool *ret_quoted, struct dti_error *reterr)
{
    if (reader->done)
        return DTI_OK;
    if (reader->is_json)
        return next_json(reader, ret, ret_length, ret_quoted, reterr);
    if (!reader->at) {
        reader->done = true;
        return DTI_OK;
    }
    const char *const comma = memchr(reader->at, ',', (size_t)(reader->end - reader->at));
    *ret = reader->at;
    *ret_length = (size_t)((comma ? comma : reader->end) - reader->at);
    *ret_quoted = false;
    reader->at = comma ? comma + 1 : NULL;
    return DTI_OK;
}

static enum dti_status infer_elements(const char *text, size_t length, enum dti_gguf_value *ret,
                                      struct dti_error *reterr)
{
    struct element_reader reader;
    struct value_kinds kinds = {.strings = false};
    const char *element = ""; /* set with each element */
    size_t size = 0;
    bool quoted = false;
    start_elements(&reader, text, length);
    enum dti_status status = DTI_OK;
    while (status == DTI_OK && !reader.done) {
        status = next_element(&reader, &element, &size, &quoted, reterr);
        if (status == DTI_OK && !reader.done)
            add_kind(&kinds, element, size, quoted);
    }
    dti_json_reader_free(&reader.json);
    *ret = infer(&kinds, true);
    if (status == DTI_OK && *ret == DTI_GGUF_VALUES)
        return dti_fail_word(reterr, DTI_BAD_VALUE, text, length,
                             "%s has elements of several kinds or none; state a type, as in "
                             "KEY:arr[i32]",
                             DTI_QUOTED(text, length));
    return status;
}

static enum dti_status put_array(struct dti_buffer *ret, enum dti_gguf_value element,
                                 const char *text, size_t length, struct dti_error *reterr)
{
    struct element_reader reader;
    const char *item = ""; /* set with each element */
    size_t size = 0;
    bool quoted = false;
    uint64_t count = 0;
    put(ret, 4, element);
    const size_t count_at = ret->length;
    put(ret, 8, 0);
    start_elements(&reader, text, length);
    enum dti_status status = DTI_OK;
    while (status == DTI_OK && !reader.done) {
        status = next_element(&reader, &item, &size, &quoted, reterr);
        if (status != DTI_OK || reader.done)
            break;
        if (quoted && element != DTI_GGUF_STRING)
            status = dti_fail_word(reterr, DTI_BAD_VALUE, item, size, "%s is a string, and no %s",
                                   DTI_QUOTED(item, size), types[element].name);
        else
            status = put_scalar(ret, element, item, size, reterr);
        count++;
    }
    dti_json_reader_free(&reader.json);
    if (status == DTI_OK && !ret->failed)
        dti_little_put((unsigned char *)ret->data + count_at, 8, count);
    return status;
}

void dti_gguf_value_array(struct dti_buffer *ret, enum dti_gguf_value element,
                          const uint64_t *codes, size_t count)
{
    put(ret, 4, DTI_GGUF_ARRAY);
    put(ret, 4, element);
    put(ret, 8, count);
    for (size_t i = 0; i < count; i++)
        put(ret, types[element].bytes, codes[i]);
}

enum dti_status dti_gguf_value_text(struct dti_buffer *ret, const struct dti_gguf_typed *type,
                                    const char *text, size_t length, struct dti_error *reterr)
{
    struct dti_gguf_typed typed = *type;
    struct value_kinds kinds = {.strings = false};
    enum dti_status status = DTI_OK;
    if (typed.type == DTI_GGUF_VALUES && length > 0 && text[0] == '[') {
        typed.type = DTI_GGUF_ARRAY;
        status = infer_elements(text, length, &typed.element, reterr);
    } else if (typed.type == DTI_GGUF_VALUES) {
        add_kind(&kinds, text, length, false);
        typed.type = infer(&kinds, false);
    }
    if (status != DTI_OK)
        return status;
    put(ret, 4, typed.type);
    return typed.type == DTI_GGUF_ARRAY ? put_array(ret, typed.element, text, length, reterr)
                                        : put_scalar(ret, typed.type, text, length, reterr);
}

/* Reads one scalar; a string is decoded into the reader's memory. */
static enum dti_status put_json_scalar(struct dti_buffer *ret, const struct dti_gguf_typed *type,
                                       struct element_reader *reader, struct dti_error *reterr)
{
    struct dti_json_reader *const json = &reader->json;
    enum dti_json_token token;
    if (!dti_json_next(json, &token))
        return fail_json(reader, reterr);
    const char *text = json->token;
    size_t length = json->token_length;
    const bool quoted = token == DTI_JSON_STRING;
    if (quoted)
        dti_json_string_value(json, &text, &length);
    if (token != DTI_JSON_STRING && token != DTI_JSON_NUMBER && token != DTI_JSON_TRUE &&
        token != DTI_JSON_FALSE)
        return dti_fail_word(reterr, DTI_BAD_VALUE, text, length,
                             "%s is no number, string, true, false or array of these",
                             DTI_QUOTED(text, length));
    if (quoted && type->type != DTI_GGUF_STRING && type->type != DTI_GGUF_VALUES)
        return dti_fail_word(reterr, DTI_BAD_VALUE, text, length, "%s is a string, and no %s",
                             DTI_QUOTED(text, length), types[type->type].name);
    const struct dti_gguf_typed as = {DTI_GGUF_STRING, DTI_GGUF_STRING};
    return dti_gguf_value_text(ret, quoted ? &as : type, text, length, reterr);
}

enum dti_status dti_gguf_value_json(struct dti_buffer *ret, const struct dti_gguf_typed *type,
                                    const char *json, size_t length, struct dti_error *reterr)
{
    struct element_reader reader;
    const bool array = length > 0 && json[0] == '[';
    if (array && (type->type == DTI_GGUF_ARRAY || type->type == DTI_GGUF_VALUES))
        return dti_gguf_value_text(ret, type, json, length, reterr);
    if (array || type->type == DTI_GGUF_ARRAY)
        return dti_fail_word(reterr, DTI_BAD_VALUE, json, length, "%s is %s array",
                             DTI_QUOTED(json, length), array ? "an" : "no");
    start_elements(&reader, json, length);
    const enum dti_status status = put_json_scalar(ret, type, &reader, reterr);
    dti_json_reader_free(&reader.json);
    return status;
}

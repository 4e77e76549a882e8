/* SPDX-License-Identifier: MIT
 *
 * What several documents have: numbers in all their spellings, names, warnings. */
#include <stdlib.h>
#include <string.h>

#include "answers/common.h"
#include "dtinfo/buffer.h"
#include "dtinfo/dtype.h"
#include "dtinfo/utf8.h"

/* The two spellings that 64-bit readers share. */
struct tokens {
    const char *token; /* the JSON number, or NULL */
    char text[DTI_TEXT_SIZE];
};

struct field_digits {
    char sign[DTI_BINARY_SIZE], exponent[DTI_BINARY_SIZE], mantissa[DTI_BINARY_SIZE];
};

/* The JSON number of a value that was spelled as text, or NULL. */
static const char *token_of(const struct dti_number_answer *number, const char *text)
{
    const struct dti_value *const value = number->value;
    const bool whole =
        (number->format && dti_format_is_integer(number->format)) || dti_value_fits_json(value);
    if (value->class > DTI_CLASS_FINITE || !whole)
        return NULL;
    /* many readers take "-0" for the integer 0 */
    return value->class == DTI_CLASS_ZERO && value->negative ? "-0.0" : text;
}

static void spell_text(char text[DTI_TEXT_SIZE], const struct dti_number_answer *number)
{
    if (number->text)
        memcpy(text, number->text, strlen(number->text) + 1);
    else if (number->format)
        (void)dti_spell_stored(text, number->format, number->code, number->value);
    else
        (void)dti_spell_text(text, number->value);
}

static void spell_tokens(struct tokens *ret, const struct dti_number_answer *number)
{
    spell_text(ret->text, number);
    ret->token = token_of(number, ret->text);
}

void dti_spell_number(struct dti_spellings *ret, struct dti_json *json,
                      const struct dti_number_answer *number)
{
    spell_text(ret->text, number);
    ret->token = token_of(number, ret->text);
    ret->finite = number->value->class <= DTI_CLASS_FINITE;
    if (number->format) {
        (void)dti_spell_shortest_value(ret->shortest, number->format, number->value);
        (void)dti_spell_code(ret->bits, number->code, number->format->width);
    }
    dti_buffer_borrow(&ret->exact, ret->room, sizeof ret->room);
    ret->has_exact = ret->finite && dti_spell_exact(&ret->exact, number->value);
    if (ret->exact.failed)
        dti_json_out_of_memory(json);
    if (ret->finite)
        (void)dti_spell_hexfloat(ret->hexfloat, number->value);
}

static void spell_fields(struct field_digits *ret, const struct dti_fields_answer *fields)
{
    const struct dti_format *const format = fields->format;
    const unsigned fraction = format->man_bits, width = fraction + format->exp_bits;
    const bool sign = dti_format_is_signed(format);
    (void)dti_spell_binary(ret->mantissa, fields->code, fraction);
    (void)dti_spell_binary(ret->exponent, fields->code >> fraction, format->exp_bits);
    (void)dti_spell_binary(ret->sign, sign ? fields->code >> width : 0, sign);
}

void dti_put_token(struct dti_json *json, const char *key, const char *text)
{
    dti_json_number(json, key, text, text ? strlen(text) : 0);
}

void dti_double_value(double figure, struct dti_value *ret_value)
{
    uint64_t code;
    memcpy(&code, &figure, sizeof code);
    dti_decode(dti_format_get(DTI_FP64), code, ret_value);
}

void dti_put_double(struct dti_json *json, const char *key, double number)
{
    char text[DTI_TEXT_SIZE];
    struct dti_value value;
    dti_double_value(number, &value);
    if (value.class > DTI_CLASS_FINITE)
        dti_json_null(json, key);
    else
        dti_json_number(json, key, text, dti_spell_text(text, &value));
}

void dti_put_code(struct dti_json *json, const char *key, const struct dti_format *format,
                  bool there, uint64_t code)
{
    struct dti_value value;
    if (!there) {
        dti_json_null(json, key);
        return;
    }
    dti_decode(format, code, &value);
    dti_put_number(json, key, &(struct dti_number_answer){format, code, &value, NULL});
}

void dti_put_figure(struct dti_json *json, const char *key, bool there, double figure)
{
    uint64_t code;
    memcpy(&code, &figure, sizeof code);
    dti_put_code(json, key, dti_format_get(DTI_FP64), there, code);
}

void dti_put_limit(struct dti_json *json, const char *key, const struct dti_format *format,
                   const struct dti_limit *limit)
{
    if (limit->present && !limit->has_code)
        dti_put_number(json, key, &(struct dti_number_answer){.value = &limit->value});
    else
        dti_put_code(json, key, format, limit->present, limit->code);
}

void dti_put_bytes(struct dti_json *json, const char *key, const char *hex_key, const char *text,
                   size_t length)
{
    static const char digits[] = "0123456789abcdef";
    dti_json_text(json, key, text, length);
    if (!text || dti_utf8_valid(text, length)) {
        dti_json_null(json, hex_key);
        return;
    }
    char *const hex = malloc(2 * length + 1);
    for (size_t i = 0; hex && i < length; i++) {
        hex[2 * i] = digits[(unsigned char)text[i] >> 4];
        hex[2 * i + 1] = digits[text[i] & 15];
    }
    if (hex)
        dti_json_text(json, hex_key, hex, 2 * length);
    else
        dti_json_out_of_memory(json);
    free(hex);
}

const char *dti_kind_words(size_t index)
{
    return index <= DTI_KIND_COMPLEX ? dti_kind_name((enum dti_kind)index) : NULL;
}

#define DTI_ROWS "answers/common.def"
#include "answers/rows.h"

const struct dti_object *const dti_common_objects[] = {
    &dti_object_number, &dti_object_neighbour, &dti_object_fields,
    &dti_object_name,   &dti_object_warning,
};
const size_t dti_common_object_count = sizeof dti_common_objects / sizeof *dti_common_objects;

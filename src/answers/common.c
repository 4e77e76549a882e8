/* SPDX-License-Identifier: MIT
 *
 * Common parts of documents: see common.h. */
#include "answers/common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/rows.h"
#include "answers/tensors.h"
#include "core/code/policies.def"
#include "core/code/taper.h"
#include "core/dtype/storage.h"
#include "files/rewrite/rewrite.h"
#include "util/run/allocate.h"

/* The two short spellings of a number: as text, and as a JSON number. */
struct tokens {
    const struct dti_number_answer *of;
    struct dti_spelled token, text; /* the JSON number, or NULL */
    char room[DTI_TEXT_SIZE];
};

/* Precomputed values for the rows in common.def. */
struct name {
    const struct dti_dtype_name *of;
    const char *system;
    bool numbered;
};
struct quantized {
    const struct dti_dequant_form *of;
    bool has_axis, grouped;
    uint64_t scale_bytes;
};
struct layout {
    const struct dti_format *of;
    bool fields, biased;
    unsigned sign_bits;
};
struct loss {
    const struct dti_loss_summary *of;
    bool located, has_mean, has_root, has_sqnr;
    int64_t index; /* located */
};
struct policies_in_words {
    const struct dti_policies_answer *of;
    const char *via, *seed; /* or NULL */
    bool seeded;
    char via_room[DTI_VIA_TEXT_SIZE], seed_room[DTI_TEXT_SIZE];
};
struct error {
    const struct dti_error_answer *of;
    const char *argument; /* or NULL */
    size_t suggestions;
};

struct field_digits {
    struct dti_spelled sign, exponent, mantissa;
    char room[3][DTI_BINARY_SIZE];
};

/* The JSON number of a value that was spelled as text, or NULL. */
static struct dti_spelled token_of(const struct dti_number_answer *number, struct dti_spelled text)
{
    const struct dti_value *const value = number->value;
    const bool whole =
        (number->format && dti_format_is_integer(number->format)) || dti_value_fits_json(value);
    if (value->kind > DTI_CLASS_FINITE || !whole)
        return dti_spelled(NULL);
    /* many parsers read "-0" as the integer 0 */
    return value->kind == DTI_CLASS_ZERO && value->negative ? dti_spelled("-0.0") : text;
}

static struct dti_spelled spell_text(char room[DTI_TEXT_SIZE],
                                     const struct dti_number_answer *number)
{
    if (number->text.text)
        return number->text;
    if (!number->format)
        return (struct dti_spelled){room, dti_spell_text(room, number->value)};
    return (struct dti_spelled){
        room, dti_spell_stored(room, number->format, number->code, number->value)};
}

static void spell_tokens(struct tokens *ret, const struct dti_number_answer *number)
{
    ret->of = number;
    ret->text = spell_text(ret->room, number);
    ret->token = token_of(number, ret->text);
}

bool dti_is_own_rounding(const char *exact, size_t length)
{
    return length <= 15 && strncmp(exact + (exact[0] == '-'), "0.0000", 6) != 0;
}

void dti_spell_number(struct dti_spellings *ret, struct dti_json *json,
                      const struct dti_number_answer *number)
{
    const bool finite = number->value->kind <= DTI_CLASS_FINITE;
    const struct dti_format *const format = number->format;
    struct dti_buffer *const expansion = &ret->expansion;
    dti_buffer_borrow(expansion, ret->room, sizeof ret->room);
    const bool has_exact = finite && dti_spell_exact(expansion, number->value);
    if (expansion->failed)
        dti_json_out_of_memory(json);
    ret->exact = dti_spelled_if(has_exact, expansion->data, expansion->length);
    const bool both = format && format->id == DTI_FP64 && !number->text.text &&
                      dti_spell_fp64_texts(ret->text_room, ret->shortest_room, number->value);
    if (both)
        ret->text = dti_spelled(ret->text_room);
    else if (has_exact && number->value->kind == DTI_CLASS_FINITE &&
             dti_is_own_rounding(expansion->data, expansion->length))
        ret->text = ret->exact;
    else
        ret->text = spell_text(ret->text_room, number);
    ret->token = token_of(number, ret->text);
    ret->shortest = ret->bits = ret->hexfloat = dti_spelled(NULL);
    if (format) {
        ret->shortest.text = ret->shortest_room;
        ret->shortest.length =
            both ? strlen(ret->shortest_room)
                 : dti_spell_shortest_value(ret->shortest_room, format, number->value);
        ret->bits.text = ret->bits_room;
        ret->bits.length = dti_spell_code(ret->bits_room, number->code, format->width);
    }
    if (finite) {
        ret->hexfloat.text = ret->hexfloat_room;
        ret->hexfloat.length = dti_spell_hexfloat(ret->hexfloat_room, number->value);
    }
}

void dti_spellings_free(struct dti_spellings *spelled)
{
    dti_buffer_free(&spelled->expansion);
}

static struct dti_spelled spell_bits(char room[DTI_BINARY_SIZE], uint64_t code, unsigned width)
{
    return (struct dti_spelled){room, dti_spell_binary(room, code, width)};
}

/* Tapered formats have a prefix that says how wide it is. */
static unsigned mantissa_field(const struct dti_format *format, uint64_t code)
{
    unsigned bits[3] = {0, 0, format->man_bits};
    if (dti_format_is_tapered(format))
        dti_taper_fields(format, code, bits);
    return bits[2];
}

static void spell_fields(struct field_digits *ret, const struct dti_fields_answer *fields)
{
    const struct dti_format *const format = fields->format;
    const unsigned width = (unsigned)format->man_bits + format->exp_bits;
    const unsigned fraction = mantissa_field(format, fields->code);
    const bool sign = dti_format_is_signed(format);
    ret->mantissa = spell_bits(ret->room[0], fields->code, fraction);
    ret->exponent = spell_bits(ret->room[1], fields->code >> fraction, width - fraction);
    ret->sign = spell_bits(ret->room[2], sign ? fields->code >> width : 0, sign);
}

void dti_put_token(struct dti_json *json, const char *key, const char *text)
{
    dti_json_number(json, key, text, text ? strlen(text) : 0);
}

/* "inf" and "0" are results beyond the range of fp64. */
struct dti_spelled dti_rounded_token(char buffer[DTI_TEXT_SIZE], const struct dti_value *value)
{
    if (value->kind > DTI_CLASS_FINITE)
        return dti_spelled(NULL);
    const size_t length = dti_spell_rounded(buffer, value);
    const size_t sign = buffer[0] == '-';
    const bool lost = value->kind == DTI_CLASS_FINITE && length == 1 + sign && buffer[sign] == '0';
    return dti_spelled_if(buffer[length - 1] != 'f' && !lost, buffer, length);
}

void dti_put_rounded(struct dti_json *json, const char *key, bool there,
                     const struct dti_value *value)
{
    char buffer[DTI_TEXT_SIZE];
    const struct dti_spelled token = there ? dti_rounded_token(buffer, value) : dti_spelled(NULL);
    dti_json_number(json, key, token.text, token.length);
}

void dti_put_bits(struct dti_json *json, const char *key, uint64_t code, unsigned width)
{
    char buffer[DTI_TEXT_SIZE];
    (void)dti_json_text(json, key, buffer, dti_spell_code(buffer, code, width));
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
    if (value.kind > DTI_CLASS_FINITE)
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
    dti_put_number(json, key, &(struct dti_number_answer){format, code, &value, {NULL, 0}});
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
    if (dti_json_text(json, key, text, length))
        dti_json_null(json, hex_key);
    else
        dti_put_hex(json, hex_key, text, length);
}

void dti_put_hex(struct dti_json *json, const char *key, const char *text, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    char *const hex = dti_malloc(2 * length + 1);
    for (size_t i = 0; hex && i < length; i++) {
        hex[2 * i] = digits[(unsigned char)text[i] >> 4];
        hex[2 * i + 1] = digits[text[i] & 15];
    }
    if (hex)
        (void)dti_json_text(json, key, hex, 2 * length);
    else
        dti_json_out_of_memory(json);
    dti_free(hex);
}

const char *dti_kind_words(size_t index)
{
    return index <= DTI_KIND_COMPLEX ? dti_kind_name((enum dti_kind)index) : NULL;
}

#define WORD(value, name, help) [value] = name,
DTI_WORDS_OF(dti_round_words, DTI_ROUNDS(WORD, WORD))
DTI_WORDS_OF(dti_overflow_words, DTI_OVERFLOWS(WORD))
DTI_WORDS_OF(dti_nan_words, DTI_NANS(WORD))
DTI_WORDS_OF(dti_packing_words, DTI_PACKINGS(WORD))
#undef WORD

const char *dti_via_text(char buffer[DTI_VIA_TEXT_SIZE], const struct dti_format *via, size_t count)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t more = strlen(via[i].name);
        memcpy(buffer + length, via[i].name, more);
        length += more;
        buffer[length++] = i + 1 < count ? ',' : '\0';
    }
    return count > 0 ? buffer : NULL;
}

void dti_warnings_add(struct dti_warnings *warnings, const char *code, const char *dtype,
                      uint64_t line, const char *message)
{
    if (!warnings->list)
        warnings->list = dti_calloc(DTI_WARNINGS_MAX, sizeof *warnings->list);
    warnings->failed = warnings->failed ||
                       !warnings->list; /* a later allocation may succeed, so the failure is kept */
    if (warnings->failed || warnings->total++ >= DTI_WARNINGS_MAX)
        return;
    struct dti_warning *const warning = &warnings->list[warnings->count++];
    warning->code = code;
    warning->line = line;
    (void)snprintf(warning->dtype, sizeof warning->dtype, "%s", dtype ? dtype : "");
    (void)snprintf(warning->message, sizeof warning->message, "%s", message);
}

void dti_warnings_clear(struct dti_warnings *warnings)
{
    warnings->count = warnings->total = 0;
}

void dti_warnings_free(struct dti_warnings *warnings)
{
    dti_free(warnings->list);
    *warnings = (struct dti_warnings){.list = NULL};
}

DTI_WORDS(per_words, [DTI_PER_TENSOR] = "tensor", [DTI_PER_CHANNEL] = "channel",
          [DTI_PER_GROUP] = "group")

static void fill_name(struct name *ret, const struct dti_dtype_name *name)
{
    *ret = (struct name){name, dti_system_title(name->system), name->number >= 0};
}

static void fill_quantized(struct quantized *ret, const struct dti_dequant_form *form)
{
    *ret = (struct quantized){
        .of = form,
        .has_axis = form->is->per != DTI_PER_TENSOR && !form->is->flat,
        .grouped = form->is->per == DTI_PER_GROUP,
        .scale_bytes = dti_logical_scale_bytes(form),
    };
}

static void fill_layout(struct layout *ret, const struct dti_format *format)
{
    *ret = (struct layout){
        .of = format,
        .fields = format->kind != DTI_KIND_COMPLEX,
        .biased = dti_format_is_float(format) && !dti_format_is_tapered(format),
        .sign_bits = dti_format_is_signed(format) ? 1 : 0,
    };
}

static void fill_loss(struct loss *ret, const struct dti_loss_summary *loss)
{
    const bool compared = loss->compared > 0;
    *ret = (struct loss){
        .of = loss,
        .located = loss->max_absolute > 0,
        .has_mean = compared && !isnan(loss->mean_absolute),
        .has_root = compared && !isnan(loss->root_mean_square),
        .has_sqnr = compared && !isnan(loss->sqnr_db),
        .index = (int64_t)loss->max_index,
    };
}

static void fill_options(struct policies_in_words *ret, const struct dti_policies_answer *policies)
{
    ret->of = policies;
    ret->via = dti_via_text(ret->via_room, policies->via, policies->via_count);
    ret->seeded = policies->policy.round == DTI_ROUND_STOCHASTIC;
    dti_spell_u64(ret->seed_room, policies->policy.seed);
    ret->seed = ret->seeded ? ret->seed_room : NULL;
}

static void fill_error(struct error *ret, const struct dti_error_answer *answer)
{
    const struct dti_error *const error = answer->error;
    *ret = (struct error){.of = answer};
    ret->argument = error->argument[0] != '\0' ? error->argument : NULL;
    while (ret->suggestions < DTI_ERROR_SUGGESTIONS &&
           error->suggestions[ret->suggestions][0] != '\0')
        ret->suggestions++;
}

static void put_names(struct dti_json *json, const struct dti_format *format);
static void put_warnings(struct dti_json *json, const struct dti_warnings *warnings);

#define DTI_ROWS "answers/common.def"
#include "answers/rows.h"

static void put_names(struct dti_json *json, const struct dti_format *format)
{
    for (size_t i = 0; i < dti_dtype_name_count && format->id != DTI_NONE; i++) {
        if (dti_dtype_names[i].dtype == format->id)
            dti_put_name(json, NULL, &dti_dtype_names[i]);
    }
}

static void put_warnings(struct dti_json *json, const struct dti_warnings *warnings)
{
    char more[64];
    if (warnings->failed)
        dti_json_out_of_memory(json);
    for (size_t i = 0; i < warnings->count; i++) {
        const struct dti_warning *const kept = &warnings->list[i];
        dti_put_warning(
            json, NULL,
            &(struct dti_warning_answer){.code = kept->code,
                                         .dtype = kept->dtype[0] != '\0' ? kept->dtype : NULL,
                                         .line = kept->line,
                                         .message = kept->message});
    }
    if (warnings->total == warnings->count)
        return;
    (void)snprintf(more, sizeof more, "%zu more warnings are omitted",
                   warnings->total - warnings->count);
    dti_put_warning(json, NULL,
                    &(struct dti_warning_answer){.code = "more_warnings", .message = more});
}

void dti_put_logical_warnings(struct dti_json *json, const struct dti_container *container,
                              dti_remedy_words_fn *words)
{
    size_t count = 0;
    const struct dti_note *const notes = container ? dti_logical_notes(container, &count) : NULL;
    const struct dti_note *const hub = container ? dti_container_hub_note(container) : NULL;
    if (hub)
        dti_put_warning(json, NULL, &(struct dti_warning_answer){hub->code, NULL, hub->text, 0});
    for (size_t i = 0; notes && i < count; i++) {
        char buffer[DTI_REMEDY_WORDS];
        const char *const message = words(buffer, notes[i].remedy, notes[i].text);
        dti_put_warning(json, NULL, &(struct dti_warning_answer){notes[i].code, NULL, message, 0});
    }
}

/* SPDX-License-Identifier: MIT
 *
 * Limits of dtypes and meanings of bits: see ask.h. */
#include "answers/ask.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "answers/rows.h"
#include "core/code/taper.h"
#include "util/text/nearest.h"

void dti_dtype_summarize(const struct dti_format *dtype, struct dti_dtype_summary *ret)
{
    const struct dti_format *const format = dti_real_format(dtype);
    memset(ret, 0, sizeof *ret);
    if (dti_format_is_integer(format)) {
        dti_integer_limits(format, &ret->lowest, &ret->max);
        return;
    }
    struct dti_limits limits;
    dti_limits_compute(&limits, format);
    ret->lowest = limits.lowest;
    ret->max = limits.max;
    ret->smallest =
        limits.smallest_subnormal.present ? limits.smallest_subnormal : limits.smallest_normal;
    ret->has_inf = limits.has_inf;
    ret->has_nan = limits.has_nan;
    ret->has_minus_zero = limits.has_minus_zero;
    ret->has_subnormals = limits.has_subnormals;
}

double dti_bits_per_weight(unsigned bytes, unsigned elements)
{
    return 8.0 * (double)bytes / (double)elements;
}

/* 10^-digits10 is not a number of base 2, so it has no hexfloat and no bits. */
static void put_resolution(struct dti_json *json, const char *key, unsigned digits10)
{
    char text[DTI_RESOLUTION_SIZE], exact[DTI_RESOLUTION_SIZE];
    dti_resolution_text(text, digits10);
    dti_resolution_exact(exact, digits10);
    dti_json_object(json, key);
    dti_put_token(json, "value", text);
    dti_json_string(json, "text", text);
    dti_json_null(json, "shortest");
    dti_json_string(json, "exact", exact);
    dti_json_null(json, "hexfloat");
    dti_json_null(json, "bits");
    dti_json_end(json);
}

/* Precomputed values for the rows in ask.def. */
struct listed {
    const struct dti_format *dtype, *format; /* format: for a complex dtype, that of its parts */
    const struct dti_format *part;           /* the format of the parts, or NULL */
    struct dti_dtype_summary limits;
};
struct listed_block {
    const struct dti_block_format *of;
    const struct dti_format *scale;
    double bits_per_weight;
};
struct listed_gguf_type {
    const struct dti_gguf_type *of;
    double bits_per_weight;
};
struct float_limits {
    const struct dti_format *dtype, *format, *part;
    struct dti_limits limits;
};
struct integer_limits {
    const struct dti_format *format;
    bool is_signed;
    struct dti_limit min, max;
};

static void fill_listed(struct listed *ret, const struct dti_format *dtype)
{
    ret->dtype = dtype;
    ret->format = dti_real_format(dtype);
    ret->part = ret->format != dtype ? ret->format : NULL;
    dti_dtype_summarize(dtype, &ret->limits);
}

static void fill_block(struct listed_block *ret, const struct dti_block_format *block)
{
    ret->of = block;
    ret->scale = dti_format_get(block->scale);
    ret->bits_per_weight = dti_bits_per_weight(block->bytes, block->length);
}

static void fill_gguf_type(struct listed_gguf_type *ret, const struct dti_gguf_type *type)
{
    ret->of = type;
    ret->bits_per_weight = dti_bits_per_weight(type->bytes, type->elements);
}

static void fill_floats(struct float_limits *ret, const struct dti_dtype_operand *operand)
{
    ret->dtype = &operand->format;
    ret->format = dti_real_format(ret->dtype);
    ret->part = ret->format != ret->dtype ? ret->format : NULL;
    dti_limits_compute(&ret->limits, ret->format);
}

static void fill_integers(struct integer_limits *ret, const struct dti_dtype_operand *operand)
{
    ret->format = &operand->format;
    ret->is_signed = dti_format_is_signed(ret->format);
    dti_integer_limits(ret->format, &ret->min, &ret->max);
}

static void put_notes(struct dti_json *json, const struct dti_dtypes_answer *answer)
{
    for (size_t i = 0; i < answer->count; i++) {
        const struct dti_dtype_operand *const of = &answer->list[i];
        if (of->note)
            dti_put_warning(
                json, NULL,
                &(struct dti_warning_answer){"dtype_name", of->format.name, of->note, 0});
    }
}

#define DTI_ROWS "answers/ask.def"
#include "answers/rows.h"

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static int digit_bits(const char *text)
{
    if (text[0] != '0')
        return 0;
    if (text[1] == 'x' || text[1] == 'X')
        return 4;
    return text[1] == 'b' || text[1] == 'B' ? 1 : 0;
}

/* "0 10001111 0001001", as this program prints it. */
static bool is_fields(const char *text)
{
    const size_t length = strspn(text, "01 ");
    return text[length] == '\0' && length > 0 && text[0] != ' ' && text[length - 1] != ' ' &&
           strchr(text, ' ') != NULL;
}

bool dti_bits_is_pattern(const char *text)
{
    int bits = digit_bits(text);
    if (is_fields(text))
        return true;
    return bits != 0 && (bits == 1 || strpbrk(text, ".pP/") == NULL);
}

enum dti_status dti_bits_pattern_parse(struct dti_bits_pattern *ret, const char *text,
                                       struct dti_error *reterr)
{
    struct dti_bits_pattern pattern = {.fields = is_fields(text)};
    int bits = pattern.fields ? 1 : digit_bits(text);
    assert(bits > 0); /* dti_bits_is_pattern() */
    const char *start = pattern.fields ? text : text + 2, *at = start;
    for (; *at; at++) {
        int value = digit_value(*at);
        if (pattern.fields && *at == ' ')
            continue;
        if (*at == '_' && at > start && at[-1] != '_' && at[1] != '\0')
            continue;
        if (value < 0 || value >= 1 << bits)
            break;
        if (pattern.width + (unsigned)bits > 128)
            return dti_fail_word(reterr, DTI_BAD_PATTERN, text, strlen(text),
                                 "%s has more than 128 bits", DTI_QUOTED(text, strlen(text)));
        pattern.hi = pattern.hi << bits | pattern.lo >> (64 - bits);
        pattern.lo = pattern.lo << bits | (uint64_t)value;
        pattern.width += (unsigned)bits;
    }
    if (*at || pattern.width == 0)
        return dti_fail_word(reterr, DTI_BAD_PATTERN, text, strlen(text),
                             "%s is not a bit pattern; write 0x with hexadecimal or 0b with "
                             "binary digits",
                             DTI_QUOTED(text, strlen(text)));
    *ret = pattern;
    return DTI_OK;
}

bool dti_bits_pattern_fits(const struct dti_bits_pattern *pattern, unsigned width)
{
    if (pattern->fields)
        return pattern->width == width;
    if (width >= 128)
        return true;
    if (width >= 64)
        return width == 64 ? pattern->hi == 0 : pattern->hi >> (width - 64) == 0;
    return pattern->hi == 0 && pattern->lo >> width == 0;
}

void dti_bits_reading_init(struct dti_bits_reading *ret, const struct dti_format *dtype)
{
    *ret = (struct dti_bits_reading){.dtype = *dtype,
                                     .component = *dti_real_format(dtype),
                                     .components = dtype->kind == DTI_KIND_COMPLEX ? 2 : 1};
}

void dti_bits_read_pattern(struct dti_bits_reading *ret, const struct dti_bits_pattern *pattern,
                           const struct dti_format *dtype)
{
    dti_bits_reading_init(ret, dtype);
    const unsigned width = ret->component.width;
    if (ret->components == 1) {
        ret->code[0] = pattern->lo;
    } else { /* the real part is written first */
        ret->code[1] = pattern->lo & dti_low_bits(width);
        ret->code[0] = width == 64 ? pattern->hi : pattern->lo >> width & dti_low_bits(width);
    }
}

static struct dti_bits_anatomy dissect_tapered(const struct dti_format *f, uint64_t code)
{
    const uint64_t place = dti_taper_place(f, dti_taper_magnitude(f, code));
    const struct dti_taper_number number = dti_taper_number(f, place > 0 ? place : 1);
    struct dti_bits_anatomy a = {.exponent = number.exponent,
                                 .mantissa = place > 0 ? number.mantissa : 0,
                                 .man_bits = number.man_bits};
    const uint64_t hidden = place > 0 ? UINT64_C(1) << number.man_bits : 0;
    dti_value_set(&a.significand, false, hidden | a.mantissa, -(int64_t)number.man_bits);
    return a;
}

struct dti_bits_anatomy dti_bits_dissect(const struct dti_format *f, uint64_t code)
{
    struct dti_bits_anatomy a = {.exponent = 0};
    if (dti_format_is_tapered(f))
        return dissect_tapered(f, code);
    uint64_t magnitude = code & dti_low_bits(f->width) & ~dti_format_sign_bit(f);
    a.man_bits = f->man_bits;
    a.field = magnitude >> f->man_bits;
    a.mantissa = magnitude & dti_low_bits(f->man_bits);
    a.subnormal = a.field == 0 && f->specials != DTI_SPECIALS_SCALE;
    a.exponent = (int32_t)a.field + a.subnormal - f->bias;
    uint64_t hidden = a.subnormal ? 0 : UINT64_C(1) << f->man_bits;
    dti_value_set(&a.significand, false, hidden | a.mantissa, -(int64_t)f->man_bits);
    return a;
}

bool dti_bits_noncanonical(const struct dti_bits_reading *reading)
{
    return reading->dtype.kind == DTI_KIND_BOOL && reading->code[0] > 1;
}

DTI_WORDS(input_words, "value", "pattern")

static const char *class_words(size_t index)
{
    return index <= DTI_NUMBER_NAN ? dti_number_class_name((enum dti_number_class)index) : NULL;
}

/* Precomputed values for the rows in bits.def. */
struct component {
    const struct dti_number_answer *of;
    const struct dti_fields_answer *fields; /* NULL unless a float */
    size_t kind;                            /* index into the words */
    bool numeric;                           /* a finite float */
    struct dti_bits_anatomy anatomy;
    const char *significand; /* NULL unless numeric */
    struct dti_fields_answer fields_room;
    char room[DTI_TEXT_SIZE];
};
struct reading {
    const struct dti_bits_reading *of;
    bool complex;
    struct dti_value values[2];
    struct dti_number_answer components[2];
};

static void fill_component(struct component *ret, const struct dti_number_answer *number)
{
    const struct dti_format *const format = number->format;
    const bool is_float = dti_format_is_float(format);
    *ret = (struct component){.of = number,
                              .kind = (size_t)dti_code_class(format, number->code),
                              .numeric = is_float && number->value->kind <= DTI_CLASS_FINITE,
                              .fields_room = {format, number->code}};
    ret->fields = is_float ? &ret->fields_room : NULL;
    if (!ret->numeric)
        return;
    ret->anatomy = dti_bits_dissect(format, number->code);
    (void)dti_spell_text(ret->room, &ret->anatomy.significand);
    ret->significand = ret->room;
}

static void fill_reading(struct reading *ret, const struct dti_bits_reading *reading)
{
    ret->of = reading;
    ret->complex = reading->components == 2;
    for (size_t i = 0; i < reading->components; i++) {
        dti_decode(&reading->component, reading->code[i], &ret->values[i]);
        ret->components[i] = (struct dti_number_answer){
            &reading->component, reading->code[i], &ret->values[i], {NULL, 0}};
    }
}

static void put_warnings(struct dti_json *json, const struct dti_bits_answer *answer)
{
    for (size_t i = 0; i < answer->count; i++) {
        const struct dti_bits_reading *const reading = &answer->readings[i];
        if (reading->note)
            dti_put_warning(
                json, NULL,
                &(struct dti_warning_answer){"dtype_name", reading->dtype.name, reading->note, 0});
        if (dti_bits_noncanonical(reading))
            dti_put_warning(json, NULL,
                            &(struct dti_warning_answer){"noncanonical_bool", reading->dtype.name,
                                                         DTI_BITS_NONCANONICAL, 0});
    }
}

#define DTI_ROWS "answers/cast/bits.def"
#include "answers/rows.h"

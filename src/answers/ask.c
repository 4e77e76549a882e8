/* SPDX-License-Identifier: MIT
 *
 * Limits of dtypes and meanings of bits: see ask.h. */
#include "answers/ask.h"

#include <math.h>
#include <string.h>

#include "answers/rows.h"
#include "dtinfo/nearest.h"

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

struct dti_bits_anatomy dti_bits_dissect(const struct dti_format *f, uint64_t code)
{
    struct dti_bits_anatomy a;
    uint64_t magnitude = code & dti_low_bits(f->width) & ~dti_format_sign_bit(f);
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

static void put_warning(struct dti_json *json, const char *code,
                        const struct dti_bits_reading *reading, const char *message)
{
    dti_put_warning(json, NULL,
                    &(struct dti_warning_answer){code, reading->dtype.name, message, 0});
}

#define DTI_ROWS "answers/bits.def"
#include "answers/rows.h"

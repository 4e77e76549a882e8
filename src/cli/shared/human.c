/* SPDX-License-Identifier: MIT
 *
 * Numbers as people read them. */
#include "cli/shared/human.h"

#include <stdio.h>
#include <string.h>

#include "core/block/quant_parts.h"

enum { OPERAND_WHOLE = 48, OPERAND_HEAD = 24, OPERAND_TAIL = 8, EXACT_SHORT = 20, COLUMNS = 80 };

size_t dti_human_operand(char buffer[HUMAN_OPERAND_SIZE], const char *text, size_t length)
{
    if (length <= OPERAND_WHOLE) {
        memcpy(buffer, text, length);
        buffer[length] = '\0';
        return length;
    }
    return (size_t)snprintf(buffer, HUMAN_OPERAND_SIZE, "%.*s...%.*s (%zu characters)",
                            OPERAND_HEAD, text, OPERAND_TAIL, text + length - OPERAND_TAIL, length);
}

/* Operands such as 1e99999999 are limited to 2^DTI_EXPONENT_LIMIT; their differences and quotients
 * are within a few formats' exponents of it. */
static bool is_clamped(const struct dti_value *value)
{
    enum { NEAR = DTI_EXPONENT_LIMIT - (1 << 20) };
    return value->kind == DTI_CLASS_FINITE && value->sticky &&
           (value->exponent > NEAR || value->exponent < -NEAR);
}

const char *dti_human_magnitude(char buffer[DTI_TEXT_SIZE], const struct dti_value *value,
                                const struct dti_buffer *exact, unsigned digits)
{
    struct dti_value magnitude = *value;
    magnitude.negative = false;
    if (is_clamped(value)) {
        const char *text = value->exponent > 0 ? "over 1e+5000000" : "under 1e-5000000";
        memcpy(buffer, text, strlen(text) + 1);
    } else if (exact && exact->length > 0 && exact->length <= EXACT_SHORT) {
        const char *text = exact->data + (exact->data[0] == '-');
        memcpy(buffer, text, strlen(text) + 1);
    } else {
        dti_spell_digits(buffer, &magnitude, digits);
    }
    return buffer;
}

const char *dti_human_signed(char buffer[DTI_TEXT_SIZE], const struct dti_value *value,
                             const struct dti_buffer *exact, unsigned digits)
{
    if (value->kind == DTI_CLASS_ZERO) {
        memcpy(buffer, "0", 2);
        return buffer;
    }
    char magnitude[DTI_TEXT_SIZE];
    dti_human_magnitude(magnitude, value, exact, digits);
    (void)snprintf(buffer, DTI_TEXT_SIZE, "%c%.40s", value->negative ? '-' : '+', magnitude);
    return buffer;
}

/* value x 25, truncated to 128 bits with the rest sticky. */
static void times_25(struct dti_value *value)
{
    uint64_t part[4] = {value->lo & UINT32_MAX, value->lo >> 32, value->hi & UINT32_MAX,
                        value->hi >> 32};
    uint64_t carry = 0;
    for (int i = 0; i < 4; i++) {
        carry += part[i] * 25;
        part[i] = carry & UINT32_MAX;
        carry >>= 32;
    }
    unsigned shift = carry >= 16 ? 5 : 4; /* 25 x 1.xxx has four or five bits more */
    uint64_t lo = part[1] << 32 | part[0], hi = part[3] << 32 | part[2];
    value->sticky = value->sticky || (lo & dti_low_bits(shift)) != 0;
    value->lo = lo >> shift | hi << (64 - shift);
    value->hi = hi >> shift | carry << (64 - shift);
    value->exponent += (int32_t)shift;
}

const char *dti_human_percent(char buffer[DTI_TEXT_SIZE], const struct dti_value *ratio,
                              unsigned digits)
{
    struct dti_value percent = *ratio;
    percent.negative = false;
    if (percent.kind == DTI_CLASS_FINITE) {
        times_25(&percent);
        percent.exponent += 2;
    }
    dti_spell_digits(buffer, &percent, digits);
    return buffer;
}

const char *dti_human_signed_percent(char buffer[DTI_TEXT_SIZE], const struct dti_value *ratio,
                                     unsigned digits)
{
    const bool sign = ratio->kind != DTI_CLASS_ZERO;
    const size_t length = strlen(dti_human_percent(buffer, ratio, digits));
    memmove(buffer + sign, buffer, length);
    if (sign)
        buffer[0] = ratio->negative ? '-' : '+';
    memcpy(buffer + sign + length, " %", 3);
    return buffer;
}

const char *dti_percent_words(char buffer[DTI_TEXT_SIZE], double ratio, unsigned digits)
{
    struct dti_value value;
    dti_double_value(ratio, &value);
    dti_human_percent(buffer, &value, digits);
    if (value.kind <= DTI_CLASS_FINITE)
        memcpy(buffer + strlen(buffer), " %", 3);
    return buffer;
}

const char *dti_human_share(char buffer[DTI_TEXT_SIZE], uint64_t part, uint64_t whole)
{
    enum { DIGITS = 3, DIGITS_MOST = 17 };
    const double below_one = 1 - 0x1p-53;
    double ratio = (double)part / (double)whole;
    struct dti_value value;
    if (part < whole && ratio > below_one)
        ratio = below_one;
    dti_double_value(ratio, &value);
    for (unsigned digits = DIGITS; digits <= DIGITS_MOST; digits++) {
        dti_human_percent(buffer, &value, digits);
        if (part == whole || strcmp(buffer, "100") != 0)
            break;
    }
    memcpy(buffer + strlen(buffer), " %", 3);
    return buffer;
}

/* base: ratio of a unit to the one before, 1000 or 1024. */
static const char *bytes_in(char buffer[DTI_TEXT_SIZE], uint64_t bytes, uint64_t base,
                            const char *const units[6])
{
    uint64_t below = 1; /* bytes of the unit before */
    unsigned unit = 0;
    if (bytes < base) {
        (void)snprintf(buffer, DTI_TEXT_SIZE, "%u byte%s", (unsigned)bytes, bytes == 1 ? "" : "s");
        return buffer;
    }
    for (; bytes / below / base >= base; unit++)
        below *= base;
    uint64_t hundredths = (bytes / below * 100 + base / 2) / base;
    if (hundredths == base * 100 && unit < 5) {
        unit++;
        hundredths = 100;
    }
    (void)snprintf(buffer, DTI_TEXT_SIZE, "%llu.%02u %s", (unsigned long long)(hundredths / 100),
                   (unsigned)(hundredths % 100), units[unit]);
    return buffer;
}

const char *dti_human_bytes(char buffer[DTI_TEXT_SIZE], uint64_t bytes)
{
    static const char *const units[6] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    return bytes_in(buffer, bytes, 1024, units);
}

const char *dti_human_decimal(char buffer[DTI_TEXT_SIZE], uint64_t bytes)
{
    static const char *const units[6] = {"kB", "MB", "GB", "TB", "PB", "EB"};
    return bytes_in(buffer, bytes, 1000, units);
}

const char *dti_human_path(char buffer[DTI_QUOTE_SIZE], const char *path)
{
    dti_quote(buffer, path, strlen(path));
    const size_t length = strlen(buffer);
    memmove(buffer, buffer + 1, length - 2);
    buffer[length - 2] = '\0';
    return buffer;
}

const char *dti_human_fp32(char buffer[DTI_TEXT_SIZE], uint32_t code)
{
    struct dti_value value;
    dti_fp32_value(code, &value);
    /* of 24 bits: an integer, and not too long to read */
    const bool integer = value.kind == DTI_CLASS_FINITE && value.exponent >= 0 &&
                         value.exponent < 24 && value.hi << (value.exponent + 1) == 0;
    if (integer || value.kind != DTI_CLASS_FINITE)
        dti_spell_text(buffer, &value);
    else
        dti_spell_shortest(buffer, dti_format_get(DTI_FP32), code);
    return buffer;
}

void dti_human_label(struct dti_line *line, const char *name, const char *text)
{
    dti_line_to(line, 2);
    dti_line_put(line, DTI_STYLE_DIM, name);
    dti_line_to(line, DTI_HUMAN_VALUE);
    dti_line_text(line, text);
}

void dti_human_bits(struct dti_line *line, const struct dti_format *f, uint64_t code)
{
    char hex[DTI_TEXT_SIZE];
    const size_t length = dti_spell_code(hex, code, f->width);
    dti_human_label(line, "bits", "");
    dti_fields_put(line, f, code);
    const bool fits = line->column + 2 + length <= COLUMNS;
    if (fits) {
        dti_line_to(line, DTI_HUMAN_NOTE);
        dti_line_text(line, hex);
    }
    dti_line_end(line);
    if (dti_format_is_float(f)) {
        dti_line_to(line, DTI_HUMAN_VALUE);
        dti_fields_put_names(line, f, code);
        dti_line_end(line);
    }
    if (!fits) {
        dti_human_label(line, "code", hex);
        dti_line_end(line);
    }
}

/* SPDX-License-Identifier: MIT
 *
 * The error message for a text that is not a number, with a remedy if there is one. */
#include <stdio.h>
#include <string.h>

#include "core/number_terms.h"
#include "dtinfo/ascii.h"

enum { HINT_LENGTH = 40 }; /* longer texts get no rewritten example */

static bool is_number(const char *text, size_t length)
{
    struct dti_value value;
    return dti_value_parse(&value, text, length, NULL) == DTI_OK;
}

/* Whether the text becomes a number when its comma is a point and points before it go; ret_fixed
 * (HINT_LENGTH + 1) holds it then. */
static bool has_decimal_comma(const char *text, size_t length, char *ret_fixed)
{
    const char *const comma = memchr(text, ',', length);
    size_t used = 0;
    if (!comma || comma + 1 == text + length || length > HINT_LENGTH)
        return false;
    for (const char *at = text; at < text + length; at++) {
        if (*at != '.' || at > comma)
            ret_fixed[used++] = at == comma ? '.' : *at;
    }
    ret_fixed[used] = '\0';
    return !memchr(ret_fixed, ',', used) && is_number(ret_fixed, used);
}

/* Whether it becomes one without its commas; ret_fixed as above. */
static bool has_group_commas(const char *text, size_t length, char *ret_fixed)
{
    size_t used = 0;
    if (!memchr(text, ',', length) || length > HINT_LENGTH)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] != ',')
            ret_fixed[used++] = text[i];
    }
    ret_fixed[used] = '\0';
    return is_number(ret_fixed, used);
}

/* Whether each comma is followed by three digits, and the text does not begin with 0: "70,000". */
static bool has_thousands(const char *text, size_t length)
{
    const size_t sign = length > 0 && (text[0] == '-' || text[0] == '+');
    if (length == sign || !(text[sign] >= '1' && text[sign] <= '9'))
        return false;
    size_t digits = 0; /* since the last comma */
    bool comma = false;
    for (size_t i = sign; i <= length; i++) {
        if (i < length && dti_ascii_digit(text[i])) {
            digits++;
            continue;
        }
        if ((comma && digits != 3) || (i < length && text[i] != ','))
            return false;
        comma = true;
        digits = 0;
    }
    return true;
}

static bool has_several_commas(const char *text, size_t length)
{
    const char *const comma = memchr(text, ',', length);
    return comma && memchr(comma + 1, ',', (size_t)(text + length - comma - 1));
}

/* What people write after a number: a power of ten, a share, a type of C. */
static const struct {
    const char *rest, *instead;
} suffixes[] = {
    {"k", "e3"}, {"K", "e3"}, {"M", "e6"}, {"G", "e9"}, {"B", "e9"}, {"T", "e12"}, {"%", "/100"},
    {"f", ""},   {"F", ""},   {"d", ""},   {"l", ""},   {"L", ""},   {"u", ""},    {"U", ""},
};

/* Whether the text is a decimal and one of these, which begins at `at`; ret_fixed as above. */
static bool has_suffix(const char *text, size_t length, const char *at, char *ret_fixed)
{
    const size_t number = (size_t)(at - text);
    if (number + 1 != length || length + 4 > HINT_LENGTH)
        return false;
    for (size_t i = 0; i < number; i++) {
        if (!dti_ascii_digit(text[i]) && !memchr("+-._", text[i], 4))
            return false;
    }
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        if (suffixes[i].rest[0] != *at)
            continue;
        (void)snprintf(ret_fixed, HINT_LENGTH + 1, "%.*s%s", (int)number, text,
                       suffixes[i].instead);
        return true;
    }
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Whether the text is a number but for blanks before or after it. */
static bool is_padded(const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end && is_blank(*text))
        text++;
    while (text < end && is_blank(end[-1]))
        end--;
    return (size_t)(end - text) < length && is_number(text, (size_t)(end - text));
}

#define ONE_BY_ONE "separate several numbers with spaces, as in 1 2 3"

/* Numbers with commas between them, "0.1,0.2" or "0.1, 0.2". */
static bool is_list(const char *text, size_t length)
{
    const char *const end = text + length;
    const char *comma = NULL;
    bool several = false;
    for (const char *at = text; at < end; at = comma + 1) {
        while (at < end && is_blank(*at))
            at++;
        comma = memchr(at, ',', (size_t)(end - at));
        if (!is_number(at, (size_t)((comma ? comma : end) - at)))
            return false;
        if (!comma)
            return several;
        several = true;
    }
    return false;
}

enum dti_status dti_number_complain(struct dti_error *reterr, enum dti_parse_problem problem,
                                    const char *text, size_t length, const char *at)
{
    char quoted[DTI_QUOTE_SIZE], rest[DTI_QUOTE_SIZE], fixed[HINT_LENGTH + 1];
    char plain[HINT_LENGTH + 1];
    if (!reterr)
        return DTI_BAD_VALUE;
    dti_quote(quoted, text, length);
    if (length == 0) {
        (void)dti_fail(reterr, DTI_BAD_VALUE, "an empty string is not a number");
    } else if (problem == DTI_PARSE_TOO_LONG) {
        (void)dti_fail(reterr, DTI_BAD_VALUE, "%s is too long for a number", quoted);
    } else if (problem == DTI_PARSE_ZERO_DIVISOR) {
        (void)dti_fail(reterr, DTI_BAD_VALUE, "%s divides by zero", quoted);
    } else if (problem == DTI_PARSE_TANGLED) {
        (void)dti_fail(
            reterr, DTI_BAD_VALUE,
            "%s is not supported: the power of ten is too large to divide by a power of two",
            quoted);
    } else if (has_thousands(text, length) && has_group_commas(text, length, plain) &&
               has_decimal_comma(text, length, fixed)) {
        (void)dti_fail(reterr, DTI_BAD_VALUE,
                       "%s is not a number; write %s, or %s if the comma is the decimal point",
                       quoted, plain, fixed);
    } else if (has_decimal_comma(text, length, fixed)) {
        (void)dti_fail(reterr, DTI_BAD_VALUE,
                       "%s is not a number; the decimal point is '.', as in %s", quoted, fixed);
    } else if (has_several_commas(text, length) && !has_thousands(text, length) &&
               has_group_commas(text, length, fixed)) {
        (void)dti_fail(reterr, DTI_BAD_VALUE, "%s is not a number; " ONE_BY_ONE, quoted);
    } else if (has_group_commas(text, length, fixed)) {
        (void)dti_fail(reterr, DTI_BAD_VALUE, "%s is not a number; leave out the commas, as in %s",
                       quoted, fixed);
    } else if (is_list(text, length)) {
        (void)dti_fail(reterr, DTI_BAD_VALUE, "%s is not a number; " ONE_BY_ONE, quoted);
    } else if (is_padded(text, length)) {
        (void)dti_fail(reterr, DTI_BAD_VALUE,
                       "%s is not a number; remove the white space around it", quoted);
    } else if (problem == DTI_PARSE_UNDERSCORE) {
        (void)dti_fail(reterr, DTI_BAD_VALUE,
                       "%s is not a number; '_' may only stand between two digits", quoted);
    } else if (problem == DTI_PARSE_NO_EXPONENT) {
        (void)dti_fail(reterr, DTI_BAD_VALUE, "%s is not a number; its exponent has no digits",
                       quoted);
    } else if (problem == DTI_PARSE_BAD_DIVISOR) {
        (void)dti_fail(reterr, DTI_BAD_VALUE,
                       "%s is not a number; what follows '/' must be a decimal or a hexfloat",
                       quoted);
    } else if (problem == DTI_PARSE_LEFT_OVER && has_suffix(text, length, at, fixed)) {
        (void)dti_fail(reterr, DTI_BAD_VALUE, "%s is not a number; write %s", quoted, fixed);
    } else if (problem == DTI_PARSE_LEFT_OVER) {
        dti_quote(rest, at, (size_t)(text + length - at));
        const char *sign = at;
        while (sign < text + length - 1 && *sign == ' ')
            sign++;
        const bool arithmetic =
            memchr("^*+-/", *sign, 5) && dti_ascii_lower(text[length - 1]) != 'j';
        (void)dti_fail_remedy(reterr, DTI_BAD_VALUE,
                              arithmetic ? DTI_REMEDY_COMPUTE : DTI_REMEDY_NONE,
                              "%s is not a number; unexpected %s", quoted, rest);
    } else {
        (void)dti_fail(reterr, DTI_BAD_VALUE,
                       "%s is not a number; numbers are written as 70000, 1e-3 or 1/3", quoted);
    }
    dti_error_argument(reterr, text, length);
    return DTI_BAD_VALUE;
}

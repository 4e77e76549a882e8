/* SPDX-License-Identifier: MIT
 *
 * The grammar of numbers: parses text to the digits and exponents of a struct dti_number, or
 * directly to a value if there are few digits, as is nearly always the case; and explains why a
 * text is rejected, with a remedy if there is one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/number/digit_run.h"
#include "core/number/number_terms.h"
#include "core/wide.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

/* Why a text is not a number, with the corresponding message; `at` points into the text. */
enum parse_problem {
    DTI_PARSE_FINE,
    DTI_PARSE_NO_NUMBER,
    DTI_PARSE_UNDERSCORE,   /* not between two digits */
    DTI_PARSE_NO_EXPONENT,  /* an 'e' or 'p' without digits */
    DTI_PARSE_LEFT_OVER,    /* a number, followed by `at` */
    DTI_PARSE_BAD_DIVISOR,  /* nothing usable after '/' */
    DTI_PARSE_ZERO_DIVISOR, /* a/0 */
    DTI_PARSE_TOO_LONG,
    DTI_PARSE_TANGLED, /* see enum dti_magnitude */
};

enum { HINT_LENGTH = 40 }; /* longer texts get no corrected example */

static bool is_number(const char *text, size_t length)
{
    struct dti_value value;
    return dti_value_parse(&value, text, length, NULL) == DTI_OK;
}

/* Whether the text is a number once its comma is a point and points before it are removed;
 * ret_fixed (HINT_LENGTH + 1) then holds it. */
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

/* Whether it is a number without its commas; ret_fixed as above. */
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

/* Whether three digits follow each comma, and the text does not start with 0: "70,000". */
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

/* Common suffixes of numbers: a power of ten, a percentage, a C type suffix. */
static const struct {
    const char *rest, *instead;
} suffixes[] = {
    {"k", "e3"}, {"K", "e3"}, {"M", "e6"}, {"G", "e9"}, {"B", "e9"}, {"T", "e12"}, {"%", "/100"},
    {"f", ""},   {"F", ""},   {"d", ""},   {"l", ""},   {"L", ""},   {"u", ""},    {"U", ""},
};

/* Whether the text is a decimal with one of these suffixes, at `at`; ret_fixed as above. */
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

/* Whether the text is a number with blanks before or after it. */
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

/* A list of numbers with commas, "0.1,0.2" or "0.1, 0.2". */
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

/* Explains a text whose commas are decimal points or separators; false if it has none. */
static bool complain_of_commas(struct dti_error *reterr, const char *text, size_t length,
                               const char *quoted)
{
    char fixed[HINT_LENGTH + 1], plain[HINT_LENGTH + 1];
    if (has_thousands(text, length) && has_group_commas(text, length, plain) &&
        has_decimal_comma(text, length, fixed))
        (void)dti_fail(reterr, DTI_BAD_VALUE,
                       "%s is not a number; write %s, or %s if the comma is the decimal point",
                       quoted, plain, fixed);
    else if (has_decimal_comma(text, length, fixed))
        (void)dti_fail(reterr, DTI_BAD_VALUE,
                       "%s is not a number; the decimal point is '.', as in %s", quoted, fixed);
    else if (has_several_commas(text, length) && !has_thousands(text, length) &&
             has_group_commas(text, length, fixed))
        (void)dti_fail(reterr, DTI_BAD_VALUE, "%s is not a number; " ONE_BY_ONE, quoted);
    else if (has_group_commas(text, length, fixed))
        (void)dti_fail(reterr, DTI_BAD_VALUE, "%s is not a number; leave out the commas, as in %s",
                       quoted, fixed);
    else
        return false;
    return true;
}

static enum dti_status complain(struct dti_error *reterr, enum parse_problem problem,
                                const char *text, size_t length, const char *at)
{
    char quoted[DTI_QUOTE_SIZE], rest[DTI_QUOTE_SIZE], fixed[HINT_LENGTH + 1];
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
    } else if (complain_of_commas(reterr, text, length, quoted)) {
        /* done */
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

enum { SHORT_HEXADECIMAL = 16, SHORT_BINARY = 64 }; /* digits that fit in 64 bits */

static const int64_t exponent_max = INT64_C(1000000000000000); /* see number.h */
static const size_t length_max = (size_t)1 << 30;              /* bits fit in 32-bit counts */

struct scanned_term {
    unsigned base;            /* 2, 10, 16 */
    const char *digits, *end; /* including the point and '_' */
    const char *point;        /* without '_': the point, or the end; else NULL */
    size_t count;             /* digits from the first nonzero one */
    uint64_t value;           /* value of these digits, if they are few */
    int64_t exponent;         /* of the last digit: power of ten, or of two */
};

struct scanned_number {
    enum dti_class kind;
    bool negative, signaling, quotient;
    struct scanned_term num, den;
};

static inline unsigned digit_value(char c, unsigned base)
{
    const unsigned decimal = (unsigned)(unsigned char)c - '0';
    if (decimal < 10 || base <= 10)
        return decimal;
    const unsigned letter = ((unsigned)(unsigned char)c | 0x20) - 'a';
    return letter < 6 ? letter + 10 : base;
}

static inline bool is_digit_at(const char *p, const char *end, unsigned base)
{
    return p < end && digit_value(*p, base) < base;
}

/* Scans digits with a point into *ret. Returns their end; NULL at a misplaced '_'. */
static inline const char *scan_digits(struct scanned_term *ret, const char *p, const char *end,
                                      unsigned base, size_t short_count, unsigned digit_bits)
{
    const char *const start = p;
    const char *point = NULL;
    size_t count = 0, fraction = 0;
    uint64_t value = 0;
    for (; p < end; p++) {
        const unsigned digit = digit_value(*p, base);
        if (digit < base) {
            if (count < short_count) {
                value = value * base + digit;
                count += value != 0;
            } else {
                count++;
            }
            fraction += point != NULL;
        } else if (*p == '.' && !point && base != 2) {
            point = p;
        } else if (*p == '_') {
            if (p == start || !is_digit_at(p - 1, end, base) || !is_digit_at(p + 1, end, base))
                return NULL;
        } else {
            break;
        }
    }
    ret->base = base;
    ret->digits = start;
    ret->end = p;
    ret->point = NULL;
    ret->count = count;
    ret->value = value;
    ret->exponent = -(int64_t)fraction * digit_bits;
    return p;
}

/* Fast path for decimal digits without '_', the usual case. */
static inline const char *scan_decimal(struct scanned_term *ret, const char *p, const char *end)
{
#ifdef DTI_RUNS_OF_EIGHT
    const char *const start = p, *point;
    size_t count = 0;
    uint64_t value = 0;
    point = p = dti_take_digits(&value, &count, DTI_SHORT_DECIMAL, p, start, end);
    if (p < end && *p == '.')
        p = dti_take_digits(&value, &count, DTI_SHORT_DECIMAL, p + 1, start, end);
    if (p == end || *p != '_') {
        const int64_t exponent = p > point ? point + 1 - p : 0;
        *ret = (struct scanned_term){10, start, p, point, count, value, exponent};
        return p;
    }
    p = start;
#endif
    return scan_digits(ret, p, end, 10, DTI_SHORT_DECIMAL, 1);
}

/* Adds [+-]digits to *exponent, clamped to exponent_max. Returns the end, NULL at a misplaced
 * '_', p itself if there are no digits. */
static const char *scan_exponent(int64_t *exponent, const char *p, const char *end)
{
    const char *const start = p;
    const bool negative = p < end && *p == '-';
    int64_t value = 0;
    if (p < end && (*p == '-' || *p == '+'))
        p++;
    if (!is_digit_at(p, end, 10))
        return p < end && *p == '_' ? NULL : start;
    for (; p < end; p++) {
        const unsigned digit = digit_value(*p, 10);
        if (digit < 10)
            value = value < exponent_max ? value * 10 + (int64_t)digit : value;
        else if (*p != '_')
            break;
        else if (!is_digit_at(p - 1, end, 10) || !is_digit_at(p + 1, end, 10))
            return NULL;
    }
    value = value < exponent_max ? value : exponent_max;
    *exponent += negative ? -value : value;
    if (*exponent > exponent_max)
        *exponent = exponent_max;
    if (*exponent < -exponent_max)
        *exponent = -exponent_max;
    return p;
}

static enum parse_problem scan_term(struct scanned_term *ret, const char *p, const char *end,
                                    const char **ret_stop)
{
    const char prefix = end - p > 2 && p[0] == '0' ? (char)(p[1] | 0x20) : '0';
    const char *stop;
    if (prefix == 'x')
        stop = scan_digits(ret, p + 2, end, 16, SHORT_HEXADECIMAL, 4);
    else if (prefix == 'b')
        stop = scan_digits(ret, p + 2, end, 2, SHORT_BINARY, 1);
    else
        stop = scan_decimal(ret, p, end);
    if (!stop)
        return DTI_PARSE_UNDERSCORE;
    /* A point alone is not a number; two characters include a digit. */
    if (stop == ret->digits || (stop - ret->digits == 1 && *ret->digits == '.'))
        return DTI_PARSE_NO_NUMBER;
    if (stop < end && ret->base != 2 && (*stop | 0x20) == (ret->base == 10 ? 'e' : 'p')) {
        const char *const start = stop + 1;
        stop = scan_exponent(&ret->exponent, start, end);
        if (!stop)
            return DTI_PARSE_UNDERSCORE;
        if (stop == start)
            return DTI_PARSE_NO_EXPONENT;
    }
    *ret_stop = stop;
    return DTI_PARSE_FINE;
}

static bool is_word(const char *p, const char *end, const char *word)
{
    const size_t length = strlen(word);
    if ((size_t)(end - p) != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        if ((p[i] | 0x20) != word[i])
            return false;
    }
    return true;
}

static bool scan_special(struct scanned_number *ret, const char *p, const char *end)
{
    if (is_word(p, end, "inf") || is_word(p, end, "infinity")) {
        ret->kind = DTI_CLASS_INF;
        return true;
    }
    ret->signaling = is_word(p, end, "snan");
    ret->kind = DTI_CLASS_NAN;
    return ret->signaling || is_word(p, end, "nan");
}

/* *ret_at is set if trailing characters are left. */
static enum parse_problem scan_number(struct scanned_number *ret, const char *text, size_t length,
                                      const char **ret_at)
{
    const char *p = text;
    const char *const end = text + length;
    ret->negative = length > 0 && *p == '-';
    ret->signaling = false;
    ret->quotient = false;
    if (length > 0 && (*p == '-' || *p == '+'))
        p++;
    if (p == end)
        return DTI_PARSE_NO_NUMBER;
    if ((*p | 0x20) >= 'a' && scan_special(ret, p, end))
        return DTI_PARSE_FINE;
    if (length > length_max)
        return DTI_PARSE_TOO_LONG;
    const enum parse_problem problem = scan_term(&ret->num, p, end, &p);
    if (problem != DTI_PARSE_FINE)
        return problem;
    ret->kind = ret->num.count > 0 ? DTI_CLASS_FINITE : DTI_CLASS_ZERO;
    if (p < end && *p == '/') {
        p++;
        ret->quotient = true;
        if (p < end && (*p == '-' || *p == '+'))
            ret->negative ^= *p++ == '-';
        const enum parse_problem divisor = scan_term(&ret->den, p, end, &p);
        if (divisor != DTI_PARSE_FINE)
            return divisor == DTI_PARSE_NO_NUMBER ? DTI_PARSE_BAD_DIVISOR : divisor;
        if (p == end && ret->den.count == 0)
            return DTI_PARSE_ZERO_DIVISOR;
    }
    *ret_at = p;
    return p == end ? DTI_PARSE_FINE : DTI_PARSE_LEFT_OVER;
}

/* Copies the last `count` digits in lower case (decimal digits already have that bit). */
static void copy_digits(char *ret, size_t count, const struct scanned_term *term)
{
    if (term->point) {
        const size_t places = (size_t)(term->end - term->point);
        const size_t most = places > 0 ? places - 1 : 0;
        const size_t behind = count < most ? count : most;
        memcpy(ret, term->point - (count - behind), count - behind);
        memcpy(ret + (count - behind), term->end - behind, behind);
        return;
    }
    for (const char *from = term->end; count > 0;) {
        const char c = *--from;
        if (c != '_' && c != '.')
            ret[--count] = (char)(c | 0x20);
    }
}

/* The same for binary digits, as hexadecimal ones. */
static void copy_nibbles(char *ret, size_t count, const struct scanned_term *term)
{
    const char *from = term->end;
    while (count-- > 0) {
        unsigned nibble = 0;
        for (unsigned bit = 0; bit < 4 && from > term->digits;) {
            const char c = *--from;
            if (c != '_')
                nibble |= (unsigned)(c & 1) << bit++;
        }
        ret[count] = "0123456789abcdef"[nibble];
    }
}

static bool keep_digits(struct dti_term *ret, const struct scanned_term *term)
{
    const unsigned bits = term->base == 10 ? 1 : 4; /* exponent units per digit */
    size_t count = term->base == 2 ? (term->count + 3) / 4 : term->count;
    ret->hexadecimal = term->base != 10;
    ret->exponent = term->exponent;
    ret->digits = ret->own;
    ret->count = 0;
    if (count > sizeof ret->own) {
        ret->digits = dti_malloc(count);
        if (!ret->digits)
            return false;
    }
    if (term->base == 2)
        copy_nibbles(ret->digits, count, term);
    else
        copy_digits(ret->digits, count, term);
    for (; count > 0 && ret->digits[count - 1] == '0'; count--)
        ret->exponent += bits;
    ret->count = count;
    return true;
}

static bool keep_number(struct dti_number *ret, const struct scanned_number *scanned)
{
    static const struct scanned_term one = {
        .base = 10, .digits = "1", .count = 1, .value = 1, .exponent = 0};
    struct scanned_term unit = one;
    unit.end = unit.digits + 1;
    ret->kind = scanned->kind;
    ret->negative = scanned->negative;
    ret->signaling = scanned->signaling;
    ret->quotient = scanned->quotient;
    if (scanned->kind == DTI_CLASS_FINITE || scanned->kind == DTI_CLASS_ZERO) {
        if (!keep_digits(&ret->num, &scanned->num))
            return false;
    } else {
        (void)keep_digits(&ret->num, &unit);
    }
    if (!keep_digits(&ret->den, scanned->quotient ? &scanned->den : &unit)) {
        if (ret->num.digits != ret->num.own)
            dti_free(ret->num.digits);
        return false;
    }
    return true;
}

static enum dti_status parse_scanned(struct dti_number *ret_number,
                                     struct scanned_number *ret_scanned, const char *text,
                                     size_t length, struct dti_error *reterr)
{
    const char *at = text;
    const enum parse_problem problem = scan_number(ret_scanned, text, length, &at);
    if (problem != DTI_PARSE_FINE)
        return complain(reterr, problem, text, length, at);
    if (!keep_number(ret_number, ret_scanned))
        return dti_no_memory(reterr);
    if (ret_scanned->kind == DTI_CLASS_FINITE &&
        dti_number_magnitude(ret_number) == DTI_MAGNITUDE_TANGLED) {
        dti_number_free(ret_number);
        return complain(reterr, DTI_PARSE_TANGLED, text, length, at);
    }
    return DTI_OK;
}

enum dti_status dti_number_parse(struct dti_number *ret_number, const char *text, size_t length,
                                 struct dti_error *reterr)
{
    struct scanned_number scanned;
    return parse_scanned(ret_number, &scanned, text, length, reterr);
}

/* Returns true if the digits are few enough. */
static bool set_short(struct dti_value *ret_value, const struct scanned_number *number)
{
    const struct scanned_term *const term = &number->num;
    if (number->quotient || number->kind > DTI_CLASS_FINITE)
        return false;
    if (number->kind == DTI_CLASS_ZERO) {
        *ret_value = (struct dti_value){.kind = DTI_CLASS_ZERO, .negative = number->negative};
        return true;
    }
    if (term->base == 10) {
        return term->count <= DTI_SHORT_DECIMAL &&
               dti_value_set_decimal(ret_value, number->negative, term->value, term->exponent);
    }
    if (term->count > (term->base == 2 ? SHORT_BINARY : SHORT_HEXADECIMAL))
        return false;
    dti_value_set_wide(ret_value, number->negative, 0, term->value, false, term->exponent);
    return true;
}

enum dti_status dti_number_parse_value(struct dti_number *ret_number, struct dti_value *ret_value,
                                       const char *text, size_t length, struct dti_error *reterr)
{
    struct scanned_number scanned;
    enum dti_status status = parse_scanned(ret_number, &scanned, text, length, reterr);
    if (status != DTI_OK || set_short(ret_value, &scanned) ||
        dti_number_value(ret_number, ret_value))
        return status;
    dti_number_free(ret_number);
    return dti_no_memory(reterr);
}

/* Fast path: a sign, digits and a point, few enough and not all 0; otherwise returns false
 * without doing anything. */
static inline bool set_plain(struct dti_value *ret_value, const char *text, size_t length)
{
    struct scanned_term term = {.count = 0};
    const char *const end = text + length;
    const bool negative = length > 0 && *text == '-';
    return scan_decimal(&term, text + negative, end) == end && term.count > 0 &&
           term.count <= DTI_SHORT_DECIMAL &&
           dti_value_set_decimal(ret_value, negative, term.value, term.exponent);
}

enum dti_status dti_value_parse(struct dti_value *ret_value, const char *text, size_t length,
                                struct dti_error *reterr)
{
    struct scanned_number scanned;
    struct dti_number number;
    const char *at = text;
    if (set_plain(ret_value, text, length))
        return DTI_OK;
    const enum parse_problem problem = scan_number(&scanned, text, length, &at);
    if (problem != DTI_PARSE_FINE)
        return complain(reterr, problem, text, length, at);
    if (set_short(ret_value, &scanned))
        return DTI_OK;
    if (!keep_number(&number, &scanned))
        return dti_no_memory(reterr);
    enum dti_status status = DTI_OK;
    if (scanned.kind == DTI_CLASS_FINITE && dti_number_magnitude(&number) == DTI_MAGNITUDE_TANGLED)
        status = complain(reterr, DTI_PARSE_TANGLED, text, length, at);
    else if (!dti_number_value(&number, ret_value))
        status = dti_no_memory(reterr);
    dti_number_free(&number);
    return status;
}

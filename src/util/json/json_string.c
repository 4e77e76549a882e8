/* SPDX-License-Identifier: MIT
 *
 * JSON strings. Most are short, plain and ASCII, so that case has a fast path. */
#include "util/json/json_string.h"

#include <string.h>

#include "util/text/ascii.h"
#include "util/text/utf8.h"

/* End of a run of plain characters. */
static const char *plain_end(const char *at, const char *end)
{
    while (end - at >= 8) {
        uint64_t eight;
        memcpy(&eight, at, sizeof eight);
        const uint64_t others = dti_json_not_plain(eight);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        if (others) /* the lowest one is the first one, and no false one */
            return at + __builtin_ctzll(others) / 8;
#else
        if (others)
            break;
#endif
        at += 8;
    }
    while (at < end && dti_json_is_plain(*at))
        at++;
    return at;
}

/* Checks eight bytes at once: '0' to '9' are 0x30 to 0x39, and adding 6 keeps the upper nibble
 * 3. A byte that passes the first test cannot carry into the next byte in the second. */
static inline bool are_digits(uint64_t eight)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    return (eight & ones * 0xF0) == ones * 0x30 &&
           ((eight + ones * 6) & ones * 0xF0) == ones * 0x30;
}

static inline const char *digits_end(const char *at, const char *end)
{
    for (; end - at >= 8; at += 8) {
        uint64_t eight;
        memcpy(&eight, at, sizeof eight);
        if (!are_digits(eight))
            break;
    }
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

const char *dti_json_number_end(const char *at, const char *end, const char **ret_problem)
{
    static const char missing[] = "a digit is missing";
    at += at < end && *at == '-';
    const char *next = digits_end(at, end);
    if (next == at || (*at == '0' && next - at > 1)) {
        *ret_problem = next == at ? missing : "a number has a leading zero";
        return at;
    }
    at = next;
    if (at < end && *at == '.') {
        next = digits_end(++at, end);
        if (next == at)
            *ret_problem = missing;
        at = next;
    }
    if (at < end && (*at == 'e' || *at == 'E') && !*ret_problem) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        next = digits_end(at, end);
        if (next == at)
            *ret_problem = missing;
        at = next;
    }
    return at;
}

static bool is_high(uint32_t unit)
{
    return unit >= 0xD800 && unit <= 0xDBFF;
}

static bool is_low(uint32_t unit)
{
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

/* Length of the escape at `at` (a backslash) and its character; 0 if the escape is invalid. */
static size_t read_escape(const char *at, const char *end, uint32_t *ret_point,
                          const char **ret_problem)
{
    static const char named[] = "\"\"\\\\//b\bf\fn\nr\rt\t"; /* pairs: letter, character */
    const size_t left = (size_t)(end - at);
    *ret_problem = "an invalid escape";
    for (size_t i = 0; left >= 2 && i + 1 < sizeof named; i += 2) {
        if (named[i] == at[1]) {
            *ret_point = (unsigned char)named[i + 1];
            return 2;
        }
    }
    uint32_t unit, second;
    if (left < 6 || at[1] != 'u' || !dti_ascii_hex(at + 2, 4, &unit))
        return 0;
    if (!is_high(unit) && !is_low(unit)) {
        *ret_point = unit;
        return 6;
    }
    *ret_problem = "an unpaired surrogate";
    if (is_low(unit) || left < 12 || at[6] != '\\' || at[7] != 'u' ||
        !dti_ascii_hex(at + 8, 4, &second) || !is_low(second))
        return 0;
    *ret_point = 0x10000 + ((unit - 0xD800) << 10) + (second - 0xDC00);
    return 12;
}

void dti_json_string_decode(struct dti_buffer *ret, const char *text, size_t length)
{
    const char *at = text, *const end = text + length;
    dti_buffer_clear(ret);
    dti_buffer_reserve(ret, length);
    while (at < end) {
        const char *const next = memchr(at, '\\', (size_t)(end - at));
        const char *const run_end = next ? next : end;
        dti_buffer_append(ret, at, (size_t)(run_end - at));
        at = run_end;
        if (at < end) {
            uint32_t point;
            char piece[4];
            const char *problem;
            at += read_escape(at, end, &point, &problem);
            dti_buffer_append(ret, piece, dti_utf8_encode(point, piece));
        }
    }
}

const char *dti_json_string_end(const char *at, const char *end, bool *ret_escaped,
                                const char **ret_problem)
{
    bool escaped = false;
    for (;;) {
        at = plain_end(at, end);
        if (at == end) {
            *ret_problem = "the text ends within a string";
            return at;
        }
        if (*at == '"')
            break;
        uint32_t point;
        size_t size;
        const char *problem = "not UTF-8";
        if (*at == '\\') {
            escaped = true;
            size = read_escape(at, end, &point, &problem);
        } else if ((unsigned char)*at < 0x20) {
            problem = "a control character in a string is not escaped";
            size = 0;
        } else {
            size = dti_utf8_decode(at, (size_t)(end - at), &point);
        }
        if (size == 0) {
            *ret_problem = problem;
            return at;
        }
        at += size;
    }
    *ret_escaped = escaped;
    return at;
}

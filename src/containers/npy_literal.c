/* SPDX-License-Identifier: MIT
 *
 * The strings, numbers and tuples of Python's literals. */
#include "containers/npy_literal.h"

#include <string.h>

#include "containers/npy.h"
#include "dtinfo/ascii.h"
#include "dtinfo/checked.h"
#include "dtinfo/utf8.h"

bool dti_npy_fail(struct dti_npy_cursor *cursor, const char *problem)
{
    if (!cursor->problem)
        cursor->problem = problem;
    return false;
}

void dti_npy_skip_space(struct dti_npy_cursor *cursor)
{
    while (cursor->at < cursor->end && (*cursor->at == ' ' || *cursor->at == '\t' ||
                                        *cursor->at == '\n' || *cursor->at == '\r'))
        cursor->at++;
}

bool dti_npy_take(struct dti_npy_cursor *cursor, char c)
{
    dti_npy_skip_space(cursor);
    if (cursor->at == cursor->end || *cursor->at != c)
        return false;
    cursor->at++;
    return true;
}

bool dti_npy_next_is(struct dti_npy_cursor *cursor, const char *any)
{
    dti_npy_skip_space(cursor);
    return cursor->at < cursor->end && *cursor->at != '\0' && strchr(any, *cursor->at) != NULL;
}

/* The length of the escape at `at` (a backslash) and the character it stands for; 0 when it is
 * none. */
static size_t read_escape(const char *at, const char *end, uint32_t *ret_point)
{
    static const char named[] = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v"; /* pairs: letter, character */
    const size_t left = (size_t)(end - at);
    const char letter = left >= 2 ? at[1] : '\0';
    for (size_t i = 0; letter != '\0' && i + 1 < sizeof named; i += 2) {
        if (named[i] == letter) {
            *ret_point = (unsigned char)named[i + 1];
            return 2;
        }
    }
    const size_t digits = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    if (digits == 0 || left < 2 + digits || !dti_ascii_hex(at + 2, digits, ret_point))
        return 0;
    return *ret_point <= 0x10FFFF ? 2 + digits : 0;
}

void dti_npy_put_text(const struct dti_npy_cursor *cursor, struct dti_buffer *out, const char *text,
                      size_t length)
{
    const char *at = text, *const end = text + length;
    while (at < end) {
        uint32_t point = (unsigned char)*at;
        char piece[4];
        if (*at == '\\') {
            at += read_escape(at, end, &point);
        } else {
            at++;
            if (point >= 0x80 && !cursor->old) {
                dti_buffer_append(out, at - 1, 1);
                continue;
            }
        }
        dti_buffer_append(out, piece, dti_utf8_encode(point, piece));
    }
}

bool dti_npy_take_string(struct dti_npy_cursor *cursor, const char **ret_text, size_t *ret_length)
{
    if (!dti_npy_next_is(cursor, "'\""))
        return dti_npy_fail(cursor, "a string is missing");
    const char quote = *cursor->at++;
    const char *const text = cursor->at;
    uint32_t point;
    while (cursor->at < cursor->end && *cursor->at != quote) {
        if ((unsigned char)*cursor->at < ' ')
            return dti_npy_fail(cursor, "a string contains a control character");
        const size_t size = *cursor->at == '\\' ? read_escape(cursor->at, cursor->end, &point) : 1;
        if (size == 0)
            return dti_npy_fail(cursor, "a string has an invalid escape");
        cursor->at += size;
    }
    if (cursor->at == cursor->end)
        return dti_npy_fail(cursor, "a string is not terminated");
    *ret_text = text;
    *ret_length = (size_t)(cursor->at - text);
    cursor->at++;
    return true;
}

bool dti_npy_take_number(struct dti_npy_cursor *cursor, uint64_t *ret)
{
    static const char bad[] = "a dimension is not a whole number from 0 to 9223372036854775807";
    dti_npy_skip_space(cursor);
    const char *const start = cursor->at;
    uint64_t value = 0;
    for (; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9'; cursor->at++) {
        if (!dti_mul_u64(value, 10, &value) ||
            !dti_add_u64(value, (uint64_t)(*cursor->at - '0'), &value) || value > INT64_MAX)
            return dti_npy_fail(cursor, bad);
    }
    if (cursor->at == start || (cursor->at - start > 1 && *start == '0'))
        return dti_npy_fail(cursor, bad);
    if (cursor->old && cursor->at < cursor->end && *cursor->at == 'L')
        cursor->at++;
    *ret = value;
    return true;
}

bool dti_npy_take_tuple(struct dti_npy_cursor *cursor, uint64_t *shape, unsigned *ret_rank)
{
    unsigned rank = 0;
    if (!dti_npy_take(cursor, '('))
        return dti_npy_fail(cursor, "'shape' is not a tuple");
    while (!dti_npy_take(cursor, ')')) {
        if (rank == DTI_NPY_RANK_MAX)
            return dti_npy_fail(cursor, "there are more than 64 dimensions");
        if (!dti_npy_take_number(cursor, &shape[rank]))
            return false;
        rank++;
        const bool comma = dti_npy_take(cursor, ',');
        if (!comma && (rank == 1 || !dti_npy_next_is(cursor, ")")))
            return dti_npy_fail(cursor, "a comma is missing in a tuple");
    }
    *ret_rank = rank;
    return true;
}

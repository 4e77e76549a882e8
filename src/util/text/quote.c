/* SPDX-License-Identifier: MIT
 *
 * Quotes untrusted text for messages: characters that a terminal would interpret are escaped, so
 * that a file name cannot recolour, reorder or clear the screen. UTF-8 is decoded strictly. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "util/error.h"
#include "util/text/escape.h"
#include "util/text/utf8.h"

size_t dti_utf8_decode(const char *text, size_t length, uint32_t *ret_point)
{
    const unsigned char first = (unsigned char)text[0];
    if (first < 0x80) {
        *ret_point = first;
        return 1;
    }
    size_t size;
    uint32_t point, lowest; /* lowest: smallest point of this length; less is overlong */
    if (first >= 0xC2 && first <= 0xDF) {
        size = 2, point = first & 0x1Fu, lowest = 0x80;
    } else if ((first & 0xF0) == 0xE0) {
        size = 3, point = first & 0x0Fu, lowest = 0x800;
    } else if (first >= 0xF0 && first <= 0xF4) {
        size = 4, point = first & 0x07u, lowest = 0x10000;
    } else {
        return 0;
    }
    if (length < size)
        return 0;
    for (size_t i = 1; i < size; i++) {
        const unsigned char next = (unsigned char)text[i];
        if ((next & 0xC0) != 0x80)
            return 0;
        point = point << 6 | (next & 0x3Fu);
    }
    if (point < lowest || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF))
        return 0;
    *ret_point = point;
    return size;
}

size_t dti_utf8_encode(uint32_t point, char ret[4])
{
    const size_t size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const unsigned char first[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = size; i-- > 1; point >>= 6)
        ret[i] = (char)(0x80 | (point & 0x3F));
    ret[0] = (char)(first[size] | point);
    return size;
}

bool dti_utf8_valid(const char *text, size_t length)
{
    while (length > 0) {
        uint32_t point;
        const size_t size = dti_utf8_decode(text, length, &point);
        if (size == 0)
            return false;
        text += size;
        length -= size;
    }
    return true;
}

/* Characters that take no column, and those that take two: Unicode 15 blocks as in wcwidth(), as
 * whole ranges. */
static const struct {
    uint32_t first, last;
    unsigned columns;
} odd_columns[] = {
    {0x0300, 0x036F, 0},   {0x1100, 0x115F, 2},   {0x1AB0, 0x1AFF, 0},   {0x1DC0, 0x1DFF, 0},
    {0x200B, 0x200F, 0},   {0x20D0, 0x20FF, 0},   {0x2E80, 0x303E, 2},   {0x3041, 0x4DBF, 2},
    {0x4E00, 0xA4CF, 2},   {0xA960, 0xA97C, 2},   {0xAC00, 0xD7A3, 2},   {0xF900, 0xFAFF, 2},
    {0xFE00, 0xFE0F, 0},   {0xFE10, 0xFE19, 2},   {0xFE20, 0xFE2F, 0},   {0xFE30, 0xFE6F, 2},
    {0xFF01, 0xFF60, 2},   {0xFFE0, 0xFFE6, 2},   {0x16FE0, 0x18CFF, 2}, {0x1AFF0, 0x1B2FF, 2},
    {0x1F300, 0x1F64F, 2}, {0x1F680, 0x1F6FF, 2}, {0x1F900, 0x1FAFF, 2}, {0x20000, 0x3FFFD, 2},
};

static size_t point_columns(uint32_t point)
{
    size_t i = 0;
    const size_t count = sizeof odd_columns / sizeof odd_columns[0];
    while (i < count && point > odd_columns[i].last)
        i++;
    return i < count && point >= odd_columns[i].first ? odd_columns[i].columns : 1;
}

static size_t count_ascii(const char *text, size_t length)
{
    size_t count = 0;
    for (uint64_t eight; length - count >= sizeof eight; count += sizeof eight) {
        memcpy(&eight, text + count, sizeof eight);
        if (eight & UINT64_C(0x8080808080808080))
            break;
    }
    while (count < length && (unsigned char)text[count] < 0x80)
        count++;
    return count;
}

size_t dti_utf8_columns(const char *text, size_t length)
{
    size_t columns = 0;
    for (;;) {
        const size_t ascii = count_ascii(text, length);
        columns += ascii;
        text += ascii;
        length -= ascii;
        if (length == 0)
            return columns;
        uint32_t point;
        if ((unsigned char)*text < 0x80) {
            columns++;
            text++;
            length--;
            continue;
        }
        const size_t size = dti_utf8_decode(text, length, &point);
        columns += size > 1 ? point_columns(point) : 1;
        text += size > 0 ? size : 1;
        length -= size > 0 ? size : 1;
    }
}

enum { QUOTE_CHARACTERS = 60 };

/* Control characters, and characters that reorder, hide or break the surrounding text. */
static bool is_deceptive(uint32_t point)
{
    return point < 0x20 || (point >= 0x7F && point <= 0x9F) || point == 0xAD ||
           point == 0x061C ||                      /* Arabic letter mark */
           (point >= 0x200B && point <= 0x200F) || /* zero width, LRM, RLM */
           (point >= 0x2028 && point <= 0x202E) || /* separators, bidi embeddings */
           (point >= 0x2060 && point <= 0x206F) || /* word joiner, bidi isolates */
           point == 0xFEFF ||                      /* byte order mark */
           (point >= 0xFFF9 && point <= 0xFFFB) || /* interlinear annotation */
           (point >= 0xE0000 && point <= 0xE007F); /* tags */
}

/* Writes one character of text, escaped if needed, into piece (16 bytes); returns the bytes of
 * text consumed. */
static size_t spell_character(char piece[16], const char *text, size_t length)
{
    uint32_t point;
    const size_t size = dti_utf8_decode(text, length, &point);
    if (size == 0 || (size == 1 && is_deceptive(point))) {
        snprintf(piece, 16, "\\x%02x", (unsigned)(unsigned char)text[0]);
        return 1;
    }
    if (is_deceptive(point)) {
        snprintf(piece, 16, "\\u{%x}", (unsigned)point);
    } else {
        memcpy(piece, text, size);
        piece[size] = '\0';
    }
    return size;
}

const char *dti_quote(char buffer[DTI_QUOTE_SIZE], const char *text, size_t length)
{
    static const char cut[] = "...'";
    size_t used = 0, taken = 0;
    buffer[used++] = '\'';
    for (size_t characters = 0; taken < length && characters < QUOTE_CHARACTERS; characters++) {
        char piece[16];
        const size_t size = spell_character(piece, text + taken, length - taken);
        const size_t piece_length = strlen(piece);
        if (used + piece_length + sizeof cut > DTI_QUOTE_SIZE)
            break;
        memcpy(buffer + used, piece, piece_length);
        used += piece_length;
        taken += size;
    }
    const char *const end = taken < length ? cut : "'";
    memcpy(buffer + used, end, strlen(end) + 1);
    return buffer;
}

/* Length of the prefix that needs no escaping: nearly always all of a tensor name. */
static size_t plain_length(const char *text, size_t length)
{
    size_t plain = 0;
    while (plain < length && text[plain] >= 0x20 && text[plain] < 0x7F)
        plain++;
    return plain;
}

void dti_escape(struct dti_buffer *buffer, const char *text, size_t length)
{
    for (;;) {
        const size_t plain = plain_length(text, length);
        dti_buffer_append(buffer, text, plain);
        text += plain;
        length -= plain;
        if (length == 0)
            return;
        char piece[16];
        const size_t size = spell_character(piece, text, length);
        dti_buffer_puts(buffer, piece);
        text += size;
        length -= size;
    }
}

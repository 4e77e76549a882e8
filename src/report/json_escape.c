/* SPDX-License-Identifier: MIT
 *
 * Texts in JSON that have characters to escape, which few have. */
#include <string.h>

#include "dtinfo/utf8.h"
#include "report/json_writer.h"

/* Characters that are seen by what they do. */
static bool is_hidden(uint32_t point)
{
    return (point >= 0x7F && point <= 0x9F) || point == 0x061C || point == 0x200E ||
           point == 0x200F || (point >= 0x2028 && point <= 0x202E) ||
           (point >= 0x2066 && point <= 0x2069);
}

/* Spells one character of text as it stands in a JSON string and returns the bytes of text it took.
 * What RFC 8259 demands is escaped, and also DEL, C1, the line separators and what turns the
 * direction of text: to a reader they are the same, to a terminal and to JavaScript they are not.
 */
static size_t spell_character(char piece[8], const char *text, size_t length)
{
    static const char hex[] = "0123456789abcdef";
    static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: character, letter */
    uint32_t point;
    const size_t size = dti_utf8_decode(text, length, &point);
    if (size == 0) {
        memcpy(piece, "\xEF\xBF\xBD", 4); /* U+FFFD, replacement character */
        return 1;
    }
    for (size_t i = 0; point < 0x80 && i + 1 < sizeof named; i += 2) {
        if (named[i] == (char)point) {
            piece[0] = '\\';
            piece[1] = named[i + 1];
            piece[2] = '\0';
            return size;
        }
    }
    if (point < 0x20 || is_hidden(point)) {
        memcpy(piece, "\\u", 2);
        for (unsigned i = 0; i < 4; i++)
            piece[2 + i] = hex[point >> (12 - 4 * i) & 0xF];
        piece[6] = '\0';
        return size;
    }
    memcpy(piece, text, size);
    piece[size] = '\0';
    return size;
}

char *dti_json_put_escaped(char *out, const char *text, size_t length)
{
    for (size_t taken = 0; taken < length;) {
        char piece[8];
        taken += spell_character(piece, text + taken, length - taken);
        const size_t size = strlen(piece);
        memcpy(out, piece, size);
        out += size;
    }
    return out;
}

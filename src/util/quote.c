/* SPDX-License-Identifier: MIT
 *
 * Quotes untrusted text for a message: what a terminal would interpret instead of showing becomes
 * an escape, so that a file name cannot recolour, reorder or clear the screen. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "dtinfo/error.h"
#include "dtinfo/escape.h"
#include "dtinfo/utf8.h"

enum { QUOTE_CHARACTERS = 60 };

/* Controls, and characters that reorder, hide or break the text around them. */
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

/* Spells one character of text into piece (16 bytes) and returns the bytes of text it took. */
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
    strcpy(buffer + used, taken < length ? cut : "'");
    return buffer;
}

/* How many characters stand for themselves: nearly all that names of tensors are made of. */
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

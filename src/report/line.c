/* SPDX-License-Identifier: MIT
 *
 * Terminal text: styles, and lines with tab stops. Blanks are deferred until something follows
 * them, so no line has trailing blanks.
 *
 * Also wraps lines that are wider than the page. A line consists of pieces separated by two or
 * more blanks, "max abs error 0.05   SQNR 47.71 dB". A piece moves to the next line as a whole,
 * and breaks at single blanks only if it is wider than a line. A single word that is too wide is
 * either the name of a tensor or file, which is shortened in the middle as in tables, or a
 * number, which is kept whole. */
#include <stdarg.h>
#include <string.h>

#include "report/table.h"
#include "report/table_parts.h"
#include "util/buffer.h"
#include "util/text/escape.h"
#include "util/text/utf8.h"

enum { PRINTED_MAX = 4096 }; /* bytes of a formatted cell; longer text is truncated */

static const char *const style_codes[] = {
    [DTI_STYLE_PLAIN] = "",
    [DTI_STYLE_BOLD] = "1",
    [DTI_STYLE_DIM] = "2",
    [DTI_STYLE_GOOD] = "32",
    [DTI_STYLE_WARN] = "33",
    [DTI_STYLE_BAD] = "31",
    /* magenta, cyan and bright blue: plain blue is hard to read on black */
    [DTI_STYLE_PART] = "35",
    [DTI_STYLE_PART + 1] = "36",
    [DTI_STYLE_PART + 2] = "94",
};

void dti_put_styled(FILE *out, bool colour, enum dti_style style, const char *text, size_t length)
{
    if (!colour || style == DTI_STYLE_PLAIN || length == 0) {
        (void)fwrite(text, 1, length, out);
        return;
    }
    fprintf(out, "\x1b[%sm", style_codes[style]);
    (void)fwrite(text, 1, length, out);
    (void)fputs("\x1b[0m", out);
}

void dti_put_blanks(FILE *out, size_t count)
{
    static const char blanks[] = "                                ";
    for (; count > sizeof blanks - 1; count -= sizeof blanks - 1)
        (void)fwrite(blanks, 1, sizeof blanks - 1, out);
    (void)fwrite(blanks, 1, count, out);
}

static void write_bytes(struct dti_line *line, const char *bytes, size_t length)
{
    if (line->text)
        dti_buffer_append(line->text, bytes, length);
    else
        (void)fwrite(bytes, 1, length, line->out);
}

static void write_blanks(struct dti_line *line, size_t count)
{
    if (line->text)
        dti_buffer_fill(line->text, ' ', count);
    else
        dti_put_blanks(line->out, count);
}

static void write_styled(struct dti_line *line, enum dti_style style, const char *text,
                         size_t length)
{
    if (!line->text) {
        dti_put_styled(line->out, line->colour, style, text, length);
    } else if (!line->colour || style == DTI_STYLE_PLAIN || length == 0) {
        dti_buffer_append(line->text, text, length);
    } else {
        dti_buffer_append(line->text, "\x1b[", 2);
        dti_buffer_puts(line->text, style_codes[style]);
        dti_buffer_append(line->text, "m", 1);
        dti_buffer_append(line->text, text, length);
        dti_buffer_append(line->text, "\x1b[0m", 4);
    }
}

static void put_length(struct dti_line *line, enum dti_style style, const char *text, size_t length)
{
    const char *const end = text + length;
    while (text < end && *text == ' ')
        text++, line->owed++;
    length = (size_t)(end - text);
    size_t trailing = 0;
    const bool ends = length > 0 && text[length - 1] == '\n';
    length -= ends;
    while (length > 0 && text[length - 1] == ' ')
        length--, trailing++;
    if (length > 0) {
        write_blanks(line, line->owed);
        write_styled(line, style, text, length);
        line->column += line->owed + dti_utf8_columns(text, length);
        line->owed = 0;
    }
    line->owed += trailing;
    if (ends)
        dti_line_end(line);
}

void dti_line_put(struct dti_line *line, enum dti_style style, const char *text)
{
    put_length(line, style, text, strlen(text));
}

void dti_line_text(struct dti_line *line, const char *text)
{
    dti_line_put(line, DTI_STYLE_PLAIN, text);
}

/* Formats like vsnprintf(); an error gives "". */
static const char *printed(char *text, size_t size, const char *format, va_list args)
{
    if (vsnprintf(text, size, format, args) < 0)
        text[0] = '\0';
    return text;
}

void dti_line_print(struct dti_line *line, enum dti_style style, const char *format, ...)
{
    char text[PRINTED_MAX];
    va_list args;
    va_start(args, format);
    dti_line_put(line, style, printed(text, sizeof text, format, args));
    va_end(args);
}

bool dti_line_safe(struct dti_line *line, enum dti_style style, const char *bytes, size_t length)
{
    struct dti_buffer text;
    dti_buffer_init(&text);
    dti_escape(&text, bytes, length);
    const bool whole = !text.failed;
    dti_line_put(line, style, text.data);
    dti_buffer_free(&text);
    return whole;
}

void dti_line_to(struct dti_line *line, size_t column)
{
    const size_t now = line->column + line->owed;
    line->owed += now < column ? column - now : 2;
}

void dti_line_end(struct dti_line *line)
{
    write_bytes(line, "\n", 1);
    line->column = line->owed = 0;
}

enum {
    GAP = 3,      /* blanks between two separate pieces */
    SHORTEST = 12 /* minimum width of a shortened name */
};

/* The width of text that may contain styles. */
static size_t columns_of(const char *text, size_t length)
{
    size_t columns = 0, from = 0, at = 0;
    while (at < length) {
        if (text[at] != '\x1b') {
            at++;
            continue;
        }
        columns += dti_utf8_columns(text + from, at - from);
        const char *const end = memchr(text + at, 'm', length - at);
        at = from = end ? (size_t)(end - text) + 1 : length;
    }
    return columns + dti_utf8_columns(text + from, at - from);
}

static size_t blanks_at(const char *text, size_t at, size_t length)
{
    size_t count = 0;
    while (at + count < length && text[at + count] == ' ')
        count++;
    return count;
}

/* The end of a piece: the first run of `gap` or more blanks, or the end of the line. */
static size_t end_of(const char *text, size_t at, size_t length, size_t gap)
{
    while (at < length) {
        const size_t blanks = blanks_at(text, at, length);
        if (blanks >= gap)
            break;
        at += blanks > 0 ? blanks : 1;
    }
    return at;
}

/* Where continuation lines start: below the text after this line's label, "  also called
 * float16, half", whose label fills its column; otherwise a bit further in. */
static size_t hanging(const char *text, size_t indent, size_t length, size_t width)
{
    const size_t end = end_of(text, indent, length, 2);
    const size_t gap = blanks_at(text, end, length);
    const size_t column = columns_of(text, end) + gap;
    if (end < length && gap != GAP && column <= width / 3)
        return column;
    return indent + 2 <= width / 2 ? indent + 2 : 0;
}

struct fitted {
    FILE *out;
    size_t width, hang, column;
};

/* Whether a word is a number: digits of any base, with the signs that occur among them. Styles
 * are skipped. */
static bool is_number(const char *text, size_t length)
{
    static const char digits[] = "0123456789abcdefABCDEFxXpP+-.,:;()[]%";
    for (size_t at = 0; at < length; at++) {
        const char *const end = text[at] == '\x1b' ? memchr(text + at, 'm', length - at) : NULL;
        if (end)
            at = (size_t)(end - text);
        else if (!memchr(digits, text[at], sizeof digits - 1))
            return false;
    }
    return true;
}

/* Writes the start and the end of a word with dots in between, and keeps all its styles. */
static void put_shortened(FILE *out, const char *text, size_t length, size_t columns, size_t width)
{
    static const char dots[] = "...";
    const size_t kept = width - (sizeof dots - 1), tail = kept / 2;
    size_t seen = 0; /* columns before the character */
    bool dotted = false;
    for (size_t at = 0, next; at < length; at = next) {
        next = at + 1;
        if (text[at] == '\x1b') {
            const char *const end = memchr(text + at, 'm', length - at);
            next = end ? (size_t)(end - text) + 1 : length;
            (void)fwrite(text + at, 1, next - at, out);
            continue;
        }
        while (next < length && ((unsigned char)text[next] & 0xC0) == 0x80)
            next++;
        const size_t after = seen + dti_utf8_columns(text + at, next - at);
        if (after <= kept - tail || seen >= columns - tail)
            (void)fwrite(text + at, 1, next - at, out);
        else if (!dotted)
            (void)fputs(dots, out);
        dotted = dotted || after > kept - tail;
        seen = after;
    }
}

/* Writes a piece after some blanks, or on the next line if it does not fit. */
static void put(struct fitted *line, size_t blanks, const char *text, size_t length)
{
    const size_t columns = columns_of(text, length);
    if (line->column > line->hang && line->column + blanks + columns > line->width) {
        (void)putc('\n', line->out);
        line->column = 0;
        blanks = line->hang;
    }
    dti_put_blanks(line->out, blanks);
    line->column += blanks;
    const size_t room = line->column < line->width ? line->width - line->column : 0;
    const bool shorter = columns > room && room >= SHORTEST && !is_number(text, length);
    if (shorter)
        put_shortened(line->out, text, length, columns, room);
    else
        (void)fwrite(text, 1, length, line->out);
    line->column += shorter ? room : columns;
}

static void put_line(FILE *out, const char *text, size_t length, size_t width)
{
    const size_t indent = blanks_at(text, 0, length);
    struct fitted line = {out, width, hanging(text, indent, length, width), 0};
    for (size_t at = 0; at < length;) {
        size_t blanks = blanks_at(text, at, length);
        at += blanks;
        const size_t end = end_of(text, at, length, 2);
        if (line.hang + columns_of(text + at, end - at) <= width) {
            put(&line, blanks, text + at, end - at);
            at = end;
        }
        while (at < end) {
            const size_t word = end_of(text, at, end, 1);
            put(&line, blanks, text + at, word - at);
            at = word + 1 < end ? word + 1 : end;
            blanks = 1;
        }
    }
}

bool dti_fit_lines(FILE *out, const char *text, size_t length, size_t width)
{
    while (length > 0) {
        const char *const newline = memchr(text, '\n', length);
        const size_t line = newline ? (size_t)(newline - text) : length;
        if (width == 0 || columns_of(text, line) <= width)
            (void)fwrite(text, 1, line, out);
        else
            put_line(out, text, line, width);
        if (newline)
            (void)putc('\n', out);
        text += line + (newline != NULL);
        length -= line + (newline != NULL);
    }
    return !ferror(out);
}

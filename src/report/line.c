/* SPDX-License-Identifier: MIT
 *
 * Text for people: styles, and lines with tab stops. Blanks are written only when something follows
 * them, so no line ends in blanks. */
#include <stdarg.h>
#include <string.h>

#include "dtinfo/buffer.h"
#include "dtinfo/escape.h"
#include "dtinfo/utf8.h"
#include "report/table_parts.h"

enum { PRINTED_MAX = 4096 }; /* bytes of a printed cell: what is longer is cut */

static const char *const style_codes[] = {
    [DTI_STYLE_PLAIN] = "",
    [DTI_STYLE_BOLD] = "1",
    [DTI_STYLE_DIM] = "2",
    [DTI_STYLE_GOOD] = "32",
    [DTI_STYLE_WARN] = "33",
    [DTI_STYLE_BAD] = "31",
    /* magenta, cyan and bright blue: the plain one is hard to read on black */
    [DTI_STYLE_PART] = "35",
    [DTI_STYLE_PART + 1] = "36",
    [DTI_STYLE_PART + 2] = "94",
};

void dti_put_styled(FILE *out, bool colour, enum dti_style style, const char *text, size_t length)
{
    if (!colour || style == DTI_STYLE_PLAIN || length == 0) {
        fwrite(text, 1, length, out);
        return;
    }
    fprintf(out, "\x1b[%sm", style_codes[style]);
    fwrite(text, 1, length, out);
    fputs("\x1b[0m", out);
}

void dti_put_blanks(FILE *out, size_t count)
{
    static const char blanks[] = "                                ";
    for (; count > sizeof blanks - 1; count -= sizeof blanks - 1)
        fwrite(blanks, 1, sizeof blanks - 1, out);
    fwrite(blanks, 1, count, out);
}

static void write_bytes(struct dti_line *line, const char *bytes, size_t length)
{
    if (line->text)
        dti_buffer_append(line->text, bytes, length);
    else
        fwrite(bytes, 1, length, line->out);
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

/* The text printf() would print. */
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

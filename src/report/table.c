/* SPDX-License-Identifier: MIT
 *
 * Text for people: styles, lines with tab stops, tables. Blanks are written only once something
 * follows them, so that no line ends in blanks. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "dtinfo/buffer.h"
#include "dtinfo/escape.h"
#include "dtinfo/table.h"

enum { PRINTED_MAX = 4096 }; /* bytes of a printed cell: what is longer is cut */

static const char *const style_codes[] = {
    [DTI_STYLE_PLAIN] = "",  [DTI_STYLE_BOLD] = "1",  [DTI_STYLE_DIM] = "2",
    [DTI_STYLE_GOOD] = "32", [DTI_STYLE_WARN] = "33", [DTI_STYLE_BAD] = "31",
};

/* Columns that UTF-8 text takes: all bytes but the continuations. */
static size_t text_columns(const char *text, size_t length)
{
    size_t columns = 0;
    for (size_t i = 0; i < length; i++)
        columns += ((unsigned char)text[i] & 0xC0) != 0x80;
    return columns;
}

/* In a style (ANSI SGR) when colour is on, else plainly. */
static void put_styled(FILE *out, bool colour, enum dti_style style, const char *text,
                       size_t length)
{
    if (!colour || style == DTI_STYLE_PLAIN || length == 0) {
        fwrite(text, 1, length, out);
        return;
    }
    fprintf(out, "\x1b[%sm", style_codes[style]);
    fwrite(text, 1, length, out);
    fputs("\x1b[0m", out);
}

static void put_blanks(FILE *out, size_t count)
{
    static const char blanks[] = "                                ";
    for (; count > sizeof blanks - 1; count -= sizeof blanks - 1)
        fwrite(blanks, 1, sizeof blanks - 1, out);
    fwrite(blanks, 1, count, out);
}

void dti_line_put(struct dti_line *line, enum dti_style style, const char *text)
{
    size_t leading = strspn(text, " ");
    line->owed += leading;
    text += leading;
    size_t length = strlen(text);
    size_t trailing = 0;
    const bool ends = length > 0 && text[length - 1] == '\n';
    length -= ends;
    while (length > 0 && text[length - 1] == ' ')
        length--, trailing++;
    if (length > 0) {
        put_blanks(line->out, line->owed);
        put_styled(line->out, line->colour, style, text, length);
        line->column += line->owed + text_columns(text, length);
        line->owed = 0;
    }
    line->owed += trailing;
    if (ends)
        dti_line_end(line);
}

void dti_line_text(struct dti_line *line, const char *text)
{
    dti_line_put(line, DTI_STYLE_PLAIN, text);
}

/* What printf() would print. */
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
    putc('\n', line->out);
    line->column = line->owed = 0;
}

struct cell {
    size_t start, length; /* in text */
    enum dti_style style;
};

struct column {
    size_t width, most; /* most: 0 for no limit */
    bool right;
};

struct dti_table {
    struct dti_buffer text;  /* all cells' texts, one after another */
    struct dti_buffer cells; /* struct cell, row by row */
    size_t count;
    size_t columns;
    struct column column[];
};

struct dti_table *dti_table_new(size_t columns)
{
    if (columns == 0 || columns > 1024)
        return NULL;
    struct dti_table *const table = calloc(1, sizeof *table + columns * sizeof table->column[0]);
    if (!table)
        return NULL;
    dti_buffer_init(&table->text);
    dti_buffer_init(&table->cells);
    table->columns = columns;
    return table;
}

void dti_table_right(struct dti_table *table, size_t column)
{
    if (table && column < table->columns)
        table->column[column].right = true;
}

void dti_table_limit(struct dti_table *table, size_t column, size_t most)
{
    if (table && column < table->columns)
        table->column[column].most = most;
}

/* Makes the column as wide as its last cell. */
static void widen(struct dti_table *table, const struct cell *last)
{
    struct column *const column = &table->column[(table->count - 1) % table->columns];
    if (table->text.failed)
        return;
    const size_t width = text_columns(table->text.data + last->start, last->length);
    if (width > column->width && (column->most == 0 || width <= column->most))
        column->width = width;
}

void dti_table_cell(struct dti_table *table, enum dti_style style, const char *text)
{
    if (!table)
        return;
    const struct cell cell = {.start = table->text.length, .length = strlen(text), .style = style};
    dti_buffer_append(&table->text, text, cell.length);
    /* bytes in and out by memcpy: the buffer promises no alignment */
    dti_buffer_append(&table->cells, (const char *)&cell, sizeof cell);

    table->count++;
    widen(table, &cell);
}

void dti_table_print(struct dti_table *table, enum dti_style style, const char *format, ...)
{
    char text[PRINTED_MAX];
    va_list args;
    va_start(args, format);
    dti_table_cell(table, style, printed(text, sizeof text, format, args));
    va_end(args);
}

/* The last cell takes what was added to the text. */
static void extend_cell(struct dti_table *table)
{
    struct cell cell;
    if (table->text.failed || table->cells.failed)
        return;
    char *const place = table->cells.data + table->cells.length - sizeof cell;
    memcpy(&cell, place, sizeof cell);
    cell.length = table->text.length - cell.start;
    memcpy(place, &cell, sizeof cell);
    widen(table, &cell);
}

void dti_table_more(struct dti_table *table, const char *format, ...)
{
    char text[PRINTED_MAX];
    va_list args;
    va_start(args, format);
    (void)printed(text, sizeof text, format, args);
    va_end(args);
    if (!table)
        return;
    dti_buffer_puts(&table->text, text);
    extend_cell(table);
}

void dti_table_safe(struct dti_table *table, const char *bytes, size_t length)
{
    if (!table)
        return;
    dti_escape(&table->text, bytes, length);
    extend_cell(table);
}

struct dti_table *dti_table_titled(const char *titles)
{
    size_t columns = 1;
    for (const char *at = titles; *at != '\0'; at++)
        columns += *at == '|';
    struct dti_table *const table = dti_table_new(columns);
    for (size_t i = 0; i < columns; i++) {
        const size_t length = strcspn(titles, "|");
        const bool right = length > 0 && titles[length - 1] == '>';
        if (right)
            dti_table_right(table, i);
        dti_table_print(table, DTI_STYLE_DIM, "%.*s", (int)(length - right), titles);
        titles += length + 1;
    }
    return table;
}

bool dti_table_write(const struct dti_table *table, FILE *out, bool colour, size_t indent)
{
    if (!table || table->text.failed || table->cells.failed)
        return false;
    size_t owed = indent;
    for (size_t i = 0; i < table->count; i++) {
        const struct column *const column = &table->column[i % table->columns];
        struct cell cell;
        memcpy(&cell, table->cells.data + i * sizeof cell, sizeof cell);
        const char *const text = table->text.data + cell.start;
        const size_t width = text_columns(text, cell.length);
        const size_t padding = width < column->width ? column->width - width : 0;

        if (cell.length > 0) {
            put_blanks(out, owed + (column->right ? padding : 0));
            put_styled(out, colour, cell.style, text, cell.length);
            owed = 2 + (column->right ? 0 : padding);
        } else {
            owed += column->width + 2;
        }
        const bool row_ends = (i + 1) % table->columns == 0 || i + 1 == table->count;
        if (row_ends) {
            putc('\n', out);
            owed = indent;
        }
    }
    return true;
}

enum dti_status dti_table_end(struct dti_table *table, FILE *out, bool colour, size_t indent,
                              struct dti_error *reterr)
{
    const bool written = dti_table_write(table, out, colour, indent);
    dti_table_free(table);
    return written ? DTI_OK : dti_no_memory(reterr);
}

void dti_table_free(struct dti_table *table)
{
    if (!table)
        return;
    dti_buffer_free(&table->text);
    dti_buffer_free(&table->cells);
    free(table);
}

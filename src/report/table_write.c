/* SPDX-License-Identifier: MIT
 *
 * Writing tables: cells in their places, with names shortened and words wrapped if the layout
 * requires it. */
#include <string.h>

#include "dtinfo/utf8.h"
#include "report/table_parts.h"

/* The bytes of the first columns of a text, in whole characters. */
static size_t front(const char *text, size_t length, size_t columns)
{
    size_t bytes = 0;
    while (bytes < length) {
        size_t next = bytes + 1;
        while (next < length && ((unsigned char)text[next] & 0xC0) == 0x80)
            next++;
        if (dti_utf8_columns(text, next) > columns)
            break;
        bytes = next;
    }
    return bytes;
}

/* A name that is too long loses its middle, because both ends distinguish it from others. */
static void put_shortened(FILE *out, bool colour, enum dti_style style, const char *text,
                          size_t length, size_t width)
{
    static const char dots[] = "...";
    const size_t kept = width - (sizeof dots - 1), tail = kept / 2;
    const size_t begin = front(text, length, kept - tail);
    size_t end = length;
    for (size_t at = length; at-- > begin && dti_utf8_columns(text + at, length - at) <= tail;) {
        if (((unsigned char)text[at] & 0xC0) != 0x80)
            end = at;
    }
    dti_put_styled(out, colour, style, text, begin);
    dti_put_styled(out, colour, style, dots, sizeof dots - 1);
    dti_put_styled(out, colour, style, text + end, length - end);
}

/* The bytes of the words that fit on a line of a given width, at least one. */
static size_t words_that_fit(const char *text, size_t length, size_t width)
{
    size_t fit = 0;
    for (size_t at = 0; at <= length; at++) {
        if (at < length && text[at] != ' ')
            continue;
        if (fit > 0 && dti_utf8_columns(text, at) > width)
            break;
        fit = at;
    }
    return fit;
}

/* In the style of the cell; words that are parts have one style each. The style of what follows. */
static enum dti_style put_text(FILE *out, bool colour, enum dti_style style, const char *text,
                               size_t length)
{
    const char *const end = text + length;
    while (style >= DTI_STYLE_PART && text < end) {
        const char *const blank = memchr(text, ' ', (size_t)(end - text));
        const char *const next = blank ? blank + 1 : end;
        dti_put_styled(out, colour, style, text, (size_t)((blank ? blank : end) - text));
        dti_put_blanks(out, blank != NULL);
        style = dti_part_style((unsigned)(style - DTI_STYLE_PART) + 1);
        text = next;
    }
    dti_put_styled(out, colour, style, text, (size_t)(end - text));
    return style;
}

/* Words below each other in a column that begins there. */
static void put_wrapped(FILE *out, bool colour, enum dti_style style, const char *text,
                        size_t length, size_t begin, size_t width)
{
    for (;;) {
        const size_t line = words_that_fit(text, length, width);
        style = put_text(out, colour, style, text, line);
        text += line, length -= line;
        while (length > 0 && text[0] == ' ')
            text++, length--;
        if (length == 0)
            return;
        putc('\n', out);
        dti_put_blanks(out, begin);
    }
}

struct row {
    FILE *out;
    bool colour;
    size_t column, owed; /* columns written, and blanks pending until something follows */
    size_t spare;        /* columns of the page beyond the table, for cells that are too wide */
};

static void put_cell(const struct dti_table *table, struct row *row,
                     const struct dti_table_cell *cell, size_t place)
{
    const struct dti_table_column *const column = &table->column[table->column[place].at];
    const char *const text = dti_table_text(table, cell);
    const size_t width = dti_utf8_columns(text, cell->length);
    const size_t padding = width < column->fitted ? column->fitted - width : 0;
    size_t taken = width;
    if (cell->length == 0) {
        row->owed += column->fitted + 2;
        return;
    }
    row->owed += column->right ? padding : 0;
    dti_put_blanks(row->out, row->owed);
    row->column += row->owed;
    row->owed = 2 + (column->right ? 0 : padding);
    const bool over = table->page_width > 0 && width > column->fitted + row->spare;
    if (over && place == 0 && !column->right) {
        taken = column->fitted + row->spare;
        put_shortened(row->out, row->colour, cell->style, text, cell->length, taken);
    } else if (over && place + 1 == table->shown && !column->right) {
        put_wrapped(row->out, row->colour, cell->style, text, cell->length, row->column,
                    column->fitted + row->spare);
    } else {
        (void)put_text(row->out, row->colour, cell->style, text, cell->length);
    }
    if (taken > column->fitted)
        row->spare -= taken - column->fitted < row->spare ? taken - column->fitted : row->spare;
    row->column += taken;
}

bool dti_table_write(struct dti_table *table, FILE *out, bool colour, size_t indent)
{
    if (!table || table->text.failed || table->cells.failed)
        return false;
    dti_table_lay_out(table, indent);
    size_t spare = table->page_width > indent ? table->page_width - indent : 0;
    for (size_t i = 0; i < table->shown; i++) {
        const size_t taken = table->column[table->column[i].at].fitted + (i > 0 ? 2 : 0);
        spare -= taken < spare ? taken : spare;
    }
    for (size_t first = 0; first < table->count && table->shown > 0; first += table->columns) {
        struct row row = {.out = out, .colour = colour, .owed = indent, .spare = spare};
        for (size_t place = 0; place < table->shown; place++) {
            const struct dti_table_cell cell =
                dti_table_cell_at(table, first + table->column[place].at);
            put_cell(table, &row, &cell, place);
        }
        putc('\n', out);
    }
    return true;
}

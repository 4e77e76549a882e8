/* SPDX-License-Identifier: MIT
 *
 * Tables: cells are stored, and written when all are known. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "dtinfo/escape.h"
#include "dtinfo/utf8.h"
#include "report/table_parts.h"

enum { PRINTED_MAX = 4096 }; /* bytes of a printed cell: what is longer is cut */

/* The text printf() would print. */
static const char *printed(char *text, size_t size, const char *format, va_list args)
{
    if (vsnprintf(text, size, format, args) < 0)
        text[0] = '\0';
    return text;
}

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
    for (size_t i = 0; i < columns; i++)
        table->column[i].rank = i == 0 ? DTI_RANK_ALWAYS : DTI_RANK;
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

void dti_table_heads(struct dti_table *table, const char *ranks)
{
    if (!table)
        return;
    table->headed = true;
    for (size_t i = 0; i < table->columns && ranks[i] != '\0'; i++)
        table->column[i].rank = (unsigned char)(ranks[i] - '0');
}

void dti_table_fit(struct dti_table *table, size_t width, struct dti_table_picks *picks)
{
    if (!table)
        return;
    table->page_width = width;
    table->picks = picks;
}

/* Makes the column as wide as its last cell. */
static void widen(struct dti_table *table)
{
    if (table->text.failed || table->cells.failed)
        return;
    struct dti_table_column *const column = &table->column[(table->count - 1) % table->columns];
    const struct dti_table_cell last = dti_table_cell_at(table, table->count - 1);
    const size_t width = dti_utf8_columns(dti_table_text(table, &last), last.length);
    if (width > column->width && (column->most == 0 || width <= column->most))
        column->width = width;
}

void dti_table_cell(struct dti_table *table, enum dti_style style, const char *text)
{
    if (!table)
        return;
    const dti_table_place place = (dti_table_place)table->text.length << 8 | (unsigned)style;
    dti_buffer_puts(&table->text, text);
    dti_buffer_append(&table->cells, (const char *)&place, sizeof place);
    table->count++;
    widen(table);
}

void dti_table_parts(struct dti_table *table, unsigned part, const char *text)
{
    dti_table_cell(table, dti_part_style(part), text);
}

void dti_table_print(struct dti_table *table, enum dti_style style, const char *format, ...)
{
    char text[PRINTED_MAX];
    va_list args;
    va_start(args, format);
    dti_table_cell(table, style, printed(text, sizeof text, format, args));
    va_end(args);
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
    widen(table);
}

void dti_table_safe(struct dti_table *table, const char *bytes, size_t length)
{
    if (!table)
        return;
    dti_escape(&table->text, bytes, length);
    widen(table);
}

struct dti_table *dti_table_titled(const char *titles, const char *ranks)
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
    dti_table_heads(table, ranks);
    return table;
}

void dti_table_free(struct dti_table *table)
{
    if (!table)
        return;
    dti_buffer_free(&table->text);
    dti_buffer_free(&table->cells);
    free(table);
}

struct dti_table_cell dti_table_cell_at(const struct dti_table *table, size_t index)
{
    dti_table_place place, next = (dti_table_place)table->text.length << 8;
    if (index >= table->count)
        return (struct dti_table_cell){.length = 0};
    /* bytes in and out by memcpy: the buffer promises no alignment */
    memcpy(&place, table->cells.data + index * sizeof place, sizeof place);
    if (index + 1 < table->count)
        memcpy(&next, table->cells.data + (index + 1) * sizeof next, sizeof next);
    return (struct dti_table_cell){.start = (size_t)(place >> 8),
                                   .length = (size_t)((next >> 8) - (place >> 8)),
                                   .style = (enum dti_style)(place & UINT8_MAX)};
}

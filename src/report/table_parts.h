/* SPDX-License-Identifier: MIT
 *
 * Internals of tables, for the code that fills, lays out and writes them; and code shared with
 * lines. */
#ifndef REPORT_TABLE_PARTS_H
#define REPORT_TABLE_PARTS_H

#include "report/table.h"
#include "util/buffer.h"

struct dti_table_cell {
    size_t start, length; /* position in the table's text */
    enum dti_style style;
};

/* A packed cell: start << 8 | style. Each text ends where the next one begins. */
typedef uint64_t dti_table_place;

struct dti_table_column {
    size_t width, most; /* width of its widest cell; most: 0 for no limit */
    size_t fitted;      /* width after layout */
    size_t at;          /* index of the column shown at this position */
    unsigned char rank;
    bool right, hidden;
};

struct dti_table {
    struct dti_buffer text;  /* texts of all cells, concatenated */
    struct dti_buffer cells; /* dti_table_place, row by row */
    size_t count;
    size_t columns;
    size_t shown;      /* number of columns shown */
    size_t page_width; /* 0: no limit */
    struct dti_table_picks *picks;
    bool headed; /* the first row is headings */
    struct dti_table_column column[];
};

/* The text of a cell. */
static inline const char *dti_table_text(const struct dti_table *table,
                                         const struct dti_table_cell *cell)
{
    return table->text.data + cell->start;
}

static inline enum dti_style dti_part_style(unsigned part)
{
    return (enum dti_style)(DTI_STYLE_PART + part % (DTI_STYLE_PARTS_END - DTI_STYLE_PART));
}

/* Uses a style (ANSI SGR) if colour is on, else writes plain text. */
void dti_put_styled(FILE *out, bool colour, enum dti_style style, const char *text, size_t length);
void dti_put_blanks(FILE *out, size_t count);

#endif

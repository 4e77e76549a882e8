/* SPDX-License-Identifier: MIT
 *
 * The internals of a table, for the files that fill, lay out and write it; and code shared with
 * lines. */
#ifndef REPORT_TABLE_PARTS_H
#define REPORT_TABLE_PARTS_H

#include "report/table.h"
#include "util/buffer.h"

struct dti_table_cell {
    size_t start, length; /* in text */
    enum dti_style style;
};

/* What is kept of one: start << 8 | style. Where a text begins the one before it ends. */
typedef uint64_t dti_table_place;

struct dti_table_column {
    size_t width, most; /* of its cells; most: 0 for no limit */
    size_t fitted;      /* width on the page */
    size_t at;          /* the column shown at this place */
    unsigned char rank;
    bool right, hidden;
};

struct dti_table {
    struct dti_buffer text;  /* all cells' texts, one after another */
    struct dti_buffer cells; /* dti_table_place, row by row */
    size_t count;
    size_t columns;
    size_t shown;      /* columns on the page */
    size_t page_width; /* 0: no limit */
    struct dti_table_picks *picks;
    bool headed; /* the first row are heads */
    struct dti_table_column column[];
};

/* A cell that is there. */
static inline const char *dti_table_text(const struct dti_table *table,
                                         const struct dti_table_cell *cell)
{
    return table->text.data + cell->start;
}

static inline enum dti_style dti_part_style(unsigned part)
{
    return (enum dti_style)(DTI_STYLE_PART + part % (DTI_STYLE_PARTS_END - DTI_STYLE_PART));
}

/* In a style (ANSI SGR) when colour is on, else plainly. */
void dti_put_styled(FILE *out, bool colour, enum dti_style style, const char *text, size_t length);
void dti_put_blanks(FILE *out, size_t count);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Terminal text: styles and aligned columns. Widths are in terminal columns (dti_utf8_columns). */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/buffer.h"
#include "util/error.h"

#if defined(__GNUC__)
#define DTI_MUST_CHECK __attribute__((warn_unused_result))
#else
#define DTI_MUST_CHECK
#endif

enum dti_style {
    DTI_STYLE_PLAIN,
    DTI_STYLE_BOLD,
    DTI_STYLE_DIM,
    DTI_STYLE_GOOD,
    DTI_STYLE_WARN,
    DTI_STYLE_BAD,
    DTI_STYLE_PART, /* the first of several parts of a text */
    DTI_STYLE_PARTS_END = DTI_STYLE_PART + 3
};

/* A line built left to right with tab stops: dti_line_to(40) pads with blanks to column 40, or
 * adds two blanks if the line is already longer. A newline at the end of a text ends the line.
 * There are never trailing blanks. Initialize with {.out = out, .colour = colour}. */
struct dti_line {
    FILE *out;
    struct dti_buffer *text; /* used instead of out; or NULL */
    bool colour;
    size_t column; /* written so far */
    size_t owed;   /* blanks deferred until text follows */
};
void dti_line_put(struct dti_line *line, enum dti_style style, const char *text);
void dti_line_text(struct dti_line *line, const char *text); /* plain */
void dti_line_print(struct dti_line *line, enum dti_style style, const char *format, ...)
    DTI_PRINTF(3, 4);
/* Untrusted bytes, written in full and escaped for a terminal. False when out of memory. */
bool dti_line_safe(struct dti_line *line, enum dti_style style, const char *bytes, size_t length);
void dti_line_to(struct dti_line *line, size_t column);
void dti_line_end(struct dti_line *line);

/* A table: cells are added row by row, then written with each column as wide as its widest cell,
 * two blanks apart, indented. Empty last cells leave no trailing blanks. dti_table_write returns
 * false and writes nothing if memory ran out at any point. */
struct dti_table;
struct dti_table *dti_table_new(
    size_t columns); /* NULL when out of memory; all calls then do nothing */
/* A table with a first row of titles, "dtype|bits>|layout"; a trailing > right-aligns the
 * column. ranks: see dti_table_heads(). */
struct dti_table *dti_table_titled(const char *titles, const char *ranks);
void dti_table_right(struct dti_table *table, size_t column); /* align right */
/* Texts wider than `most` columns do not widen the column; they shift the rest of their own row.
 * For user-supplied texts of any length. */
void dti_table_limit(struct dti_table *table, size_t column, size_t most);

/* Marks the first row as headings (a titled table has them already). ranks: one digit per
 * column, its priority when not all columns fit the page: 1 is dropped first (of equal ranks,
 * the rightmost), 9 is never dropped. Columns beyond the string keep the default: 9 for the
 * first, 5 for the others. */
enum { DTI_RANK = 5, DTI_RANK_ALWAYS = 9 };
void dti_table_heads(struct dti_table *table, const char *ranks);

/* The requested columns, for all tables of one answer: a table shows those it has, in this
 * order; a table that has none of them is not written. Headings match case-insensitively, and
 * '-' and '_' match a blank. Initialize with {.wanted = "max,eps"}, at most DTI_PICKS_MAX
 * columns. */
enum { DTI_PICKS_MAX = 64 };
struct dti_table_picks {
    const char *wanted;
    uint64_t found;          /* one bit per wanted column */
    struct dti_buffer heads; /* headings of all tables so far: "dtype, max" */
};
/* The first wanted column that no table had, or NULL. *ret_length is its length. */
const char *dti_table_picks_missing(const struct dti_table_picks *picks, size_t *ret_length);

/* Fits the table to a page of `width` columns; 0 for no limit. picks may be NULL and stays owned
 * by the caller. A table that is too wide is narrowed in steps: wrap words in the last column,
 * drop columns with ranks up to 5, shorten names in the first column in the middle, drop the
 * other columns. Numbers are never broken or shortened. */
void dti_table_fit(struct dti_table *table, size_t width, struct dti_table_picks *picks);
/* After writing: the headings of the columns that did not fit, "eps, digits", or "". */
void dti_table_left_out(const struct dti_table *table, struct dti_buffer *heads);

void dti_table_cell(struct dti_table *table, enum dti_style style, const char *text);
/* A cell of several parts with one blank between them. The first is part 0, 1 or 2, and each
 * next one has the next part number; 0 follows 2 (dti_line_part). */
void dti_table_parts(struct dti_table *table, unsigned part, const char *text);
void dti_table_print(struct dti_table *table, enum dti_style style, const char *format, ...)
    DTI_PRINTF(3, 4);
/* Appends to the last cell: formatted text; untrusted bytes, in full and escaped for a terminal. */
void dti_table_more(struct dti_table *table, const char *format, ...) DTI_PRINTF(2, 3);
void dti_table_safe(struct dti_table *table, const char *bytes, size_t length);
bool dti_table_write(struct dti_table *table, FILE *out, bool colour, size_t indent) DTI_MUST_CHECK;
void dti_table_free(struct dti_table *table);

/* Writes lines so that none is wider than the page: words wrap, at wide gaps first, and continue
 * below the text after the line's label, or a bit further in than the line's start. A name that
 * is wider is shortened in the middle; numbers stay whole. The text may contain styles. False if
 * out has an error. */
bool dti_fit_lines(FILE *out, const char *text, size_t length, size_t width);

#endif

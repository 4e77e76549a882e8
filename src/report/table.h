/* SPDX-License-Identifier: MIT
 *
 * Text for people: styles and aligned columns. Width is counted in columns of a terminal
 * (dti_utf8_columns). */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "dtinfo/error.h"
#include "util/buffer.h"

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

/* A line that is built left to right with tab stops: dti_line_to(40) pads with blanks to column 40,
 * or with two blanks when the line is already longer. A newline at the end of a text ends it;
 * trailing blanks never appear. Start with {.out = out, .colour = colour}. */
struct dti_line {
    FILE *out;
    struct dti_buffer *text; /* in place of out, or NULL */
    bool colour;
    size_t column; /* written so far */
    size_t owed;   /* blanks that are written once a text follows */
};
void dti_line_put(struct dti_line *line, enum dti_style style, const char *text);
void dti_line_text(struct dti_line *line, const char *text); /* plain */
void dti_line_print(struct dti_line *line, enum dti_style style, const char *format, ...)
    DTI_PRINTF(3, 4);
/* Untrusted bytes, whole and safe for a terminal. False when memory ran out. */
bool dti_line_safe(struct dti_line *line, enum dti_style style, const char *bytes, size_t length);
void dti_line_to(struct dti_line *line, size_t column);
void dti_line_end(struct dti_line *line);

/* A table: cells are added row by row, then written with columns as wide as their widest cell, two
 * blanks apart, indented. Empty last cells leave no trailing blanks. dti_table_write is false, and
 * has written nothing, when memory ran out on the way. */
struct dti_table;
struct dti_table *dti_table_new(
    size_t columns); /* NULL when memory ran out; then all calls do nothing */
/* With a first row of titles, "dtype|bits>|layout": those with > at their end are of columns that
 * are aligned right. ranks: see dti_table_heads(). */
struct dti_table *dti_table_titled(const char *titles, const char *ranks);
void dti_table_right(struct dti_table *table, size_t column); /* align right */
/* Texts of more than `most` columns do not make the table's column wider: they push the rest of
 * their own row aside. For texts that others wrote, of any length. */
void dti_table_limit(struct dti_table *table, size_t column, size_t most);

/* The first row are heads (as it is in a titled table). ranks: a digit a column, which says how
 * long it stays where not all fit the page: 1 leaves first, of equal ones the rightmost, and 9
 * always stays. Columns beyond the text keep theirs: the first one 9, others 5. */
enum { DTI_RANK = 5, DTI_RANK_ALWAYS = 9 };
void dti_table_heads(struct dti_table *table, const char *ranks);

/* The columns that were requested, over all tables of one answer: a table shows those it has, in
 * this order, and one that has none of them is not written. Of heads, case does not count, and '-'
 * and '_' are blanks. Start with {.wanted = "max,eps"}, at most DTI_PICKS_MAX of them. */
enum { DTI_PICKS_MAX = 64 };
struct dti_table_picks {
    const char *wanted;
    uint64_t found;          /* a bit for each */
    struct dti_buffer heads; /* of all tables so far: "dtype, max" */
};
/* The first that no table had, or NULL. Its length goes to *ret_length. */
const char *dti_table_picks_missing(const struct dti_table_picks *picks, size_t *ret_length);

/* Makes it fit a page so wide, or 0 for no limit; picks or NULL, which stays the caller's. What is
 * too wide is met in turn: the last column wraps its words, columns of the ranks up to 5 leave,
 * names in the first column are shortened in the middle, the other columns leave. Numbers are never
 * broken or shortened. */
void dti_table_fit(struct dti_table *table, size_t width, struct dti_table_picks *picks);
/* The heads of those that did not fit, once it is written: "eps, digits"; "" for none. */
void dti_table_left_out(const struct dti_table *table, struct dti_buffer *heads);

void dti_table_cell(struct dti_table *table, enum dti_style style, const char *text);
/* Parts of a text with a blank between two of them: the first is part 0, 1 or 2, each of the next
 * ones the part that follows, and 0 follows 2 (dti_line_part). */
void dti_table_parts(struct dti_table *table, unsigned part, const char *text);
void dti_table_print(struct dti_table *table, enum dti_style style, const char *format, ...)
    DTI_PRINTF(3, 4);
/* More text for the last cell: printed; untrusted bytes, whole and safe for a terminal. */
void dti_table_more(struct dti_table *table, const char *format, ...) DTI_PRINTF(2, 3);
void dti_table_safe(struct dti_table *table, const char *bytes, size_t length);
bool dti_table_write(struct dti_table *table, FILE *out, bool colour, size_t indent) DTI_MUST_CHECK;
void dti_table_free(struct dti_table *table);

/* Writes lines so that none is wider than the page: words wrap, at wide gaps first, and continue
 * below the text after the line's label, or a bit further in than its beginning. Wider names lose
 * their middle, numbers stay whole. The text may hold styles. False when out is in error. */
bool dti_fit_lines(FILE *out, const char *text, size_t length, size_t width);

#endif

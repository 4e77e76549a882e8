/* SPDX-License-Identifier: MIT
 *
 * Character graphics: bars, marks on an axis, and text parts distinguished by colour. Drawn with
 * box-drawing characters, or in ASCII where only that can be printed. Every mark has its own
 * character, so no picture depends on colour. */
#ifndef REPORT_PICTURE_H
#define REPORT_PICTURE_H

#include <stdbool.h>
#include <stddef.h>

#include "report/table.h"

/* What one cell of a picture shows. */
enum dti_mark {
    DTI_MARK_BLANK,
    DTI_MARK_FULL,   /* part of a bar */
    DTI_MARK_SHADE,  /* another part of a bar */
    DTI_MARK_AXIS,   /* part of an axis */
    DTI_MARK_DOTS,   /* part of an axis that is not to scale */
    DTI_MARK_TICK,   /* a tick of an axis */
    DTI_MARK_START,  /* left end of an axis */
    DTI_MARK_END,    /* right end of an axis */
    DTI_MARK_POINT,  /* a point on an axis */
    DTI_MARK_CHOSEN, /* the highlighted one of several points */
    DTI_MARK_LESS,   /* continues to the left */
    DTI_MARK_MORE,   /* continues to the right */
    DTI_MARK_DOT,    /* one of many points */
    DTI_MARK_LIMIT,  /* a vertical line across rows */
    DTI_MARK_COUNT
};

/* The character of a mark. */
const char *dti_mark_text(enum dti_mark mark, bool ascii);

/* A row of at most DTI_PICTURE_CELLS cells; cells beyond its width are not drawn. */
enum { DTI_PICTURE_CELLS = 160 };
struct dti_picture {
    size_t width;
    enum dti_mark cells[DTI_PICTURE_CELLS];
};
void dti_picture_init(struct dti_picture *ret, size_t width); /* all cells blank */
/* Fills cells from `first` up to, not including, `end`. */
void dti_picture_fill(struct dti_picture *picture, size_t first, size_t end, enum dti_mark mark);
void dti_picture_draw(const struct dti_picture *picture, struct dti_line *line, bool ascii);

/* A bar of share x cells characters, in eighths of a character, or whole ones in ASCII. A share
 * above 0 is always visible; the bar never exceeds DTI_PICTURE_CELLS characters. */
enum { DTI_BAR_SIZE = 3 * DTI_PICTURE_CELLS + 1 };
const char *dti_picture_bar(char buffer[DTI_BAR_SIZE], double share, size_t cells, bool ascii);

/* An axis of powers of two, from 2^low to 2^high, low < high, over `cells` cells. */
struct dti_axis {
    long low, high;
    size_t width;
};
/* The cell where the numbers from 2^at on begin; values off the axis give the first or last
 * cell. */
size_t dti_axis_cell(const struct dti_axis *axis, long at);
/* Draws two lines, both starting at `column`: the axis with ticks at round numbers, and their
 * labels, "2^-10". At least two blanks separate the labels. */
void dti_axis_draw(const struct dti_axis *axis, struct dti_line *line, size_t column, bool ascii);

/* One of several parts of a text, 0 to 2, distinguished by colour. The text has no blanks around
 * it. The characters alone must also be enough to tell the parts apart. */
void dti_line_part(struct dti_line *line, unsigned part, const char *text, size_t length);

#endif

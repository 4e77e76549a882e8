/* SPDX-License-Identifier: MIT
 *
 * Character graphics: marks, rows, bars and axes. */
#include <stdio.h>
#include <string.h>

#include "report/picture.h"
#include "report/table_parts.h"

enum { TICK_NAME = 24 };

static const struct {
    const char *box, *ascii;
    enum dti_style style;
} marks[DTI_MARK_COUNT] = {
    [DTI_MARK_BLANK] = {" ", " ", DTI_STYLE_PLAIN},
    [DTI_MARK_FULL] = {"\u2588", "#", DTI_STYLE_PLAIN},
    [DTI_MARK_SHADE] = {"\u2591", ":", DTI_STYLE_PLAIN},
    [DTI_MARK_AXIS] = {"\u2500", "-", DTI_STYLE_DIM},
    [DTI_MARK_DOTS] = {"\u2504", ".", DTI_STYLE_DIM},
    [DTI_MARK_TICK] = {"\u253c", "+", DTI_STYLE_DIM},
    [DTI_MARK_START] = {"\u251c", "|", DTI_STYLE_DIM},
    [DTI_MARK_END] = {"\u2524", "|", DTI_STYLE_DIM},
    [DTI_MARK_POINT] = {"\u25cf", "*", DTI_STYLE_BOLD},
    [DTI_MARK_CHOSEN] = {"\u25c6", "@", DTI_STYLE_GOOD},
    [DTI_MARK_LESS] = {"\u25c4", "<", DTI_STYLE_PLAIN},
    [DTI_MARK_MORE] = {"\u25ba", ">", DTI_STYLE_PLAIN},
    [DTI_MARK_DOT] = {"\u2022", "o", DTI_STYLE_PLAIN},
    [DTI_MARK_LIMIT] = {"\u250a", "!", DTI_STYLE_DIM},
};

const char *dti_mark_text(enum dti_mark mark, bool ascii)
{
    return ascii ? marks[mark].ascii : marks[mark].box;
}

void dti_picture_init(struct dti_picture *ret, size_t width)
{
    ret->width = width < DTI_PICTURE_CELLS ? width : DTI_PICTURE_CELLS;
    for (size_t i = 0; i < ret->width; i++)
        ret->cells[i] = DTI_MARK_BLANK;
}

void dti_picture_fill(struct dti_picture *picture, size_t first, size_t end, enum dti_mark mark)
{
    for (size_t i = first; i < end && i < picture->width; i++)
        picture->cells[i] = mark;
}

void dti_picture_draw(const struct dti_picture *picture, struct dti_line *line, bool ascii)
{
    char text[DTI_BAR_SIZE];
    size_t length = 0;
    for (size_t i = 0; i < picture->width; i++) {
        const char *const mark = dti_mark_text(picture->cells[i], ascii);
        memcpy(text + length, mark, strlen(mark));
        length += strlen(mark);
        const enum dti_style style = marks[picture->cells[i]].style;
        if (i + 1 < picture->width && marks[picture->cells[i + 1]].style == style)
            continue;
        text[length] = '\0';
        dti_line_put(line, style, text);
        length = 0;
    }
}

const char *dti_picture_bar(char buffer[DTI_BAR_SIZE], double share, size_t cells, bool ascii)
{
    /* U+258F down to U+2589 are one to seven eighths of U+2588 */
    static const char *const eighths[] = {"",       "\u258f", "\u258e", "\u258d",
                                          "\u258c", "\u258b", "\u258a", "\u2589"};
    const size_t parts = ascii ? 1 : 8, most = DTI_PICTURE_CELLS * parts;
    const double wanted = share > 0 ? share * (double)(cells * parts) : 0;
    const size_t count = wanted < (double)most ? (size_t)(wanted + 0.5) : most;
    const char *const full = dti_mark_text(DTI_MARK_FULL, ascii);
    const char *last = count % parts > 0 ? eighths[count % parts] : "";
    size_t length = 0;
    if (count == 0 && wanted > 0)
        last = ascii ? dti_mark_text(DTI_MARK_SHADE, true) : eighths[1];
    for (size_t i = 0; i < count / parts; i++, length += strlen(full))
        memcpy(buffer + length, full, strlen(full));
    memcpy(buffer + length, last, strlen(last) + 1);
    return buffer;
}

size_t dti_axis_cell(const struct dti_axis *axis, long at)
{
    const size_t last = axis->width > 0 ? axis->width - 1 : 0;
    if (at <= axis->low)
        return 0;
    if (at >= axis->high)
        return last;
    const size_t cell = (size_t)(at - axis->low) * axis->width / (size_t)(axis->high - axis->low);
    return cell < last ? cell : last;
}

/* Formats the label of a tick and returns where it starts: centred below the tick, but within
 * the axis. */
static size_t tick_name(char name[TICK_NAME], const struct dti_axis *axis, long at)
{
    const size_t length = (size_t)snprintf(name, TICK_NAME, "2^%ld", at);
    const size_t cell = dti_axis_cell(axis, at);
    const size_t last = axis->width > length ? axis->width - length : 0;
    const size_t start = cell > length / 2 ? cell - length / 2 : 0;
    return start < last ? start : last;
}

/* The first multiple of the step that is on the axis. */
static long first_tick(const struct dti_axis *axis, long step)
{
    const long rest = axis->low % step;
    return axis->low - rest + (rest > 0 ? step : 0);
}

static bool names_fit(const struct dti_axis *axis, long step)
{
    char name[TICK_NAME];
    size_t free = 0; /* first cell available for the next label */
    for (long at = first_tick(axis, step); at <= axis->high; at += step) {
        const size_t start = tick_name(name, axis, at);
        if (start < free)
            return false;
        free = start + strlen(name) + 2;
    }
    return true;
}

/* The smallest step of 1, 2, 5, 10, 20, ... that keeps the labels apart. One tick always fits. */
static long tick_step(const struct dti_axis *axis)
{
    long step = 1;
    for (unsigned i = 0; !names_fit(axis, step); i++)
        step = i % 3 == 1 ? step * 5 / 2 : step * 2;
    return step;
}

void dti_axis_draw(const struct dti_axis *axis, struct dti_line *line, size_t column, bool ascii)
{
    char name[TICK_NAME];
    struct dti_picture row;
    const long step = tick_step(axis), first = first_tick(axis, step);
    dti_picture_init(&row, axis->width);
    dti_picture_fill(&row, 0, axis->width, DTI_MARK_AXIS);
    for (long at = first; at <= axis->high; at += step) {
        const size_t cell = dti_axis_cell(axis, at);
        dti_picture_fill(&row, cell, cell + 1, DTI_MARK_TICK);
    }
    dti_line_to(line, column);
    dti_picture_draw(&row, line, ascii);
    dti_line_end(line);
    for (long at = first; at <= axis->high; at += step) {
        dti_line_to(line, column + tick_name(name, axis, at));
        dti_line_put(line, DTI_STYLE_DIM, name);
    }
    dti_line_end(line);
}

void dti_line_part(struct dti_line *line, unsigned part, const char *text, size_t length)
{
    dti_line_print(line, dti_part_style(part), "%.*s", (int)length, text);
}

/* SPDX-License-Identifier: MIT
 *
 * The picture below the full answer of `cast`: the number between its neighbours, and which of them
 * was chosen. */
#include <stdio.h>
#include <string.h>

#include "cli/cast/values.h"
#include "cli/shared/human.h"

enum {
    COLUMN = 13,      /* as for the values above */
    CELLS = 65,       /* odd, so that one cell is the middle; fits an example in a manual page */
    CELLS_LEAST = 41, /* room for a number of 17 digits and " (not to scale)" */
    DIGITS = 17,
};
static const char not_to_scale[] = " (not to scale)";

/* The number's position by its distance from both ends. It is drawn between the ends, however near
 * one is. */
static size_t place(const struct cast_neighbour ends[2], size_t cells)
{
    const int32_t shift = ends[1].distance.exponent - ends[0].distance.exponent;
    const uint64_t below = ends[0].distance.hi >> 16, above = ends[1].distance.hi >> 16;
    double down = (double)below, up = (double)above;
    /* an end more than 2^12 times nearer is nearest */
    for (int32_t i = 0; i < shift && i < 12; i++)
        up *= 2;
    for (int32_t i = 0; i > shift && i > -12; i--)
        down *= 2;
    const size_t cell = (size_t)(down / (down + up) * (double)(cells - 1) + 0.5);
    return cell < 1 ? 1 : cell > cells - 2 ? cells - 2 : cell;
}

static void put_end_label(struct dti_line *line, const struct cast_neighbour *end, bool right)
{
    dti_line_put(line, DTI_STYLE_GOOD, right && end->chosen ? "chosen -> " : "");
    dti_line_put(line, end->chosen ? DTI_STYLE_GOOD : DTI_STYLE_PLAIN, end->text);
    dti_line_put(line, DTI_STYLE_GOOD, !right && end->chosen ? " <- chosen" : "");
}

static size_t label_length(const struct cast_neighbour *end)
{
    return (end->there ? strlen(end->text) : 0) + (end->chosen ? strlen("chosen -> ") : 0);
}

static void put_labels(struct dti_line *line, const struct cast_neighbour ends[2], size_t cells)
{
    dti_line_to(line, COLUMN);
    if (ends[0].there)
        put_end_label(line, &ends[0], false);
    if (ends[1].there) {
        dti_line_to(line, COLUMN + cells - label_length(&ends[1]));
        put_end_label(line, &ends[1], true);
    }
    dti_line_end(line);
}

static void put_line(struct dti_line *line, const struct cast_neighbour ends[2], size_t cells,
                     size_t at, bool ascii)
{
    struct dti_picture row;
    const bool to_scale = ends[0].finite && ends[1].finite;
    dti_picture_init(&row, cells);
    dti_picture_fill(&row, 0, cells, to_scale ? DTI_MARK_AXIS : DTI_MARK_DOTS);
    if (to_scale)
        dti_picture_fill(&row, cells / 2, cells / 2 + 1, DTI_MARK_TICK);
    for (size_t i = 0; i < 2; i++) {
        const size_t cell = i * (cells - 1);
        const enum dti_mark mark = ends[i].chosen              ? DTI_MARK_CHOSEN
                                   : !ends[i].finite && i == 0 ? DTI_MARK_LESS
                                   : !ends[i].finite           ? DTI_MARK_MORE
                                   : i == 0                    ? DTI_MARK_START
                                                               : DTI_MARK_END;
        dti_picture_fill(&row, cell, cell + 1, mark);
    }
    dti_picture_fill(&row, at, at + 1, DTI_MARK_POINT);
    dti_line_to(line, COLUMN);
    dti_picture_draw(&row, line, ascii);
    dti_line_end(line);
}

/* Below its mark, but within the line. */
static void put_number(struct dti_line *line, const struct dti_cast_operand *operand, size_t cells,
                       size_t at, bool to_scale)
{
    const char *const note = to_scale ? "" : not_to_scale;
    char text[CELLS + 1];
    if (operand->length + strlen(note) <= cells)
        (void)snprintf(text, sizeof text, "%.*s", (int)operand->length, operand->text);
    else
        (void)dti_spell_digits(text, &operand->value[0], DIGITS);
    const size_t length = strlen(text) + strlen(note);
    const size_t start = at > length / 2 ? at - length / 2 : 0;
    dti_line_to(line, COLUMN + (start + length > cells ? cells - length : start));
    dti_line_put(line, DTI_STYLE_BOLD, text);
    dti_line_put(line, DTI_STYLE_DIM, note);
    dti_line_end(line);
}

void dti_cast_draw(const struct dti_cast_operand *operand, const struct dti_scalar *scalar,
                   const struct cast_neighbour ends[2], const struct dti_context *cx)
{
    struct dti_line line = dti_context_line(cx);
    const size_t room = cx->width > COLUMN ? (size_t)cx->width - COLUMN : 0;
    const size_t cells = room < CELLS ? room - (room % 2 == 0) : CELLS;
    const bool some = ends[0].there || ends[1].there;
    const bool to_scale = ends[0].finite && ends[1].finite;
    /* a number lost on the route to a dtype that has it is its own neighbour */
    const bool itself = to_scale && scalar->below == scalar->above;
    if (!(scalar->flags & DTI_FLAG_INEXACT) || scalar->input.class > DTI_CLASS_FINITE || !some ||
        itself || room < CELLS_LEAST || label_length(&ends[0]) + 2 + label_length(&ends[1]) > cells)
        return;
    const size_t at = to_scale ? place(ends, cells) : cells / 2;
    dti_line_end(&line);
    put_labels(&line, ends, cells);
    put_line(&line, ends, cells, at, cx->ascii);
    put_number(&line, operand, cells, at, to_scale);
}

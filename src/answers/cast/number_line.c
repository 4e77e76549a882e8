/* SPDX-License-Identifier: MIT
 *
 * A number between its neighbours. */
#include "answers/cast/number_line.h"

#include <stdio.h>
#include <string.h>

#include "report/picture.h"

static bool find_neighbour(const struct dti_cast_operand *operand, const struct dti_format *format,
                           uint64_t code, struct dti_neighbour *ret)
{
    struct dti_value value;
    struct dti_difference difference;
    bool has_exact;
    dti_decode(format, code, &value);
    dti_spell_stored(ret->text, format, code, &value);
    dti_spell_code(ret->code, code, format->width);
    ret->there = true;
    ret->finite = value.kind <= DTI_CLASS_FINITE;
    if (!ret->finite || operand->value[0].kind > DTI_CLASS_FINITE)
        return true;
    if (!dti_number_difference(&operand->number[0], &value, &difference, &ret->exact, &has_exact))
        return false;
    ret->distance = difference.absolute;
    return true;
}

bool dti_neighbours_find(const struct dti_cast_operand *operand, const struct dti_format *format,
                         const struct dti_scalar *scalar, struct dti_neighbour ret[2])
{
    const bool there[2] = {scalar->has_below, scalar->has_above};
    const uint64_t codes[2] = {scalar->below, scalar->above};
    bool done = true;
    for (int i = 0; i < 2; i++) {
        ret[i].there = ret[i].finite = false;
        ret[i].chosen = there[i] && codes[i] == scalar->code;
        dti_value_set(&ret[i].distance, false, 0, 0);
        dti_buffer_borrow(&ret[i].exact, ret[i].room, sizeof ret[i].room);
        if (there[i])
            done = find_neighbour(operand, format, codes[i], &ret[i]) && done;
    }
    return done;
}

void dti_neighbours_free(struct dti_neighbour ends[2])
{
    dti_buffer_free(&ends[0].exact);
    dti_buffer_free(&ends[1].exact);
}

enum {
    CELLS = 65,       /* odd, so that one cell is the middle; fits an example in a manual page */
    CELLS_LEAST = 41, /* room for a number of 17 digits and " (not to scale)" */
    DIGITS = 17,
};
static const char not_to_scale[] = " (not to scale)";

/* The number's position, from its distances to both ends. It is always drawn between the ends. */
static size_t place(const struct dti_neighbour ends[2], size_t cells)
{
    const int32_t shift = ends[1].distance.exponent - ends[0].distance.exponent;
    const uint64_t below = ends[0].distance.hi >> 16, above = ends[1].distance.hi >> 16;
    double down = (double)below, up = (double)above;
    /* beyond a ratio of 2^12 the number is drawn next to the nearer end */
    for (int32_t i = 0; i < shift && i < 12; i++)
        up *= 2;
    for (int32_t i = 0; i > shift && i > -12; i--)
        down *= 2;
    const size_t cell = (size_t)(down / (down + up) * (double)(cells - 1) + 0.5);
    return cell < 1 ? 1 : cell > cells - 2 ? cells - 2 : cell;
}

static void put_end_label(struct dti_line *line, const struct dti_neighbour *end, bool right)
{
    dti_line_put(line, DTI_STYLE_GOOD, right && end->chosen ? "chosen -> " : "");
    dti_line_put(line, end->chosen ? DTI_STYLE_GOOD : DTI_STYLE_PLAIN, end->text);
    dti_line_put(line, DTI_STYLE_GOOD, !right && end->chosen ? " <- chosen" : "");
}

static size_t label_length(const struct dti_neighbour *end)
{
    return (end->there ? strlen(end->text) : 0) + (end->chosen ? strlen("chosen -> ") : 0);
}

/* dti_line_to() would leave two blanks at the start of a line. */
static void go_to(struct dti_line *line, size_t column)
{
    if (column > 0)
        dti_line_to(line, column);
}

static void put_labels(struct dti_line *line, const struct dti_neighbour ends[2], size_t indent,
                       size_t cells)
{
    go_to(line, indent);
    if (ends[0].there)
        put_end_label(line, &ends[0], false);
    if (ends[1].there) {
        dti_line_to(line, indent + cells - label_length(&ends[1]));
        put_end_label(line, &ends[1], true);
    }
    dti_line_end(line);
}

static void put_line(struct dti_line *line, const struct dti_neighbour ends[2], size_t indent,
                     size_t cells, size_t at, bool ascii)
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
    go_to(line, indent);
    dti_picture_draw(&row, line, ascii);
    dti_line_end(line);
}

/* Placed below its mark, but within the line. */
static void put_number(struct dti_line *line, const struct dti_cast_operand *operand, size_t indent,
                       size_t cells, size_t at, bool to_scale)
{
    const char *const note = to_scale ? "" : not_to_scale;
    char text[CELLS + 1];
    if (operand->length + strlen(note) <= cells)
        (void)snprintf(text, sizeof text, "%.*s", (int)operand->length, operand->text);
    else
        (void)dti_spell_digits(text, &operand->value[0], DIGITS);
    const size_t length = strlen(text) + strlen(note);
    const size_t start = at > length / 2 ? at - length / 2 : 0;
    go_to(line, indent + (start + length > cells ? cells - length : start));
    dti_line_put(line, DTI_STYLE_BOLD, text);
    dti_line_put(line, DTI_STYLE_DIM, note);
    dti_line_end(line);
}

void dti_number_line_put(struct dti_line *line, const struct dti_cast_operand *operand,
                         const struct dti_scalar *scalar, const struct dti_neighbour ends[2],
                         size_t indent, size_t room, bool ascii)
{
    const size_t cells = room < CELLS ? room - (room > 0 && room % 2 == 0) : CELLS;
    const bool some = ends[0].there || ends[1].there;
    const bool to_scale = ends[0].finite && ends[1].finite;
    /* a number lost on the route to a dtype that has a code for it is its own neighbour */
    const bool itself = to_scale && scalar->below == scalar->above;
    if (!(scalar->flags & DTI_FLAG_INEXACT) || scalar->input.kind > DTI_CLASS_FINITE || !some ||
        itself || room < CELLS_LEAST || label_length(&ends[0]) + 2 + label_length(&ends[1]) > cells)
        return;
    const size_t at = to_scale ? place(ends, cells) : cells / 2;
    dti_line_end(line);
    put_labels(line, ends, indent, cells);
    put_line(line, ends, indent, cells, at, ascii);
    put_number(line, operand, indent, cells, at, to_scale);
}

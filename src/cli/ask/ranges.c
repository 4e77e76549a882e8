/* SPDX-License-Identifier: MIT
 *
 * Dynamic ranges as a picture: for each dtype a bar from its smallest to its largest number on one
 * logarithmic axis, and eps, which the width of a bar does not show. */
#include <stdio.h>
#include <string.h>

#include "cli/ask/info_forms.h"
#include "core/dtype/limits.h"
#include "core/number/spell.h"
#include "report/picture.h"

enum { INDENT = 2, GAP = 2, COLUMNS = 78, BAR_LEAST = 10, EPS = 8, EPS_DIGITS = 3 };

/* The powers of two that bound the numbers of a dtype. */
struct range {
    long least, normal,
        end; /* 2^least: the smallest subnormal, or the smallest normal if there is none */
};

static struct range range_of(const struct dti_format *format, struct dti_limits *ret_limits)
{
    struct range range;
    dti_limits_compute(ret_limits, format);
    const bool has_normal = ret_limits->smallest_normal.present;
    const bool has_subnormal = ret_limits->smallest_subnormal.present;
    range.end = (long)ret_limits->max.value.exponent + 1;
    range.normal = has_normal ? ret_limits->smallest_normal.value.exponent : range.end;
    range.least = has_subnormal ? ret_limits->smallest_subnormal.value.exponent : range.normal;
    return range;
}

static struct dti_axis axis_of(const struct dti_dtype_operand *list, size_t count, bool common)
{
    struct dti_axis axis = {.low = 0, .high = 0};
    struct dti_limits limits;
    for (size_t i = 0; i < (common ? 1 : count); i++) {
        const struct dti_format *const format =
            common ? dti_format_get(DTI_FP32) : dti_real_format(&list[i].format);
        const struct range range = range_of(format, &limits);
        axis.low = i == 0 || range.least < axis.low ? range.least : axis.low;
        axis.high = i == 0 || range.end > axis.high ? range.end : axis.high;
    }
    return axis;
}

/* Normal and subnormal numbers are both visible, however short their ranges are. */
static void draw_bar(const struct range *range, const struct dti_axis *axis,
                     struct dti_picture *row)
{
    size_t least = dti_axis_cell(axis, range->least), normal = dti_axis_cell(axis, range->normal);
    const size_t last = dti_axis_cell(axis, range->end - 1);
    if (range->least < range->normal && least == normal && normal > 0)
        least--;
    else if (range->least < range->normal && least == normal)
        normal++;
    dti_picture_init(row, axis->width);
    dti_picture_fill(row, least, normal, DTI_MARK_SHADE);
    dti_picture_fill(row, normal, (last > normal ? last : normal) + 1, DTI_MARK_FULL);
    if (range->least < axis->low)
        dti_picture_fill(row, 0, 1, DTI_MARK_LESS);
    if (range->end > axis->high)
        dti_picture_fill(row, axis->width - 1, axis->width, DTI_MARK_MORE);
}

static void put_row(const struct dti_dtype_operand *dtype, const struct dti_axis *axis,
                    size_t column, const struct dti_command_context *cx)
{
    char eps[DTI_TEXT_SIZE] = "-";
    struct dti_line line = dti_command_context_line(cx);
    struct dti_limits limits;
    struct dti_picture row;
    const struct range range = range_of(dti_real_format(&dtype->format), &limits);
    if (limits.eps.present)
        (void)dti_spell_digits(eps, &limits.eps.value, EPS_DIGITS);
    draw_bar(&range, axis, &row);
    dti_line_to(&line, INDENT);
    dti_line_put(&line, DTI_STYLE_BOLD, dtype->format.name);
    dti_line_to(&line, column);
    dti_picture_draw(&row, &line, cx->ascii);
    dti_line_to(&line, column + axis->width + GAP);
    dti_line_text(&line, eps);
    dti_line_end(&line);
}

void dti_ranges_draw(const struct dti_dtype_operand *list, size_t count, bool common,
                     const struct dti_command_context *cx)
{
    struct dti_line line = dti_command_context_line(cx);
    struct dti_axis axis = axis_of(list, count, common);
    size_t longest = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(list[i].format.name);
        longest = length > longest ? length : longest;
    }
    const size_t column = INDENT + longest + GAP;
    const size_t columns = cx->width < COLUMNS ? (size_t)cx->width : COLUMNS;
    const size_t margin = column + GAP + EPS;
    axis.width = columns > margin + BAR_LEAST ? columns - margin : BAR_LEAST;
    dti_line_to(&line, column);
    dti_line_put(&line, DTI_STYLE_DIM, "dynamic range");
    dti_line_to(&line, column + axis.width + GAP);
    dti_line_put(&line, DTI_STYLE_DIM, "eps");
    dti_line_end(&line);
    for (size_t i = 0; i < count; i++)
        put_row(&list[i], &axis, column, cx);
    dti_axis_draw(&axis, &line, column, cx->ascii);
    if (cx->quiet)
        return;
    dti_line_to(&line, INDENT);
    dti_line_print(&line, DTI_STYLE_DIM, "%s subnormal   %s normal",
                   dti_mark_text(DTI_MARK_SHADE, cx->ascii),
                   dti_mark_text(DTI_MARK_FULL, cx->ascii));
    if (common)
        dti_line_print(&line, DTI_STYLE_DIM, "   %s %s beyond the axis",
                       dti_mark_text(DTI_MARK_LESS, cx->ascii),
                       dti_mark_text(DTI_MARK_MORE, cx->ascii));
    dti_line_end(&line);
}

/* SPDX-License-Identifier: MIT
 *
 * A plot in characters. */
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "report/picture.h"
#include "report/plot_frame.h"
#include "util/text/escape.h"
#include "util/text/utf8.h"

enum {
    ROWS = 15,  /* and one more for points without error */
    MARGIN = 9, /* "1e-300", a blank before and behind, and the axis */
    NAME = 32,
    GAP = 3, /* between explanations */
    CELLS = DTI_PLOT_MOST
};

/* Marks of the cells; a letter is drawn instead. */
struct plot_canvas {
    struct dti_picture rows[ROWS + 1];
    char letters[ROWS + 1][CELLS];
    char of_label[DTI_PLOT_LABELS]; /* 0: in the place of the chosen one */
    const struct dti_plot_frame *frame;
    size_t width;
};

static size_t row_of(const struct plot_canvas *canvas, double decades)
{
    return decades < -DBL_MAX ? ROWS : dti_plot_down(canvas->frame, decades, ROWS - 1);
}

static size_t cell_of(const struct plot_canvas *canvas, double bytes)
{
    return dti_plot_across(canvas->frame, bytes, canvas->width - 1);
}

static void set_label(struct plot_canvas *canvas, const struct dti_plot_label *label, size_t at,
                      char *next)
{
    const size_t row = row_of(canvas, label->at.decades), cell = cell_of(canvas, label->at.bytes);
    char *const letter = &canvas->letters[row][cell];
    if (canvas->rows[row].cells[cell] == DTI_MARK_CHOSEN)
        return;
    if (*letter == '\0') {
        *letter = *next;
        *next = *next == 'z' ? 'A' : (char)(*next + 1);
    }
    canvas->of_label[at] = *letter;
}

static void fill(struct plot_canvas *canvas, const struct dti_plot *plot)
{
    char next = 'a';
    for (size_t row = 0; row <= ROWS; row++) {
        dti_picture_init(&canvas->rows[row], canvas->width);
        if (canvas->frame->limited)
            canvas->rows[row].cells[cell_of(canvas, plot->limit)] = DTI_MARK_LIMIT;
    }
    for (size_t i = 0; i < plot->count; i++) {
        const struct dti_plot_point *const point = &plot->points[i];
        canvas->rows[row_of(canvas, point->decades)].cells[cell_of(canvas, point->bytes)] =
            DTI_MARK_DOT;
    }
    for (size_t i = 0; i < plot->label_count; i++) {
        const struct dti_plot_point *const at = &plot->labels[i].at;
        if (plot->labels[i].chosen)
            canvas->rows[row_of(canvas, at->decades)].cells[cell_of(canvas, at->bytes)] =
                DTI_MARK_CHOSEN;
    }
    for (size_t i = 0; i < plot->label_count && i < DTI_PLOT_LABELS; i++)
        set_label(canvas, &plot->labels[i], i, &next);
}

/* The cells of a row. */
static void draw_cells(const struct plot_canvas *canvas, size_t row, struct dti_line *line,
                       bool ascii)
{
    const struct dti_picture *const marks = &canvas->rows[row];
    struct dti_picture piece;
    for (size_t cell = 0; cell < canvas->width;) {
        size_t end = cell;
        for (; end < canvas->width; end++) {
            if (canvas->letters[row][end] != '\0')
                break;
        }
        dti_picture_init(&piece, end - cell);
        memcpy(piece.cells, marks->cells + cell, (end - cell) * sizeof *piece.cells);
        dti_picture_draw(&piece, line, ascii);
        if (end < canvas->width)
            dti_line_print(line, DTI_STYLE_BOLD, "%c", canvas->letters[row][end]);
        cell = end + 1;
    }
}

static void draw_rows(const struct plot_canvas *canvas, struct dti_line *line, size_t indent,
                      bool ascii)
{
    const struct dti_plot_frame *const frame = canvas->frame;
    long decade = frame->high;
    for (size_t row = 0; row < ROWS + (size_t)frame->exact; row++) {
        char name[NAME] = "";
        if (row == ROWS)
            (void)snprintf(name, sizeof name, "0");
        while (decade > frame->low && row_of(canvas, (double)decade) < row)
            decade -= frame->decades_step;
        if (row < ROWS && decade >= frame->low && row_of(canvas, (double)decade) == row)
            (void)snprintf(name, sizeof name, "1e%ld", decade);
        dti_line_to(line, indent + MARGIN - 2 - strlen(name));
        dti_line_put(line, DTI_STYLE_DIM, name);
        dti_line_to(line, indent + MARGIN - 1);
        if (ascii)
            dti_line_put(line, DTI_STYLE_DIM, name[0] != '\0' ? "+" : "|");
        else
            dti_line_put(line, DTI_STYLE_DIM, name[0] != '\0' ? "\u253c" : "\u2502");
        draw_cells(canvas, row, line, ascii);
        dti_line_end(line);
    }
}

static void draw_axis(const struct plot_canvas *canvas, struct dti_line *line, size_t indent,
                      bool ascii)
{
    const struct dti_plot_frame *const frame = canvas->frame;
    const long first = dti_plot_first_tick(frame);
    struct dti_picture axis;
    dti_picture_init(&axis, canvas->width);
    dti_picture_fill(&axis, 0, canvas->width, DTI_MARK_AXIS);
    for (long tick = first; (double)tick * frame->unit_bytes <= frame->last; tick += frame->step)
        axis.cells[cell_of(canvas, (double)tick * frame->unit_bytes)] = DTI_MARK_TICK;
    dti_line_to(line, indent + MARGIN - 1);
    dti_line_put(line, DTI_STYLE_DIM, ascii ? "+" : "\u2514");
    dti_picture_draw(&axis, line, ascii);
    dti_line_end(line);
    for (long tick = first; (double)tick * frame->unit_bytes <= frame->last; tick += frame->step) {
        char name[NAME];
        const size_t length = (size_t)snprintf(name, sizeof name, "%ld", tick);
        size_t start = cell_of(canvas, (double)tick * frame->unit_bytes) + MARGIN + indent;
        start -= length / 2;
        if (start < line->column + 2 || start + length > indent + MARGIN + canvas->width)
            continue;
        dti_line_to(line, start);
        dti_line_put(line, DTI_STYLE_DIM, name);
    }
    dti_line_end(line);
}

struct plot_legend {
    struct dti_line *line;
    size_t indent, width; /* of the page */
    bool whole;           /* memory did not run out */
};

static void explain(struct plot_legend *legend, const char *mark, const char *name)
{
    struct dti_line *const line = legend->line;
    struct dti_buffer safe;
    dti_buffer_init(&safe);
    dti_escape(&safe, name, strlen(name));
    const size_t needed = dti_utf8_columns(safe.data, safe.length) + 2;
    if (line->column > 0 && line->column + GAP + needed > legend->width)
        dti_line_end(line);
    dti_line_to(line, line->column > 0 ? line->column + GAP : legend->indent + MARGIN);
    dti_line_put(line, DTI_STYLE_BOLD, mark);
    dti_line_text(line, " ");
    dti_line_text(line, safe.data);
    legend->whole = legend->whole && !safe.failed;
    dti_buffer_free(&safe);
}

static bool draw_legend(const struct plot_canvas *canvas, const struct dti_plot *plot,
                        struct dti_line *line, size_t indent, bool ascii)
{
    struct plot_legend legend = {line, indent, indent + MARGIN + canvas->width, true};
    for (size_t i = 0; i < plot->label_count && i < DTI_PLOT_LABELS; i++) {
        const char letter[2] = {canvas->of_label[i], '\0'};
        explain(&legend, letter[0] ? letter : dti_mark_text(DTI_MARK_CHOSEN, ascii),
                plot->labels[i].name);
    }
    if (plot->count > 0)
        explain(&legend, dti_mark_text(DTI_MARK_DOT, ascii), plot->points_name);
    if (canvas->frame->limited)
        explain(&legend, dti_mark_text(DTI_MARK_LIMIT, ascii), plot->limit_name);
    dti_line_end(line);
    return legend.whole;
}

bool dti_plot_draw(const struct dti_plot *plot, struct dti_line *line, size_t indent, size_t width,
                   bool ascii)
{
    struct dti_plot_frame frame;
    struct plot_canvas canvas = {.frame = &frame};
    width = width < DTI_PLOT_MOST ? width : DTI_PLOT_MOST;
    width = width > DTI_PLOT_LEAST ? width : DTI_PLOT_LEAST;
    if (!dti_plot_frame_of(plot, ROWS / 2, &frame))
        return true;
    canvas.width = width - MARGIN - (indent < MARGIN ? indent : MARGIN);
    fill(&canvas, plot);
    dti_line_to(line, indent);
    dti_line_print(line, DTI_STYLE_DIM, "%s by size in %s", plot->error_name, frame.unit);
    dti_line_end(line);
    draw_rows(&canvas, line, indent, ascii);
    draw_axis(&canvas, line, indent, ascii);
    return draw_legend(&canvas, plot, line, indent, ascii);
}

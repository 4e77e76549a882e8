/* SPDX-License-Identifier: MIT
 *
 * A plot as SVG. Coordinates are whole: ten units are a pixel. */
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "report/plot_frame.h"
#include "util/text/escape.h"
#include "util/text/utf8.h"

enum {
    WIDTH = 8000,
    HEIGHT = 4800,
    LEFT = 800,
    RIGHT = WIDTH - 300,
    TOP = 700,
    BOTTOM = HEIGHT - 600,
    BAND = 350,  /* for points without error, below the decades */
    LETTER = 68, /* width of a letter, about */
    LINE = 150,  /* height of a line of text */
    APART = 12,  /* points of the curve that are closer are not drawn */
    DOTS_MOST = 300,
    DECADES_MOST = 12
};

static const char style[] =
    "<style>\n"
    "text{font:120px system-ui,sans-serif;fill:#1f2328;stroke:#fff;stroke-width:36px;"
    "paint-order:stroke}\n"
    ".page{fill:#fff}.dim{fill:#59636e}.title{font-weight:600}.grid{stroke:#d0d7de;stroke-width:8}"
    "\n"
    ".curve{fill:none;stroke:#0550ae;stroke-width:16}.dot{fill:#0550ae}.mark{fill:#8250df}\n"
    ".chosen{fill:#116329}.limit{stroke:#cf222e;stroke-width:14;stroke-dasharray:60 40}\n"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3;stroke:#0d1117}.page{fill:#0d1117}.dim{"
    "fill:#9198a1}\n"
    ".grid{stroke:#3d444d}.curve{stroke:#79c0ff}.dot{fill:#79c0ff}.mark{fill:#d2a8ff}\n"
    ".chosen{fill:#3fb950}.limit{stroke:#ff7b72}}\n"
    "</style>\n";

struct plot_drawing {
    const struct dti_plot *plot;
    const struct dti_plot_frame *frame;
    struct dti_buffer *out;
    struct plot_box {
        size_t left, right, middle;
    } boxes[DTI_PLOT_LABELS]; /* of texts at labels */
    size_t box_count;
};

/* U+FFFE and U+FFFF are no characters of XML; the other bytes that are none have been escaped. */
static void put_text(struct dti_buffer *out, const char *text)
{
    struct dti_buffer safe;
    dti_buffer_init(&safe);
    dti_escape(&safe, text, strlen(text));
    for (const char *at = safe.data; *at != '\0'; at++) {
        if (*at == '&')
            dti_buffer_puts(out, "&amp;");
        else if (*at == '<')
            dti_buffer_puts(out, "&lt;");
        else if (*at == '>')
            dti_buffer_puts(out, "&gt;");
        else if (*at == '"')
            dti_buffer_puts(out, "&quot;");
        else if (strncmp(at, "\xef\xbf\xbe", 3) == 0 || strncmp(at, "\xef\xbf\xbf", 3) == 0)
            dti_buffer_puts(out, "\xef\xbf\xbd"), at += 2;
        else
            dti_buffer_append(out, at, 1);
    }
    out->failed = out->failed || safe.failed;
    dti_buffer_free(&safe);
}

static void put_words(struct plot_drawing *drawing, const char *attributes, size_t x, size_t y,
                      const char *text)
{
    dti_buffer_print(drawing->out, "<text x=\"%zu\" y=\"%zu\"%s>", x, y, attributes);
    put_text(drawing->out, text);
    dti_buffer_puts(drawing->out, "</text>\n");
}

static void put_line(struct plot_drawing *drawing, const char *class, size_t x1, size_t y1,
                     size_t x2, size_t y2)
{
    dti_buffer_print(drawing->out,
                     "<line class=\"%s\" x1=\"%zu\" y1=\"%zu\" x2=\"%zu\" y2=\"%zu\"/>\n", class,
                     x1, y1, x2, y2);
}

static size_t x_of(const struct plot_drawing *drawing, double bytes)
{
    return LEFT + dti_plot_across(drawing->frame, bytes, RIGHT - LEFT);
}

static size_t y_of(const struct plot_drawing *drawing, double decades)
{
    const size_t height = BOTTOM - TOP - (drawing->frame->exact ? BAND : 0);
    return decades < -DBL_MAX ? BOTTOM : TOP + dti_plot_down(drawing->frame, decades, height);
}

static void put_grid(struct plot_drawing *drawing)
{
    const struct dti_plot_frame *const frame = drawing->frame;
    char name[32];
    for (long decade = frame->high; decade >= frame->low; decade -= frame->decades_step) {
        const size_t y = y_of(drawing, (double)decade);
        (void)snprintf(name, sizeof name, "1e%ld", decade);
        put_line(drawing, "grid", LEFT, y, RIGHT, y);
        put_words(drawing, " class=\"dim\" text-anchor=\"end\"", LEFT - 80, y + 40, name);
    }
    if (frame->exact) {
        put_line(drawing, "grid", LEFT, BOTTOM, RIGHT, BOTTOM);
        put_words(drawing, " class=\"dim\" text-anchor=\"end\"", LEFT - 80, BOTTOM + 40, "0");
    }
    for (long tick = dti_plot_first_tick(frame); (double)tick * frame->unit_bytes <= frame->last;
         tick += frame->step) {
        const size_t x = x_of(drawing, (double)tick * frame->unit_bytes);
        (void)snprintf(name, sizeof name, "%ld %s", tick, frame->unit);
        put_line(drawing, "grid", x, TOP, x, BOTTOM);
        put_words(drawing, " class=\"dim\" text-anchor=\"middle\"", x, BOTTOM + 200, name);
    }
}

/* The curve without points that a reader could not tell from their neighbours; the last one is
 * always there. dots: a dot each instead of a line through them. Returns their number. */
static size_t put_points(struct plot_drawing *drawing, bool dots)
{
    const struct dti_plot *const plot = drawing->plot;
    size_t count = 0, last_x = 0, last_y = 0;
    for (size_t i = 0; i < plot->count; i++) {
        const size_t x = x_of(drawing, plot->points[i].bytes);
        const size_t y = y_of(drawing, plot->points[i].decades);
        const size_t over = x > last_x ? x - last_x : last_x - x;
        const size_t down = y > last_y ? y - last_y : last_y - y;
        if (count > 0 && over + down < APART && i + 1 < plot->count)
            continue;
        if (dots)
            dti_buffer_print(drawing->out,
                             "<circle class=\"dot\" cx=\"%zu\" cy=\"%zu\" r=\"26\"/>\n", x, y);
        else
            dti_buffer_print(drawing->out, "%s%zu,%zu", count > 0 ? " " : "", x, y);
        last_x = x;
        last_y = y;
        count++;
    }
    return count;
}

static bool is_free(const struct plot_drawing *drawing, const struct plot_box *box)
{
    for (size_t i = 0; i < drawing->box_count; i++) {
        const struct plot_box *const other = &drawing->boxes[i];
        if (box->left < other->right && other->left < box->right &&
            box->middle < other->middle + LINE && other->middle < box->middle + LINE)
            return false;
    }
    return true;
}

/* A mark, and its name next to it where no other one is: on its right if it fits there, or else on
 * its left, and as far above as needed: curves fall. */
static void put_label(struct plot_drawing *drawing, const struct dti_plot_label *label)
{
    const size_t x = x_of(drawing, label->at.bytes), y = y_of(drawing, label->at.decades);
    const size_t width = (dti_utf8_columns(label->name, strlen(label->name)) + 1) * LETTER;
    const bool behind = x + 80 + width <= WIDTH || x < width + 80;
    struct plot_box box = {.left = behind ? x + 80 : x - 80 - width, .middle = y - LINE / 2};
    box.right = box.left + width;
    while (!is_free(drawing, &box) && box.middle > LINE)
        box.middle -= LINE / 2;
    drawing->boxes[drawing->box_count++] = box;
    if (y > box.middle + LINE)
        put_line(drawing, "grid", x, y, x + 60, box.middle);
    if (label->chosen)
        dti_buffer_print(drawing->out,
                         "<path class=\"chosen\" d=\"M%zu %zul60 60l-60 60l-60 -60z\"/>\n", x,
                         y - 60);
    else
        dti_buffer_print(drawing->out, "<circle class=\"mark\" cx=\"%zu\" cy=\"%zu\" r=\"42\"/>\n",
                         x, y);
    put_words(drawing, behind ? "" : " text-anchor=\"end\"", behind ? box.left : x - 80,
              box.middle + 40, label->name);
}

static void put_head(struct plot_drawing *drawing)
{
    struct dti_buffer *const out = drawing->out;
    dti_buffer_print(out,
                     "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                     "viewBox=\"0 0 %d %d\" role=\"img\">\n<title>",
                     WIDTH / 10, HEIGHT / 10, WIDTH, HEIGHT);
    put_text(out, drawing->plot->title);
    dti_buffer_puts(out, "</title>\n");
    dti_buffer_puts(out, style);
    dti_buffer_print(out, "<rect class=\"page\" width=\"%d\" height=\"%d\"/>\n", WIDTH, HEIGHT);
    put_words(drawing, " class=\"title\"", LEFT, 280, drawing->plot->title);
    put_words(drawing, " class=\"dim\"", LEFT, 480, drawing->plot->error_name);
}

void dti_plot_svg(const struct dti_plot *plot, struct dti_buffer *ret)
{
    struct dti_plot_frame frame;
    struct plot_drawing drawing = {.plot = plot, .frame = &frame, .out = ret};
    put_head(&drawing);
    if (dti_plot_frame_of(plot, DECADES_MOST, &frame)) {
        put_grid(&drawing);
        if (frame.limited) {
            const size_t x = x_of(&drawing, plot->limit);
            put_line(&drawing, "limit", x, TOP, x, BOTTOM);
            put_words(&drawing, " class=\"dim\" text-anchor=\"middle\"", x, TOP - 60,
                      plot->limit_name);
        }
        dti_buffer_puts(ret, "<polyline class=\"curve\" points=\"");
        const size_t count = put_points(&drawing, false);
        dti_buffer_puts(ret, "\"/>\n");
        if (count <= DOTS_MOST)
            (void)put_points(&drawing, true);
        if (count > 0)
            put_words(&drawing, " class=\"dot\" text-anchor=\"end\"", RIGHT, 480,
                      plot->points_name);
        for (size_t i = 0; i < plot->label_count && i < DTI_PLOT_LABELS; i++)
            put_label(&drawing, &plot->labels[i]);
    }
    dti_buffer_puts(ret, "</svg>\n");
}

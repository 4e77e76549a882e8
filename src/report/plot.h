/* SPDX-License-Identifier: MIT
 *
 * Sizes against errors: many points, and a few with names, as character graphics or as SVG. */
#ifndef REPORT_PLOT_H
#define REPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>

#include "report/table.h"
#include "util/buffer.h"

struct dti_plot_point {
    double bytes;
    double decades; /* log10 of the error; -INFINITY: no error */
};
struct dti_plot_label {
    struct dti_plot_point at;
    const char *name; /* any UTF-8 text */
    bool chosen;
};
struct dti_plot {
    const char *title;
    const char *error_name; /* "mean error" */
    const char *points_name;
    const struct dti_plot_point *points;
    size_t count;
    const struct dti_plot_label *labels;
    size_t label_count;
    double limit; /* bytes, shown if the points come near it; 0: none */
    const char *limit_name;
};

/* Lines of at most `width` columns, and none below that need more. Labels have letters, which are
 * explained below; those in the same place have the same letter. False when out of memory. */
enum { DTI_PLOT_LEAST = 40, DTI_PLOT_MOST = 120, DTI_PLOT_LABELS = 52 };
bool dti_plot_draw(const struct dti_plot *plot, struct dti_line *line, size_t indent, size_t width,
                   bool ascii);

/* Appends an SVG document, which follows the reader's choice of light or dark. */
void dti_plot_svg(const struct dti_plot *plot, struct dti_buffer *ret);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The part of the plane that a plot shows, and its ticks. */
#ifndef REPORT_PLOT_FRAME_H
#define REPORT_PLOT_FRAME_H

#include "report/plot.h"

struct dti_plot_frame {
    double first, last; /* bytes; first < last */
    long low, high;     /* decades; low < high */
    bool exact;         /* some point has no error */
    bool limited;       /* the limit is in the frame */
    const char *unit;   /* of ticks: "GiB" */
    double unit_bytes;
    long step;         /* between ticks, in units */
    long decades_step; /* between labelled decades */
};
/* decades_most: how many decades may be labelled. False without points or labels. */
bool dti_plot_frame_of(const struct dti_plot *plot, long decades_most, struct dti_plot_frame *ret);

/* The first tick of the frame, in units. */
long dti_plot_first_tick(const struct dti_plot_frame *frame);

/* Where bytes and decades lie, from 0 to `size`; decades from the top. */
size_t dti_plot_across(const struct dti_plot_frame *frame, double bytes, size_t size);
size_t dti_plot_down(const struct dti_plot_frame *frame, double decades, size_t size);

#endif

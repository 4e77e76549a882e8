/* SPDX-License-Identifier: MIT
 *
 * Finds the frame of a plot. */
#include <float.h>

#include "report/plot_frame.h"

enum { TICKS_LEAST = 3, TICKS_MOST = 8 };

struct plot_extent {
    double first, last, low, high;
    bool any, exact;
};

static void extend(struct plot_extent *extent, const struct dti_plot_point *point)
{
    if (!extent->any || point->bytes < extent->first)
        extent->first = point->bytes;
    if (!extent->any || point->bytes > extent->last)
        extent->last = point->bytes;
    extent->any = true;
    if (point->decades < -DBL_MAX) {
        extent->exact = true;
        return;
    }
    extent->low = point->decades < extent->low ? point->decades : extent->low;
    extent->high = point->decades > extent->high ? point->decades : extent->high;
}

static long round_down(double x) /* |x| < 2^31 */
{
    const long whole = (long)x;
    return whole - ((double)whole > x);
}

/* A unit of which the frame has a few, and the smallest step of 1, 2, 5, 10 ... for few ticks. */
static void set_ticks(struct dti_plot_frame *frame)
{
    static const char units[][6] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    const double range = frame->last - frame->first;
    size_t unit = 0;
    frame->unit_bytes = 1;
    while (unit + 1 < sizeof units / sizeof *units &&
           range >= TICKS_LEAST * 1024 * frame->unit_bytes) {
        frame->unit_bytes *= 1024;
        unit++;
    }
    frame->unit = units[unit];
    frame->step = 1;
    for (unsigned i = 0; range > TICKS_MOST * (double)frame->step * frame->unit_bytes; i++)
        frame->step = i % 3 == 1 ? frame->step * 5 / 2 : frame->step * 2;
}

bool dti_plot_frame_of(const struct dti_plot *plot, long decades_most, struct dti_plot_frame *ret)
{
    struct plot_extent extent = {.low = DBL_MAX, .high = -DBL_MAX};
    for (size_t i = 0; i < plot->count; i++)
        extend(&extent, &plot->points[i]);
    for (size_t i = 0; i < plot->label_count; i++)
        extend(&extent, &plot->labels[i].at);
    if (!extent.any)
        return false;
    if (extent.low > extent.high)
        extent.low = extent.high = 0;
    const double range = extent.last - extent.first;
    *ret = (struct dti_plot_frame){.first = extent.first, .last = extent.last};
    ret->exact = extent.exact;
    ret->limited = plot->limit > 0 && plot->limit > extent.first - range / 10 &&
                   plot->limit < extent.last + range / 10;
    if (ret->limited) {
        ret->first = plot->limit < ret->first ? plot->limit : ret->first;
        ret->last = plot->limit > ret->last ? plot->limit : ret->last;
    }
    if (ret->last <= ret->first) {
        const double margin = ret->first / 64 > 1 ? ret->first / 64 : 1;
        ret->first -= ret->first > margin ? margin : ret->first;
        ret->last += margin;
    }
    ret->low = round_down(extent.low);
    ret->high = -round_down(-extent.high);
    if (ret->high <= ret->low)
        ret->high = ret->low + 1;
    ret->decades_step = 1;
    while ((ret->high - ret->low) / ret->decades_step >= decades_most)
        ret->decades_step++;
    set_ticks(ret);
    return true;
}

long dti_plot_first_tick(const struct dti_plot_frame *frame)
{
    const double steps = frame->first / (frame->unit_bytes * (double)frame->step);
    const long whole = (long)steps;
    return (whole + ((double)whole < steps)) * frame->step;
}

/* A share of size, rounded; size for shares above 1. */
static size_t part(double share, size_t size)
{
    if (share <= 0)
        return 0;
    return share < 1 ? (size_t)(share * (double)size + 0.5) : size;
}

size_t dti_plot_across(const struct dti_plot_frame *frame, double bytes, size_t size)
{
    return part((bytes - frame->first) / (frame->last - frame->first), size);
}

size_t dti_plot_down(const struct dti_plot_frame *frame, double decades, size_t size)
{
    return part(((double)frame->high - decades) / (double)(frame->high - frame->low), size);
}

/* SPDX-License-Identifier: MIT
 *
 * Sizes and mean errors of an answer, as points of a plot. */
#include <math.h>
#include <string.h>

#include "cli/advise/advise_picture.h"
#include "kernels/fused.h"
#include "report/plot.h"
#include "util/run/allocate.h"

enum { INDENT = 2, COLUMNS = 80 };

struct frontier_plot {
    struct dti_plot plot;
    struct dti_plot_point *points;
    struct dti_plot_label *labels;
    struct dti_buffer title;
};

static struct dti_plot_point point_of(const struct dti_advise *advise, uint64_t bytes, double error)
{
    const double mean = dti_advise_mean(advise, error);
    return (struct dti_plot_point){(double)bytes, mean > 0 ? dti_log10(mean) : -INFINITY};
}

static void plot_free(struct frontier_plot *plot)
{
    dti_free(plot->points);
    dti_free(plot->labels);
    dti_buffer_free(&plot->title);
}

static enum dti_status plot_of(const struct dti_advise *advise, struct frontier_plot *ret,
                               struct dti_error *reterr)
{
    const size_t labels = advise->mixture_count + 1;
    *ret = (struct frontier_plot){.points = dti_calloc(advise->frontier_count, sizeof *ret->points),
                                  .labels = dti_calloc(labels, sizeof *ret->labels)};
    dti_buffer_init(&ret->title);
    dti_buffer_puts(&ret->title, advise->path);
    dti_buffer_print(&ret->title, " for %s", advise->row->name);
    if (!ret->points || !ret->labels || ret->title.failed) {
        plot_free(ret);
        return dti_no_memory(reterr);
    }
    for (size_t i = 0; i < advise->frontier_count; i++) {
        const struct dti_frontier_point *const point = &advise->frontier[i];
        ret->points[i] = point_of(advise, advise->kept_bytes + point->bytes, point->error);
    }
    ret->labels[0] = (struct dti_plot_label){point_of(advise, advise->bytes, advise->chosen.error),
                                             "this choice", true};
    for (size_t i = 0; i < advise->mixture_count; i++) {
        const struct dti_advise_mixture *const mixture = &advise->mixtures[i];
        ret->labels[i + 1] = (struct dti_plot_label){
            point_of(advise, mixture->bytes, mixture->error), mixture->name, false};
    }
    ret->plot = (struct dti_plot){.title = ret->title.data,
                                  .error_name = "mean error",
                                  .points_name = "least error for its size",
                                  .points = ret->points,
                                  .count = advise->frontier_count,
                                  .labels = ret->labels,
                                  .label_count = labels,
                                  .limit = (double)advise->budget,
                                  .limit_name = "--fit"};
    return DTI_OK;
}

enum dti_status dti_advise_picture(const struct dti_command_context *cx,
                                   const struct dti_advise *advise, struct dti_error *reterr)
{
    struct frontier_plot plot;
    struct dti_line line = dti_command_context_line(cx);
    enum dti_status status = plot_of(advise, &plot, reterr);
    if (status != DTI_OK)
        return status;
    const size_t width = cx->width < COLUMNS ? (size_t)cx->width : COLUMNS;
    if (!dti_plot_draw(&plot.plot, &line, INDENT, width, cx->ascii))
        status = dti_no_memory(reterr);
    plot_free(&plot);
    return status;
}

enum dti_status dti_advise_svg(const struct dti_advise *advise, struct dti_buffer *ret,
                               struct dti_error *reterr)
{
    struct frontier_plot plot;
    const enum dti_status status = plot_of(advise, &plot, reterr);
    if (status != DTI_OK)
        return status;
    dti_plot_svg(&plot.plot, ret);
    plot_free(&plot);
    return ret->failed ? dti_no_memory(reterr) : DTI_OK;
}

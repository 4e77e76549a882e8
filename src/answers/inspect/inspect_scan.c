/* SPDX-License-Identifier: MIT
 *
 * The statistics of a file's tensors, and of all of them. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers/inspect/inspect.h"
#include "util/run/allocate.h"

const enum dti_dtype dti_inspect_ladder[DTI_INSPECT_LADDER] = {
    DTI_FP4_E2M1, DTI_FP6_E2M3, DTI_FP6_E3M2, DTI_FP8_E4M3FN, DTI_FP8_E5M2,
    DTI_FP16,     DTI_BF16,     DTI_FP32,     DTI_FP64,
};

const struct dti_format *dti_inspect_extreme_format(const struct dti_tensor *tensor, bool magnitude)
{
    const struct dti_format *const format = dti_real_format(tensor->format);
    return magnitude && dti_format_is_integer(format) ? dti_format_get(DTI_UINT64) : format;
}

const char *dti_inspect_fits(char buffer[DTI_INSPECT_FITS],
                             const struct dti_inspect_figures *figures, const char *separator)
{
    size_t used = 0;
    unsigned width = 0;
    memcpy(buffer, "-", 2);
    for (unsigned i = 0; i < DTI_INSPECT_LADDER; i++) {
        const struct dti_format *const format = dti_format_get(dti_inspect_ladder[i]);
        if ((figures->fits >> i & 1) == 0 || (width != 0 && format->width != width))
            continue;
        width = format->width;
        const size_t between = used > 0 ? strlen(separator) : 0, length = strlen(format->name);
        assert(used + between + length < DTI_INSPECT_FITS);
        if (used + between + length >= DTI_INSPECT_FITS)
            break;
        memcpy(buffer + used, separator, between);
        memcpy(buffer + used + between, format->name, length + 1);
        used += between + length;
    }
    return buffer;
}

/* Adds the counts of a scan's statistics to figures. */
#define COUNTS(EACH) \
    EACH(elements)   \
    EACH(nan) EACH(inf) EACH(negative_inf) EACH(zeros) EACH(negative) EACH(subnormals) EACH(finite)
#define COPY(count) figures->count = stats->count;
#define ADD(count)  all->count += one->count;

/* `code` is in the hub's format, which is often the tensor's own. */
static void set_extreme(struct dti_inspect_extreme *extreme, const struct dti_value *value,
                        uint64_t code, enum dti_stats_hub hub, const struct dti_tensor *tensor,
                        bool magnitude, uint64_t index)
{
    const struct dti_format *const format = dti_inspect_extreme_format(tensor, magnitude);
    if (format != dti_stats_hub_format(hub)) {
        const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
        struct dti_outcome outcome;
        dti_encode(format, value, &policy, 0, &outcome);
        code = outcome.code;
    }
    *extreme = (struct dti_inspect_extreme){.tensor = tensor, .code = code, .index = index};
}

static void digest(struct dti_inspect_figures *figures, const struct dti_tensor *tensor,
                   const struct dti_tensor_stats *scanned)
{
    const struct dti_stats *const stats = &scanned->stats;
    struct dti_value min, max, absmax;
    figures->there = true;
    COUNTS(COPY)
    figures->first_nan = stats->first_nan;
    figures->first_inf = stats->first_inf;
    figures->mean = dti_stats_mean(stats);
    figures->deviation = dti_stats_deviation(stats);
    if (dti_stats_extremes(stats, &scanned->rule, &min, &max, &absmax)) {
        const enum dti_stats_hub hub = scanned->rule.hub;
        set_extreme(&figures->min, &min, stats->min, hub, tensor, false, stats->min_index);
        set_extreme(&figures->max, &max, stats->max, hub, tensor, false, stats->max_index);
        set_extreme(&figures->absmax, &absmax, stats->absmax, hub, tensor, true,
                    stats->absmax_index);
    }
    for (unsigned i = 0; i < DTI_INSPECT_LADDER; i++) {
        if (dti_stats_fit_between(stats, &min, &max, dti_format_get(dti_inspect_ladder[i])))
            figures->fits |= 1U << i;
    }
}

/* Trims the empty ends. False when out of memory. */
static bool trim(struct dti_inspect_histogram **ret_made, const struct dti_histogram *histogram)
{
    struct dti_inspect_histogram *const ret = dti_calloc(1, sizeof *ret);
    unsigned first = 0, end = DTI_BINADES;
    if (!ret)
        return false;
    *ret_made = ret;
    while (first < end && histogram->binade[first] == 0)
        first++;
    while (end > first && histogram->binade[end - 1] == 0)
        end--;
    ret->first = first;
    ret->count = end - first;
    ret->binade = dti_malloc((ret->count > 0 ? ret->count : 1) * sizeof *ret->binade);
    if (!ret->binade)
        return false;
    memcpy(ret->binade, histogram->binade + first, ret->count * sizeof *ret->binade);
    for (unsigned i = 0; i < DTI_STATS_RANGES; i++)
        ret->ranges[i] =
            (struct dti_inspect_range){dti_format_get(dti_stats_ranges[i]), histogram->overflow[i],
                                       histogram->to_zero[i], histogram->to_subnormal[i]};
    return true;
}

/* A report, and the histogram of all its tensors or NULL. */
struct inspect_scan {
    struct dti_inspect_report *report;
    struct dti_histogram *whole;
};

static enum dti_status take_figures(void *context, size_t at,
                                    const struct dti_tensor_stats *scanned,
                                    const struct dti_loss_summary *losses, struct dti_error *reterr)
{
    const struct inspect_scan *const scan = context;
    struct dti_inspect_report *const report = scan->report;
    struct dti_inspect_figures *const figures = &report->figures[at];
    if (!scanned) {
        report->unread++;
        return DTI_OK;
    }
    digest(figures, report->shown[at], scanned);
    const size_t casts = report->request->reading.as_count;
    if (casts > 0)
        memcpy(&report->losses[at * casts], losses, casts * sizeof *losses);
    if (scan->whole)
        dti_histogram_merge(scan->whole, scanned->histogram);
    return !report->request->each || trim(&figures->histogram, scanned->histogram)
               ? DTI_OK
               : dti_no_memory(reterr);
}

/* *most holds the value of the extreme in `all`. */
static void take_extreme(struct dti_inspect_extreme *all, struct dti_value *most,
                         const struct dti_inspect_extreme *one, bool magnitude, int wanted)
{
    struct dti_value value;
    dti_decode(dti_inspect_extreme_format(one->tensor, magnitude), one->code, &value);
    if (all->tensor && dti_value_compare(&value, most) != wanted)
        return;
    *all = *one;
    *most = value;
}

/* Values of the overall extremes. */
struct most {
    struct dti_value min, max, absmax;
};

static void add_figures(struct dti_inspect_figures *all, struct most *most,
                        const struct dti_inspect_figures *one)
{
    COUNTS(ADD)
    all->fits &= one->fits;
    if (one->finite == 0)
        return;
    take_extreme(&all->min, &most->min, &one->min, false, -1);
    take_extreme(&all->max, &most->max, &one->max, false, 1);
    take_extreme(&all->absmax, &most->absmax, &one->absmax, true, 1);
}

/* Pools the means and deviations of all tensors, with exact sums, so that --sort changes
 * nothing. */
static void pool(struct dti_inspect_figures *all, const struct dti_inspect_figures *figures,
                 size_t count)
{
    struct dti_exact_sum means, squares;
    dti_exact_sum_init(&means);
    dti_exact_sum_init(&squares);
    for (size_t i = 0; i < count; i++) {
        if (figures[i].there && figures[i].finite > 0)
            dti_exact_sum_add(&means,
                              (double)figures[i].finite / (double)all->finite * figures[i].mean);
    }
    all->mean = dti_exact_sum_value(&means);
    for (size_t i = 0; i < count; i++) {
        if (!figures[i].there || figures[i].finite == 0)
            continue;
        const double share = (double)figures[i].finite / (double)all->finite;
        const double off = figures[i].mean - all->mean, deviation = figures[i].deviation;
        dti_exact_sum_add(&squares, share * (deviation * deviation + off * off));
    }
    all->deviation = sqrt(dti_exact_sum_value(&squares));
}

static void total(struct dti_inspect_report *report)
{
    struct dti_inspect_figures *const all = &report->all;
    struct most most;
    all->first_nan = all->first_inf = UINT64_MAX;
    all->mean = all->deviation = NAN;
    all->fits = (1U << DTI_INSPECT_LADDER) - 1;
    for (size_t i = 0; i < report->scanned_count; i++) {
        if (!report->figures[i].there)
            continue;
        all->there = true;
        add_figures(all, &most, &report->figures[i]);
    }
    if (all->finite > 0)
        pool(all, report->figures, report->scanned_count);
}

/* Reads only the listed tensors, unless a histogram of all is drawn. Follows the output order: that
 * of the file, unless another was requested. */
enum dti_status dti_inspect_scan(struct dti_inspect_report *report, struct dti_error *reterr)
{
    const bool drawn = report->request->histogram;
    struct inspect_scan scan = {report, drawn ? dti_malloc(sizeof *scan.whole) : NULL};
    report->scanned_count = drawn ? report->selected_count : report->shown_count;
    report->figures = dti_calloc(report->selected_count + 1, sizeof *report->figures);
    report->losses = dti_calloc(report->selected_count * report->request->reading.as_count + 1,
                                sizeof *report->losses);
    enum dti_status status = DTI_NO_MEMORY;
    if (report->figures && report->losses && (scan.whole || !drawn)) {
        if (drawn)
            dti_histogram_init(scan.whole);
        status = dti_reading_stats(&report->request->reading, report->container, report->shown,
                                   report->scanned_count, drawn, take_figures, &scan, reterr);
        if (status == DTI_OK)
            total(report);
        if (status == DTI_OK && drawn && !trim(&report->all.histogram, scan.whole))
            status = dti_no_memory(reterr);
    } else {
        (void)dti_no_memory(reterr);
    }
    dti_free(scan.whole);
    return status;
}

/* SPDX-License-Identifier: MIT
 *
 * A histogram of the exponents of a tensor's numbers, compared with what narrower dtypes can store.
 */
#include <stdio.h>
#include <string.h>

#include "cli/inspect/inspect_view.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"
#include "core/dtype/limits.h"
#include "report/picture.h"

enum { ROWS = 30, BAR_LEAST = 10, BAR_MOST = 60 };

/* How a dtype stores the numbers of a binade. */
static const char beyond = '^', normal = '.', subnormal = 's', zero = '0';

/* Exponents of a range's largest number, its smallest normal and its smallest subnormal. */
struct exponent_range {
    const char *name;
    int32_t max, normal, subnormal;
    bool cut; /* some numbers with the exponent of the largest one are beyond the range, too */
};

static void read_range(struct exponent_range *ret, const struct dti_format *format)
{
    struct dti_limits limits;
    dti_limits_compute(&limits, format);
    ret->name = format->name;
    ret->max = limits.max.value.exponent;
    ret->normal = limits.smallest_normal.value.exponent;
    ret->subnormal = limits.smallest_subnormal.value.exponent;
}

/* Numbers in the binade below the smallest subnormal round up to it, except at its lower end. */
static char fate(const struct exponent_range *range, int32_t exponent)
{
    return exponent > range->max              ? beyond
           : exponent >= range->normal        ? normal
           : exponent >= range->subnormal - 1 ? subnormal
                                              : zero;
}

struct picture {
    const struct inspect_view *view;
    const struct dti_inspect_histogram *histogram;
    struct exponent_range ranges[DTI_STATS_RANGES];
    int32_t first, last; /* exponents */
    int32_t step;        /* binades per row */
    uint64_t numbers;    /* finite nonzero numbers */
    uint64_t most;       /* largest count of a row */
    size_t width;        /* width of the bars */
};

static uint64_t row_count(const struct picture *picture, int32_t low)
{
    uint64_t count = 0;
    for (int32_t e = low; e < low + picture->step; e++) {
        if (e >= picture->first && e <= picture->last)
            count += picture->histogram->binade[e - picture->first];
    }
    return count;
}

/* The lowest exponent of the row that an exponent belongs to: a multiple of the step. */
static int32_t row_of(const struct picture *picture, int32_t exponent)
{
    const int32_t rest = exponent % picture->step;
    return exponent - (rest < 0 ? rest + picture->step : rest);
}

/* Numbers beyond the range that are not counted at a higher exponent. */
static bool is_cut(const struct picture *picture, const struct exponent_range *range,
                   uint64_t overflow)
{
    for (int32_t e = range->max + 1; e <= picture->last; e++) {
        if (e >= picture->first)
            overflow -= picture->histogram->binade[e - picture->first];
    }
    return overflow > 0;
}

/* The existing exponents of a row. */
static int32_t row_end(const struct picture *picture, int32_t low)
{
    const int32_t high = low + picture->step - 1;
    return high < picture->last ? high : picture->last;
}

static int32_t row_start(const struct picture *picture, int32_t low)
{
    return low > picture->first ? low : picture->first;
}

/* "2^-3", "2^4..7"; returns the length. */
static size_t row_label(char label[DTI_TEXT_SIZE], const struct picture *picture, int32_t low)
{
    const int start = (int)row_start(picture, low), end = (int)row_end(picture, low);
    return (size_t)(start == end ? snprintf(label, DTI_TEXT_SIZE, "2^%d", start)
                                 : snprintf(label, DTI_TEXT_SIZE, "2^%d..%d", start, end));
}

/* The width next to the bars: the longest label, the longest share and the marks. */
static size_t margin_width(const struct picture *picture)
{
    char text[DTI_TEXT_SIZE];
    size_t label = strlen("exponent"), share = strlen("share"), marks = 0;
    for (int32_t row = row_of(picture, picture->last); row >= row_of(picture, picture->first);
         row -= picture->step) {
        const uint64_t count = row_count(picture, row);
        const size_t length = row_label(text, picture, row);
        label = length > label ? length : label;
        if (count == 0)
            continue;
        const size_t margin = strlen(dti_human_share(text, count, picture->numbers));
        share = margin > share ? margin : share;
    }
    for (unsigned i = 0; i < DTI_STATS_RANGES; i++)
        marks += 2 + strlen(picture->ranges[i].name);
    return 2 + label + 2 + share + 2 + marks;
}

static void measure(struct picture *picture)
{
    const struct dti_inspect_histogram *const histogram = picture->histogram;
    const size_t columns = (size_t)picture->view->cx->width;
    picture->first = (int32_t)histogram->first - DTI_BINADE_ZERO;
    picture->last = picture->first + (int32_t)histogram->count - 1;
    picture->step = ((int32_t)histogram->count + ROWS - 1) / ROWS;
    for (unsigned i = 0; i < histogram->count; i++)
        picture->numbers += histogram->binade[i];
    for (unsigned i = 0; i < DTI_STATS_RANGES; i++) {
        struct exponent_range *const range = &picture->ranges[i];
        read_range(range, histogram->ranges[i].format);
        range->cut = is_cut(picture, range, histogram->ranges[i].overflow);
    }
    const size_t margin = margin_width(picture);
    const size_t available = columns > margin ? columns - margin : 0;
    picture->width = available < BAR_LEAST  ? BAR_LEAST
                     : available > BAR_MOST ? BAR_MOST
                                            : available;
    for (int32_t row = row_of(picture, picture->last); row >= row_of(picture, picture->first);
         row -= picture->step) {
        const uint64_t count = row_count(picture, row);
        picture->most = count > picture->most ? count : picture->most;
    }
}

/* The marks of a row for a range: one mark, or one each for the upper and lower end, which differ
 * within one exponent if the range ends there. */
static void mark_cell(struct dti_table *table, const struct picture *picture,
                      const struct exponent_range *range, int32_t low)
{
    char text[3] = {fate(range, row_end(picture, low)), fate(range, row_start(picture, low)), '\0'};
    if (range->cut && row_end(picture, low) == range->max)
        text[0] = beyond;
    const bool lossy = text[0] == beyond || text[1] == beyond || text[1] == zero;
    if (text[0] == text[1])
        text[1] = '\0';
    dti_table_cell(table, lossy ? DTI_STYLE_BAD : DTI_STYLE_DIM, text);
}

static void row_cells(struct dti_table *table, const struct picture *picture, int32_t low)
{
    char label[DTI_TEXT_SIZE], share[DTI_TEXT_SIZE], bar[DTI_BAR_SIZE];
    const uint64_t count = row_count(picture, low);
    (void)row_label(label, picture, low);
    dti_text_cell(table, label);
    dti_text_cell(table, count == 0 ? "" : dti_human_share(share, count, picture->numbers));
    dti_text_cell(table, dti_picture_bar(bar, (double)count / (double)picture->most, picture->width,
                                         picture->view->cx->ascii));
    for (unsigned i = 0; i < DTI_STATS_RANGES; i++)
        mark_cell(table, picture, &picture->ranges[i], low);
}

static enum dti_status put_bars(const struct picture *picture, struct dti_error *reterr)
{
    const struct dti_command_context *const cx = picture->view->cx;
    struct dti_table *const table = dti_table_new(3 + DTI_STATS_RANGES);
    const int32_t end = row_of(picture, picture->first);
    dti_table_right(table, 1);
    dti_table_heads(table, "999");
    dti_table_cell(table, DTI_STYLE_DIM, "exponent");
    dti_table_cell(table, DTI_STYLE_DIM, "share");
    dti_table_cell(table, DTI_STYLE_DIM, "");
    for (unsigned i = 0; i < DTI_STATS_RANGES; i++)
        dti_table_cell(table, DTI_STYLE_DIM, picture->ranges[i].name);
    for (int32_t low = row_of(picture, picture->last); low >= end; low -= picture->step)
        row_cells(table, picture, low);
    return dti_put_table(cx, table, 2, reterr);
}

/* "12 (0.04 %)" */
static void share_cell(struct dti_table *table, uint64_t count, uint64_t all)
{
    char share[DTI_TEXT_SIZE];
    if (count == 0)
        dti_text_cell(table, "0");
    else
        dti_table_print(table, DTI_STYLE_WARN, "%llu (%s)", (unsigned long long)count,
                        dti_human_share(share, count, all));
}

static enum dti_status put_losses(const struct dti_command_context *cx,
                                  const struct dti_inspect_figures *figures,
                                  struct dti_error *reterr)
{
    struct dti_table *const table = dti_table_titled("as|overflow|to zero|to subnormal", "");
    for (unsigned i = 0; i < DTI_STATS_RANGES; i++) {
        const struct dti_inspect_range *const range = &figures->histogram->ranges[i];
        dti_text_cell(table, range->format->name);
        share_cell(table, range->overflow, figures->finite);
        share_cell(table, range->to_zero, figures->finite);
        share_cell(table, range->to_subnormal, figures->finite);
    }
    return dti_put_table(cx, table, 2, reterr);
}

enum dti_status dti_inspect_draw(const struct inspect_view *view,
                                 const struct dti_inspect_figures *figures,
                                 const struct dti_tensor *tensor, struct dti_error *reterr)
{
    struct picture picture = {.view = view, .histogram = figures->histogram};
    struct dti_line line = dti_command_context_line(view->cx);
    (void)fputc('\n', view->cx->out);
    if (tensor && !dti_name_put(&line, DTI_STYLE_BOLD, tensor->name, tensor->name_length))
        return dti_no_memory(reterr);
    if (tensor)
        dti_line_end(&line);
    dti_line_print(&line, DTI_STYLE_PLAIN, "  %llu finite numbers, %llu zero; %llu nan, %llu inf\n",
                   (unsigned long long)figures->finite, (unsigned long long)figures->zeros,
                   (unsigned long long)figures->nan, (unsigned long long)figures->inf);
    if (figures->histogram->count == 0)
        return DTI_OK;
    measure(&picture);
    const enum dti_status status = put_bars(&picture, reterr);
    if (status != DTI_OK)
        return status;
    dti_line_put(&line, DTI_STYLE_DIM,
                 "  ^ beyond the range   . normal   s stored as subnormal   0 becomes zero\n");
    return put_losses(view->cx, figures, reterr);
}

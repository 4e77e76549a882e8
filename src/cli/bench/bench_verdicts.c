/* SPDX-License-Identifier: MIT
 *
 * The comparison of two runs for people. */
#include <string.h>

#include "cli/bench/bench_page.h"
#include "dtinfo/buffer.h"
#include "dtinfo/escape.h"

static void put_verdict(struct dti_table *table, const struct dti_bench_comparison *comparison,
                        const struct dti_bench_figure *ratio)
{
    static const struct {
        const char *word;
        enum dti_style style;
    } verdicts[] = {[DTI_BENCH_LESS] = {"faster", DTI_STYLE_GOOD},
                    [DTI_BENCH_MORE] = {"slower", DTI_STYLE_WARN},
                    [DTI_BENCH_CANNOT_TELL] = {"cannot tell", DTI_STYLE_DIM}};
    const enum dti_bench_verdict verdict = dti_bench_judge(ratio);
    if (dti_bench_is_regression(comparison, ratio))
        dti_table_cell(table, DTI_STYLE_BAD, "too slow");
    else
        dti_table_cell(table, verdicts[verdict].style, verdicts[verdict].word);
}

static void put_row(struct dti_table *table, const struct dti_bench_comparison *comparison,
                    const struct dti_bench_record *now)
{
    char text[DTI_TEXT_SIZE], low[DTI_TEXT_SIZE];
    struct dti_bench_figure ratio;
    const struct dti_bench_record *const then = dti_bench_partner(comparison, now);
    dti_bench_compare_times(&ratio, &then->time, &now->time);
    dti_table_cell(table, DTI_STYLE_PLAIN, dti_bench_seconds(text, then->time.median));
    dti_table_cell(table, DTI_STYLE_PLAIN, dti_bench_seconds(text, now->time.median));
    dti_table_cell(table, DTI_STYLE_PLAIN, dti_bench_fixed(text, ratio.median, 3));
    if (ratio.has_interval)
        dti_table_print(table, DTI_STYLE_PLAIN, "%s to %s", dti_bench_fixed(low, ratio.low, 3),
                        dti_bench_fixed(text, ratio.high, 3));
    else
        dti_table_cell(table, DTI_STYLE_PLAIN, "-");
    put_verdict(table, comparison, &ratio);
    dti_table_cell(table, DTI_STYLE_PLAIN, now->label);
}

enum { ALONE_MAX = 20 }; /* a document may have thousands */

static void put_alone(const struct dti_bench_records *records, const char *what,
                      const struct dti_context *cx)
{
    size_t alone = 0;
    struct dti_line line = dti_context_line(cx);
    for (size_t i = 0; i < records->count; i++) {
        if (records->rows[i].partner != SIZE_MAX || ++alone > ALONE_MAX)
            continue;
        struct dti_buffer text;
        dti_buffer_init(&text);
        dti_escape(&text, records->rows[i].label, strlen(records->rows[i].label));
        dti_line_put(&line, DTI_STYLE_DIM, what);
        dti_line_put(&line, DTI_STYLE_DIM, text.data);
        dti_line_end(&line);
        dti_buffer_free(&text);
    }
    if (alone > ALONE_MAX)
        dti_put_line(cx, DTI_STYLE_DIM, 0, "%s%zu more", what, alone - ALONE_MAX);
}

void dti_bench_human_comparison(const struct dti_bench_comparison *comparison,
                                const struct dti_context *cx)
{
    dti_put_line(cx, DTI_STYLE_PLAIN, 0, "%s", "");
    struct dti_table *const table =
        dti_table_titled("before>|now>|ratio>|interval|verdict|what was measured");
    for (size_t i = 0; i < comparison->now.count; i++) {
        if (comparison->now.rows[i].partner != SIZE_MAX)
            put_row(table, comparison, &comparison->now.rows[i]);
    }
    if (!dti_table_write(table, cx->out, cx->colour, 0))
        dti_put_line(cx, DTI_STYLE_WARN, 0, "out of memory for the comparison");
    dti_table_free(table);
    if (cx->quiet)
        return;
    put_alone(&comparison->now, "measured now only: ", cx);
    put_alone(&comparison->then, "measured before only: ", cx);
}

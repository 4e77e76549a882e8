/* SPDX-License-Identifier: MIT
 *
 * The comparison of two runs for people and in JSON. */
#include <stdio.h>
#include <string.h>

#include "cli/bench/bench_comparison.h"
#include "cli/shared/file_json.h"
#include "dtinfo/escape.h"

struct verdict {
    const char *word;
    enum dti_style style;
    bool regression;
};

static struct verdict judge(const struct bench_comparison *comparison,
                            const struct dti_bench_figure *ratio)
{
    if (comparison->gate && dti_bench_is_regression(ratio, comparison->allowed))
        return (struct verdict){"too slow", DTI_STYLE_BAD, true};
    switch (dti_bench_judge(ratio)) {
    case DTI_BENCH_LESS:
        return (struct verdict){"faster", DTI_STYLE_GOOD, false};
    case DTI_BENCH_MORE:
        return (struct verdict){"slower", DTI_STYLE_WARN, false};
    default:
        return (struct verdict){"cannot tell", DTI_STYLE_DIM, false};
    }
}

static void put_row(struct dti_table *table, const struct bench_comparison *comparison,
                    const struct bench_record *now)
{
    char text[2 * DTI_TEXT_SIZE], low[DTI_TEXT_SIZE], high[DTI_TEXT_SIZE];
    struct dti_bench_figure ratio;
    const struct bench_record *const then = &comparison->then.rows[now->partner];
    dti_bench_compare_times(&ratio, &then->time, &now->time);
    const struct verdict verdict = judge(comparison, &ratio);
    dti_table_cell(table, DTI_STYLE_PLAIN, dti_bench_seconds(text, then->time.median));
    dti_table_cell(table, DTI_STYLE_PLAIN, dti_bench_seconds(text, now->time.median));
    dti_table_cell(table, DTI_STYLE_PLAIN, dti_bench_fixed(text, ratio.median, 3));
    (void)snprintf(text, sizeof text, "%s to %s", dti_bench_fixed(low, ratio.low, 3),
                   dti_bench_fixed(high, ratio.high, 3));
    dti_table_cell(table, DTI_STYLE_PLAIN, ratio.has_interval ? text : "-");
    dti_table_cell(table, verdict.style, verdict.word);
    dti_table_cell(table, DTI_STYLE_PLAIN, now->label);
}

enum { ALONE_MAX = 20 }; /* a document may have thousands */

static void put_alone(const struct bench_records *records, const char *what,
                      const struct dti_context *cx)
{
    size_t alone = 0;
    for (size_t i = 0; i < records->count; i++) {
        if (records->rows[i].partner != SIZE_MAX || ++alone > ALONE_MAX)
            continue;
        struct dti_buffer text;
        struct dti_line line = dti_bench_line(cx);
        dti_buffer_init(&text);
        dti_escape(&text, records->rows[i].label, strlen(records->rows[i].label));
        dti_line_put(&line, DTI_STYLE_DIM, what);
        if (dti_buffer_reserve(&text, 1)) {
            text.data[text.length] = '\0';
            dti_line_put(&line, DTI_STYLE_DIM, text.data);
        }
        dti_line_end(&line);
        dti_buffer_free(&text);
    }
    if (alone > ALONE_MAX) {
        char more[DTI_TEXT_SIZE];
        (void)snprintf(more, sizeof more, "%s%zu more", what, alone - ALONE_MAX);
        dti_bench_put_line(cx, DTI_STYLE_DIM, more);
    }
}

void dti_bench_comparison_human(const struct bench_comparison *comparison,
                                const struct dti_context *cx)
{
    static const char *const titles[] = {"before",   "now",     "ratio",
                                         "interval", "verdict", "what was measured"};
    enum { COLUMNS = sizeof titles / sizeof *titles, NUMBERS = 3 };
    dti_bench_put_line(cx, DTI_STYLE_PLAIN, "");
    struct dti_table *const table = dti_table_new(COLUMNS);
    for (size_t i = 0; i < COLUMNS; i++) {
        dti_table_cell(table, DTI_STYLE_DIM, titles[i]);
        if (i < NUMBERS)
            dti_table_right(table, i);
    }
    for (size_t i = 0; i < comparison->now.count; i++) {
        if (comparison->now.rows[i].partner != SIZE_MAX)
            put_row(table, comparison, &comparison->now.rows[i]);
    }
    if (!dti_table_write(table, cx->out, cx->colour, 0))
        dti_bench_put_line(cx, DTI_STYLE_WARN, "out of memory for the comparison");
    dti_table_free(table);
    if (cx->quiet)
        return;
    put_alone(&comparison->now, "measured now only: ", cx);
    put_alone(&comparison->then, "measured before only: ", cx);
}

static void put_alone_json(struct dti_json *json, const char *key,
                           const struct bench_records *records)
{
    dti_json_array(json, key);
    for (size_t i = 0; i < records->count; i++) {
        if (records->rows[i].partner == SIZE_MAX)
            dti_json_string(json, NULL, records->rows[i].label);
    }
    dti_json_end(json);
}

void dti_bench_comparison_json(const struct bench_comparison *comparison, struct dti_json *json)
{
    static const char *const verdicts[] = {[DTI_BENCH_LESS] = "faster",
                                           [DTI_BENCH_MORE] = "slower",
                                           [DTI_BENCH_CANNOT_TELL] = "cannot_tell"};
    dti_json_object(json, "comparison");
    (void)dti_json_bytes(json, "path", "path_hex", comparison->path, strlen(comparison->path),
                         NULL);
    dti_bench_json_number(json, "max_regression", comparison->gate, comparison->allowed);
    dti_json_bool(json, "other_machine", comparison->other_machine);
    dti_json_array(json, "results");
    for (size_t i = 0; i < comparison->now.count; i++) {
        const struct bench_record *const now = &comparison->now.rows[i];
        struct dti_bench_figure ratio;
        if (now->partner == SIZE_MAX)
            continue;
        const struct bench_record *const then = &comparison->then.rows[now->partner];
        dti_bench_compare_times(&ratio, &then->time, &now->time);
        dti_json_object(json, NULL);
        dti_json_string(json, "measured", now->label);
        dti_bench_json_number(json, "before_seconds", true, then->time.median);
        dti_bench_json_number(json, "now_seconds", true, now->time.median);
        dti_bench_json_number(json, "ratio", true, ratio.median);
        dti_bench_json_number(json, "low", ratio.has_interval, ratio.low);
        dti_bench_json_number(json, "high", ratio.has_interval, ratio.high);
        dti_json_string(json, "verdict", verdicts[dti_bench_judge(&ratio)]);
        dti_json_bool(json, "regression", judge(comparison, &ratio).regression);
        dti_json_end(json);
    }
    dti_json_end(json);
    put_alone_json(json, "now_only", &comparison->now);
    put_alone_json(json, "before_only", &comparison->then);
    dti_json_end(json);
}

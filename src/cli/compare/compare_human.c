/* SPDX-License-Identifier: MIT
 *
 * A comparison for people: the verdict, the tensors that differ most, what cannot be compared, the
 * totals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare/compare.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_words.h"
#include "dtinfo/escape.h"
#include "dtinfo/table.h"

enum { SHOWN = 10, CELL = 256 };

static const char gap[] = "   ";

struct compare_view {
    const struct compare_job *job;
    struct dti_line line;
    struct dti_buffer text; /* a name, escaped */
    bool lost;              /* memory ran out for one */
    const struct compare_result **rows;
    size_t count; /* of rows */
    uint64_t limit;
};

static void put(struct compare_view *view, enum dti_style style, const char *text)
{
    dti_line_put(&view->line, style, text);
}

/* Valid until the next call. */
static const char *escape(struct compare_view *view, const char *text, size_t length)
{
    dti_buffer_clear(&view->text);
    dti_escape(&view->text, text, length);
    view->lost = view->lost || view->text.failed;
    return view->text.data;
}

/* "w", or "w, v" where the names differ. */
static const char *name_of(struct compare_view *view, const struct compare_result *result)
{
    const struct dti_tensor *const tensor = dti_compare_tensor(view->job, result);
    (void)escape(view, tensor->name, tensor->name_length);
    if (result->way <= COMPARE_NEVER) {
        const struct dti_tensor *const other = &view->job->b->tensors[result->b];
        if (other->name_length != tensor->name_length ||
            memcmp(other->name, tensor->name, tensor->name_length) != 0) {
            dti_buffer_puts(&view->text, ", ");
            dti_escape(&view->text, other->name, other->name_length);
            view->lost = view->lost || view->text.failed;
        }
    }
    return view->text.data;
}

static void put_options(struct compare_view *view)
{
    const struct compare_args *const args = view->job->args;
    const char *const names[] = {"atol", "rtol", "max ulp"};
    const char *const texts[] = {args->atol, args->rtol, args->max_ulp};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!texts[i])
            continue;
        put(view, DTI_STYLE_PLAIN, gap);
        put(view, DTI_STYLE_PLAIN, names[i]);
        put(view, DTI_STYLE_PLAIN, " ");
        put(view, DTI_STYLE_PLAIN, escape(view, texts[i], strlen(texts[i])));
    }
}

static void put_verdict(struct compare_view *view)
{
    const struct compare_job *const job = view->job;
    const size_t differ = job->tensors[COMPARE_DIFFERS], within = job->tensors[COMPARE_WITHIN];
    const size_t all = job->result_count, equal = all - job->tensors[COMPARE_IGNORED];
    const char *const plural = all == 1 ? "" : "s";
    char text[CELL];
    if (differ > 0)
        (void)snprintf(text, sizeof text, "differ: %zu of %zu tensor%s", differ, all, plural);
    else if (within > 0)
        (void)snprintf(text, sizeof text, "within the tolerance: %zu of %zu tensor%s differ%s",
                       within, all, plural, all == 1 ? "s" : "");
    else
        (void)snprintf(text, sizeof text, "%s: %zu tensor%s",
                       job->args->bitwise ? "identical" : "equal", equal, equal == 1 ? "" : "s");
    put(view, differ > 0 ? DTI_STYLE_BAD : DTI_STYLE_GOOD, text);
    put_options(view);
    dti_line_end(&view->line);
}

/* The worst come first; what is alike stays in the order of the file. */
static int worst_first(const void *a, const void *b)
{
    const struct compare_result *const left = *(const struct compare_result *const *)a;
    const struct compare_result *const right = *(const struct compare_result *const *)b;
    const struct compare_figures *const x = &left->figures, *const y = &right->figures;
    if (left->outcome != right->outcome)
        return left->outcome > right->outcome ? -1 : 1;
    if ((x->unmatched > 0) != (y->unmatched > 0))
        return x->unmatched > 0 ? -1 : 1;
    if (x->max_absolute != y->max_absolute)
        return x->max_absolute > y->max_absolute ? -1 : 1;
    return left < right ? -1 : left > right;
}

static void take_rows(struct compare_view *view)
{
    const struct compare_job *const job = view->job;
    for (size_t i = 0; i < job->result_count; i++) {
        const struct compare_result *const result = &job->results[i];
        if (result->way == COMPARE_NUMBERS &&
            (job->cx->verbose || result->outcome != COMPARE_EQUAL))
            view->rows[view->count++] = result;
    }
    if (view->count > 0)
        qsort(view->rows, view->count, sizeof(const struct compare_result *), worst_first);
}

static void cell(struct dti_table *table, const char *text)
{
    dti_table_cell(table, DTI_STYLE_PLAIN, text);
}

static void cell_u64(struct dti_table *table, uint64_t number)
{
    char text[DTI_TEXT_SIZE];
    dti_spell_u64(text, number);
    cell(table, text);
}

/* Which columns there are besides those that are always there. */
struct compare_columns {
    bool unmatched, verbose;
};

static struct dti_table *begin_table(const struct compare_columns *columns)
{
    static const char *const titles[] = {"name", "dtypes",   "elements", "differing", "max abs",
                                         "at",   "mean abs", "max rel",  "max ulp"};
    enum { TITLES = sizeof titles / sizeof *titles };
    struct dti_table *const table =
        dti_table_new(TITLES + (columns->verbose ? 2u : 0u) + columns->unmatched);
    for (size_t i = 0; i < TITLES; i++)
        dti_table_cell(table, DTI_STYLE_BOLD, titles[i]);
    if (columns->verbose) {
        dti_table_cell(table, DTI_STYLE_BOLD, "rms");
        dti_table_cell(table, DTI_STYLE_BOLD, "cosine");
    }
    if (columns->unmatched)
        dti_table_cell(table, DTI_STYLE_BOLD, "nan or inf on one side");
    dti_table_right(table, 2);
    dti_table_right(table, 3);
    return table;
}

static void put_row(struct compare_view *view, struct dti_table *table,
                    const struct compare_columns *columns, const struct compare_result *result)
{
    const struct compare_figures *const figures = &result->figures;
    const struct dti_tensor *const a = &view->job->a->tensors[result->a];
    const char *const dtype_a = dti_tensor_dtype(a);
    const char *const dtype_b = dti_tensor_dtype(&view->job->b->tensors[result->b]);
    char text[CELL], number[DTI_TEXT_SIZE], place[DTI_SHAPE_SIZE];
    const bool some = figures->compared > 0;
    cell(table, name_of(view, result));
    (void)snprintf(text, sizeof text, "%s, %s", dtype_a, dtype_b);
    cell(table, strcmp(dtype_a, dtype_b) == 0 ? dtype_a : text);
    cell_u64(table, figures->elements);
    if (view->job->args->bitwise && figures->differing == 0 && !figures->identical)
        cell(table, "0, bits do");
    else
        cell_u64(table, figures->differing);
    cell(table, some ? dti_figure_words(number, figures->max_absolute, 4) : "-");
    cell(table,
         figures->max_index == UINT64_MAX ? "" : dti_place_words(place, a, figures->max_index));
    cell(table, some ? dti_figure_words(number, figures->mean_absolute, 3) : "-");
    cell(table, some ? dti_percent_words(number, figures->max_relative, 3) : "-");
    cell(table, some ? dti_figure_words(number, figures->max_ulp, 3) : "-");
    if (columns->verbose) {
        cell(table, some ? dti_figure_words(number, figures->root_mean_square, 3) : "-");
        cell(table, some ? dti_figure_words(number, figures->cosine, 9) : "-");
    }
    if (!columns->unmatched)
        return;
    (void)snprintf(text, sizeof text, "%llu, first at %s", (unsigned long long)figures->unmatched,
                   figures->unmatched > 0 ? dti_place_words(place, a, figures->first_unmatched)
                                          : "");
    dti_table_cell(table, DTI_STYLE_WARN, figures->unmatched > 0 ? text : "0");
}

static enum dti_status write_table(struct compare_view *view, struct dti_table *table,
                                   struct dti_error *reterr)
{
    const bool written = dti_table_write(table, view->job->cx->out, view->job->cx->colour, 2);
    dti_table_free(table);
    return written ? DTI_OK : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}

static void put_rest(struct compare_view *view, size_t count, const char *what)
{
    char text[CELL];
    (void)snprintf(text, sizeof text, "  ... and %zu more%s; -v shows all", count, what);
    put(view, DTI_STYLE_DIM, text);
    dti_line_end(&view->line);
}

static enum dti_status put_rows(struct compare_view *view, struct dti_error *reterr)
{
    const size_t count = view->limit < view->count ? (size_t)view->limit : view->count;
    const struct compare_columns columns = {.unmatched = view->job->total.unmatched > 0,
                                            .verbose = view->job->cx->verbose};
    if (count == 0)
        return DTI_OK;
    struct dti_table *const table = begin_table(&columns);
    for (size_t i = 0; i < count; i++)
        put_row(view, table, &columns, view->rows[i]);
    const enum dti_status status = write_table(view, table, reterr);
    if (status == DTI_OK && count < view->count)
        put_rest(view, view->count - count, " that differ");
    return status;
}

static void put_title(struct compare_view *view, enum compare_way way)
{
    const struct compare_job *const job = view->job;
    const char *const path = way == COMPARE_ONLY_A ? job->a->path : job->b->path;
    if (way == COMPARE_BYTES) {
        put(view, DTI_STYLE_PLAIN, "  compared by their bytes:");
    } else if (way == COMPARE_NEVER) {
        put(view, DTI_STYLE_PLAIN, "  not comparable:");
    } else {
        put(view, DTI_STYLE_PLAIN, "  only in ");
        put(view, DTI_STYLE_PLAIN, escape(view, path, strlen(path)));
        put(view, DTI_STYLE_PLAIN, ":");
    }
    dti_line_end(&view->line);
}

/* Tensors of a way other than numbers, under a title; those that are equal with -v alone. */
static enum dti_status put_list(struct compare_view *view, enum compare_way way,
                                struct dti_error *reterr)
{
    const struct compare_job *const job = view->job;
    struct dti_table *table = NULL;
    char reason[COMPARE_REASON_SIZE];
    size_t shown = 0, more = 0;
    for (size_t i = 0; i < job->result_count; i++) {
        const struct compare_result *const result = &job->results[i];
        if (result->way != way || (result->outcome == COMPARE_EQUAL && !job->cx->verbose))
            continue;
        if (shown++ >= view->limit) {
            more++;
            continue;
        }
        if (shown == 1) {
            put_title(view, way);
            table = dti_table_new(3);
        }
        cell(table, "");
        cell(table, name_of(view, result));
        cell(table, dti_compare_reason(reason, job, result));
    }
    const bool begun = shown > 0 && view->limit > 0;
    const enum dti_status status = begun ? write_table(view, table, reterr) : DTI_OK;
    if (status == DTI_OK && begun && more > 0)
        put_rest(view, more, "");
    return status;
}

static void put_total(struct compare_view *view, const char *name, const char *text)
{
    put(view, DTI_STYLE_PLAIN, view->line.column > 0 ? gap : "  ");
    put(view, DTI_STYLE_PLAIN, name);
    put(view, DTI_STYLE_PLAIN, text);
}

static void put_totals(struct compare_view *view)
{
    const struct compare_job *const job = view->job;
    const struct compare_figures *const total = &job->total;
    char text[CELL], number[DTI_TEXT_SIZE], place[DTI_SHAPE_SIZE];
    if (total->differing == 0)
        return;
    (void)snprintf(text, sizeof text, "%llu elements   %llu differ (%s)",
                   (unsigned long long)total->elements, (unsigned long long)total->differing,
                   dti_human_share(number, total->differing, total->elements));
    put_total(view, "total ", text);
    if (total->unmatched > 0) {
        (void)snprintf(text, sizeof text, "   %llu with nan or inf on one side",
                       (unsigned long long)total->unmatched);
        put(view, DTI_STYLE_WARN, text);
    }
    dti_line_end(&view->line);
    if (job->max_result == SIZE_MAX)
        return;
    const struct compare_result *const worst = &job->results[job->max_result];
    put_total(view, "max abs ", dti_figure_words(number, total->max_absolute, 4));
    put(view, DTI_STYLE_PLAIN, " (");
    put(view, DTI_STYLE_PLAIN, name_of(view, worst));
    put(view, DTI_STYLE_PLAIN, " at ");
    put(view, DTI_STYLE_PLAIN,
        dti_place_words(place, &job->a->tensors[worst->a], total->max_index));
    put(view, DTI_STYLE_PLAIN, ")");
    put_total(view, "mean abs ", dti_figure_words(number, total->mean_absolute, 3));
    put_total(view, "rms ", dti_figure_words(number, total->root_mean_square, 3));
    put_total(view, "max rel ", dti_percent_words(number, total->max_relative, 3));
    if (!isnan(total->max_ulp))
        put_total(view, "max ulp ", dti_figure_words(number, total->max_ulp, 3));
    if (!isnan(total->cosine))
        put_total(view, "cosine ", dti_figure_words(number, total->cosine, 9));
    dti_line_end(&view->line);
}

enum dti_status dti_compare_human(const struct compare_job *job, struct dti_error *reterr)
{
    const struct compare_args *const args = job->args;
    struct compare_view view = {.job = job,
                                .line = {.out = job->cx->out, .colour = job->cx->colour}};
    view.limit = args->top_given ? args->top : job->cx->verbose ? UINT64_MAX : SHOWN;
    view.rows = malloc((job->result_count + 1) * sizeof(const struct compare_result *));
    if (!view.rows)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    dti_buffer_init(&view.text);
    take_rows(&view);
    put_verdict(&view);
    enum dti_status status = put_rows(&view, reterr);
    for (enum compare_way way = COMPARE_BYTES; way <= COMPARE_ONLY_B && status == DTI_OK; way++)
        status = put_list(&view, way, reterr);
    if (status == DTI_OK)
        put_totals(&view);
    dti_buffer_free(&view.text);
    free(view.rows);
    if (status == DTI_OK && view.lost)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    return status;
}

/* SPDX-License-Identifier: MIT
 *
 * dtinfo compare: how far the numbers of two files are from each other. For people: the verdict,
 * the tensors that differ most, what cannot be compared, the totals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers/compare/compare.h"
#include "answers/tensors.h"
#include "cli/shared/file_bar.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"
#include "cli/shell/command.h"
#include "core/number/number.h"
#include "report/table.h"
#include "requests/compare/compare_request.h"
#include "util/run/allocate.h"

enum { SHOWN = 10 };

static const char gap[] = "   ";

struct compare_view {
    const struct dti_command_context *cx;
    const struct compare_args *args;
    const struct dti_compare *compare;
    struct dti_line line;
    bool lost; /* out of memory for a name */
    const struct dti_compare_result **rows;
    size_t count; /* pairs to list; the worst of them are in rows */
    uint64_t limit;
};

static void put_safe(struct compare_view *view, const char *text, size_t length)
{
    if (!dti_line_safe(&view->line, DTI_STYLE_PLAIN, text, length))
        view->lost = true;
}

/* The other tensor of a pair whose names differ, or NULL. */
static const struct dti_tensor *other_of(const struct compare_view *view,
                                         const struct dti_compare_result *result)
{
    const struct dti_tensor *const tensor = dti_compare_tensor(view->compare, result);
    if (result->way > DTI_COMPARE_NEVER)
        return NULL;
    const struct dti_tensor *const other = &view->compare->b->tensors[result->b];
    const bool same = other->name_length == tensor->name_length &&
                      memcmp(other->name, tensor->name, tensor->name_length) == 0;
    return same ? NULL : other;
}

/* "w", or "w, v" where the names differ. */
static void put_name(struct compare_view *view, const struct dti_compare_result *result)
{
    const struct dti_tensor *const tensor = dti_compare_tensor(view->compare, result);
    const struct dti_tensor *const other = other_of(view, result);
    put_safe(view, tensor->name, tensor->name_length);
    if (other) {
        dti_line_text(&view->line, ", ");
        put_safe(view, other->name, other->name_length);
    }
}

static void put_verdict(struct compare_view *view)
{
    const struct dti_compare *const compare = view->compare;
    const struct compare_args *const args = view->args;
    const size_t differ = compare->tensors[DTI_COMPARE_DIFFERS];
    const size_t unreadable = compare->tensors[DTI_COMPARE_UNREADABLE];
    const size_t within = compare->tensors[DTI_COMPARE_WITHIN];
    const size_t all = compare->result_count, equal = all - compare->tensors[DTI_COMPARE_IGNORED];
    const char *const plural = all == 1 ? "" : "s";
    const char *const names[] = {"atol", "rtol", "max ulp"};
    const char *const texts[] = {args->atol, args->rtol, args->max_ulp};
    if (differ > 0 || unreadable > 0)
        dti_line_print(&view->line, DTI_STYLE_BAD, "%s: %zu of %zu tensor%s",
                       differ > 0 ? "differ" : "unreadable", differ > 0 ? differ : unreadable, all,
                       plural);
    else if (within > 0)
        dti_line_print(&view->line, DTI_STYLE_GOOD,
                       "within the tolerance: %zu of %zu tensor%s differ%s", within, all, plural,
                       all == 1 ? "s" : "");
    else
        dti_line_print(&view->line, DTI_STYLE_GOOD, "%s: %zu tensor%s",
                       compare->bitwise ? "identical" : "equal", equal, equal == 1 ? "" : "s");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!texts[i])
            continue;
        dti_line_print(&view->line, DTI_STYLE_PLAIN, "%s%s ", gap, names[i]);
        put_safe(view, texts[i], strlen(texts[i]));
    }
    dti_line_end(&view->line);
}

/* The worst come first; ties keep the order of the file. */
static int worst_first(const void *a, const void *b)
{
    const struct dti_compare_result *const left = *(const struct dti_compare_result *const *)a;
    const struct dti_compare_result *const right = *(const struct dti_compare_result *const *)b;
    const struct dti_compare_figures *const x = &left->figures, *const y = &right->figures;
    if (left->outcome != right->outcome)
        return left->outcome > right->outcome ? -1 : 1;
    if ((x->unmatched > 0) != (y->unmatched > 0))
        return x->unmatched > 0 ? -1 : 1;
    if (x->max_absolute != y->max_absolute)
        return x->max_absolute > y->max_absolute ? -1 : 1;
    return left < right ? -1 : left > right;
}

static void sort_rows(struct compare_view *view, size_t count)
{
    if (count > 0)
        qsort(view->rows, count, sizeof(const struct dti_compare_result *), worst_first);
}

/* Keeps the rows to show, and collects as many more before sorting again. */
static void take_rows(struct compare_view *view)
{
    const size_t all = view->compare->result_count;
    const size_t shown = view->limit < all ? (size_t)view->limit : all;
    size_t kept = 0;
    bool cut = false; /* the first `shown` rows are the worst so far */
    for (size_t i = 0; i < all; i++) {
        const struct dti_compare_result *const result = &view->compare->results[i];
        if (result->way == DTI_COMPARE_NUMBERS &&
            (view->cx->verbose || result->outcome != DTI_COMPARE_EQUAL)) {
            view->count++;
            if (cut && worst_first(&result, &view->rows[shown - 1]) > 0)
                continue;
            view->rows[kept++] = result;
        }
        if (shown > 0 && kept >= 2 * shown) {
            sort_rows(view, kept);
            kept = shown;
            cut = true;
        }
    }
    sort_rows(view, kept);
}

static void cell_name(const struct compare_view *view, struct dti_table *table,
                      const struct dti_compare_result *result)
{
    const struct dti_tensor *const tensor = dti_compare_tensor(view->compare, result);
    const struct dti_tensor *const other = other_of(view, result);
    dti_text_cell(table, "");
    dti_table_safe(table, tensor->name, tensor->name_length);
    if (other) {
        dti_table_more(table, ", ");
        dti_table_safe(table, other->name, other->name_length);
    }
}

/* Which optional columns are shown. */
struct compare_columns {
    bool unmatched, verbose;
};

static struct dti_table *begin_table(const struct compare_columns *columns)
{
    static const char *const titles[] = {"name", "dtypes",   "elements", "differing", "max abs",
                                         "at",   "mean abs", "max rel",  "max ulp"};
    enum { TITLES = sizeof titles / sizeof *titles };
    struct dti_table *const table =
        dti_table_new(TITLES + (columns->verbose ? 4u : 0u) + columns->unmatched);
    for (size_t i = 0; i < TITLES; i++)
        dti_table_cell(table, DTI_STYLE_BOLD, titles[i]);
    if (columns->verbose) {
        dti_table_cell(table, DTI_STYLE_BOLD, "rms");
        dti_table_cell(table, DTI_STYLE_BOLD, "SQNR dB");
        dti_table_cell(table, DTI_STYLE_BOLD, "NMSE");
        dti_table_cell(table, DTI_STYLE_BOLD, "cosine");
    }
    if (columns->unmatched)
        dti_table_cell(table, DTI_STYLE_BOLD, "nan or inf on one side");
    dti_table_right(table, 2);
    dti_table_right(table, 3);
    dti_table_heads(table, columns->verbose ? "9537845654464" : "953784564");
    return table;
}

static void put_row(struct compare_view *view, struct dti_table *table,
                    const struct compare_columns *columns, const struct dti_compare_result *result)
{
    const struct dti_compare_figures *const figures = &result->figures;
    const struct dti_tensor *const a = &view->compare->a->tensors[result->a];
    const char *const dtype_a = dti_tensor_dtype(a);
    const char *const dtype_b = dti_tensor_dtype(&view->compare->b->tensors[result->b]);
    char number[DTI_TEXT_SIZE], place[DTI_SHAPE_SIZE];
    const bool some = figures->compared > 0;
    cell_name(view, table, result);
    dti_text_cell(table, dtype_a);
    if (strcmp(dtype_a, dtype_b) != 0)
        dti_table_more(table, ", %s", dtype_b);
    dti_number_cell(table, figures->elements);
    if (view->compare->bitwise && figures->differing == 0 && !figures->identical)
        dti_text_cell(table, "0, bits do");
    else
        dti_number_cell(table, figures->differing);
    dti_text_cell(table, some ? dti_figure_words(number, figures->max_absolute, 4) : "-");
    dti_text_cell(table, figures->max_index == UINT64_MAX
                             ? ""
                             : dti_place_words(place, a, figures->max_index));
    dti_text_cell(table, some ? dti_figure_words(number, figures->mean_absolute, 3) : "-");
    dti_text_cell(table, some ? dti_percent_words(number, figures->max_relative, 3) : "-");
    dti_text_cell(table, some ? dti_figure_words(number, figures->max_ulp, 3) : "-");
    if (columns->verbose) {
        dti_text_cell(table, some ? dti_figure_words(number, figures->root_mean_square, 3) : "-");
        dti_text_cell(table, some ? dti_figure_words(number, figures->sqnr_db, 4) : "-");
        dti_text_cell(table, some ? dti_figure_words(number, figures->nmse, 4) : "-");
        dti_text_cell(table, some ? dti_figure_words(number, figures->cosine, 9) : "-");
    }
    if (columns->unmatched)
        dti_table_print(table, DTI_STYLE_WARN, "%llu", (unsigned long long)figures->unmatched);
    if (columns->unmatched && figures->unmatched > 0)
        dti_table_more(table, ", first at %s", dti_place_words(place, a, figures->first_unmatched));
}

static void put_rest(struct compare_view *view, size_t count, const char *what)
{
    dti_line_print(&view->line, DTI_STYLE_DIM, "  ... and %zu more%s; -v shows all\n", count, what);
}

static enum dti_status put_rows(struct compare_view *view, struct dti_error *reterr)
{
    const size_t count = view->limit < view->count ? (size_t)view->limit : view->count;
    const struct compare_columns columns = {.unmatched = view->compare->total.unmatched > 0,
                                            .verbose = view->cx->verbose};
    if (count == 0)
        return DTI_OK;
    struct dti_table *const table = begin_table(&columns);
    for (size_t i = 0; i < count; i++)
        put_row(view, table, &columns, view->rows[i]);
    const enum dti_status status = dti_put_table(view->cx, table, 2, reterr);
    if (status == DTI_OK && count < view->count)
        put_rest(view, view->count - count, " that differ");
    return status;
}

static void put_title(struct compare_view *view, enum dti_compare_way way)
{
    const struct dti_compare *const compare = view->compare;
    const char *const path = way == DTI_COMPARE_ONLY_A ? compare->a->path : compare->b->path;
    if (way == DTI_COMPARE_BYTES) {
        dti_line_text(&view->line, "  compared by their bytes:");
    } else if (way == DTI_COMPARE_NEVER) {
        dti_line_text(&view->line, "  not comparable:");
    } else {
        dti_line_text(&view->line, "  only in ");
        put_safe(view, path, strlen(path));
        dti_line_text(&view->line, ":");
    }
    dti_line_end(&view->line);
}

/* Tensors not compared as numbers, under a title; equal ones only with -v. */
static enum dti_status put_list(struct compare_view *view, enum dti_compare_way way,
                                struct dti_error *reterr)
{
    const struct dti_compare *const compare = view->compare;
    struct dti_table *table = NULL;
    char reason[DTI_COMPARE_REASON];
    size_t shown = 0, more = 0;
    for (size_t i = 0; i < compare->result_count; i++) {
        const struct dti_compare_result *const result = &compare->results[i];
        if (result->way != way || (result->outcome == DTI_COMPARE_EQUAL && !view->cx->verbose))
            continue;
        if (shown++ >= view->limit) {
            more++;
            continue;
        }
        if (shown == 1) {
            put_title(view, way);
            table = dti_table_new(3);
        }
        dti_text_cell(table, "");
        cell_name(view, table, result);
        dti_text_cell(table, dti_compare_reason(reason, compare, result));
    }
    const bool begun = shown > 0 && view->limit > 0;
    const enum dti_status status = begun ? dti_put_table(view->cx, table, 2, reterr) : DTI_OK;
    if (status == DTI_OK && begun && more > 0)
        put_rest(view, more, "");
    return status;
}

/* What the map did, if it did anything. */
static void put_mapped(struct compare_view *view)
{
    const struct dti_compare_mapped *const mapped = &view->compare->mapped;
    const char *const map = view->compare->map;
    if (!map)
        return;
    dti_line_text(&view->line, "  map ");
    put_safe(view, map, strlen(map));
    dti_line_print(&view->line, DTI_STYLE_PLAIN, ": %zu tensor%s renamed", mapped->renamed,
                   mapped->renamed == 1 ? "" : "s");
    if (mapped->reordered > 0)
        dti_line_print(&view->line, DTI_STYLE_PLAIN,
                       "%srows of the GGUF in the checkpoint's order in %zu pair%s", gap,
                       mapped->reordered, mapped->reordered == 1 ? "" : "s");
    if (mapped->plus_one > 0)
        dti_line_print(&view->line, DTI_STYLE_PLAIN,
                       "%s1 added to the checkpoint's numbers in %zu pair%s", gap, mapped->plus_one,
                       mapped->plus_one == 1 ? "" : "s");
    dti_line_end(&view->line);
}

static void put_total(struct compare_view *view, const char *name, const char *text)
{
    dti_line_print(&view->line, DTI_STYLE_PLAIN, "%s%s %s", view->line.column > 0 ? gap : "  ",
                   name, text);
}

static void put_totals(struct compare_view *view)
{
    const struct dti_compare *const compare = view->compare;
    const struct dti_compare_figures *const total = &compare->total;
    char number[DTI_TEXT_SIZE], place[DTI_SHAPE_SIZE];
    if (total->differing == 0)
        return;
    dti_line_print(&view->line, DTI_STYLE_PLAIN, "  total %llu elements   %llu differ (%s)",
                   (unsigned long long)total->elements, (unsigned long long)total->differing,
                   dti_human_share(number, total->differing, total->elements));
    if (total->unmatched > 0)
        dti_line_print(&view->line, DTI_STYLE_WARN, "   %llu with nan or inf on one side",
                       (unsigned long long)total->unmatched);
    dti_line_end(&view->line);
    if (compare->max_result == SIZE_MAX)
        return;
    const struct dti_compare_result *const worst = &compare->results[compare->max_result];
    put_total(view, "max abs", dti_figure_words(number, total->max_absolute, 4));
    dti_line_text(&view->line, " (");
    put_name(view, worst);
    dti_line_print(&view->line, DTI_STYLE_PLAIN, " at %s)",
                   dti_place_words(place, &compare->a->tensors[worst->a], total->max_index));
    put_total(view, "mean abs", dti_figure_words(number, total->mean_absolute, 3));
    put_total(view, "rms", dti_figure_words(number, total->root_mean_square, 3));
    put_total(view, "max rel", dti_percent_words(number, total->max_relative, 3));
    if (!isnan(total->max_ulp))
        put_total(view, "max ulp", dti_figure_words(number, total->max_ulp, 3));
    if (!isnan(total->sqnr_db)) {
        put_total(view, "SQNR", dti_figure_words(number, total->sqnr_db, 4));
        dti_line_text(&view->line, " dB");
    }
    if (!isnan(total->nmse))
        put_total(view, "NMSE", dti_figure_words(number, total->nmse, 4));
    if (!isnan(total->cosine))
        put_total(view, "cosine", dti_figure_words(number, total->cosine, 9));
    dti_line_end(&view->line);
}

static enum dti_status show(const struct dti_command_context *cx, const struct compare_job *job,
                            struct dti_error *reterr)
{
    const struct compare_args *const args = job->args;
    struct compare_view view = {
        .cx = cx, .args = args, .compare = &job->compare, .line = dti_command_context_line(cx)};
    view.limit = args->top_given ? args->top : cx->verbose ? UINT64_MAX : SHOWN;
    view.rows =
        dti_malloc((job->compare.result_count + 1) * sizeof(const struct dti_compare_result *));
    if (!view.rows)
        return dti_no_memory(reterr);
    take_rows(&view);
    put_verdict(&view);
    put_mapped(&view);
    enum dti_status status = put_rows(&view, reterr);
    for (enum dti_compare_way way = DTI_COMPARE_BYTES;
         way <= DTI_COMPARE_ONLY_B && status == DTI_OK; way++)
        status = put_list(&view, way, reterr);
    if (status == DTI_OK)
        put_totals(&view);
    dti_free(view.rows);
    if (status == DTI_OK && view.lost)
        return dti_no_memory(reterr);
    return status;
}

static enum dti_status check_operands(char **operands, int count, struct dti_error *reterr)
{
    if (count == 2)
        return DTI_OK;
    if (count < 2)
        return dti_fail(reterr, DTI_USAGE,
                        "expected two files, as in 'dtinfo compare a.safetensors b.safetensors'");
    return dti_fail_word(reterr, DTI_USAGE, operands[2], strlen(operands[2]),
                         "compares two files; %s is one operand too many",
                         DTI_QUOTED(operands[2], strlen(operands[2])));
}

/* One document, or with JSON Lines one per pair and one for the totals. */
static enum dti_status write_documents(struct dti_compare *compare, struct dti_command_context *cx,
                                       struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    compare->unlisted = cx->output == DTI_OUTPUT_JSONL;
    for (size_t i = 0; compare->unlisted && i < compare->result_count && status == DTI_OK; i++) {
        struct dti_compare one = dti_compare_of_one(compare, i);
        one.unlisted = false;
        status = DTI_ANSWER(cx, compare, &one, reterr);
    }
    return status == DTI_OK ? DTI_ANSWER(cx, compare, compare, reterr) : status;
}

static enum dti_status run_compare(const void *all_args, char **operands, int operand_count,
                                   struct dti_command_context *cx, struct dti_error *reterr)
{
    const struct compare_args *const args = all_args;
    struct compare_job job;
    struct dti_file_bar bar;
    enum dti_status status = check_operands(operands, operand_count, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_compare_init(&job, args, &cx->asker, reterr);
    dti_file_bar_attach(&bar, &job.compare.reading, &args->file, cx);
    job.compare.out = &cx->sink;
    if (status == DTI_OK)
        status = dti_compare_ask(&job, (const char *const *)operands, reterr);
    if (status == DTI_OK && cx->output != DTI_OUTPUT_HUMAN)
        status = write_documents(&job.compare, cx, reterr);
    else if (status == DTI_OK && !cx->quiet)
        status = show(cx, &job, reterr);
    const bool answered = status == DTI_OK;
    if (answered)
        status = dti_compare_verdict(&job.compare, reterr);
    dti_compare_free(&job.compare);
    /* the answer itself shows the verdict */
    if (!answered || status != DTI_BAD_INPUT)
        return status;
    dti_complain(cx, reterr);
    return dti_fail(reterr, DTI_BAD_INPUT, "%s", "");
}

const struct dti_command dti_command_compare = {
    .name = "compare",
    .group = "files",
    .summary = "compare the tensors of two files",
    .reads = true,
    .synopsis = "A B",
    .details = "A and B are files of tensors, raw codes with --from, indexes or folders of\n"
               "shards; kinds and dtypes may differ. Tensors are paired by name; a single\n"
               "tensor on each side is paired whatever its name. Without a tolerance all\n"
               "numbers must be equal. The exit code is 0 if the files are equal or within the\n"
               "tolerance, 1 if they differ, and 3 if some tensors are unreadable and the\n"
               "others do not differ. Quantized tensors are compared by their dequantized\n"
               "numbers. --map hf-gguf compares a checkpoint with its GGUF.",
    .examples = "dtinfo compare model.safetensors model.safetensors.index.json\n"
                "dtinfo compare weights.npy arrays.npz --only 'data,half' --rtol 1e-3\n",
    .schema = "dtinfo.compare/1",
    .operands = DTI_OPERANDS_FILES,
    .options = dti_compare_options,
    .args_size = sizeof(struct compare_args),
    .run = run_compare,
};

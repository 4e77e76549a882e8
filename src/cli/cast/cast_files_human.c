/* SPDX-License-Identifier: MIT
 *
 * What became of a file's tensors, for people: a line on the whole, one for each pair of dtypes,
 * what was lost, and the tensors that lost most (with -v all of them). */
#include <stdlib.h>
#include <string.h>

#include "answers/tensors.h"
#include "cli/cast/cast_files.h"
#include "cli/shared/human.h"
#include "cli/shared/loss_human.h"
#include "cli/shared/tensor_cells.h"
#include "cli/shared/tensor_kinds.h"

enum { WORST = 5, LOSS_COLUMNS = 9 };

static const struct dti_tensor *source_of(const struct dti_cast_file *file, size_t tensor)
{
    return &file->cast->container->tensors[file->cast->tensors[tensor].source];
}

static const char *const fate_words[DTI_FATE_COUNT] = {
    [DTI_FATE_CAST] = "",
    [DTI_FATE_SAME] = "as it is",
    [DTI_FATE_KEEP] = "kept: --keep",
    [DTI_FATE_ONLY] = "kept: not of --only",
    [DTI_FATE_INTEGER] = "kept: --ints casts integers",
    [DTI_FATE_COMPLEX] = "kept: complex",
};

static enum dti_status put_kinds(const struct dti_cast_file *file, struct dti_error *reterr)
{
    const struct dti_line line = dti_cast_file_line(file);
    struct dti_tensor_kinds kinds = {.count = 0};
    for (size_t i = 0; i < file->cast->tensor_count; i++) {
        const struct dti_file_cast_tensor *const tensor = &file->cast->tensors[i];
        const struct dti_tensor *const source = source_of(file, i);
        const bool cast = tensor->fate == DTI_FATE_CAST;
        struct dti_tensor_kind kind = {.first = cast,
                                       .from = source->format->name,
                                       .to = cast ? tensor->format->name : NULL,
                                       .same_bytes = !cast || file->to_text,
                                       .count = 1,
                                       .input = source->bytes,
                                       .output = tensor->bytes};
        (void)snprintf(kind.words, sizeof kind.words, "%s", fate_words[tensor->fate]);
        dti_kinds_add(&kinds, &kind);
    }
    return dti_kinds_write(&kinds, line.out, line.colour, reterr);
}

/* Nobody reads all columns at once: some are for -v alone, one for dtypes that lack codes. */
enum { NO_CODE = 2, VERBOSE_FIRST = 3, VERBOSE_LAST = 5 };

static bool is_shown(const struct dti_cast_file *file, size_t column)
{
    if (column == NO_CODE)
        return file->cast->loss.no_code > 0;
    return file->cx->verbose || column < VERBOSE_FIRST || column > VERBOSE_LAST;
}

static size_t loss_columns(const struct dti_cast_file *file)
{
    size_t count = 0;
    for (size_t i = 0; i < LOSS_COLUMNS; i++)
        count += is_shown(file, i);
    return count;
}

static bool put_row(const struct dti_cast_file *file, struct dti_table *table, size_t at)
{
    const struct dti_file_cast_tensor *const tensor = &file->cast->tensors[at];
    const struct dti_tensor *const source = source_of(file, at);
    const struct dti_loss_summary *const loss = &tensor->loss;
    char text[DTI_TEXT_SIZE], shape[DTI_SHAPE_SIZE];
    const bool cast = tensor->fate == DTI_FATE_CAST;
    if (!dti_tensor_cell(table, source))
        return false;
    dti_table_print(table, DTI_STYLE_PLAIN, cast ? "%s -> %s" : "%s", source->format->name,
                    tensor->format->name);
    dti_table_cell(table, DTI_STYLE_PLAIN, dti_shape_words(shape, source));
    if (file->tensors->dry_run) {
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_human_bytes(text, tensor->bytes));
        return true;
    }
    if (!cast) {
        for (size_t i = 0; i < loss_columns(file); i++)
            dti_table_cell(table, DTI_STYLE_PLAIN, "");
        return true;
    }
    dti_count_cell(table, loss->overflowed);
    dti_count_cell(table, loss->to_zero);
    if (is_shown(file, NO_CODE))
        dti_count_cell(table, loss->no_code);
    if (file->cx->verbose) {
        dti_count_cell(table, loss->to_subnormal);
        dti_count_cell(table, loss->nan_in);
        dti_count_cell(table, loss->inf_in);
    }
    dti_loss_cell(table, loss, loss->max_absolute);
    dti_table_cell(table, DTI_STYLE_PLAIN,
                   loss->compared > 0 ? dti_percent_words(text, loss->max_relative, 3) : "-");
    dti_loss_cell(table, loss, loss->sqnr_db);
    return true;
}

static struct dti_table *new_table(const struct dti_cast_file *file)
{
    static const char *const first[] = {"name", "dtype", "shape", "bytes"};
    static const char *const all[LOSS_COLUMNS] = {"overflowed",    "to zero", "no code",
                                                  "to subnormal",  "nan",     "inf",
                                                  "max abs error", "max rel", "SQNR dB"};
    const bool dry = file->tensors->dry_run;
    struct dti_table *const table = dti_table_new(dry ? 4 : 3 + loss_columns(file));
    for (size_t i = 0; i < (dry ? 4 : 3); i++)
        dti_table_cell(table, DTI_STYLE_BOLD, first[i]);
    for (size_t i = 0; i < LOSS_COLUMNS && !dry; i++) {
        if (is_shown(file, i))
            dti_table_cell(table, DTI_STYLE_BOLD, all[i]);
    }
    dti_table_heads(table, "9747"); /* name, dtype, shape, bytes or overflowed */
    return table;
}

static double share(uint64_t count, uint64_t elements)
{
    return elements > 0 ? (double)count / (double)elements : 0;
}

/* Whether a lost more than b: numbers beyond the range, or without a code, come first. */
static bool is_worse(const struct dti_loss_summary *a, const struct dti_loss_summary *b)
{
    const double beyond_a = share(a->overflowed + a->no_code, a->elements);
    const double beyond_b = share(b->overflowed + b->no_code, b->elements);
    const double zero_a = share(a->to_zero, a->elements), zero_b = share(b->to_zero, b->elements);
    if (beyond_a > beyond_b || beyond_a < beyond_b)
        return beyond_a > beyond_b;
    if (a->max_relative > b->max_relative || a->max_relative < b->max_relative)
        return a->max_relative > b->max_relative;
    return zero_a > zero_b;
}

/* The tensors that lost numbers altogether, where there are several. */
static enum dti_status put_worst(const struct dti_cast_file *file, struct dti_error *reterr)
{
    const struct dti_file_cast *const cast = file->cast;
    size_t worst[WORST + 1], count = 0, lost = 0;
    for (size_t i = 0; i < cast->tensor_count; i++) {
        const struct dti_loss_summary *const loss = &cast->tensors[i].loss;
        if (loss->overflowed == 0 && loss->to_zero == 0 && loss->no_code == 0)
            continue;
        lost++;
        size_t at = count;
        for (; at > 0 && is_worse(loss, &cast->tensors[worst[at - 1]].loss); at--)
            worst[at] = worst[at - 1];
        worst[at] = i;
        count += count < WORST;
    }
    if (lost == 0 || cast->cast_count < 2)
        return DTI_OK;
    struct dti_table *const table = new_table(file);
    bool whole = true;
    for (size_t i = 0; i < count && whole; i++)
        whole = put_row(file, table, worst[i]);
    const enum dti_status status = dti_cast_file_table(table, whole, file, reterr);
    if (status == DTI_OK && lost > count)
        (void)fprintf(dti_cast_file_line(file).out,
                      "  ... of %zu tensors that lost numbers; -v shows all\n", lost);
    return status;
}

static enum dti_status put_all(const struct dti_cast_file *file, struct dti_error *reterr)
{
    struct dti_table *const table = new_table(file);
    bool whole = true;
    for (size_t i = 0; i < file->cast->tensor_count && whole; i++)
        whole = put_row(file, table, i);
    return dti_cast_file_table(table, whole, file, reterr);
}

static void put_machine(const struct dti_cast_file *file, struct dti_line *line)
{
    char kernels[DTI_PLAN_TEXT_SIZE];
    dti_line_print(line, DTI_STYLE_DIM, "  level %s   %zu thread%s", dti_level_name(file->level),
                   file->threads, file->threads == 1 ? "" : "s");
    for (size_t i = 0; i < file->cast->plan_count; i++) {
        dti_line_put(line, DTI_STYLE_PLAIN, "   ");
        dti_line_put(line, DTI_STYLE_DIM, dti_plan_describe_device(file->cast->plans[i], kernels));
    }
    dti_line_end(line);
}

static void put_loss(struct dti_cast_file *file, struct dti_line *line)
{
    const struct dti_file_cast_request *const request = &file->cast->request;
    struct dti_loss_summary loss;
    dti_cast_file_losses(file, &loss, line);
    dti_loss_human_policies(&request->cast, request->rule, line);
    dti_cast_device_human(&file->job.device, line);
    if (file->cx->verbose)
        put_machine(file, line);
    dti_loss_human_hint(&request->cast, request->rule, &loss, line);
}

enum dti_status dti_cast_files_human(struct dti_cast_file *file, struct dti_error *reterr)
{
    struct dti_line line = dti_cast_file_line(file);
    dti_cast_file_head(file, file->cast->input_bytes, &line);
    enum dti_status status = put_kinds(file, reterr);
    if (file->cast->cast_count > 0 && !file->tensors->dry_run)
        put_loss(file, &line);
    if (status == DTI_OK && file->cx->verbose)
        return put_all(file, reterr);
    return status == DTI_OK && !file->tensors->dry_run ? put_worst(file, reterr) : status;
}

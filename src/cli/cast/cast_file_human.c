/* SPDX-License-Identifier: MIT
 *
 * What became of a file's tensors, for people: a line on the whole, one for each pair of dtypes,
 * what was lost, and the tensors that lost most (with -v all of them). */
#include <stdlib.h>
#include <string.h>

#include "cli/cast/cast_file.h"
#include "cli/shared/human.h"
#include "cli/shared/loss_human.h"
#include "cli/shared/tensor_cells.h"
#include "cli/shared/tensor_words.h"

enum { WORST = 5, CELL = 200, MAX_GROUPS = 256, LOSS_COLUMNS = 9 };

static const char gap[] = "   ";

bool dti_cast_file_aside(const struct cast_file *file)
{
    return file->to_stdout && !file->args->dry_run;
}

static const struct dti_tensor *source_of(const struct cast_file *file, size_t tensor)
{
    return &file->cast->container->tensors[file->cast->tensors[tensor].source];
}

static void put(struct dti_line *line, const char *text)
{
    dti_line_put(line, DTI_STYLE_PLAIN, text);
}

void dti_cast_file_head(const struct cast_file *file, uint64_t input_bytes, struct dti_line *line)
{
    const struct dti_file_cast *const cast = file->cast;
    char path[DTI_QUOTE_SIZE], text[DTI_TEXT_SIZE], cell[CELL];
    put(line, strcmp(file->path, "-") == 0 ? "standard input" : dti_cast_path(path, file->path));
    put(line, " -> ");
    if (!file->out_path)
        put(line, dti_container_name(file->target.kind));
    else
        put(line, file->to_stdout ? "standard output" : dti_cast_path(path, file->out_path));
    put(line, gap);
    put(line, dti_plural_words(cell, cast->tensor_count, "tensor"));
    const size_t shards = cast->files.count - cast->files.has_index;
    if (file->target.kind == DTI_CONTAINER_SHARDED) {
        put(line, " in ");
        put(line, dti_plural_words(cell, shards, "file"));
    }
    put(line, gap);
    put(line, dti_human_bytes(text, input_bytes));
    put(line, " -> ");
    if (file->to_text && file->args->dry_run)
        put(line, "text");
    else
        put(line, dti_human_bytes(text, file->to_text ? file->output_bytes : cast->output_bytes));
    if (file->args->dry_run)
        put(line, "   (nothing is written)");
    dti_line_end(line);
}

/* Tensors of one dtype that met the same fate. */
struct cast_kind {
    const struct dti_format *from;
    enum dti_fate fate;
    size_t count;
    uint64_t input, output;
};

static const char *fate_words(enum dti_fate fate)
{
    switch (fate) {
    case DTI_FATE_SAME:
        return "as it is";
    case DTI_FATE_KEEP:
        return "kept: --keep";
    case DTI_FATE_ONLY:
        return "kept: not of --only";
    case DTI_FATE_INTEGER:
        return "kept: --ints casts integers";
    case DTI_FATE_COMPLEX:
        return "kept: complex";
    default:
        return "";
    }
}

static size_t count_kinds(const struct cast_file *file, struct cast_kind kinds[MAX_GROUPS])
{
    size_t count = 0;
    for (size_t i = 0; i < file->cast->tensor_count; i++) {
        const struct dti_file_cast_tensor *const tensor = &file->cast->tensors[i];
        const struct dti_tensor *const source = source_of(file, i);
        size_t at = 0;
        while (at < count && (kinds[at].fate != tensor->fate ||
                              strcmp(kinds[at].from->name, source->format->name) != 0))
            at++;
        if (at == MAX_GROUPS)
            continue; /* there are fewer dtypes than that */
        if (at == count)
            kinds[count++] = (struct cast_kind){.from = source->format, .fate = tensor->fate};
        kinds[at].count++;
        kinds[at].input += source->bytes;
        kinds[at].output += tensor->bytes;
    }
    return count;
}

enum dti_status dti_cast_file_table(struct dti_table *table, bool whole,
                                    const struct cast_file *file, struct dti_error *reterr)
{
    const struct dti_context *const cx = file->cx;
    const bool aside = dti_cast_file_aside(file);
    return dti_table_finish(table, whole, aside ? cx->err : cx->out,
                            aside ? cx->colour_error : cx->colour, reterr);
}

static enum dti_status put_kinds(const struct cast_file *file, struct dti_error *reterr)
{
    struct cast_kind kinds[MAX_GROUPS];
    const size_t count = count_kinds(file, kinds);
    if (count == 0)
        return DTI_OK;
    struct dti_table *const table = dti_table_new(4);
    const char *const dst = file->cast->request.cast.dst.name;
    for (size_t i = 0; i < 2 * count; i++) { /* what is cast comes first */
        const struct cast_kind *const kind = &kinds[i % count];
        const bool cast = kind->fate == DTI_FATE_CAST;
        if (cast != (i < count))
            continue;
        char cell[CELL], text[DTI_TEXT_SIZE];
        (void)snprintf(cell, sizeof cell, cast ? "%s -> %s" : "%s", kind->from->name, dst);
        dti_table_cell(table, DTI_STYLE_PLAIN, cell);
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_plural_words(cell, kind->count, "tensor"));
        const size_t used =
            (size_t)snprintf(cell, sizeof cell, "%s", dti_human_bytes(text, kind->input));
        if (cast && !file->to_text)
            (void)snprintf(cell + used, sizeof cell - used, " -> %s",
                           dti_human_bytes(text, kind->output));
        dti_table_cell(table, DTI_STYLE_PLAIN, cell);
        dti_table_cell(table, DTI_STYLE_DIM, fate_words(kind->fate));
    }
    return dti_cast_file_table(table, true, file, reterr);
}

/* Nobody reads all columns at once: some are for -v alone, one for dtypes that lack codes. */
enum { NO_CODE = 2, VERBOSE_FIRST = 3, VERBOSE_LAST = 5 };

static bool is_shown(const struct cast_file *file, size_t column)
{
    if (column == NO_CODE)
        return file->cast->loss.no_code > 0;
    return file->cx->verbose || column < VERBOSE_FIRST || column > VERBOSE_LAST;
}

static size_t loss_columns(const struct cast_file *file)
{
    size_t count = 0;
    for (size_t i = 0; i < LOSS_COLUMNS; i++)
        count += is_shown(file, i);
    return count;
}

static bool put_row(const struct cast_file *file, struct dti_table *table, size_t at)
{
    const struct dti_file_cast_tensor *const tensor = &file->cast->tensors[at];
    const struct dti_tensor *const source = source_of(file, at);
    const struct dti_loss_summary *const loss = &tensor->loss;
    char cell[CELL], text[DTI_TEXT_SIZE], shape[DTI_SHAPE_SIZE];
    const bool cast = tensor->fate == DTI_FATE_CAST;
    if (!dti_tensor_cell(table, source))
        return false;
    (void)snprintf(cell, sizeof cell, cast ? "%s -> %s" : "%s", source->format->name,
                   tensor->format->name);
    dti_table_cell(table, DTI_STYLE_PLAIN, cell);
    dti_table_cell(table, DTI_STYLE_PLAIN, dti_shape_words(shape, source));
    if (file->args->dry_run) {
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

static struct dti_table *new_table(const struct cast_file *file)
{
    static const char *const first[] = {"name", "dtype", "shape", "bytes"};
    static const char *const all[LOSS_COLUMNS] = {"overflowed",    "to zero", "no code",
                                                  "to subnormal",  "nan",     "inf",
                                                  "max abs error", "max rel", "SQNR dB"};
    const bool dry = file->args->dry_run;
    struct dti_table *const table = dti_table_new(dry ? 4 : 3 + loss_columns(file));
    for (size_t i = 0; i < (dry ? 4 : 3); i++)
        dti_table_cell(table, DTI_STYLE_BOLD, first[i]);
    for (size_t i = 0; i < LOSS_COLUMNS && !dry; i++) {
        if (is_shown(file, i))
            dti_table_cell(table, DTI_STYLE_BOLD, all[i]);
    }
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
static enum dti_status put_worst(const struct cast_file *file, struct dti_error *reterr)
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
        (void)fprintf(dti_cast_file_aside(file) ? file->cx->err : file->cx->out,
                      "  ... of %zu tensors that lost numbers; -v shows all\n", lost);
    return status;
}

static enum dti_status put_all(const struct cast_file *file, struct dti_error *reterr)
{
    struct dti_table *const table = new_table(file);
    bool whole = true;
    for (size_t i = 0; i < file->cast->tensor_count && whole; i++)
        whole = put_row(file, table, i);
    return dti_cast_file_table(table, whole, file, reterr);
}

static void put_machine(const struct cast_file *file, struct dti_line *line)
{
    char kernels[DTI_PLAN_TEXT_SIZE], cell[DTI_PLAN_TEXT_SIZE + CELL];
    (void)snprintf(cell, sizeof cell, "  level %s   %zu thread%s", dti_level_name(file->level),
                   file->threads, file->threads == 1 ? "" : "s");
    dti_line_put(line, DTI_STYLE_DIM, cell);
    for (size_t i = 0; i < file->cast->plan_count; i++) {
        put(line, gap);
        dti_line_put(line, DTI_STYLE_DIM, dti_plan_describe_device(file->cast->plans[i], kernels));
    }
    dti_line_end(line);
}

void dti_cast_file_losses(const struct cast_file *file, struct dti_loss_summary *ret,
                          struct dti_line *line)
{
    const struct dti_file_cast *const cast = file->cast;
    char place[DTI_LOSS_PLACE_SIZE] = "";
    dti_loss_summarize(&cast->loss, ret);
    if (ret->max_absolute > 0)
        dti_loss_place(place, source_of(file, cast->max_tensor),
                       cast->tensors[cast->max_tensor].loss.max_index);
    dti_loss_human_counts(ret, line);
    dti_loss_human_errors(ret, place, line);
}

static void put_loss(struct cast_file *file, struct dti_line *line)
{
    const struct dti_file_cast_request *const request = &file->cast->request;
    struct dti_loss_summary loss;
    dti_cast_file_losses(file, &loss, line);
    dti_loss_human_policies(&request->cast, request->rule, file->args, line);
    dti_cast_device_human(&file->job.device, line);
    if (file->cx->verbose)
        put_machine(file, line);
    dti_loss_human_hint(&request->cast, request->rule, &loss, line);
}

enum dti_status dti_cast_file_human(struct cast_file *file, struct dti_error *reterr)
{
    const bool aside = dti_cast_file_aside(file);
    struct dti_line line = {.out = aside ? file->cx->err : file->cx->out,
                            .colour = aside ? file->cx->colour_error : file->cx->colour};
    dti_cast_file_head(file, file->cast->input_bytes, &line);
    enum dti_status status = put_kinds(file, reterr);
    if (file->cast->cast_count > 0 && !file->args->dry_run)
        put_loss(file, &line);
    if (status == DTI_OK && file->cx->verbose)
        return put_all(file, reterr);
    return status == DTI_OK && !file->args->dry_run ? put_worst(file, reterr) : status;
}

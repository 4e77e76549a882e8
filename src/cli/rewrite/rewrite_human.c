/* SPDX-License-Identifier: MIT
 *
 * Parts of the reports on rewritten files: the destination of the report, its head, kinds of
 * tensors, tables of them.
 *
 * Kinds of tensors: see tensor_kinds.h. */
#include <string.h>

#include "answers/tensors.h"
#include "cli/rewrite/rewrite_page.h"
#include "cli/rewrite/tensor_kinds.h"
#include "cli/shared/human.h"
#include "cli/shared/loss_human.h"
#include "cli/shared/tensor_cells.h"

static bool is_same(const struct dti_tensor_kind *a, const struct dti_tensor_kind *b)
{
    return a->first == b->first && a->axis == b->axis && !a->to == !b->to &&
           (!a->to || strcmp(a->to, b->to) == 0) && strcmp(a->from, b->from) == 0 &&
           strcmp(a->words, b->words) == 0;
}

static void kinds_add(struct dti_tensor_kinds *kinds, const struct dti_tensor_kind *kind)
{
    size_t at = 0;
    while (at < kinds->count && !is_same(&kinds->list[at], kind))
        at++;
    at -= at == DTI_KINDS_MAX;
    struct dti_tensor_kind *const sum = &kinds->list[at];
    if (at < kinds->count) {
        sum->count += kind->count;
        sum->input += kind->input;
        sum->output += kind->output;
    } else {
        *sum = *kind;
        kinds->count++;
    }
}

/* "fp32 -> bf16  12 tensors  8.00 MiB -> 4.00 MiB  as it is" */
static enum dti_status kinds_write(const struct dti_tensor_kinds *kinds, FILE *out, bool colour,
                                   struct dti_error *reterr)
{
    if (kinds->count == 0)
        return DTI_OK;
    struct dti_table *const table = dti_table_new(4);
    for (size_t i = 0; i < 2 * kinds->count; i++) {
        const struct dti_tensor_kind *const kind = &kinds->list[i % kinds->count];
        char cell[DTI_PLURAL_SIZE], from[DTI_TEXT_SIZE], to[DTI_TEXT_SIZE];
        if (kind->first != (i < kinds->count))
            continue;
        dti_table_print(table, DTI_STYLE_PLAIN, kind->to ? "%s -> %s" : "%s", kind->from, kind->to);
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_plural_words(cell, kind->count, "tensor"));
        dti_table_print(table, DTI_STYLE_PLAIN, kind->same_bytes ? "%s" : "%s -> %s",
                        dti_human_bytes(from, kind->input), dti_human_bytes(to, kind->output));
        dti_table_cell(table, DTI_STYLE_DIM, kind->words);
    }
    const bool written = dti_table_write(table, out, colour, 2);
    dti_table_free(table);
    return written ? DTI_OK : dti_no_memory(reterr);
}

static struct dti_line line_of(const struct dti_rewrite_job *job)
{
    const struct dti_command_context *const cx = job->front->cx;
    const bool aside = dti_rewrite_aside(job);
    return (struct dti_line){.out = aside ? cx->err : cx->out,
                             .colour = aside ? cx->colour_error : cx->colour};
}

/* The files of a folder that hold no tensors. */
static void put_companions(const struct dti_rewrite *rewrite, struct dti_line *line)
{
    const size_t copied =
        rewrite->files.companions - rewrite->configured - rewrite->configured_twice;
    char files[DTI_PLURAL_SIZE];
    if (rewrite->files.companions == 0)
        return;
    dti_line_put(line, DTI_STYLE_PLAIN, "  ");
    if (rewrite->configured)
        dti_line_put(line, DTI_STYLE_PLAIN, "config.json with its new quantization_config");
    if (rewrite->configured_twice)
        dti_line_put(line, DTI_STYLE_PLAIN, ", hf_quant_config.json");
    if (copied > 0)
        dti_line_print(line, DTI_STYLE_PLAIN, "%s%s of the folder copied",
                       rewrite->configured ? ", and " : "",
                       dti_plural_words(files, copied, "other file"));
    dti_line_end(line);
}

/* The share of a run that is divided. */
static void put_share(const struct dti_rewrite_job *job, struct dti_line *line)
{
    const struct dti_new_files *const files = &job->rewrite->files;
    const struct dti_run_part *const part = &job->request.part;
    char shards[DTI_PLURAL_SIZE];
    if (part->count == 0)
        return;
    dti_line_print(line, DTI_STYLE_PLAIN, "  part %llu of %llu: %zu of %s",
                   (unsigned long long)part->index, (unsigned long long)part->count, files->count,
                   dti_plural_words(shards, files->shards, "shard"));
    dti_line_end(line);
}

/* in -> out   12 shards are there   index written */
static void put_finish(const struct dti_rewrite_job *job, struct dti_line *line)
{
    const struct dti_new_files *const files = &job->rewrite->files;
    char from[DTI_QUOTE_SIZE], to[DTI_QUOTE_SIZE], shards[DTI_PLURAL_SIZE];
    dti_line_print(line, DTI_STYLE_PLAIN, "%s -> %s   %s %s there%s%s",
                   dti_human_path(from, job->path), dti_human_path(to, job->out_path),
                   dti_plural_words(shards, files->shards, "shard"),
                   files->shards == 1 ? "is" : "are",
                   !files->has_index || job->tensors->dry_run ? "" : "   index written",
                   job->tensors->dry_run ? "   (nothing is written)" : "");
    dti_line_end(line);
}

/* "  replaces out/model.safetensors.index.json and 2 other old files"; all with --dry-run. */
static void put_old_form(const struct dti_rewrite_job *job, struct dti_line *line)
{
    const struct dti_old_form *const old = &job->rewrite->files.old;
    const size_t named = job->tensors->dry_run || old->count < 3 ? old->count : 1;
    char path[DTI_QUOTE_SIZE], more[DTI_PLURAL_SIZE];
    if (old->count == 0)
        return;
    for (size_t i = 0; i < named; i++)
        dti_line_print(line, DTI_STYLE_PLAIN, "%s%s", i == 0 ? "  replaces " : ", ",
                       dti_human_path(path, old->paths[i]));
    if (named < old->count)
        dti_line_print(line, DTI_STYLE_PLAIN, " and %s",
                       dti_plural_words(more, old->count - named, "other old file"));
    dti_line_end(line);
}

/* "  general.file_type 15, was 7" */
static void put_changes(const struct dti_new_files *files, struct dti_line *line)
{
    const size_t count = dti_new_files_changes(files);
    for (size_t i = 0; i < count; i++) {
        const struct dti_head_change *const change = &files->list[0].head.changes[i];
        dti_line_print(line, DTI_STYLE_PLAIN, i == 0 ? "  %s %u" : "   %s %u", change->key,
                       (unsigned)change->to);
        if (change->added)
            dti_line_put(line, DTI_STYLE_PLAIN, ", added");
        else
            dti_line_print(line, DTI_STYLE_PLAIN, ", was %u", (unsigned)change->from);
    }
    if (count > 0)
        dti_line_end(line);
}

static void put_head(const struct dti_rewrite_job *job, struct dti_line *line)
{
    const struct dti_rewrite *const rewrite = job->rewrite;
    const struct dti_new_files *const files = &rewrite->files;
    const bool dry_text = job->to_text && job->tensors->dry_run;
    if (job->request.finish) {
        put_finish(job, line);
        put_companions(rewrite, line);
        put_old_form(job, line);
        return;
    }
    char from[DTI_QUOTE_SIZE], to[DTI_QUOTE_SIZE], read[DTI_TEXT_SIZE], written[DTI_TEXT_SIZE];
    char tensors[DTI_PLURAL_SIZE], shards[DTI_PLURAL_SIZE];
    dti_line_print(line, DTI_STYLE_PLAIN, "%s -> %s   %s",
                   strcmp(job->path, "-") == 0 ? "standard input" : dti_human_path(from, job->path),
                   !job->out_path   ? dti_container_name(job->target.kind)
                   : job->to_stdout ? "standard output"
                                    : dti_human_path(to, job->out_path),
                   dti_plural_words(tensors, rewrite->tensor_count, "tensor"));
    if (dti_is_sharded(files->kind)
            ? rewrite->request.recipe != DTI_RECIPE_QUANTIZE || files->count > 1
            : files->count > 1)
        dti_line_print(
            line, DTI_STYLE_PLAIN, " in %s",
            dti_plural_words(shards, files->count - files->has_index - files->companions, "file"));
    dti_human_bytes(written, job->answer.data_bytes);
    dti_line_print(line, DTI_STYLE_PLAIN, "   %s -> %s",
                   dti_human_bytes(read, job->answer.input.data_bytes),
                   dry_text ? "text" : written);
    if (job->tensors->dry_run)
        dti_line_put(line, DTI_STYLE_PLAIN, "   (nothing is written)");
    dti_line_end(line);
    put_share(job, line);
    put_companions(rewrite, line);
    put_old_form(job, line);
    put_changes(files, line);
}

static enum dti_status put_kinds(const struct dti_rewrite_job *job, const struct dti_line *line,
                                 struct dti_error *reterr)
{
    const struct dti_rewrite_page *const page = job->front->page;
    struct dti_tensor_kinds kinds = {.count = 0};
    for (size_t i = 0; i < job->rewrite->tensor_count; i++) {
        const struct dti_rewrite_tensor *const tensor = &job->rewrite->tensors[i];
        const struct dti_rewrite_origin from = dti_rewrite_origin(job->rewrite, i);
        const bool changed = tensor->fate == DTI_FATE_CHANGED;
        struct dti_tensor_kind kind = {.first = changed,
                                       .from = from.dtype,
                                       .to = changed ? dti_rewrite_dtype(job->rewrite, i) : NULL,
                                       .same_bytes = !changed || job->to_text,
                                       .count = 1,
                                       .input = from.bytes,
                                       .output = dti_rewrite_bytes(job->rewrite, i)};
        (void)snprintf(kind.words, sizeof kind.words, "%s", job->front->page->kept[tensor->fate]);
        if (!page->kind || page->kind(job, i, &kind))
            kinds_add(&kinds, &kind);
    }
    return kinds_write(&kinds, line->out, line->colour, reterr);
}

enum dti_status dti_rewrite_human(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    const struct dti_rewrite_page *const page = job->front->page;
    struct dti_line line = line_of(job);
    put_head(job, &line);
    if (page->recipe)
        page->recipe(job, &line);
    const enum dti_status status = put_kinds(job, &line, reterr);
    if (page->loss)
        page->loss(job, &line);
    return status == DTI_OK ? page->tables(job, reterr) : status;
}

void dti_rewrite_errors(const struct dti_rewrite_job *job, struct dti_line *line)
{
    const struct dti_rewrite *const rewrite = job->rewrite;
    const struct dti_loss_summary *const loss = job->answer.loss;
    char place[DTI_LOSS_PLACE_SIZE] = "";
    if (job->answer.located)
        dti_loss_place(place, dti_rewrite_source(rewrite, rewrite->max_tensor), loss->max_index);
    dti_loss_human_errors(loss, place, line);
}

void dti_rewrite_machine(const struct dti_rewrite_job *job, struct dti_line *line)
{
    dti_line_print(line, DTI_STYLE_DIM, "  level %s   %zu thread%s",
                   dti_level_name(job->request.level), job->threads, job->threads == 1 ? "" : "s");
}

bool dti_rewrite_cells(struct dti_table *table, const struct dti_tensor *source, const char *from,
                       const char *to)
{
    char shape[DTI_SHAPE_SIZE];
    if (!dti_tensor_cell(table, source))
        return false;
    dti_table_print(table, DTI_STYLE_PLAIN, to ? "%s -> %s" : "%s", from, to);
    dti_table_cell(table, DTI_STYLE_PLAIN, dti_shape_words(shape, source));
    return true;
}

static void put_bytes(const struct dti_rewrite_job *job, size_t at, struct dti_table *table)
{
    const struct dti_rewrite_tensor *const tensor = &job->rewrite->tensors[at];
    const bool quantizes = job->request.recipe == DTI_RECIPE_QUANTIZE || tensor->way->type;
    char from[DTI_TEXT_SIZE], to[DTI_TEXT_SIZE];
    dti_human_bytes(from, dti_rewrite_origin(job->rewrite, at).bytes);
    dti_human_bytes(to, dti_rewrite_bytes(job->rewrite, at));
    dti_table_print(table, DTI_STYLE_PLAIN,
                    dti_is_quantized(tensor) || tensor->way->type ? "%s -> %s" : "%s",
                    quantizes ? from : to, to);
}

/* Bits per element: "4.5"; nothing for an empty tensor. */
static void put_bits(const struct dti_rewrite *rewrite, size_t at, struct dti_table *table)
{
    char text[DTI_TEXT_SIZE];
    const double elements = (double)dti_rewrite_source(rewrite, at)->elements;
    const double bits = (double)dti_rewrite_bytes(rewrite, at) * 8;
    dti_table_cell(table, DTI_STYLE_PLAIN,
                   elements > 0 ? dti_figure_words(text, bits / elements, 4) : "");
}

static void put_figure(const struct dti_rewrite_outcome *outcome,
                       const struct dti_rewrite_column *column, struct dti_table *table)
{
    const void *const figure = (const char *)outcome + column->offset;
    const struct dti_loss_summary *const loss = &outcome->loss;
    char text[DTI_TEXT_SIZE];
    uint32_t code;
    switch (column->type) {
    case DTI_COLUMN_BYTES:
    case DTI_COLUMN_BITS:
        break;
    case DTI_COLUMN_COUNT:
        dti_count_cell(table, *(const uint64_t *)figure);
        break;
    case DTI_COLUMN_LOSS:
        dti_loss_cell(table, loss, *(const double *)figure);
        break;
    case DTI_COLUMN_RELATIVE:
        dti_table_cell(table, DTI_STYLE_PLAIN,
                       loss->compared > 0 ? dti_percent_words(text, *(const double *)figure, 3)
                                          : "-");
        break;
    case DTI_COLUMN_FLOAT:
        memcpy(&code, figure, sizeof code);
        dti_table_cell(table, DTI_STYLE_PLAIN, code != 0 ? dti_human_fp32(text, code) : "");
        break;
    case DTI_COLUMN_INT:
        dti_table_print(table, DTI_STYLE_PLAIN, "%ld", (long)*(const int32_t *)figure);
        break;
    }
}

static bool put_row(const struct dti_rewrite_job *job, size_t at, struct dti_table *table,
                    const struct dti_rewrite_column *columns, size_t column_count)
{
    const struct dti_rewrite_tensor *const tensor = &job->rewrite->tensors[at];
    const struct dti_tensor *const source = dti_rewrite_source(job->rewrite, at);
    const bool changed = tensor->fate == DTI_FATE_CHANGED;
    if (!dti_rewrite_cells(table, source, dti_rewrite_origin(job->rewrite, at).dtype,
                           changed ? dti_rewrite_dtype(job->rewrite, at) : NULL))
        return false;
    for (size_t i = 0; i < column_count; i++) {
        if (columns[i].hidden)
            continue;
        if (columns[i].type == DTI_COLUMN_BYTES)
            put_bytes(job, at, table);
        else if (columns[i].type == DTI_COLUMN_BITS)
            put_bits(job->rewrite, at, table);
        else if (changed)
            put_figure(dti_rewrite_outcome(job->rewrite, at), &columns[i], table);
        else
            dti_table_cell(table, DTI_STYLE_PLAIN, "");
    }
    return true;
}

struct dti_table *dti_rewrite_table_new(const char *const *heads, size_t count, const char *ranks)
{
    struct dti_table *const table = dti_table_new(count);
    for (size_t i = 0; i < count; i++)
        dti_table_cell(table, DTI_STYLE_BOLD, heads[i]);
    dti_table_heads(table, ranks);
    return table;
}

/* Only stdout has a page: on other streams a table is written in full. */
enum dti_status dti_rewrite_table_end(const struct dti_rewrite_job *job, struct dti_table *table,
                                      bool whole, struct dti_error *reterr)
{
    struct dti_command_context cx = *job->front->cx;
    if (dti_rewrite_aside(job)) {
        cx.out = cx.err;
        cx.colour = cx.colour_error;
        cx.limit = 0;
    }
    return dti_table_finish(table, whole, &cx, reterr);
}

enum dti_status dti_rewrite_table(const struct dti_rewrite_job *job,
                                  const struct dti_rewrite_column *columns, size_t column_count,
                                  const size_t *list, size_t count, struct dti_error *reterr)
{
    const char *heads[16] = {"name", "dtype", "shape"};
    size_t shown = 3;
    bool whole = true;
    for (size_t i = 0; i < column_count; i++) {
        if (!columns[i].hidden)
            heads[shown++] = columns[i].title;
    }
    struct dti_table *const table = dti_rewrite_table_new(heads, shown, "964");
    for (size_t i = 0; i < count && whole; i++)
        whole = put_row(job, list ? list[i] : i, table, columns, column_count);
    return dti_rewrite_table_end(job, table, whole, reterr);
}

enum { WORST = 5 };

enum dti_status dti_rewrite_worst(const struct dti_rewrite_job *job,
                                  bool (*lost)(const struct dti_rewrite *rewrite, size_t tensor),
                                  bool (*is_worse)(const struct dti_loss_summary *a,
                                                   const struct dti_loss_summary *b),
                                  dti_rewrite_put_table *put_table, const char *before,
                                  const char *after, struct dti_error *reterr)
{
    const struct dti_rewrite *const rewrite = job->rewrite;
    size_t list[WORST + 1], count = 0, all = 0;
    for (size_t i = 0; i < rewrite->tensor_count; i++) {
        size_t at = count;
        if (!lost(rewrite, i))
            continue;
        all++;
        for (; at > 0 && is_worse(&dti_rewrite_outcome(rewrite, i)->loss,
                                  &dti_rewrite_outcome(rewrite, list[at - 1])->loss);
             at--)
            list[at] = list[at - 1];
        list[at] = i;
        count += count < WORST;
    }
    const enum dti_status status = count > 0 ? put_table(job, list, count, reterr) : DTI_OK;
    if (status == DTI_OK && count < all)
        (void)fprintf(line_of(job).out, "%s%zu %s; -v shows all\n", before, all, after);
    return status;
}

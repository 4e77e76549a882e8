/* SPDX-License-Identifier: MIT
 *
 * The tensors of a file's quantization as a table. */
#include <math.h>
#include <string.h>

#include "cli/quant/quant_files.h"
#include "cli/quant/quant_values.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"
#include "cli/shared/tensor_words.h"

enum { WORST = 5, CELL = 320 };

/* Which columns a table has. */
struct quant_columns {
    bool scale, zero_point, blocks, losses;
    size_t count;
};

static struct quant_columns columns_of(const struct quant_file *file)
{
    const struct dti_block_format *const block = file->target->scheme.block;
    const bool ran = !file->args->dry_run;
    struct quant_columns columns = {
        .scale = ran && (block ? block->family == DTI_BLOCKS_NV
                               : file->target->scheme.per == DTI_PER_TENSOR),
        .blocks = ran && block,
        .losses = ran,
    };
    columns.zero_point = columns.scale && file->quant->zero_points;
    columns.count = 4 + (size_t)columns.scale + (size_t)columns.zero_point +
                    (size_t)columns.blocks + (columns.losses ? 5 : 0);
    return columns;
}

static void put_titles(const struct quant_file *file, struct dti_table *table,
                       const struct quant_columns *columns)
{
    const bool block = file->target->scheme.block;
    const char *const titles[] = {
        "name",
        "dtype",
        "shape",
        "bytes",
        columns->scale ? (block ? "tensor scale" : "scale") : NULL,
        columns->zero_point ? "zero point" : NULL,
        columns->losses ? "clipped" : NULL,
        columns->blocks ? "in blocks" : NULL,
        columns->losses ? (block ? "special blocks" : "special") : NULL,
        columns->losses ? "max abs error" : NULL,
        columns->losses ? "mean abs error" : NULL,
        columns->losses ? "SQNR dB" : NULL,
    };
    for (size_t i = 0; i < sizeof titles / sizeof titles[0]; i++) {
        if (titles[i])
            dti_table_cell(table, DTI_STYLE_BOLD, titles[i]);
    }
}

static void put_figures(const struct quant_file *file, struct dti_table *table,
                        const struct quant_columns *columns, size_t at)
{
    const struct dti_file_quant_tensor *const tensor = &file->quant->tensors[at];
    char cell[CELL];
    uint32_t code;
    if (columns->scale) {
        memcpy(&code, &tensor->scale, sizeof code);
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_quant_spell(cell, code));
    }
    if (columns->zero_point) {
        (void)snprintf(cell, sizeof cell, "%ld", (long)tensor->zero_point);
        dti_table_cell(table, DTI_STYLE_PLAIN, cell);
    }
    if (!columns->losses)
        return;
    dti_count_cell(table, tensor->count.clipped);
    if (columns->blocks)
        dti_count_cell(table, tensor->count.blocks);
    dti_count_cell(table, tensor->count.special);
    dti_loss_cell(table, &tensor->loss, tensor->loss.max_absolute);
    dti_loss_cell(table, &tensor->loss, tensor->loss.mean_absolute);
    dti_loss_cell(table, &tensor->loss, tensor->loss.sqnr_db);
}

static bool put_row(const struct quant_file *file, struct dti_table *table,
                    const struct quant_columns *columns, size_t at)
{
    const struct dti_file_quant_tensor *const tensor = &file->quant->tensors[at];
    const struct dti_tensor *const source = dti_quant_file_source(file, at);
    const bool quantized = tensor->fate == DTI_QUANT_FATE_QUANTIZED;
    char cell[CELL], shape[DTI_SHAPE_SIZE], from[DTI_TEXT_SIZE], to[DTI_TEXT_SIZE];
    if (!dti_tensor_cell(table, source))
        return false;
    (void)snprintf(cell, sizeof cell, quantized ? "%s -> %s" : "%s", source->format->name,
                   file->target->name);
    dti_table_cell(table, DTI_STYLE_PLAIN, cell);
    dti_table_cell(table, DTI_STYLE_PLAIN, dti_shape_words(shape, source));
    (void)snprintf(cell, sizeof cell, quantized ? "%s -> %s" : "%s",
                   dti_human_bytes(from, source->bytes), dti_human_bytes(to, tensor->bytes));
    dti_table_cell(table, DTI_STYLE_PLAIN, cell);
    if (quantized) {
        put_figures(file, table, columns, at);
        return true;
    }
    for (size_t i = 4; i < columns->count; i++)
        dti_table_cell(table, DTI_STYLE_PLAIN, "");
    return true;
}

/* Whether a lost more than b: the weaker signal comes first. */
static bool is_worse(const struct dti_loss_summary *a, const struct dti_loss_summary *b)
{
    const double one = isnan(a->sqnr_db) ? INFINITY : a->sqnr_db;
    const double other = isnan(b->sqnr_db) ? INFINITY : b->sqnr_db;
    return one < other;
}

static enum dti_status put_worst(const struct quant_file *file, struct dti_error *reterr)
{
    const struct dti_file_quant *const quant = file->quant;
    const struct quant_columns columns = columns_of(file);
    size_t worst[WORST + 1], count = 0;
    for (size_t i = 0; i < quant->tensor_count; i++) {
        size_t at = count;
        if (quant->tensors[i].fate != DTI_QUANT_FATE_QUANTIZED)
            continue;
        for (; at > 0 && is_worse(&quant->tensors[i].loss, &quant->tensors[worst[at - 1]].loss);
             at--)
            worst[at] = worst[at - 1];
        worst[at] = i;
        count += count < WORST;
    }
    struct dti_table *const table = dti_table_new(columns.count);
    bool whole = true;
    put_titles(file, table, &columns);
    for (size_t i = 0; i < count && whole; i++)
        whole = put_row(file, table, &columns, worst[i]);
    const enum dti_status status =
        dti_table_finish(table, whole, file->cx->out, file->cx->colour, reterr);
    if (status == DTI_OK && count < quant->quantized_count)
        (void)fprintf(file->cx->out, "  the worst of %zu quantized tensors; -v shows all\n",
                      quant->quantized_count);
    return status;
}

static enum dti_status put_all(const struct quant_file *file, struct dti_error *reterr)
{
    const struct quant_columns columns = columns_of(file);
    struct dti_table *const table = dti_table_new(columns.count);
    bool whole = true;
    put_titles(file, table, &columns);
    for (size_t i = 0; i < file->quant->tensor_count && whole; i++)
        whole = put_row(file, table, &columns, i);
    return dti_table_finish(table, whole, file->cx->out, file->cx->colour, reterr);
}

enum dti_status dti_quant_file_tensors(const struct quant_file *file, bool worst,
                                       struct dti_error *reterr)
{
    return worst ? put_worst(file, reterr) : put_all(file, reterr);
}

/* SPDX-License-Identifier: MIT
 *
 * The tensors of a file's quantization as a table. */
#include <math.h>
#include <string.h>

#include "answers/tensors.h"
#include "cli/quant/quant_files.h"
#include "cli/quant/quant_values.h"
#include "cli/shared/human.h"
#include "cli/shared/tensor_cells.h"

enum { WORST = 5 };

/* Which columns a table has. */
struct quant_columns {
    bool scale, zero_point, blocks, losses;
    size_t count;
};

static struct quant_columns columns_of(const struct dti_quant_file_answer *answer)
{
    const struct dti_block_format *const block = answer->target->scheme.block;
    const bool ran = !answer->dry_run;
    struct quant_columns columns = {
        .scale = ran && (block ? block->family == DTI_BLOCKS_NV
                               : answer->target->scheme.per == DTI_PER_TENSOR),
        .blocks = ran && block,
        .losses = ran,
    };
    columns.zero_point = columns.scale && answer->quant->zero_points;
    columns.count = 4 + (size_t)columns.scale + (size_t)columns.zero_point +
                    (size_t)columns.blocks + (columns.losses ? 5 : 0);
    return columns;
}

static void put_titles(const struct dti_quant_file_answer *answer, struct dti_table *table,
                       const struct quant_columns *columns)
{
    const bool block = answer->target->scheme.block;
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
    dti_table_heads(table, "9644"); /* name, dtype, shape, bytes */
}

static void put_figures(const struct dti_quant_file_answer *answer, struct dti_table *table,
                        const struct quant_columns *columns, size_t at)
{
    const struct dti_file_quant_tensor *const tensor = &answer->quant->tensors[at];
    char cell[DTI_TEXT_SIZE];
    uint32_t code;
    if (columns->scale) {
        memcpy(&code, &tensor->scale, sizeof code);
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_quant_spell(cell, code));
    }
    if (columns->zero_point)
        dti_table_print(table, DTI_STYLE_PLAIN, "%ld", (long)tensor->zero_point);
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

static bool put_row(const struct dti_quant_file_answer *answer, struct dti_table *table,
                    const struct quant_columns *columns, size_t at)
{
    const struct dti_file_quant_tensor *const tensor = &answer->quant->tensors[at];
    const struct dti_tensor *const source = dti_quant_file_source(answer, at);
    const bool quantized = tensor->fate == DTI_QUANT_FATE_QUANTIZED;
    char shape[DTI_SHAPE_SIZE], from[DTI_TEXT_SIZE], to[DTI_TEXT_SIZE];
    if (!dti_tensor_cell(table, source))
        return false;
    dti_table_print(table, DTI_STYLE_PLAIN, quantized ? "%s -> %s" : "%s", source->format->name,
                    answer->target->name);
    dti_table_cell(table, DTI_STYLE_PLAIN, dti_shape_words(shape, source));
    dti_table_print(table, DTI_STYLE_PLAIN, quantized ? "%s -> %s" : "%s",
                    dti_human_bytes(from, source->bytes), dti_human_bytes(to, tensor->bytes));
    if (quantized) {
        put_figures(answer, table, columns, at);
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

/* The tensors of a list, or all where it is NULL. */
static enum dti_status put_table(const struct dti_context *cx,
                                 const struct dti_quant_file_answer *answer, const size_t *list,
                                 size_t count, struct dti_error *reterr)
{
    const struct quant_columns columns = columns_of(answer);
    struct dti_table *const table = dti_table_new(columns.count);
    bool whole = true;
    put_titles(answer, table, &columns);
    for (size_t i = 0; i < count && whole; i++)
        whole = put_row(answer, table, &columns, list ? list[i] : i);
    return dti_table_finish(table, whole, cx, reterr);
}

enum dti_status dti_quant_file_tensors(const struct dti_context *cx,
                                       const struct dti_quant_file_answer *answer, bool worst,
                                       struct dti_error *reterr)
{
    const struct dti_file_quant *const quant = answer->quant;
    size_t list[WORST + 1], count = 0;
    if (!worst)
        return put_table(cx, answer, NULL, quant->tensor_count, reterr);
    for (size_t i = 0; i < quant->tensor_count; i++) {
        size_t at = count;
        if (quant->tensors[i].fate != DTI_QUANT_FATE_QUANTIZED)
            continue;
        for (; at > 0 && is_worse(&quant->tensors[i].loss, &quant->tensors[list[at - 1]].loss);
             at--)
            list[at] = list[at - 1];
        list[at] = i;
        count += count < WORST;
    }
    const enum dti_status status = put_table(cx, answer, list, count, reterr);
    if (status == DTI_OK && count < quant->quantized_count)
        (void)fprintf(cx->out, "  the worst of %zu quantized tensors; -v shows all\n",
                      quant->quantized_count);
    return status;
}

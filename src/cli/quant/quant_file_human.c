/* SPDX-License-Identifier: MIT
 *
 * What became of a file's tensors, for people: a line on the whole, two on the recipe, one for each
 * dtype that there was, what was lost, and the tensors: all of a few, else those that lost most
 * (with -v all of them). */
#include <string.h>

#include "cli/cast/cast_array.h"
#include "cli/quant/quant_files.h"
#include "cli/quant/quant_values.h"
#include "cli/shared/choices.h"
#include "cli/shared/human.h"
#include "cli/shared/loss_human.h"
#include "cli/shared/tensor_cells.h"

enum { FEW = 12, CELL = 320, MAX_GROUPS = 256 };

static const char gap[] = "   ";

static void put(struct dti_line *line, const char *text)
{
    dti_line_put(line, DTI_STYLE_PLAIN, text);
}

static void put_bytes(struct dti_line *line, uint64_t from, uint64_t to)
{
    char text[DTI_TEXT_SIZE];
    put(line, dti_human_bytes(text, from));
    put(line, " -> ");
    put(line, dti_human_bytes(text, to));
}

/* model.safetensors -> out.safetensors   12 tensors   8.00 MiB -> 2.00 MiB */
static void put_head(const struct quant_file *file, struct dti_line *line)
{
    const struct dti_file_quant *const quant = file->quant;
    char path[DTI_QUOTE_SIZE], cell[CELL];
    put(line, dti_cast_path(path, file->path));
    put(line, " -> ");
    put(line, file->out_path ? dti_cast_path(path, file->out_path)
                             : dti_container_name(file->output.kind));
    put(line, gap);
    put(line, dti_plural_words(cell, quant->tensor_count, "tensor"));
    if (quant->files.count > 1) {
        put(line, " in ");
        put(line, dti_plural_words(cell, quant->files.count - quant->files.has_index, "file"));
    }
    put(line, gap);
    put_bytes(line, quant->input_bytes, quant->output_bytes);
    if (file->args->dry_run)
        put(line, "   (nothing is written)");
    dti_line_end(line);
}

/* What has a scale of its own, in words. */
static const char *granularity(const struct quant_file *file, char cell[CELL])
{
    const struct dti_quant_scheme *const scheme = &file->target->scheme;
    char axis[48] = "";
    if (scheme->block || scheme->per == DTI_PER_TENSOR)
        return scheme->block ? "" : "one scale a tensor";
    if (file->target->has_axis)
        (void)snprintf(axis, sizeof axis, " of axis %lld", (long long)file->target->axis);
    if (scheme->per == DTI_PER_CHANNEL)
        (void)snprintf(cell, CELL, "a scale for each channel%s",
                       file->target->has_axis ? axis : " of axis 0");
    else
        (void)snprintf(cell, CELL, "a scale for each %lu neighbours%s",
                       (unsigned long)scheme->group, axis);
    return cell;
}

/* The recipe, as for values. */
static void put_recipe(const struct quant_file *file, struct dti_line *line)
{
    const struct quant_target *const target = file->target;
    char words[QUANT_WORDS_SIZE], cell[CELL];
    put(line, "  ");
    dti_line_put(line, DTI_STYLE_BOLD, target->name);
    put(line, gap);
    put(line, dti_quant_kind_words(target, words));
    const char *const scales = granularity(file, cell);
    if (scales[0] != '\0') {
        put(line, gap);
        put(line, scales);
    }
    if (target->scheme.block) {
        put(line, "   scale ");
        put(line, dti_quant_scale_words(target, words));
    }
    dti_line_end(line);
    put(line, "  ");
    put(line, dti_quant_division_words(target));
    if (file->args->like_given) {
        put(line, ", like ");
        put(line, dti_choice_name(dti_choice_quant_like, file->args->like));
    }
    put(line, "   layout ");
    put(line, dti_quant_layout_name(file->quant->request.layout));
    dti_line_end(line);
}

/* Tensors of one dtype that met the same fate. */
struct quant_kind {
    const struct dti_format *from;
    enum dti_quant_fate fate;
    size_t count;
    uint64_t input, output;
};

static const char *fate_words(enum dti_quant_fate fate)
{
    switch (fate) {
    case DTI_QUANT_FATE_KEEP:
        return "kept: --keep";
    case DTI_QUANT_FATE_ONLY:
        return "kept: not of --only";
    case DTI_QUANT_FATE_INTEGER:
        return "kept: integers";
    case DTI_QUANT_FATE_COMPLEX:
        return "kept: complex";
    case DTI_QUANT_FATE_NARROW:
        return "kept: 8 bits or less already";
    case DTI_QUANT_FATE_SCALAR:
        return "kept: a single number";
    case DTI_QUANT_FATE_PART:
        return "kept: of tensors that are quantized already";
    default:
        return "";
    }
}

static size_t count_kinds(const struct quant_file *file, struct quant_kind kinds[MAX_GROUPS])
{
    size_t count = 0;
    for (size_t i = 0; i < file->quant->tensor_count; i++) {
        const struct dti_file_quant_tensor *const tensor = &file->quant->tensors[i];
        const struct dti_tensor *const source = dti_quant_file_source(file, i);
        size_t at = 0;
        while (at < count && (kinds[at].fate != tensor->fate ||
                              strcmp(kinds[at].from->name, source->format->name) != 0))
            at++;
        if (at == MAX_GROUPS)
            continue; /* there are fewer dtypes than that */
        if (at == count)
            kinds[count++] = (struct quant_kind){.from = source->format, .fate = tensor->fate};
        kinds[at].count++;
        kinds[at].input += source->bytes;
        kinds[at].output += tensor->bytes;
    }
    return count;
}

static enum dti_status put_kinds(const struct quant_file *file, struct dti_error *reterr)
{
    struct quant_kind kinds[MAX_GROUPS];
    const size_t count = count_kinds(file, kinds);
    if (count == 0)
        return DTI_OK;
    struct dti_table *const table = dti_table_new(4);
    for (size_t i = 0; i < 2 * count; i++) { /* what is quantized comes first */
        const struct quant_kind *const kind = &kinds[i % count];
        const bool quantized = kind->fate == DTI_QUANT_FATE_QUANTIZED;
        if (quantized != (i < count))
            continue;
        char cell[CELL], text[DTI_TEXT_SIZE];
        (void)snprintf(cell, sizeof cell, quantized ? "%s -> %s" : "%s", kind->from->name,
                       file->target->name);
        dti_table_cell(table, DTI_STYLE_PLAIN, cell);
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_plural_words(cell, kind->count, "tensor"));
        const size_t used =
            (size_t)snprintf(cell, sizeof cell, "%s", dti_human_bytes(text, kind->input));
        if (quantized)
            (void)snprintf(cell + used, sizeof cell - used, " -> %s",
                           dti_human_bytes(text, kind->output));
        dti_table_cell(table, DTI_STYLE_PLAIN, cell);
        dti_table_cell(table, DTI_STYLE_DIM, fate_words(kind->fate));
    }
    return dti_table_finish(table, true, file->cx->out, file->cx->colour, reterr);
}

static void put_number(struct dti_line *line, const char *name, uint64_t count)
{
    char cell[CELL], text[DTI_TEXT_SIZE];
    dti_spell_u64(text, count);
    (void)snprintf(cell, sizeof cell, "%s%s %s", line->column > 0 ? gap : "  ", name, text);
    dti_line_put(line, count > 0 ? DTI_STYLE_WARN : DTI_STYLE_PLAIN, cell);
}

static void put_loss(const struct quant_file *file, struct dti_line *line)
{
    const struct dti_file_quant *const quant = file->quant;
    char place[DTI_LOSS_PLACE_SIZE];
    struct dti_loss_summary loss;
    dti_loss_summarize(&quant->loss, &loss);
    put_number(line, "clipped", quant->count.clipped);
    if (file->target->scheme.block) {
        put_number(line, "in blocks", quant->count.blocks);
        put_number(line, "special blocks", quant->count.special);
    } else {
        put_number(line, "nan and inf", quant->count.special);
    }
    put_number(line, "to zero", loss.to_zero);
    dti_line_end(line);
    place[0] = '\0';
    if (loss.max_absolute > 0)
        dti_loss_place(place, dti_quant_file_source(file, quant->max_tensor),
                       quant->tensors[quant->max_tensor].loss.max_index);
    dti_loss_human_errors(&loss, place, line);
}

static void put_machine(const struct quant_file *file, struct dti_line *line)
{
    char kernels[DTI_PLAN_TEXT_SIZE], cell[CELL];
    (void)snprintf(cell, sizeof cell, "  level %s   %zu thread%s", dti_level_name(file->level),
                   file->threads, file->threads == 1 ? "" : "s");
    dti_line_put(line, DTI_STYLE_DIM, cell);
    if (file->quant->plan_count > 0) {
        put(line, gap);
        dti_line_put(line, DTI_STYLE_DIM,
                     dti_quant_plan_describe(file->quant->plans[0], false, kernels));
    }
    dti_line_end(line);
}

enum dti_status dti_quant_file_human(const struct quant_file *file, struct dti_error *reterr)
{
    const struct dti_file_quant *const quant = file->quant;
    const bool ran = quant->quantized_count > 0 && !file->args->dry_run;
    struct dti_line line = {.out = file->cx->out, .colour = file->cx->colour};
    put_head(file, &line);
    put_recipe(file, &line);
    const enum dti_status status = put_kinds(file, reterr);
    if (ran)
        put_loss(file, &line);
    if (ran && file->cx->verbose)
        put_machine(file, &line);
    if (status != DTI_OK || quant->tensor_count == 0)
        return status;
    if (file->cx->verbose || quant->tensor_count <= FEW)
        return dti_quant_file_tensors(file, false, reterr);
    return ran ? dti_quant_file_tensors(file, true, reterr) : DTI_OK;
}

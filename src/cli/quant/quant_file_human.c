/* SPDX-License-Identifier: MIT
 *
 * What became of a file's tensors, for people: a line on the whole, two on the recipe, one for each
 * dtype that there was, what was lost, and the tensors: all of a few, else those that lost most
 * (with -v all of them). */
#include "cli/quant/quant_files.h"
#include "cli/quant/quant_values.h"
#include "cli/shared/human.h"
#include "cli/shared/loss_human.h"
#include "cli/shared/tensor_cells.h"
#include "cli/shared/tensor_kinds.h"

enum { FEW = 12 };

static const char gap[] = "   ";

static void put(struct dti_line *line, const char *text)
{
    dti_line_put(line, DTI_STYLE_PLAIN, text);
}

/* model.safetensors -> out.safetensors   12 tensors   8.00 MiB -> 2.00 MiB */
static void put_head(const struct dti_quant_file_answer *answer, struct dti_line *line)
{
    const struct dti_file_quant *const quant = answer->quant;
    char from[DTI_QUOTE_SIZE], to[DTI_QUOTE_SIZE], read[DTI_TEXT_SIZE], written[DTI_TEXT_SIZE];
    char tensors[DTI_PLURAL_SIZE], files[DTI_PLURAL_SIZE];
    dti_line_print(line, DTI_STYLE_PLAIN, "%s -> %s   %s", dti_human_path(from, answer->path),
                   answer->out_path ? dti_human_path(to, answer->out_path)
                                    : dti_container_name(answer->kind),
                   dti_plural_words(tensors, quant->tensor_count, "tensor"));
    if (quant->files.count > 1)
        dti_line_print(
            line, DTI_STYLE_PLAIN, " in %s",
            dti_plural_words(files, quant->files.count - quant->files.has_index, "file"));
    dti_line_print(line, DTI_STYLE_PLAIN, "   %s -> %s", dti_human_bytes(read, quant->input_bytes),
                   dti_human_bytes(written, quant->output_bytes));
    if (answer->dry_run)
        put(line, "   (nothing is written)");
    dti_line_end(line);
}

/* What has a scale of its own, in words; nothing for blocks. */
static void put_granularity(const struct dti_quant_target *target, struct dti_line *line)
{
    const struct dti_quant_scheme *const scheme = &target->scheme;
    if (scheme->block)
        return;
    if (scheme->per == DTI_PER_TENSOR)
        put(line, "   one scale a tensor");
    else if (scheme->per == DTI_PER_CHANNEL)
        put(line, "   a scale for each channel");
    else
        dti_line_print(line, DTI_STYLE_PLAIN, "   a scale for each %lu neighbours",
                       (unsigned long)scheme->group);
    if (target->has_axis || scheme->per == DTI_PER_CHANNEL)
        dti_line_print(line, DTI_STYLE_PLAIN, " of axis %lld", (long long)target->axis);
}

/* The recipe, as for values. */
static void put_recipe(const struct dti_quant_file_answer *answer, struct dti_line *line)
{
    const struct dti_quant_target *const target = answer->target;
    const char *const like = dti_quant_like_word(answer->rules->like);
    char words[QUANT_WORDS_SIZE];
    put(line, "  ");
    dti_line_put(line, DTI_STYLE_BOLD, target->name);
    dti_line_print(line, DTI_STYLE_PLAIN, "   %s", dti_quant_kind_words(target, words));
    put_granularity(target, line);
    if (target->scheme.block)
        dti_line_print(line, DTI_STYLE_PLAIN, "   scale %s", dti_quant_scale_words(target, words));
    dti_line_end(line);
    dti_line_print(line, DTI_STYLE_PLAIN, "  %s%s%s   layout %s", dti_quant_division_words(target),
                   like ? ", like " : "", like ? like : "",
                   dti_quant_layout_name(answer->quant->request.layout));
    dti_line_end(line);
}

static const char *const fate_words[DTI_QUANT_FATE_COUNT] = {
    [DTI_QUANT_FATE_QUANTIZED] = "",
    [DTI_QUANT_FATE_KEEP] = "kept: --keep",
    [DTI_QUANT_FATE_ONLY] = "kept: not of --quant-only",
    [DTI_QUANT_FATE_INTEGER] = "kept: integers",
    [DTI_QUANT_FATE_COMPLEX] = "kept: complex",
    [DTI_QUANT_FATE_NARROW] = "kept: 8 bits or less already",
    [DTI_QUANT_FATE_SCALAR] = "kept: a single number",
    [DTI_QUANT_FATE_PART] = "kept: of tensors that are quantized already",
};

static enum dti_status put_kinds(const struct dti_context *cx,
                                 const struct dti_quant_file_answer *answer,
                                 struct dti_error *reterr)
{
    struct dti_tensor_kinds kinds = {.count = 0};
    for (size_t i = 0; i < answer->quant->tensor_count; i++) {
        const struct dti_file_quant_tensor *const tensor = &answer->quant->tensors[i];
        const struct dti_tensor *const source = dti_quant_file_source(answer, i);
        const bool quantized = tensor->fate == DTI_QUANT_FATE_QUANTIZED;
        struct dti_tensor_kind kind = {.first = quantized,
                                       .from = source->format->name,
                                       .to = quantized ? answer->target->name : NULL,
                                       .same_bytes = !quantized,
                                       .count = 1,
                                       .input = source->bytes,
                                       .output = tensor->bytes};
        (void)snprintf(kind.words, sizeof kind.words, "%s", fate_words[tensor->fate]);
        dti_kinds_add(&kinds, &kind);
    }
    return dti_kinds_write(&kinds, cx->out, cx->colour, reterr);
}

static void put_loss(const struct dti_quant_file_answer *answer, struct dti_line *line)
{
    const struct dti_file_quant *const quant = answer->quant;
    char place[DTI_LOSS_PLACE_SIZE] = "";
    struct dti_loss_summary loss;
    dti_quant_file_loss(answer, &loss);
    dti_loss_human_count(line, "clipped", quant->count.clipped);
    if (answer->target->scheme.block) {
        dti_loss_human_count(line, "in blocks", quant->count.blocks);
        dti_loss_human_count(line, "special blocks", quant->count.special);
    } else {
        dti_loss_human_count(line, "nan and inf", quant->count.special);
    }
    dti_loss_human_count(line, "to zero", loss.to_zero);
    dti_line_end(line);
    if (loss.max_absolute > 0)
        dti_loss_place(place, dti_quant_file_source(answer, quant->max_tensor), loss.max_index);
    dti_loss_human_errors(&loss, place, line);
}

static void put_machine(const struct dti_quant_file_answer *answer, struct dti_line *line)
{
    char kernels[DTI_PLAN_TEXT_SIZE];
    dti_line_print(line, DTI_STYLE_DIM, "  level %s   %zu thread%s", dti_level_name(answer->level),
                   answer->threads, answer->threads == 1 ? "" : "s");
    if (answer->quant->plan_count > 0) {
        put(line, gap);
        dti_line_put(line, DTI_STYLE_DIM,
                     dti_quant_plan_describe(answer->quant->plans[0], false, kernels));
    }
    dti_line_end(line);
}

enum dti_status dti_quant_file_human(const struct dti_context *cx,
                                     const struct dti_quant_file_answer *answer,
                                     struct dti_error *reterr)
{
    const struct dti_file_quant *const quant = answer->quant;
    const bool ran = quant->quantized_count > 0 && !answer->dry_run;
    const bool all = cx->verbose || quant->tensor_count <= FEW;
    struct dti_line line = {.out = cx->out, .colour = cx->colour};
    put_head(answer, &line);
    put_recipe(answer, &line);
    const enum dti_status status = put_kinds(cx, answer, reterr);
    if (ran)
        put_loss(answer, &line);
    if (ran && cx->verbose)
        put_machine(answer, &line);
    if (status != DTI_OK || quant->tensor_count == 0 || (!all && !ran))
        return status;
    return dti_quant_file_tensors(cx, answer, !all, reterr);
}

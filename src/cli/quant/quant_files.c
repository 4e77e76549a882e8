/* SPDX-License-Identifier: MIT
 *
 * dtinfo quant FILE DTYPE: files of tensors, quantized or dequantized. The report: a summary line,
 * two lines on the recipe, one per input dtype, the losses, and the tensors: all if there are few,
 * else those that lost most (with -v all of them). */
#include <math.h>
#include <string.h>

#include "cli/quant/quant_words.h"
#include "cli/rewrite/dequant_report.h"
#include "cli/shared/loss_human.h"

enum { FEW = 12 };

/* The granularity of scales, in words; nothing for blocks. */
static void put_granularity(const struct dti_quant_target *target, struct dti_line *line)
{
    const struct dti_quant_scheme *const scheme = &target->scheme;
    if (scheme->block)
        return;
    if (scheme->per == DTI_PER_TENSOR)
        dti_line_text(line, "   one scale a tensor");
    else if (scheme->per == DTI_PER_CHANNEL)
        dti_line_text(line, "   a scale for each channel");
    else
        dti_line_print(line, DTI_STYLE_PLAIN, "   a scale for each %lu neighbours",
                       (unsigned long)scheme->group);
    if (target->has_axis || scheme->per == DTI_PER_CHANNEL)
        dti_line_print(line, DTI_STYLE_PLAIN, " of axis %lld", (long long)target->axis);
}

static bool encodes(const struct dti_rewrite_job *job)
{
    return job->request.recipe == DTI_RECIPE_ENCODE;
}

/* "  q4_k   blocks of 256 elements, 144 bytes each   layout gguf" */
static void put_blocks(const struct dti_rewrite_job *job, struct dti_line *line)
{
    const struct dti_gguf_type *const type = job->request.encode.type;
    dti_line_text(line, "  ");
    dti_line_put(line, DTI_STYLE_BOLD, type->word);
    dti_line_print(line, DTI_STYLE_PLAIN, "   blocks of %u elements, %u bytes each   layout gguf",
                   type->elements, type->bytes);
    const struct dti_importance *const importance = job->request.encode.importance;
    if (importance) {
        const char *const path = dti_importance_path(importance);
        dti_line_print(line, DTI_STYLE_PLAIN, "   %zu weighted by %s", job->rewrite->weights.used,
                       DTI_QUOTED(path, strlen(path)));
    }
    dti_line_end(line);
}

/* The recipe, as for values. */
static void put_recipe(const struct dti_rewrite_job *job, struct dti_line *line)
{
    const struct quant_file *const file = job->args;
    const struct dti_quant_target *const target = file->target;
    if (encodes(job)) {
        put_blocks(job, line);
        return;
    }
    const char *const like = dti_quant_like_word(file->rules.like);
    char words[QUANT_WORDS_SIZE];
    dti_line_text(line, "  ");
    dti_line_put(line, DTI_STYLE_BOLD, target->name);
    dti_line_print(line, DTI_STYLE_PLAIN, "   %s", dti_quant_kind_words(target, words));
    put_granularity(target, line);
    if (target->scheme.block)
        dti_line_print(line, DTI_STYLE_PLAIN, "   scale %s", dti_quant_scale_words(target, words));
    dti_line_end(line);
    const size_t fused = job->answer.fused;
    dti_line_print(line, DTI_STYLE_PLAIN, "  %s%s%s   layout %s%s",
                   dti_quant_division_words(target), like ? ", like " : "", like ? like : "",
                   job->answer.layout, file->args->recipe.nested ? ", nested absmax" : "");
    if (job->request.quantize.rotation > 0)
        dti_line_print(line, DTI_STYLE_PLAIN, "   rotated by %u", job->request.quantize.rotation);
    if (fused > 0)
        dti_line_print(line, DTI_STYLE_PLAIN, "   fused tensors that share scales: %zu", fused);
    dti_line_end(line);
}

static void put_machine(const struct dti_rewrite_job *job, struct dti_line *line)
{
    dti_rewrite_machine(job, line);
    if (job->answer.kernels) {
        dti_line_text(line, "   ");
        dti_line_put(line, DTI_STYLE_DIM, job->answer.kernels);
    }
    dti_line_end(line);
}

static bool ran(const struct dti_rewrite_job *job)
{
    return job->rewrite->changed_count > 0 && !job->tensors->dry_run;
}

static bool has_blocks(const struct dti_quant_scheme *scheme)
{
    return scheme->block != NULL;
}

static bool has_no_blocks(const struct dti_quant_scheme *scheme)
{
    return !scheme->block;
}

/* Whether its tensors have one scale that the table shows. */
static bool has_scale(const struct dti_quant_scheme *scheme)
{
    return scheme->block ? scheme->block->family == DTI_BLOCKS_NV : scheme->per == DTI_PER_TENSOR;
}

/* Whether any dtype of the file is like that. */
static bool any_form(const struct dti_rewrite *rewrite,
                     bool (*is)(const struct dti_quant_scheme *scheme))
{
    bool any = false;
    for (size_t i = 0; rewrite->forms && i <= rewrite->request.quantize_rule_count; i++)
        any = any || is(&rewrite->forms[i].recipe->scheme);
    return any;
}

static void put_loss(struct dti_rewrite_job *job, struct dti_line *line)
{
    const struct dti_rewrite *const rewrite = job->rewrite;
    const struct dti_loss_summary *const loss = job->answer.loss;
    if (!ran(job))
        return;
    if (!encodes(job))
        dti_loss_human_count(line, "clipped", rewrite->count.clipped);
    if (encodes(job)) {
        dti_loss_human_count(line, "inexact", loss->inexact);
    } else if (any_form(rewrite, has_blocks)) {
        const bool all = !any_form(rewrite, has_no_blocks);
        dti_loss_human_count(line, "in blocks", rewrite->count.blocks);
        dti_loss_human_count(line, all ? "special blocks" : "special", rewrite->count.special);
    } else {
        dti_loss_human_count(line, "nan and inf", rewrite->count.special);
    }
    dti_loss_human_count(line, "to zero", loss->to_zero);
    dti_line_end(line);
    dti_rewrite_errors(job, line);
    if (job->front->cx->verbose)
        put_machine(job, line);
}

static enum dti_status put_table(const struct dti_rewrite_job *job, const size_t *list,
                                 size_t count, struct dti_error *reterr)
{
    const bool dry = job->tensors->dry_run, gguf = encodes(job);
    const bool blocks = any_form(job->rewrite, has_blocks);
    const bool all = blocks && !any_form(job->rewrite, has_no_blocks);
    const bool scale = any_form(job->rewrite, has_scale);
    const struct dti_rewrite_column columns[] = {
        {"bytes", DTI_COLUMN_BYTES, 0, false},
        {"bits", DTI_COLUMN_BITS, 0, !gguf},
        {all ? "tensor scale" : "scale", DTI_COLUMN_FLOAT, DTI_COLUMN_OF(quantized.scale),
         dry || !scale},
        {"zero point", DTI_COLUMN_INT, DTI_COLUMN_OF(quantized.zero_point),
         dry || !scale || !dti_rewrite_has_zero_points(job->rewrite)},
        {"clipped", DTI_COLUMN_COUNT, DTI_COLUMN_OF(quantized.count.clipped), dry || gguf},
        {"in blocks", DTI_COLUMN_COUNT, DTI_COLUMN_OF(quantized.count.blocks), dry || !blocks},
        {all ? "special blocks" : "special", DTI_COLUMN_COUNT,
         DTI_COLUMN_OF(quantized.count.special), dry || gguf},
        {"max abs error", DTI_COLUMN_LOSS, DTI_COLUMN_OF(loss.max_absolute), dry},
        {"mean abs error", DTI_COLUMN_LOSS, DTI_COLUMN_OF(loss.mean_absolute), dry},
        {"SQNR dB", DTI_COLUMN_LOSS, DTI_COLUMN_OF(loss.sqnr_db), dry},
    };
    return dti_rewrite_table(job, columns, sizeof columns / sizeof *columns, list, count, reterr);
}

static bool is_changed(const struct dti_rewrite *rewrite, size_t tensor)
{
    return rewrite->tensors[tensor].fate == DTI_FATE_CHANGED;
}

/* Whether a lost more than b: the lower SQNR comes first. */
static bool is_worse(const struct dti_loss_summary *a, const struct dti_loss_summary *b)
{
    const double one = isnan(a->sqnr_db) ? INFINITY : a->sqnr_db;
    const double other = isnan(b->sqnr_db) ? INFINITY : b->sqnr_db;
    return one < other;
}

static enum dti_status put_tables(const struct dti_rewrite_job *job, struct dti_error *reterr)
{
    const size_t count = job->rewrite->tensor_count;
    if (count > 0 && (job->front->cx->verbose || count <= FEW))
        return put_table(job, NULL, count, reterr);
    if (count == 0 || !ran(job))
        return DTI_OK;
    return dti_rewrite_worst(job, is_changed, is_worse, put_table, "  the worst of ",
                             "quantized tensors", reterr);
}

static const char *const kept[DTI_FATE_COUNT] = {
    [DTI_FATE_CHANGED] = "",
    [DTI_FATE_KEEP] = "kept: --keep",
    [DTI_FATE_ONLY] = "kept: not in --quant-only",
    [DTI_FATE_INTEGER] = "kept: integers",
    [DTI_FATE_COMPLEX] = "kept: complex",
    [DTI_FATE_NARROW] = "kept: 8 bits or less already",
    [DTI_FATE_SCALAR] = "kept: a single number",
    [DTI_FATE_PART] = "kept: part of an already quantized tensor",
    [DTI_FATE_UNNAMED] = "kept: not a matrix called X.weight",
};

static const struct dti_rewrite_page page = {
    .verb = "quantized",
    .example = "as in 'dtinfo quant model.safetensors mxfp4 -o model.mxfp4.safetensors'",
    .no_file = "no file to quantize",
    .kept = kept,
    .recipe = put_recipe,
    .loss = put_loss,
    .tables = put_tables,
};

static const char *const gguf_kept[DTI_FATE_COUNT] = {
    [DTI_FATE_CHANGED] = "",
    [DTI_FATE_SAME] = "as it is",
    [DTI_FATE_KEEP] = "kept",
    [DTI_FATE_ONLY] = "kept: not in --quant-only",
    [DTI_FATE_INTEGER] = "kept: integers",
    [DTI_FATE_COMPLEX] = "kept: complex",
    [DTI_FATE_NARROW] = "kept: less than 8 bits",
    [DTI_FATE_SCALAR] = "kept: a single number",
    [DTI_FATE_BLOCKS] = "as it is",
    [DTI_FATE_CONVENTION] = "kept: as llama-quantize does",
};

static const struct dti_rewrite_page gguf_page = {
    .verb = "quantized",
    .example = "as in 'dtinfo quant model.gguf q8_0 -o model.q8_0.gguf'",
    .no_file = "no file to quantize",
    .kept = gguf_kept,
    .recipe = put_recipe,
    .loss = put_loss,
    .tables = put_tables,
};

/* What is not in the plan stays. */
static enum dti_status run_plan(const struct quant_args *args, struct dti_command_context *cx,
                                char **operands, int count, struct dti_error *reterr)
{
    const int files = args->transfer.input ? 0 : 1;
    const char *words[DTI_FATE_COUNT], *path;
    struct dti_quant_plan_file plan;
    enum dti_status status =
        dti_quant_plan_read(&plan, args, count > files ? operands[files] : NULL, reterr);
    struct dti_rewrite_page own = plan.choice.gguf ? gguf_page : page;
    memcpy((void *)words, (const void *)own.kept, sizeof words);
    words[DTI_FATE_KEEP] = "kept: not in the plan";
    own.kept = words;
    const struct dti_rewrite_front front = dti_rewrite_front(cx, &own);
    if (status == DTI_OK)
        status = dti_rewrite_operands(&own, args->transfer.input, true, operands, count, &path,
                                      NULL, reterr);
    if (status == DTI_OK)
        status = dti_quant_file_run(&plan.args, &front, path, plan.dtype, reterr);
    dti_quant_plan_file_free(&plan);
    return status;
}

enum dti_status dti_quant_files(const struct quant_args *args, struct dti_command_context *cx,
                                char **operands, int count, struct dti_error *reterr)
{
    const char *const input = args->transfer.input;
    const int files = input ? 0 : 1;
    const bool dequant = args->recipe.dequant;
    if (args->plan)
        return run_plan(args, cx, operands, count, reterr);
    const bool gguf = dti_quant_is_gguf(args, count > files ? operands[files] : NULL);
    const struct dti_rewrite_front front = dti_rewrite_front(cx, dequant ? &dti_dequant_page
                                                                 : gguf  ? &gguf_page
                                                                         : &page);
    const char *path = NULL, *dtype = NULL;
    const enum dti_status status =
        dti_rewrite_operands(front.page, input, !dequant, operands, count, &path, &dtype, reterr);
    return status == DTI_OK ? dti_quant_file_run(args, &front, path, dtype, reterr) : status;
}

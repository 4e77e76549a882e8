/* SPDX-License-Identifier: MIT
 *
 * The report on a quantized file: a summary line, two lines on the recipe, one per input dtype, the
 * losses, and the tensors: all if there are few, else those that lost most (with -v all of them).
 */
#include <math.h>
#include <stddef.h>

#include "cli/quant/quant_files.h"
#include "cli/quant/quant_values.h"
#include "cli/shared/loss_human.h"

enum { FEW = 12 };

static void put(struct dti_line *line, const char *text)
{
    dti_line_put(line, DTI_STYLE_PLAIN, text);
}

/* The granularity of scales, in words; nothing for blocks. */
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

static bool encodes(const struct dti_rewrite_job *job)
{
    return job->request.recipe == DTI_RECIPE_ENCODE;
}

/* "  q4_k   blocks of 256 elements, 144 bytes each   layout gguf" */
static void put_blocks(const struct dti_rewrite_job *job, struct dti_line *line)
{
    const struct dti_gguf_type *const type = job->request.encode.type;
    put(line, "  ");
    dti_line_put(line, DTI_STYLE_BOLD, type->word);
    dti_line_print(line, DTI_STYLE_PLAIN, "   blocks of %u elements, %u bytes each   layout gguf",
                   type->elements, type->bytes);
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
    put(line, "  ");
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
    if (fused > 0)
        dti_line_print(line, DTI_STYLE_PLAIN, "   fused tensors that share scales: %zu", fused);
    dti_line_end(line);
}

static void put_machine(const struct dti_rewrite_job *job, struct dti_line *line)
{
    dti_rewrite_machine(job, line);
    if (job->answer.kernels) {
        put(line, "   ");
        dti_line_put(line, DTI_STYLE_DIM, job->answer.kernels);
    }
    dti_line_end(line);
}

static bool ran(const struct dti_rewrite_job *job)
{
    return job->rewrite->changed_count > 0 && !job->tensors->dry_run;
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
    } else if (job->answer.target->scheme.block) {
        dti_loss_human_count(line, "in blocks", rewrite->count.blocks);
        dti_loss_human_count(line, "special blocks", rewrite->count.special);
    } else {
        dti_loss_human_count(line, "nan and inf", rewrite->count.special);
    }
    dti_loss_human_count(line, "to zero", loss->to_zero);
    dti_line_end(line);
    dti_rewrite_errors(job, line);
    if (job->cx->verbose)
        put_machine(job, line);
}

static enum dti_status put_table(const struct dti_rewrite_job *job, const size_t *list,
                                 size_t count, struct dti_error *reterr)
{
    const struct dti_quant_scheme *const scheme = &job->answer.target->scheme;
    const struct dti_block_format *const block = scheme->block;
    const bool dry = job->tensors->dry_run;
    const bool scale = block ? block->family == DTI_BLOCKS_NV : scheme->per == DTI_PER_TENSOR;
    const bool gguf = encodes(job);
    const struct dti_rewrite_column columns[] = {
        {"bytes", DTI_COLUMN_BYTES, 0, false},
        {"bits", DTI_COLUMN_BITS, 0, !gguf},
        {block ? "tensor scale" : "scale", DTI_COLUMN_FLOAT, DTI_COLUMN_OF(quantized.scale),
         dry || !scale},
        {"zero point", DTI_COLUMN_INT, DTI_COLUMN_OF(quantized.zero_point),
         dry || !scale || !job->rewrite->zero_points},
        {"clipped", DTI_COLUMN_COUNT, DTI_COLUMN_OF(quantized.count.clipped), dry || gguf},
        {"in blocks", DTI_COLUMN_COUNT, DTI_COLUMN_OF(quantized.count.blocks), dry || !block},
        {block ? "special blocks" : "special", DTI_COLUMN_COUNT,
         DTI_COLUMN_OF(quantized.count.special), dry || gguf},
        {"max abs error", DTI_COLUMN_LOSS, DTI_COLUMN_OF(loss.max_absolute), dry},
        {"mean abs error", DTI_COLUMN_LOSS, DTI_COLUMN_OF(loss.mean_absolute), dry},
        {"SQNR dB", DTI_COLUMN_LOSS, DTI_COLUMN_OF(loss.sqnr_db), dry},
    };
    return dti_rewrite_table(job, columns, sizeof columns / sizeof *columns, list, count, reterr);
}

static bool is_changed(const struct dti_rewrite_tensor *tensor)
{
    return tensor->fate == DTI_FATE_CHANGED;
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
    if (count > 0 && (job->cx->verbose || count <= FEW))
        return put_table(job, NULL, count, reterr);
    if (count == 0 || !ran(job))
        return DTI_OK;
    return dti_rewrite_worst(job, is_changed, is_worse, put_table, "  the worst of ",
                             "quantized tensors", reterr);
}

const struct dti_rewrite_page dti_quant_page = {
    .recipe = put_recipe,
    .loss = put_loss,
    .tables = put_tables,
};

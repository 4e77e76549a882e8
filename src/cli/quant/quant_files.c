/* SPDX-License-Identifier: MIT
 *
 * dtinfo quant FILE DTYPE: files of tensors, quantized or dequantized. The report: a summary line,
 * two lines on the recipe, one per input dtype, the losses, and the tensors: all if there are few,
 * else those that lost most (with -v all of them). */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/quant/quant_args.h"
#include "cli/rewrite/dequant_report.h"
#include "cli/rewrite/type_rules.h"
#include "cli/shared/loss_human.h"
#include "files/stored/quant_marks.h"
#include "kernels/gguf/gguf_kernel.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"
#include "util/text/glob.h"

struct quant_file {
    struct dti_rewrite_job job;
    const struct quant_args *args;
    const struct dti_quant_target *target;
    struct dti_quant_types types; /* not for GGUF; target is the first of them */
    struct dti_quant_rules rules; /* with the layout applied; GGUF: zeros */
};

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
    if (job->cx->verbose)
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

static const struct dti_rewrite_page page = {
    .recipe = put_recipe,
    .loss = put_loss,
    .tables = put_tables,
};

static enum dti_status check_rotation(const struct quant_args *args, struct dti_error *reterr)
{
    const char *const option = dti_quant_given(args, "min max scale zero-point axis block");
    const uint64_t columns = args->recipe.convrot;
    if (!dti_quant_layout_marks((enum dti_quant_layout)args->recipe.layout))
        return dti_fail(reterr, DTI_USAGE,
                        "--convrot is for --layout comfy; give that, or leave it out");
    if (columns != 16 && columns != 64 && columns != 256)
        return dti_fail(reterr, DTI_USAGE, "--convrot takes 16, 64 or 256 columns; got %llu",
                        (unsigned long long)columns);
    if (option || (args->recipe.per_given && args->recipe.rules.per != DTI_PER_CHANNEL))
        return dti_fail(reterr, DTI_USAGE,
                        "--convrot has a scale for each row, from its range; leave out --%s",
                        option ? option : "per");
    return DTI_OK;
}

/* Checks for options that a flattening layout fixes, or that only such a layout has. */
static enum dti_status check_layout(const struct quant_args *args, struct dti_error *reterr)
{
    const bool flat = dti_quant_layout_is_flat((enum dti_quant_layout)args->recipe.layout);
    const char *const option = dti_quant_given(args, "packing axis pad");
    if (args->recipe.nested && !flat)
        return dti_fail(reterr, DTI_USAGE,
                        "--nested-absmax is for --layout bitsandbytes; give that, or leave it out");
    if (flat && option)
        return dti_fail(reterr, DTI_USAGE,
                        "--layout bitsandbytes flattens tensors, and packs the first code in the "
                        "highest bits; leave out --%s",
                        option);
    if (dti_quant_layout_marks((enum dti_quant_layout)args->recipe.layout) &&
        args->recipe.order_given)
        return dti_fail(reterr, DTI_USAGE,
                        "--layout comfy packs the first code in the highest bits; leave out "
                        "--packing");
    return args->recipe.convrot_given ? check_rotation(args, reterr) : DTI_OK;
}

static enum dti_status read_target(struct quant_file *file, const char *dtype,
                                   struct dti_error *reterr)
{
    const struct quant_args *const args = file->args;
    struct dti_quant_types *const types = &file->types;
    const enum dti_status status = dti_quant_types_read(types, args, file->job.cx, dtype, reterr);
    if (status != DTI_OK)
        return status;
    if (!args->recipe.min != !args->recipe.max)
        return dti_fail(reterr, DTI_USAGE, "for a file %s needs %s too",
                        args->recipe.min ? "--min" : "--max", args->recipe.min ? "--max" : "--min");
    for (size_t i = 0; i < types->distinct; i++) {
        const struct dti_quant_target *const target = &types->targets[i];
        const struct dti_quant_row *const row =
            dti_quant_row_find((enum dti_quant_layout)args->recipe.layout, target->name);
        if (args->recipe.order_given && row && row->packing == DTI_QUANT_WORDS)
            return dti_fail(reterr, DTI_USAGE,
                            "%s packs %s into words of 32 bits, the first in the lowest; leave out "
                            "--packing",
                            dti_quant_layout_name(row->layout), target->name);
        if (target->note)
            dti_warnings_add(&file->job.job.warnings, "dtype_name", target->name, 0, target->note);
    }
    bool rotates = !args->recipe.convrot_given;
    for (size_t i = 0; i < types->distinct; i++)
        rotates = rotates || dti_recipe_rotates(&args->recipe, &types->targets[i]);
    if (!rotates)
        return dti_fail(reterr, DTI_USAGE, "--convrot is for int8 and int4; leave it out");
    file->target = &types->targets[0];
    file->rules = dti_recipe_rules(&args->recipe);
    dti_recipe_request_quant(&file->job.request, &args->recipe, file->target);
    file->job.request.quantize_rules = types->rules;
    file->job.request.quantize_rule_count = types->count;
    return DTI_OK;
}

/* For commands whose args are a struct quant_file. */
static void describe(struct dti_rewrite_job *job)
{
    const struct quant_file *const file = job->args;
    job->answer.target = file->target;
    job->answer.rules = &file->rules;
}

static bool fails(const struct dti_rewrite_job *job)
{
    const struct dti_rewrite *const rewrite = job->rewrite;
    const unsigned seen = (rewrite->count.clipped > 0 ? DTI_QUANT_CLIPPED : 0U) |
                          (rewrite->count.special > 0 ? DTI_QUANT_SPECIAL : 0U) |
                          (rewrite->loss.inexact > 0 ? DTI_QUANT_INEXACT : 0U);
    return (job->fail_on & seen) != 0;
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

static const struct dti_rewrite_command command = {
    .verb = "quantized",
    .example = "as in 'dtinfo quant model.safetensors mxfp4 -o model.mxfp4.safetensors'",
    .no_file = "no file to quantize",
    .regular = true,
    .kept = kept,
    .describe = describe,
    .document = dti_document_quant_file,
    .page = &page,
    .fails = fails,
};

enum dti_status dti_quant_file(const struct quant_args *args, const struct dti_command_context *cx,
                               char **operands, int count, struct dti_error *reterr)
{
    struct quant_file file = {.args = args};
    struct dti_rewrite_job *const job = &file.job;
    const char *dtype = NULL;
    dti_rewrite_job_init(job, &command, &args->transfer, &args->tensors, cx);
    job->args = &file;
    job->fail_on = (unsigned)args->fail_on;
    enum dti_status status = dti_rewrite_operands(job, operands, count, &dtype, reterr);
    if (status == DTI_OK && args->bits_given)
        status = dti_fail(reterr, DTI_USAGE,
                          "--bits is for --dequant; the dtype determines the bits of a code");
    if (status == DTI_OK)
        status = dti_rewrite_options(job, NULL, reterr);
    if (status == DTI_OK)
        status = check_layout(args, reterr);
    if (status == DTI_OK)
        status = read_target(&file, dtype, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_source_options(job, reterr);
    status = dti_rewrite_job_run(job, status, reterr);
    if (status != DTI_OK && reterr && reterr->remedy == DTI_REMEDY_SAY_KIND)
        reterr->remedy = DTI_REMEDY_CAST_FIRST; /* this command has no --from */
    dti_quant_types_free(&file.types);
    return status;
}

/* GGUF blocks, in a file that holds nothing else quantized: a view dequantizes the quantized
 * tensors of the input, then its tensors are encoded. */

struct gguf_job {
    struct quant_file file; /* must be first: the report casts to it */
    struct dti_quant_target target;
    struct dti_type_rule rules[DTI_TYPE_RULES_MAX];
};

static const struct dti_type_words encoded = {dti_encode_type, "encoded in gguf files"};

bool dti_quant_is_gguf(const struct quant_args *args, char **operands, int count)
{
    const int files = args->transfer.input ? 0 : 1;
    if (args->transfer.output)
        return dti_is_gguf(dti_container_named(args->transfer.output)) && !args->transfer.as_given;
    return dti_quant_given(args, "template set set-from") ||
           (args->types && !args->recipe.layout_given && count > files &&
            dti_gguf_type_named(operands[files])) ||
           (count > files && dti_gguf_type_named(operands[files]) &&
            !dti_block_lookup(operands[files]));
}

static bool stays(const void *context, const struct dti_tensor *tensor)
{
    const struct dti_rewrite_job *const job = context;
    return dti_encode_keeps(&job->request.encode, job->tensors->keep, job->tensors->only, tensor);
}

/* --bits and --block describe codes of the input; GGUF blocks describe themselves. */
static enum dti_status check_hints(const struct quant_args *args, struct dti_file_dequant *dequant,
                                   struct dti_error *reterr)
{
    const char *const option = dti_quant_given(args, "bits block");
    const size_t count = dti_file_dequant_container(dequant)->tensor_count;
    bool open = !option;
    for (size_t i = 0; i < count && !open; i++) {
        const struct dti_dequant_form *const form = dti_file_dequant_form(dequant, i);
        open = form->dtype && strcmp(form->layout, "gguf") != 0;
    }
    if (open)
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE,
                    "--%s tells what the codes of the input are, which has none; types of gguf "
                    "files have no such choice",
                    option);
}

/* If nothing is quantized, the view is the file itself. */
static enum dti_status open_view(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    const struct dti_tensor_args *const tensors = job->tensors;
    const struct quant_args *const args = ((const struct quant_file *)job->args)->args;
    const struct dti_file_dequant_request request = {
        .bits = (unsigned)args->bits,
        .block = args->recipe.rules.block,
        .stated_by = "--bits or --block",
        .only = tensors->only,
        .keep = tensors->keep,
        .select = tensors->select,
        .level = job->request.level,
        .open = job->source.options,
        .stays = stays,
        .stays_context = job,
    };
    const enum dti_status status =
        dti_file_dequant_new(&job->request.dequant, job->container, &request, reterr);
    return status == DTI_OK ? check_hints(args, job->request.dequant, reterr) : status;
}

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

static const struct dti_rewrite_command gguf_command = {
    .verb = "quantized",
    .example = "as in 'dtinfo quant model.gguf q8_0 -o model.q8_0.gguf'",
    .no_file = "no file to quantize",
    .regular = true,
    .states = true,
    .kept = gguf_kept,
    .open = open_view,
    .describe = describe,
    .document = dti_document_quant_file,
    .page = &page,
    .fails = fails,
};

static enum dti_status check_gguf_options(const struct quant_args *args, struct dti_error *reterr)
{
    const char *const option = dti_quant_given(
        args,
        "min max scale zero-point tensor-scale fused axis symmetric affine symmetry division like "
        "mx-scale nv-scale per pad packing layout nested-absmax convrot");
    if (!option)
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE,
                    "--%s is not for gguf files, whose types say how numbers are quantized; leave "
                    "it out",
                    option);
}

static enum dti_status read_recipe(struct gguf_job *gguf, const char *word,
                                   struct dti_error *reterr)
{
    struct dti_rewrite_job *const job = &gguf->file.job;
    struct dti_encode_recipe *const recipe = &job->request.encode;
    job->request.recipe = DTI_RECIPE_ENCODE;
    job->request.cast.cast.dst = *dti_format_get(DTI_FP32); /* of --type; each has its own */
    enum dti_status status =
        dti_type_word_read(&encoded, word, strlen(word), false, &recipe->type, reterr);
    if (status == DTI_OK)
        status = dti_type_rules_read(&encoded, gguf->file.args->types, gguf->rules, &recipe->count,
                                     reterr);
    if (status != DTI_OK)
        return status;
    recipe->rules = gguf->rules;
    gguf->target = (struct dti_quant_target){
        .name = recipe->type->word,
        .scheme = {.per = DTI_PER_GROUP, .group = recipe->type->group},
        .gguf = true,
    };
    gguf->file.target = &gguf->target;
    return DTI_OK;
}

enum dti_status dti_quant_gguf(const struct quant_args *args, const struct dti_command_context *cx,
                               char **operands, int count, struct dti_error *reterr)
{
    struct gguf_job *const gguf = dti_calloc(1, sizeof *gguf);
    const char *word = NULL;
    if (!gguf)
        return dti_no_memory(reterr);
    struct dti_rewrite_job *const job = &gguf->file.job;
    dti_rewrite_job_init(job, &gguf_command, &args->transfer, &args->tensors, cx);
    gguf->file.args = args;
    job->args = &gguf->file;
    job->fail_on = (unsigned)args->fail_on;
    enum dti_status status = dti_rewrite_operands(job, operands, count, &word, reterr);
    if (status == DTI_OK)
        status = check_gguf_options(args, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_options(job, NULL, reterr);
    if (status == DTI_OK)
        status = read_recipe(gguf, word, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_source_options(job, reterr);
    status = dti_rewrite_job_run(job, status, reterr);
    if (status != DTI_OK && reterr && reterr->remedy == DTI_REMEDY_SAY_KIND)
        reterr->remedy = DTI_REMEDY_CAST_FIRST; /* this command has no --from */
    dti_free(gguf);
    return status;
}

/* --dequant: a view of the file dequantizes the codes; the rest is a cast of that view. */

static bool dequant_fails(const struct dti_rewrite_job *job)
{
    const struct quant_args *const args = job->args;
    const struct dti_loss *const loss = &job->rewrite->loss;
    const struct dti_dequant_totals *const totals = &job->answer.dequant;
    const unsigned seen = (loss->overflowed > 0 ? DTI_QUANT_CLIPPED : 0U) |
                          (totals->nan > 0 || totals->inf > 0 ? DTI_QUANT_SPECIAL : 0U) |
                          (loss->inexact > 0 ? DTI_QUANT_INEXACT : 0U);
    return ((unsigned)args->fail_on & seen) != 0;
}

static const char *const dequant_kept[DTI_FATE_COUNT] = {
    [DTI_FATE_CHANGED] = "",
    [DTI_FATE_SAME] = "as it is",
    [DTI_FATE_KEEP] = "kept",
    [DTI_FATE_ONLY] = "kept: not in --quant-only",
    [DTI_FATE_INTEGER] = "kept: no scales",
    [DTI_FATE_COMPLEX] = "kept: complex",
    [DTI_FATE_CONVENTION] = "fp32 by convention",
};

static const struct dti_rewrite_command dequant_command = {
    .verb = "dequantized",
    .example = "as in 'dtinfo quant model.gguf bf16 --dequant -o model.safetensors'",
    .no_file = "no file to read",
    .states = true,
    .kept = dequant_kept,
    .open = dti_dequant_view,
    .document = dti_document_dequant,
    .page = &dti_dequant_page,
    .fails = dequant_fails,
};

static enum dti_status check_dequant_options(const struct quant_args *args, char **operands,
                                             int count, struct dti_error *reterr)
{
    const char *const option = dti_quant_given(
        args, "min max scale zero-point tensor-scale fused axis symmetric affine symmetry division "
              "mx-scale nv-scale per pad nested-absmax convrot");
    const int files = args->transfer.input ? 0 : 1;
    const bool like =
        args->recipe.quant_like_given && args->recipe.rules.like != DTI_QUANT_LIKE_VLLM;
    if (option || like)
        return dti_fail(reterr, DTI_USAGE,
                        "--%s is for quantizing; --dequant reads it from the file: leave it out",
                        option ? option : "like");
    if (count != files)
        return DTI_OK;
    return dti_rewrite_no_dtype(&dequant_command,
                                args->transfer.input ? args->transfer.input : operands[0], reterr);
}

static enum dti_status check_target(const struct dti_rewrite_job *job, struct dti_error *reterr)
{
    const struct dti_format *const format = &job->job.targets[0].dtype;
    if (dti_format_is_float(format))
        return DTI_OK;
    return dti_fail(reterr, DTI_WRONG_KIND,
                    "--dequant makes floats, and %s is not one; use fp32, fp16 or bf16",
                    format->name);
}

enum dti_status dti_quant_dequant(const struct quant_args *args,
                                  const struct dti_command_context *cx, char **operands, int count,
                                  struct dti_error *reterr)
{
    /* counts losses */
    const struct dti_policy_args policy = {.fail_on = args->fail_on ? DTI_FLAG_INEXACT : 0};
    struct dti_rewrite_job job;
    const char *dtype = NULL;
    dti_rewrite_job_init(&job, &dequant_command, &args->transfer, &args->tensors, cx);
    job.args = args;
    job.request.recipe = DTI_RECIPE_DEQUANTIZE;
    job.view = (struct dti_file_dequant_request){
        .layout_given = args->recipe.layout_given,
        .layout = (enum dti_quant_layout)args->recipe.layout,
        .high = args->recipe.rules.order == DTI_BLOCK_HIGH,
        .bits = (unsigned)args->bits,
        .block = args->recipe.rules.block,
        .reciprocal = args->recipe.quant_like_given,
        .stated_by = "--bits or --block",
    };
    enum dti_status status = check_dequant_options(args, operands, count, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_operands(&job, operands, count, &dtype, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_options(&job, NULL, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_cast(&job, &policy, dtype, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_source_options(&job, reterr);
    if (status == DTI_OK)
        status = check_target(&job, reterr);
    status = dti_rewrite_job_run(&job, status, reterr);
    if (status != DTI_OK && reterr && reterr->remedy == DTI_REMEDY_SAY_KIND)
        reterr->remedy = DTI_REMEDY_CAST_RAW; /* this command has no --from */
    return status;
}

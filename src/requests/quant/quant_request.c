/* SPDX-License-Identifier: MIT
 *
 * Quantizes files of tensors, or dequantizes them. */
#include <stdlib.h>
#include <string.h>

#include "files/stored/quant_marks.h"
#include "kernels/gguf/gguf_kernel.h"
#include "requests/quant/quant_args.h"
#include "requests/rewrite/type_rules.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

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
    enum dti_status status =
        dti_quant_types_read(types, args, file->job.front->asker, dtype, reterr);
    if (status == DTI_OK)
        status = dti_recipe_fit_array(&args->recipe, "a file", "--", reterr);
    if (status != DTI_OK)
        return status;
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
    if (args->choice) {
        file->job.request.quantize_named = args->choice->named;
        file->job.request.skips_unfit = args->choice->skips_unfit;
        file->job.request.watch = args->choice->watch;
    }
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

static const struct dti_rewrite_verb verb = {
    .options = dti_quant_options,
    .regular = true,
    .describe = describe,
    .document = dti_document_quant_file,
    .fails = fails,
};

static enum dti_status quantize(const struct quant_args *args,
                                const struct dti_rewrite_front *front, const char *path,
                                const char *dtype, struct dti_error *reterr)
{
    struct quant_file file = {.args = args};
    struct dti_rewrite_job *const job = &file.job;
    dti_rewrite_job_init(job, &verb, &args->transfer, &args->tensors, front, path);
    job->args = &file;
    job->dtype = dtype;
    job->fail_on = (unsigned)args->fail_on;
    enum dti_status status = DTI_OK;
    if (args->bits_given)
        status = dti_fail(reterr, DTI_USAGE,
                          "--bits is for --dequant; the dtype determines the bits of a code");
    if (status == DTI_OK)
        status = dti_rewrite_options(job, reterr);
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
    struct dti_importance *importance; /* or NULL */
};

static const struct dti_type_words encoded = {dti_encode_type, "encoded in gguf files"};

bool dti_quant_is_gguf(const struct quant_args *args, const char *dtype)
{
    const bool type = dtype && dti_gguf_type_named(dtype);
    if (args->choice)
        return args->choice->gguf;
    if (args->transfer.output)
        return dti_is_gguf(dti_container_named(args->transfer.output)) && !args->transfer.as_given;
    return dti_quant_given(args, "template set set-from imatrix") ||
           (args->types && !args->recipe.layout_given && type) ||
           (type && !dti_block_lookup(dtype));
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
        open = form->is->dtype && strcmp(form->is->layout, "gguf") != 0;
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

static const struct dti_rewrite_verb gguf_verb = {
    .options = dti_quant_options,
    .regular = true,
    .states = true,
    .open = open_view,
    .describe = describe,
    .document = dti_document_quant_file,
    .fails = fails,
};

static bool takes_weights(const struct dti_gguf_type *type)
{
    return type->dtype == DTI_NONE && dti_gguf_find_weigher(type->blocks, DTI_LEVEL_SCALAR);
}

static bool needs_weights(const struct dti_gguf_type *type)
{
    return takes_weights(type) && !dti_gguf_find_encoder(type->blocks, DTI_LEVEL_SCALAR);
}

/* The first type that cannot be encoded without weights; NULL: there is none. */
static const struct dti_gguf_type *first_in_need(const struct dti_encode_recipe *recipe)
{
    if (needs_weights(recipe->type))
        return recipe->type;
    for (size_t i = 0; i < recipe->count; i++) {
        if (needs_weights(recipe->rules[i].type))
            return recipe->rules[i].type;
    }
    return NULL;
}

/* Opens the importance matrix, which at least one of the types must take. */
static enum dti_status open_importance(struct gguf_job *gguf, struct dti_error *reterr)
{
    struct dti_encode_recipe *const recipe = &gguf->file.job.request.encode;
    const char *const path = gguf->file.args->importance;
    bool taken = takes_weights(recipe->type);
    for (size_t i = 0; i < recipe->count; i++)
        taken = taken || takes_weights(recipe->rules[i].type);
    const struct dti_gguf_type *const in_need = first_in_need(recipe);
    if (!path && in_need)
        return dti_fail(reterr, DTI_USAGE,
                        "%s is encoded with the weights of an importance matrix only; add "
                        "--imatrix FILE, as llama-imatrix writes it",
                        in_need->word);
    if (!path)
        return DTI_OK;
    if (!taken)
        return dti_fail(reterr, DTI_USAGE,
                        "%s ignores the weights of an importance matrix; leave out --imatrix",
                        recipe->type->word);
    const enum dti_status status = dti_importance_open(&gguf->importance, path, reterr);
    recipe->importance = gguf->importance;
    return status;
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
    const struct dti_quant_by_name *const choice = gguf->file.args->choice;
    if (choice) {
        recipe->named = choice->named;
        job->request.skips_unfit = choice->skips_unfit;
        job->request.watch = choice->watch;
    }
    gguf->target = (struct dti_quant_target){
        .name = recipe->type->word,
        .scheme = {.per = DTI_PER_GROUP, .group = recipe->type->group},
        .gguf = true,
    };
    gguf->file.target = &gguf->target;
    return DTI_OK;
}

static enum dti_status encode(const struct quant_args *args, const struct dti_rewrite_front *front,
                              const char *path, const char *word, struct dti_error *reterr)
{
    struct gguf_job *const gguf = dti_calloc(1, sizeof *gguf);
    if (!gguf)
        return dti_no_memory(reterr);
    struct dti_rewrite_job *const job = &gguf->file.job;
    dti_rewrite_job_init(job, &gguf_verb, &args->transfer, &args->tensors, front, path);
    gguf->file.args = args;
    job->args = &gguf->file;
    job->dtype = word;
    job->fail_on = (unsigned)args->fail_on;
    enum dti_status status = dti_recipe_fit_gguf(&args->recipe, false, "--", reterr);
    if (status == DTI_OK)
        status = dti_rewrite_options(job, reterr);
    if (status == DTI_OK)
        status = read_recipe(gguf, word, reterr);
    if (status == DTI_OK)
        status = open_importance(gguf, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_source_options(job, reterr);
    status = dti_rewrite_job_run(job, status, reterr);
    if (status != DTI_OK && reterr && reterr->remedy == DTI_REMEDY_SAY_KIND)
        reterr->remedy = DTI_REMEDY_CAST_FIRST; /* this command has no --from */
    dti_importance_free(gguf->importance);
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

static const struct dti_rewrite_verb dequant_verb = {
    .options = dti_quant_options,
    .states = true,
    .open = dti_dequant_view,
    .document = dti_document_dequant,
    .fails = dequant_fails,
};

static enum dti_status check_dequant_options(const struct quant_args *args,
                                             struct dti_error *reterr)
{
    const char *const option = dti_quant_given(
        args, "min max scale zero-point tensor-scale fused axis symmetric affine symmetry division "
              "mx-scale nv-scale per pad nested-absmax convrot");
    const bool like =
        args->recipe.quant_like_given && args->recipe.rules.like != DTI_QUANT_LIKE_VLLM;
    if (args->importance)
        return dti_fail(reterr, DTI_USAGE, "--imatrix is for quantizing; leave it out");
    if (!option && !like)
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE,
                    "--%s is for quantizing; --dequant reads it from the file: leave it out",
                    option ? option : "like");
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

static enum dti_status dequantize(const struct quant_args *args,
                                  const struct dti_rewrite_front *front, const char *path,
                                  const char *dtype, struct dti_error *reterr)
{
    /* counts losses */
    const struct dti_policy_args policy = {.fail_on = args->fail_on ? DTI_FLAG_INEXACT : 0};
    struct dti_rewrite_job job;
    dti_rewrite_job_init(&job, &dequant_verb, &args->transfer, &args->tensors, front, path);
    job.args = args;
    job.dtype = dtype;
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
    enum dti_status status = check_dequant_options(args, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_options(&job, reterr);
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

enum dti_status dti_quant_file_run(const struct quant_args *args,
                                   const struct dti_rewrite_front *front, const char *path,
                                   const char *dtype, struct dti_error *reterr)
{
    if (args->fail_on && args->tensors.dry_run)
        return dti_fail(
            reterr, DTI_USAGE,
            "--dry-run does not read the data, which --fail-on needs; leave one of them out");
    if (args->recipe.dequant && args->types)
        return dti_fail(reterr, DTI_USAGE,
                        "--dequant makes floats of one dtype; leave out --type, and use --keep for "
                        "tensors that stay quantized");
    if (args->recipe.dequant)
        return dequantize(args, front, path, dtype, reterr);
    if (dti_quant_is_gguf(args, dtype))
        return encode(args, front, path, dtype, reterr);
    const char *const gguf = dti_quant_given(args, "template set set-from imatrix");
    if (gguf)
        return dti_fail(reterr, DTI_USAGE,
                        "--%s is for gguf files; give -o a name that ends in .gguf", gguf);
    return quantize(args, front, path, dtype, reterr);
}

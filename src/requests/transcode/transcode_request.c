/* SPDX-License-Identifier: MIT
 *
 * From one layout of quantized tensors to another, or to plain floats. */
#include "requests/transcode/transcode_request.h"

#include <stdio.h>
#include <string.h>

#include "files/stored/fused_modules.h"
#include "requests/rewrite/type_rules.h"
#include "util/run/allocate.h"

/* The args of a job. */
struct transcode_job {
    const struct transcode_args *args;
    struct dti_type_rule types[DTI_TYPE_RULES_MAX];
    size_t type_count;
    struct dti_fused_own fused;
};

static const struct dti_type_words carried = {dti_transcode_gguf_type, "made without quantizing"};

static const char *const plain[] = {"bf16", "fp16", "fp32"};

static const struct dti_choice to_choices[] = {
#define TRANSCODE_LAYOUT(id, name_, help_) \
    {.name = name_, .value = DTI_TRANSCODE_##id, .help = help_},
#include "files/transcode/transcode_layouts.def"
#undef TRANSCODE_LAYOUT
    {"bf16", DTI_TRANSCODE_COUNT, "plain floats, codes times scales"},
    {"fp16", DTI_TRANSCODE_COUNT + 1, "likewise"},
    {"fp32", DTI_TRANSCODE_COUNT + 2, "likewise"},
    {.name = NULL},
};

static const struct dti_choice dtype_choices[] = {
    {"nvfp4", 0, "two blocks of nvfp4 for one of mxfp4"},
    {.name = NULL},
};

static const struct dti_choice mode_choices[] = {
#define TRANSCODE_MODE(id, name_, help_) {.name = name_, .value = DTI_BLOCK_##id, .help = help_},
#include "files/transcode/transcode_layouts.def"
#undef TRANSCODE_MODE
    {.name = NULL},
};

static const struct dti_choice scale_choices[] = {
#define TRANSCODE_SCALE(id, name_, help_) {.name = name_, .value = DTI_##id, .help = help_},
#include "files/transcode/transcode_layouts.def"
#undef TRANSCODE_SCALE
    {.name = NULL},
};

const struct dti_option dti_transcode_options[] = {
    OPT_CHOICE(0, "to", struct transcode_args, to, to_given, "LAYOUT", to_choices,
               "the layout of the new file, or a dtype of plain floats", .matters = true),
    OPT_CHOICE(0, "dtype", struct transcode_args, dtype, dtype_given, "DTYPE", dtype_choices,
               "what blocks of mxfp4 become", .matters = true),
    OPT_CHOICE(0, "mode", struct transcode_args, mode, mode_given, "MODE", mode_choices,
               "mlx: the mode; by default that of the codes", .matters = true),
    OPT_CHOICE(0, "scale-dtype", struct transcode_args, scale, scale_given, "DTYPE", scale_choices,
               "integers: round scales of fp32 to this dtype", .matters = true),
    OPT_FLAG(0, "reconcile", struct transcode_args, reconcile,
             "instead of --to: keep the layout, and give modules that loaders fuse one scale",
             .matters = true),
    DTI_ROW_FUSED(struct transcode_args, fused, "with --reconcile: "),
    OPT_GLOB(0, "type", struct transcode_args, types, "GLOB=TYPE,...",
             "gguf: types of these tensors, also fp32, fp16 or bf16; the first that fits counts"),
    OPT_FLAG(0, "require-lossless", struct transcode_args, lossless,
             "fail and write nothing if any number would change", .matters = true),
    DTI_ROW_INPUT(struct transcode_args, transfer.input, "the file to read", "an option"),
    DTI_ROW_OUTPUT(struct transcode_args, transfer.output, "the file or folder to write"),
    DTI_ROW_FORCE(struct transcode_args, transfer.force, ""),
    DTI_ROW_ONLY(struct transcode_args, tensors.only,
                 "change only these tensors, copy the others as they are stored"),
    DTI_ROW_KEEP(struct transcode_args, tensors.keep),
    DTI_ROW_SELECT(struct transcode_args, tensors.select),
    DTI_ROW_ALLOW_UNMATCHED(struct transcode_args, tensors.allow_unmatched),
    DTI_ROW_TEMPLATE(struct transcode_args, tensors.model),
    DTI_ROW_SET(struct transcode_args, tensors.set),
    DTI_ROW_SET_FROM(struct transcode_args, tensors.set_from),
    DTI_ROW_SHARD_SIZE(struct transcode_args, tensors.shard_size),
    DTI_ROW_NO_COPY(struct transcode_args, tensors.no_copy),
    DTI_ROW_PART(struct transcode_args, tensors.part),
    DTI_ROW_FINISH(struct transcode_args, tensors.finish),
    DTI_ROW_CHECK_PARTS(struct transcode_args, tensors.check_parts),
    OPT_UINT(0, "bits", struct transcode_args, bits, bits_given, 1, 16, "N",
             "codes of the input have N bits, overriding config.json"),
    OPT_UINT(0, "block", struct transcode_args, block, block_given, 1, 65536, "N",
             "N neighbours of the input share a scale, overriding config.json"),
    DTI_ROW_LIKE(struct transcode_args, like, dti_like_readers,
                 "read both layouts as this program does where it differs from their own"),
    DTI_ROW_ASSUME(struct transcode_args, tensors.assume),
    DTI_ROW_LENIENT(struct transcode_args, tensors.lenient),
    DTI_ROW_DRY_RUN(struct transcode_args, tensors.dry_run),
    DTI_ROW_THREADS(struct transcode_args, transfer.threads, "threads"),
    DTI_ROW_MAX_MEMORY(struct transcode_args, tensors.max_memory, "", "; the default is 16MiB"),
    DTI_ROW_PROGRESS(struct transcode_args, transfer.progress,
                     "show a progress bar on standard error"),
    OPT_END,
};

/* Patterns do not hide tensors from the view: a matrix has to be known as a whole. */
static enum dti_status open_reconciled(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    const struct transcode_job *const run = job->args;
    const struct dti_file_transcode_request request = {
        .lossless = run->args->lossless,
        .reconcile = true,
        .only = job->tensors->only,
        .keep = job->tensors->keep,
        .own = run->fused.count > 0 ? &run->fused : NULL,
    };
    struct dti_tensor_args all = *job->tensors;
    const struct dti_tensor_args *const given = job->tensors;
    all.only = all.keep = all.select = NULL;
    job->tensors = &all;
    const enum dti_status status = dti_dequant_view(job, reterr);
    job->tensors = given;
    if (status != DTI_OK)
        return status;
    return dti_file_transcode_new(&job->request.transcode, job->request.dequant, &request, reterr);
}

/* A pattern of --type that matches no tensor of the input is most likely misspelt. */
static enum dti_status check_types(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    const struct transcode_job *const own = job->args;
    for (size_t i = 0; i < own->type_count; i++) {
        const struct dti_type_rule *const rule = &own->types[i];
        char text[DTI_QUOTE_SIZE + 64];
        if (dti_file_transcode_fits(job->request.transcode, rule->pattern, rule->length))
            continue;
        (void)snprintf(text, sizeof text, "%s matches no tensor",
                       DTI_QUOTED(rule->pattern, rule->length));
        const struct dti_note note = {
            .code = "idle_pattern", .text = text, .remedy = DTI_REMEDY_CORRECT_TYPE};
        if (job->tensors->allow_unmatched) {
            dti_cast_job_warn(&job->job, &note);
            continue;
        }
        (void)dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_ALLOW_TYPE, "%s", text);
        dti_error_argument(reterr, rule->pattern, rule->length);
        return DTI_USAGE;
    }
    return DTI_OK;
}

static enum dti_status open_layout(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    const struct transcode_job *const own = job->args;
    const struct transcode_args *const args = own->args;
    const struct dti_file_transcode_request request = {
        .layout = (enum dti_transcode_layout)args->to,
        .nvfp4 = args->dtype_given || (args->mode_given && args->mode == DTI_BLOCK_NVFP4),
        .moded = args->mode_given,
        .mode = (enum dti_block)args->mode,
        .lossless = args->lossless,
        .narrow = args->scale_given,
        .scale = (enum dti_dtype)args->scale,
        .types = own->types,
        .type_count = own->type_count,
    };
    enum dti_status status = dti_dequant_view(job, reterr);
    if (status != DTI_OK)
        return status;
    status =
        dti_file_transcode_new(&job->request.transcode, job->request.dequant, &request, reterr);
    return status == DTI_OK ? check_types(job, reterr) : status;
}

static bool never_fails(const struct dti_rewrite_job *job)
{
    (void)job;
    return false;
}

static const struct dti_rewrite_verb to_layout = {
    .options = dti_transcode_options,
    .regular = true,
    .open = open_layout,
    .document = dti_document_transcode,
    .fails = never_fails,
};

static const struct dti_rewrite_verb reconciled = {
    .options = dti_transcode_options,
    .regular = true,
    .open = open_reconciled,
    .document = dti_document_transcode,
    .fails = never_fails,
};

static const struct dti_rewrite_verb to_gguf = {
    .options = dti_transcode_options,
    .regular = true,
    .states = true,
    .open = open_layout,
    .document = dti_document_transcode,
    .fails = never_fails,
};

static const struct dti_rewrite_verb to_floats = {
    .options = dti_transcode_options,
    .open = dti_dequant_view,
    .document = dti_document_dequant,
    .fails = never_fails,
};

static enum dti_status check_reconcile(const struct transcode_args *args, struct dti_error *reterr)
{
    const char *const other = args->to_given      ? "--to"
                              : args->dtype_given ? "--dtype"
                              : args->mode_given  ? "--mode"
                              : args->scale_given ? "--scale-dtype"
                              : args->like_given  ? "--like"
                                                  : NULL;
    if (!other)
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE,
                    "--reconcile keeps the layout, so it takes no %s; leave it out, or use another "
                    "command for it",
                    other);
}

static enum dti_status check_options(const struct transcode_args *args, struct dti_error *reterr)
{
    const bool floats = args->to >= DTI_TRANSCODE_COUNT;
    if (args->reconcile)
        return check_reconcile(args, reterr);
    if (args->fused)
        return dti_fail(reterr, DTI_USAGE, "--fused is for --reconcile; leave it out");
    if (!args->to_given)
        return dti_fail(reterr, DTI_USAGE,
                        "the layout is missing; give --to, as in 'dtinfo transcode model --to "
                        "compressed-tensors -o out', or --reconcile");
    if (floats && args->dtype_given)
        return dti_fail(reterr, DTI_USAGE,
                        "--dtype is for layouts of quantized tensors; leave it out");
    if (floats && args->lossless)
        return dti_fail(reterr, DTI_USAGE,
                        "--require-lossless is for layouts of quantized tensors; leave it out");
    if (floats && args->scale_given)
        return dti_fail(reterr, DTI_USAGE,
                        "--scale-dtype is for layouts of quantized tensors; leave it out");
    const enum dti_transcode_layout layout = (enum dti_transcode_layout)args->to;
    if (args->types && layout != DTI_TRANSCODE_GGUF)
        return dti_fail(reterr, DTI_USAGE, "--type is for --to gguf; leave it out");
    if (args->scale_given && (!dti_transcode_layout_has_integers(layout) ||
                              layout == DTI_TRANSCODE_MLX || layout == DTI_TRANSCODE_GGUF))
        return dti_fail(reterr, DTI_USAGE,
                        "--scale-dtype is for " DTI_TRANSCODE_SCALES_16 "; leave it out");
    if (args->mode_given && layout != DTI_TRANSCODE_MLX)
        return dti_fail(reterr, DTI_USAGE, "--mode is for --to mlx; leave it out");
    if (args->mode_given && args->dtype_given && args->mode != DTI_BLOCK_NVFP4)
        return dti_fail(reterr, DTI_USAGE, "--dtype nvfp4 is --mode nvfp4; leave one of them out");
    if (args->dtype_given && layout == DTI_TRANSCODE_GGUF)
        return dti_fail(reterr, DTI_USAGE, "mxfp4 stays mxfp4 in gguf; leave out --dtype");
    if (args->dtype_given && !dti_transcode_layout_has_nvfp4(layout))
        return dti_fail(reterr, DTI_USAGE,
                        "%s has no nvfp4; leave out --dtype, or use another --to",
                        dti_transcode_layout_name(layout));
    return DTI_OK;
}

/* Remedies for patterns have other option names here than in the similar commands. With
 * --reconcile, all tensors are read, kept ones too. */
static void name_options(const struct transcode_args *args, struct dti_error *error)
{
    if (args->reconcile &&
        (error->remedy == DTI_REMEDY_KEEP || error->remedy == DTI_REMEDY_KEEP_ALL))
        error->remedy = DTI_REMEDY_NONE;
    if (error->remedy == DTI_REMEDY_ALLOW_QUANT)
        error->remedy = DTI_REMEDY_ALLOW_ONLY;
    if (error->remedy == DTI_REMEDY_CORRECT_QUANT)
        error->remedy = DTI_REMEDY_CORRECT_ONLY;
    if (error->remedy == DTI_REMEDY_SAY_KIND)
        error->remedy = DTI_REMEDY_CAST_RAW; /* this command has no --from */
}

enum dti_status dti_transcode_file_run(const struct transcode_args *args,
                                       const struct dti_rewrite_front *front, const char *path,
                                       struct dti_error *reterr)
{
    const bool floats = dti_transcode_to_floats(args);
    const struct dti_policy_args policy = {.fail_on = 0};
    struct transcode_job *const own = dti_calloc(1, sizeof *own);
    struct dti_rewrite_job job;
    if (!own)
        return dti_no_memory(reterr);
    own->args = args;
    const bool gguf = args->to_given && args->to == DTI_TRANSCODE_GGUF;
    dti_rewrite_job_init(&job,
                         args->reconcile ? &reconciled
                         : floats        ? &to_floats
                         : gguf          ? &to_gguf
                                         : &to_layout,
                         &args->transfer, &args->tensors, front, path);
    job.args = own;
    job.request.cast.cast.dst = *dti_format_get(DTI_FP32); /* of --type; each has its own */
    job.request.recipe = floats ? DTI_RECIPE_DEQUANTIZE : DTI_RECIPE_TRANSCODE;
    job.view = (struct dti_file_dequant_request){.bits = (unsigned)args->bits,
                                                 .block = args->block,
                                                 .reciprocal = args->like_given,
                                                 .stated_by = "--bits or --block"};
    enum dti_status status = check_options(args, reterr);
    if (status == DTI_OK && args->fused)
        status = dti_fused_own_read(&own->fused, args->fused, reterr);
    if (status == DTI_OK)
        status = dti_type_rules_read(&carried, args->types, own->types, &own->type_count, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_options(&job, reterr);
    if (status == DTI_OK && floats)
        status = dti_rewrite_cast(&job, &policy, plain[args->to - DTI_TRANSCODE_COUNT], reterr);
    if (status == DTI_OK)
        status = dti_rewrite_source_options(&job, reterr);
    status = dti_rewrite_job_run(&job, status, reterr);
    dti_free(own);
    if (status != DTI_OK && reterr)
        name_options(args, reterr);
    return status;
}

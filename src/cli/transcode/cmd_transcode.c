/* SPDX-License-Identifier: MIT
 *
 * dtinfo transcode: quantized checkpoints from one layout to another, or to plain floats. */
#include <string.h>

#include "answers/tensors.h"
#include "cli/rewrite/dequant_report.h"
#include "cli/rewrite/rewrite_job.h"
#include "cli/rewrite/type_rules.h"
#include "cli/shared/human.h"
#include "cli/shared/option_rows.h"
#include "cli/shared/tensor_cells.h"
#include "cli/shell/option.h"
#include "files/stored/fused_modules.h"
#include "util/run/allocate.h"

enum { MOST = 5 }; /* tensors with changed numbers that are listed without -v */

static bool put_kind(const struct dti_rewrite_job *job, size_t at, struct dti_tensor_kind *kind)
{
    const struct dti_translated one = dti_translated_of(job->rewrite, at);
    const struct dti_transcode_verdict *const verdict = one.verdict;
    if (!one.first || !verdict->changed)
        return one.first;
    kind->first = true;
    kind->from = one.form->dtype;
    kind->to = strcmp(one.form->dtype, verdict->dtype) == 0 ? NULL : verdict->dtype;
    kind->same_bytes = false;
    kind->input = one.form->stored_bytes;
    kind->output = verdict->bytes;
    kind->same_bytes = job->answer.reconciled != NULL;
    if (job->answer.reconciled)
        (void)snprintf(kind->words, sizeof kind->words, "%s, one scale for fused modules",
                       one.form->layout);
    else
        (void)snprintf(kind->words, sizeof kind->words, "%s -> %s", one.form->layout,
                       job->answer.layout);
    return true;
}

/* "  tensor scales: differ in 8563 of 12384 fused matrices, up to 10 times; the largest is now that
 * of all" */
static void put_tally(const struct dti_fused_tally *tally, const char *what, struct dti_line *line)
{
    char text[DTI_TEXT_SIZE];
    const char *const matrices = tally->matrices == 1 ? "matrix" : "matrices";
    dti_line_print(line, DTI_STYLE_PLAIN, "  %s: ", what);
    if (tally->differing == 0)
        dti_line_print(line, DTI_STYLE_PLAIN, "one for each of %llu fused %s",
                       (unsigned long long)tally->matrices, matrices);
    else
        dti_line_print(line, DTI_STYLE_PLAIN,
                       "differ in %llu of %llu fused %s, up to %s times; each gets its largest",
                       (unsigned long long)tally->differing, (unsigned long long)tally->matrices,
                       matrices, dti_figure_words(text, tally->worst, 3));
    dti_line_end(line);
}

static void put_reconciled(const struct dti_reconciled *reconciled, struct dti_line *line)
{
    put_tally(&reconciled->weights, "tensor scales", line);
    if (reconciled->inputs.differing > 0)
        put_tally(&reconciled->inputs, "scales of activations", line);
    if (reconciled->left > 0) {
        dti_line_print(line, DTI_STYLE_WARN,
                       "  left as they are by patterns: %zu of these matrices", reconciled->left);
        dti_line_end(line);
    }
}

/* "  lossless: 3 of 4 tensors, 96 of 128 blocks   worst relative error 1.19e-07" */
static void put_totals(struct dti_rewrite_job *job, struct dti_line *line)
{
    const struct dti_transcode_totals *const totals = &job->answer.transcode;
    char text[DTI_TEXT_SIZE];
    if (job->rewrite->request.finish)
        return;
    if (job->answer.reconciled)
        put_reconciled(job->answer.reconciled, line);
    dti_line_print(line, totals->lossy ? DTI_STYLE_WARN : DTI_STYLE_PLAIN,
                   "  lossless: %zu of %zu tensors, %llu of %llu blocks", totals->lossless,
                   totals->translated, (unsigned long long)totals->lossless_blocks,
                   (unsigned long long)totals->blocks);
    if (totals->lossy)
        dti_line_print(line, DTI_STYLE_PLAIN, "   worst relative error %s",
                       dti_figure_words(text, totals->worst, 3));
    dti_line_end(line);
}

/* Translated tensors: with -v all, else the first ones with changed numbers. */
static enum dti_status put_tensors(const struct dti_rewrite_job *job, struct dti_error *reterr)
{
    static const char *const heads[] = {"name", "dtype", "shape", "blocks", "lossless", "worst"};
    const struct dti_rewrite *const rewrite = job->rewrite;
    struct dti_table *const table =
        dti_rewrite_table_new(heads, sizeof heads / sizeof *heads, "965786");
    size_t rows = 0, others = 0;
    bool whole = true;
    for (size_t i = 0; i < rewrite->tensor_count && whole; i++) {
        const struct dti_translated one = dti_translated_of(rewrite, i);
        const struct dti_transcode_verdict *const verdict = one.verdict;
        char text[DTI_TEXT_SIZE];
        if (!one.first || !verdict->changed || (one.lossless && !job->cx->verbose))
            continue;
        others += !one.lossless;
        if (!job->cx->verbose && others > MOST)
            continue;
        const char *const from = one.form->dtype;
        whole = dti_rewrite_cells(table, one.numbers, from,
                                  strcmp(from, verdict->dtype) == 0 ? NULL : verdict->dtype);
        dti_number_cell(table, verdict->blocks);
        dti_number_cell(table, verdict->lossless);
        dti_text_cell(table, one.lossless ? "" : dti_figure_words(text, verdict->worst, 3));
        rows++;
    }
    if (rows == 0) {
        dti_table_free(table);
        return whole ? DTI_OK : dti_no_memory(reterr);
    }
    const enum dti_status status = dti_rewrite_table_end(job, table, whole, reterr);
    if (status == DTI_OK && !job->cx->verbose && others > MOST)
        (void)fprintf(job->cx->out, "  the first %d of %zu tensors; -v shows all\n", (int)MOST,
                      others);
    return status;
}

/* A line per form in which tensors were stored, what stayed the same, and the changed tensors, with
 * -v all of them. */
static const struct dti_rewrite_page page = {
    .kind = put_kind,
    .loss = put_totals,
    .tables = put_tensors,
};

struct transcode_args {
    int to; /* enum dti_transcode_layout; then, from DTI_TRANSCODE_COUNT on, of `plain` */
    int dtype;
    int mode;  /* enum dti_block; DTI_BLOCK_COUNT: affine */
    int scale; /* enum dti_dtype */
    uint64_t bits, block;
    int like;
    const char *fused, *types; /* types: "GLOB=TYPE,..." */
    bool to_given, dtype_given, mode_given, scale_given, bits_given, block_given, like_given,
        lossless;
    bool reconcile;
    struct dti_transfer_args transfer;
    struct dti_tensor_args tensors;
};

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

static const struct dti_option options[] = {
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

#define EXAMPLE "as in 'dtinfo transcode model --to compressed-tensors -o out'"

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

static const char *const kept[DTI_FATE_COUNT] = {
    [DTI_FATE_CHANGED] = "",
    [DTI_FATE_SAME] = "as it is",
    [DTI_FATE_KEEP] = "kept",
    [DTI_FATE_ONLY] = "kept: not in --only",
    [DTI_FATE_INTEGER] = "kept: no scales",
    [DTI_FATE_COMPLEX] = "kept: complex",
};

static const struct dti_rewrite_command to_layout = {
    .verb = "translated",
    .example = EXAMPLE,
    .no_file = "no file to read",
    .regular = true,
    .kept = kept,
    .open = open_layout,
    .document = dti_document_transcode,
    .page = &page,
    .fails = never_fails,
};

static const struct dti_rewrite_command reconciled = {
    .verb = "reconciled",
    .example = "as in 'dtinfo transcode model --reconcile -o out'",
    .no_file = "no file to read",
    .regular = true,
    .kept = kept,
    .open = open_reconciled,
    .document = dti_document_transcode,
    .page = &page,
    .fails = never_fails,
};

static const struct dti_rewrite_command to_gguf = {
    .verb = "translated",
    .example = EXAMPLE,
    .no_file = "no file to read",
    .regular = true,
    .states = true,
    .kept = kept,
    .open = open_layout,
    .document = dti_document_transcode,
    .page = &page,
    .fails = never_fails,
};

static const struct dti_rewrite_command to_floats = {
    .verb = "translated",
    .example = EXAMPLE,
    .no_file = "no file to read",
    .kept = kept,
    .open = dti_dequant_view,
    .document = dti_document_dequant,
    .page = &dti_dequant_page,
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
                        "the layout is missing; give --to, " EXAMPLE ", or --reconcile");
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

static enum dti_status run_transcode(const void *all_args, char **operands, int count,
                                     struct dti_command_context *cx, struct dti_error *reterr)
{
    const struct transcode_args *const args = all_args;
    const bool floats = args->to_given && args->to >= DTI_TRANSCODE_COUNT;
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
                         &args->transfer, &args->tensors, cx);
    job.args = own;
    job.request.cast.cast.dst = *dti_format_get(DTI_FP32); /* of --type; each has its own */
    job.request.recipe = floats ? DTI_RECIPE_DEQUANTIZE : DTI_RECIPE_TRANSCODE;
    job.view = (struct dti_file_dequant_request){.bits = (unsigned)args->bits,
                                                 .block = args->block,
                                                 .reciprocal = args->like_given,
                                                 .stated_by = "--bits or --block"};
    enum dti_status status = dti_rewrite_operands(&job, operands, count, NULL, reterr);
    if (status == DTI_OK)
        status = check_options(args, reterr);
    if (status == DTI_OK && args->fused)
        status = dti_fused_own_read(&own->fused, args->fused, reterr);
    if (status == DTI_OK)
        status = dti_type_rules_read(&carried, args->types, own->types, &own->type_count, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_options(&job, NULL, reterr);
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

const struct dti_command dti_command_transcode = {
    .name = "transcode",
    .group = "files",
    .summary = "translate quantized checkpoints to another layout",
    .reads = true,
    .writes = true,
    .writes_only = DTI_TRAIT_TEXTS | DTI_TRAIT_GGML,
    .synopsis = "FILE --to LAYOUT|--reconcile -o OUT",
    .details = "FILE is a safetensors file or a folder of shards with quantized tensors in\n"
               "any layout that dtinfo reads. Codes and scales are carried over, without\n"
               "quantizing again: each tensor tells how many of its blocks have exactly\n"
               "the same numbers as before, and the worst error of the others. What a\n"
               "layout cannot hold is an error that names the tensor. In a folder,\n"
               "config.json gets the quantization_config of the new layout, and the other\n"
               "small files are copied. --to gguf makes blocks of GGUF of them, with names and\n"
               "key-values as 'dtinfo cast' makes them. With a dtype, --to makes plain floats.\n"
               "--reconcile repairs tensors whose loader fuses them (q, k and v; gate and up;\n"
               "w1 and w3 of each expert) and takes one tensor scale for all: each gets the\n"
               "largest, scales of blocks are rounded once, and codes of nvfp4 stay as they are:\n"
               "dtinfo transcode model --to compressed-tensors -o out\n"
               "dtinfo transcode model --to modelopt --dtype nvfp4 --require-lossless -o out\n"
               "dtinfo transcode model --to mlx --mode mxfp4 -o out\n"
               "dtinfo transcode model --to gguf -o model.gguf\n"
               "dtinfo transcode model --to bf16 -o out\n"
               "dtinfo transcode model --reconcile -o out",
    .schema = "dtinfo.transcode/1",
    .other_schemas = {"dtinfo.dequant/1"},
    .operands = DTI_OPERANDS_FILES,
    .options = options,
    .args_size = sizeof(struct transcode_args),
    .run = run_transcode,
};

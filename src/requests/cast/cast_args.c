/* SPDX-License-Identifier: MIT
 *
 * Casts files of tensors. */
#include "requests/cast/cast_args.h"

#include <stddef.h>

#include "files/scan/loss_summary.h"

static const struct dti_choice as_choices[] = {
#define ARRAY_FORM(id, word, kind, what)    {.name = word, .value = DTI_AS_##id, .help = what},
#define FORM(id, word, kind, what, several) ARRAY_FORM(id, word, kind, what)
#include "requests/rewrite/file_forms.def"
#undef ARRAY_FORM
#undef FORM
    {.name = NULL},
};

static const struct dti_choice from_choices[] = {
    {.name = "text", .help = "numbers separated by white space or commas"},
    {.name = NULL},
};

#define OF_VALUES "it is for values, not for files"

_Static_assert(offsetof(struct cast_args, policy.recipe) == 0,
               "the rows below are those of recipes in words, too");
const struct dti_option dti_cast_options[] = {
    OPT_CHOICE('r', "round", struct cast_args, policy.recipe.round, policy.recipe.round_given,
               "MODE", dti_choice_round,
               "rounding mode; the default for integer dtypes is truncation", .matters = true,
               DTI_MORE(.group = "rounding")),
    DTI_ROW_OVERFLOW(struct cast_args, policy.recipe.overflow),
    DTI_ROW_NAN(struct cast_args, policy.recipe.nan),
    OPT_UINT(0, "seed", struct cast_args, policy.recipe.seed, policy.recipe.seed_given, 0,
             UINT64_MAX, "N", "seed of --round stochastic"),
    OPT_DTYPE(0, "via", struct cast_args, policy.recipe.via, "DTYPE,...",
              "cast through these dtypes in turn, rounding at each", .matters = true),
    DTI_ROW_LIKE(struct cast_args, policy.recipe.like, dti_choice_stack,
                 "use the route and policies of this stack", .matters = true,
                 DTI_MORE(.of_models = "template")),
    DTI_ROW_FAIL_ON(struct cast_args, policy.fail_on, dti_choice_fail_on),
    OPT_LIST(0, "device", struct cast_args, policy.device, "DEVICE", dti_choice_device,
             "where to cast: cpu (the default), cuda, cuda:N or auto",
             DTI_MORE(.elsewhere = "the context has it")),
    OPT_FLAG(0, "stacks", struct cast_args, stacks, "show what each stack stores", .matters = true,
             DTI_MORE(.group = "values", .elsewhere = OF_VALUES)),
    OPT_UINT(0, "digits", struct cast_args, digits, digits_given, 0, 100000, "N",
             "print N digits after the decimal point", DTI_MORE(.elsewhere = OF_VALUES)),
    OPT_DTYPE_OR(0, "from", struct cast_args, transfer.from, "DTYPE", from_choices,
                 "cast an array: what the input holds, a dtype or 'text'", .matters = true,
                 DTI_MORE(.group = "arrays and files")),
    DTI_ROW_INPUT(struct cast_args, transfer.input, "the file to read", "a number"),
    DTI_ROW_OUTPUT(struct cast_args, transfer.output, "the file to write, '-' for standard output"),
    DTI_ROW_AS(struct cast_args, transfer.as, as_choices, "output format"),
    DTI_ROW_FORCE(struct cast_args, transfer.force, ""),
    DTI_ROW_PACKING(struct cast_args, policy.recipe.packing,
                    "packing of sub-byte codes in input and output"),
    OPT_CHOICE(0, "from-packing", struct cast_args, policy.recipe.from_packing,
               policy.recipe.from_packing_given, "PACKING", dti_choice_packing,
               "the same for the input alone"),
    DTI_ROW_ENDIAN(struct cast_args, transfer.endian,
                   "byte order of raw input; raw output is little-endian"),
    OPT_UINT(0, "count", struct cast_args, transfer.count, transfer.count_given, 0, UINT64_MAX, "N",
             "number of elements, if the bytes do not determine it, as for 3 codes of 4 bits"),
    DTI_ROW_THREADS(struct cast_args, transfer.threads,
                    "threads for an array or for lines of values"),
    OPT_FLAG(0, "report", struct cast_args, transfer.report,
             "report on standard error if the data goes to standard output",
             DTI_MORE(.elsewhere = "the document is given back")),
    DTI_ROW_PROGRESS(struct cast_args, transfer.progress, "show a progress bar on standard error"),
    OPT_GLOB(0, "cast-only", struct cast_args, tensors.only, "GLOB,...",
             "files: cast only these tensors, keep the others",
             DTI_MORE(.alias = "only", .group = "files of tensors")),
    DTI_ROW_KEEP(struct cast_args, tensors.keep),
    DTI_ROW_SELECT(struct cast_args, tensors.select),
    DTI_ROW_ALLOW_UNMATCHED(struct cast_args, tensors.allow_unmatched),
    DTI_ROW_NO_COPY(struct cast_args, tensors.no_copy),
    OPT_FLAG(0, "ints", struct cast_args, policy.recipe.ints, "files: cast integers and bool too"),
    DTI_ROW_DRY_RUN(struct cast_args, tensors.dry_run),
    DTI_ROW_TEMPLATE(struct cast_args, tensors.model),
    DTI_ROW_SET(struct cast_args, tensors.set),
    DTI_ROW_SET_FROM(struct cast_args, tensors.set_from),
    DTI_ROW_SHARD_SIZE(struct cast_args, tensors.shard_size),
    DTI_ROW_PART(struct cast_args, tensors.part),
    DTI_ROW_FINISH(struct cast_args, tensors.finish),
    DTI_ROW_CHECK_PARTS(struct cast_args, tensors.check_parts),
    DTI_ROW_SHAPE(struct cast_args, tensors.shape, " that become npy or safetensors"),
    DTI_ROW_ASSUME(struct cast_args, tensors.assume),
    DTI_ROW_LENIENT(struct cast_args, tensors.lenient),
    DTI_ROW_MAX_MEMORY(struct cast_args, tensors.max_memory, "files: ", "; the default is 16MiB"),
    OPT_END,
};

bool dti_transfer_makes_file(const struct dti_transfer_args *args)
{
    return args->as_given ? args->as != DTI_AS_RAW && args->as != DTI_AS_TEXT
                          : args->output && dti_names_file(args->output);
}

static void describe(struct dti_rewrite_job *job)
{
    const struct dti_cast_recipe *const recipe = &job->request.cast;
    dti_cast_job_hint(&job->job, &recipe->cast, recipe->rule, job->rewrite->loss.overflowed);
    job->answer.losses = job->losses;
    job->answer.options = dti_cast_job_policies(&job->job, &recipe->cast);
    job->answer.device = dti_cast_device_name(&job->job.device);
    job->answer.device_reason = dti_cast_device_reason(&job->job.device);
}

static bool fails(const struct dti_rewrite_job *job)
{
    return (job->fail_on & dti_loss_flags(&job->rewrite->loss)) != 0;
}

static const struct dti_rewrite_verb verb = {
    .options = dti_cast_options,
    .states = true,
    .describe = describe,
    .document = dti_document_cast_file,
    .fails = fails,
};

enum dti_status dti_cast_file_run(const struct cast_args *args,
                                  const struct dti_rewrite_front *front, const char *path,
                                  const char *dtype, struct dti_error *reterr)
{
    struct dti_rewrite_job job;
    dti_rewrite_job_init(&job, &verb, &args->transfer, &args->tensors, front, path);
    job.dtype = dtype;
    enum dti_status status = dti_rewrite_options(&job, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_cast(&job, &args->policy, dtype, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_source_options(&job, reterr);
    return dti_rewrite_job_run(&job, status, reterr);
}

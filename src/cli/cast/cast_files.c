/* SPDX-License-Identifier: MIT
 *
 * `cast` of a file of tensors: the JSON answer and the report: a summary line, a line per pair of
 * dtypes, the losses, and the tensors that lost most (with -v all of them). */
#include "cli/cast/cast_files.h"

#include <stddef.h>

#include "cli/shared/loss_human.h"

static void describe(struct dti_rewrite_job *job)
{
    const struct dti_cast_recipe *const recipe = &job->request.cast;
    dti_cast_job_hint(&job->job, &recipe->cast, recipe->rule, job->rewrite->loss.overflowed);
    job->answer.losses = job->losses;
    job->answer.options = dti_cast_job_policies(&job->job, &recipe->cast);
    job->answer.device = dti_cast_device_name(&job->job.device);
    job->answer.device_reason = dti_cast_device_reason(&job->job.device);
}

static const char *const kept[DTI_FATE_COUNT] = {
    [DTI_FATE_CHANGED] = "",
    [DTI_FATE_SAME] = "as it is",
    [DTI_FATE_KEEP] = "kept: --keep",
    [DTI_FATE_ONLY] = "kept: not in --cast-only",
    [DTI_FATE_INTEGER] = "kept: --ints casts integers",
    [DTI_FATE_COMPLEX] = "kept: complex",
    [DTI_FATE_PART] = "kept: part of a quantized tensor",
    [DTI_FATE_BLOCKS] = "kept: quantized",
};

/* Not all columns are shown at once: some only with -v, one only for dtypes that lack codes. */
static enum dti_status put_table(const struct dti_rewrite_job *job, const size_t *list,
                                 size_t count, struct dti_error *reterr)
{
    const bool dry = !job->losses, brief = dry || !job->cx->verbose;
    const struct dti_rewrite_column columns[] = {
        {"bytes", DTI_COLUMN_BYTES, 0, !dry},
        {"overflowed", DTI_COLUMN_COUNT, DTI_COLUMN_OF(loss.overflowed), dry},
        {"to zero", DTI_COLUMN_COUNT, DTI_COLUMN_OF(loss.to_zero), dry},
        {"no code", DTI_COLUMN_COUNT, DTI_COLUMN_OF(loss.no_code),
         dry || job->rewrite->loss.no_code == 0},
        {"to subnormal", DTI_COLUMN_COUNT, DTI_COLUMN_OF(loss.to_subnormal), brief},
        {"nan", DTI_COLUMN_COUNT, DTI_COLUMN_OF(loss.nan_in), brief},
        {"inf", DTI_COLUMN_COUNT, DTI_COLUMN_OF(loss.inf_in), brief},
        {"max abs error", DTI_COLUMN_LOSS, DTI_COLUMN_OF(loss.max_absolute), dry},
        {"max rel", DTI_COLUMN_RELATIVE, DTI_COLUMN_OF(loss.max_relative), dry},
        {"SQNR dB", DTI_COLUMN_LOSS, DTI_COLUMN_OF(loss.sqnr_db), dry},
    };
    return dti_rewrite_table(job, columns, sizeof columns / sizeof *columns, list, count, reterr);
}

static double share(uint64_t count, uint64_t elements)
{
    return elements > 0 ? (double)count / (double)elements : 0;
}

/* Whether a lost more than b: numbers beyond the range or without a code weigh most. */
static bool is_worse(const struct dti_loss_summary *a, const struct dti_loss_summary *b)
{
    const double beyond_a = share(a->overflowed + a->no_code, a->elements);
    const double beyond_b = share(b->overflowed + b->no_code, b->elements);
    const double zero_a = share(a->to_zero, a->elements), zero_b = share(b->to_zero, b->elements);
    if (beyond_a > beyond_b || beyond_a < beyond_b)
        return beyond_a > beyond_b;
    if (a->max_relative > b->max_relative || a->max_relative < b->max_relative)
        return a->max_relative > b->max_relative;
    return zero_a > zero_b;
}

static bool lost_numbers(const struct dti_rewrite_tensor *tensor)
{
    const struct dti_loss_summary *const loss = &tensor->outcome->loss;
    return loss->overflowed > 0 || loss->to_zero > 0 || loss->no_code > 0;
}

static void put_loss(struct dti_rewrite_job *job, struct dti_line *line)
{
    const struct dti_rewrite *const rewrite = job->rewrite;
    const struct dti_cast_recipe *const recipe = &rewrite->request.cast;
    if (rewrite->changed_count == 0 || !job->losses)
        return;
    dti_loss_human_counts(job->answer.loss, line);
    dti_rewrite_errors(job, line);
    dti_loss_human_policies(&recipe->cast, recipe->rule, line);
    dti_cast_device_human(&job->job.device, line);
    if (job->cx->verbose) {
        dti_rewrite_machine(job, line);
        for (size_t i = 0; i < rewrite->plan_count; i++) {
            char kernels[DTI_PLAN_TEXT_SIZE];
            dti_line_put(line, DTI_STYLE_PLAIN, "   ");
            dti_line_put(line, DTI_STYLE_DIM, dti_plan_describe_device(rewrite->plans[i], kernels));
        }
        dti_line_end(line);
    }
    dti_loss_human_hint(&recipe->cast, recipe->rule, job->answer.loss, line);
}

/* With -v all, else those that lost whole numbers, if there are several. */
static enum dti_status put_tables(const struct dti_rewrite_job *job, struct dti_error *reterr)
{
    if (job->cx->verbose)
        return put_table(job, NULL, job->rewrite->tensor_count, reterr);
    if (!job->losses || job->rewrite->changed_count < 2)
        return DTI_OK;
    return dti_rewrite_worst(job, lost_numbers, is_worse, put_table, "  ... of ",
                             "tensors that lost numbers", reterr);
}

static const struct dti_rewrite_page page = {.loss = put_loss, .tables = put_tables};

static bool fails(const struct dti_rewrite_job *job)
{
    return (job->fail_on & dti_cast_events(&job->rewrite->loss)) != 0;
}

static const struct dti_rewrite_command command = {
    .verb = "cast",
    .example = "as in 'dtinfo cast model.safetensors bf16 -o model.bf16.safetensors'",
    .kept = kept,
    .describe = describe,
    .document = dti_document_cast_file,
    .page = &page,
    .fails = fails,
};

enum dti_status dti_cast_files(const struct dti_cast_file_args *args, const struct dti_context *cx,
                               char **operands, int count, struct dti_error *reterr)
{
    struct dti_rewrite_job job;
    const char *dtype = NULL;
    dti_rewrite_job_init(&job, &command, args->transfer, args->tensors, cx);
    enum dti_status status = dti_rewrite_operands(&job, operands, count, &dtype, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_options(&job, args->surplus, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_cast(&job, args->policy, dtype, reterr);
    if (status == DTI_OK)
        status = dti_rewrite_source_options(&job, reterr);
    return dti_rewrite_job_run(&job, status, reterr);
}

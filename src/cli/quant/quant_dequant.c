/* SPDX-License-Identifier: MIT
 *
 * dtinfo quant FILE DTYPE --dequant: numbers out of codes and scales. A view of the file
 * dequantizes the codes; the rest is a cast of that view. */
#include <string.h>

#include "answers/dequant.h"
#include "cli/quant/quant_args.h"
#include "cli/shared/loss_human.h"
#include "cli/shared/tensor_cells.h"

enum { FORM_SIZE = 128 };

static enum dti_status make_view(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    const struct quant_args *const args = job->args;
    char quoted[DTI_QUOTE_SIZE];
    const struct dti_file_dequant_request request = {
        .layout_given = args->layout_given,
        .layout = (enum dti_quant_layout)args->layout,
        .high = args->rules.order == DTI_BLOCK_HIGH,
        .bits = (unsigned)args->bits,
        .block = args->rules.block,
        .said_by = "--bits or --block",
        .only = args->tensors.only,
        .keep = args->tensors.keep,
        .select = args->tensors.select,
        .level = job->request.level,
        .open = job->source.options,
    };
    const enum dti_status status =
        dti_file_dequant_new(&job->request.dequant, job->container, &request, reterr);
    if (status != DTI_OK || dti_file_dequant_count(job->request.dequant) > 0)
        return status;
    return dti_fail(reterr, DTI_BAD_INPUT,
                    "%s: no quantized tensors found%s; 'dtinfo cast' casts floats to other dtypes",
                    dti_quote(quoted, job->path, strlen(job->path)),
                    args->tensors.only || args->tensors.keep || args->tensors.select
                        ? " in the selection"
                    : args->layout_given ? " in that layout"
                                         : "");
}

static enum dti_status answer(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    const struct quant_args *const args = job->args;
    const struct dti_dequant_answer answer = {
        .path = job->path,
        .out_path = job->out_path,
        .rewrite = job->rewrite,
        .dry_run = job->tensors->dry_run,
        .bits = args->bits,
        .block = args->rules.block,
        .threads = job->threads,
        .warnings = &job->job.warnings,
        .stream = job->cx->out,
    };
    return DTI_ANSWER(job->cx, dequant, &answer, reterr);
}

/* "a scale per channel of axis 0, zero points": the granularity of scales. */
static const char *form_words(char buffer[FORM_SIZE], const struct dti_dequant_form *form)
{
    const unsigned long long group = form->group[1], rows = form->group[0];
    size_t used = 0;
    if (form->per == DTI_PER_TENSOR)
        used = (size_t)snprintf(buffer, FORM_SIZE, "one scale");
    else if (form->per == DTI_PER_CHANNEL)
        used = (size_t)snprintf(buffer, FORM_SIZE, "a scale per channel of axis %u", form->axis);
    else if (form->flat)
        used = (size_t)snprintf(buffer, FORM_SIZE, "a scale per %llu elements%s, was %s", group,
                                form->nested ? ", nested" : "", form->number->name);
    else if (rows > 0)
        used = (size_t)snprintf(buffer, FORM_SIZE, "a scale per %llu x %llu", rows, group);
    else
        used = (size_t)snprintf(buffer, FORM_SIZE, "a scale per %llu along axis %u", group,
                                form->axis);
    (void)snprintf(buffer + used, FORM_SIZE - used, "%s%s",
                   form->tensor_scale ? ", one for the tensor" : "",
                   form->zero_points ? ", zero points" : "");
    return buffer;
}

static bool is_changed(const struct dti_rewrite *rewrite, size_t at)
{
    return dti_dequant_form(rewrite, at)->dtype || rewrite->tensors[at].fate == DTI_FATE_CHANGED;
}

static void put_form(const struct dti_rewrite_job *job, size_t at, struct dti_tensor_kind *kind)
{
    const struct dti_dequant_form *const form = dti_dequant_form(job->rewrite, at);
    char words[FORM_SIZE];
    kind->first = form->dtype != NULL;
    kind->from = dti_dequant_from(job->rewrite, at);
    kind->to = is_changed(job->rewrite, at) ? dti_rewrite_dtype(job->rewrite, at) : NULL;
    kind->same_bytes = false;
    kind->input = dti_dequant_stored_bytes(job->rewrite, at);
    if (!form->dtype)
        return;
    kind->axis = form->axis;
    (void)snprintf(kind->words, sizeof kind->words, "%s: %s", form->layout,
                   form_words(words, form));
}

/* The losses are those of the casts; codes may also stand for nan. */
static void put_loss(const struct dti_rewrite_job *job, const struct dti_dequant_totals *totals,
                     struct dti_line *line)
{
    struct dti_loss_summary loss;
    if (totals->nan > 0 || totals->inf > 0) {
        dti_line_print(line, DTI_STYLE_WARN, "  dequantization produced %llu nan and %llu inf",
                       (unsigned long long)totals->nan, (unsigned long long)totals->inf);
        dti_line_end(line);
    }
    if (job->rewrite->changed_count == 0)
        return;
    dti_rewrite_loss(job->rewrite, &loss);
    dti_loss_human_counts(&loss, line);
    dti_rewrite_errors(job, &loss, line);
}

static enum dti_status put_all(const struct dti_rewrite_job *job, struct dti_error *reterr)
{
    static const char *const heads[] = {"name", "dtype", "shape", "scales", "nan", "inf"};
    enum { COLUMNS = sizeof heads / sizeof heads[0] };
    const struct dti_rewrite *const rewrite = job->rewrite;
    struct dti_table *const table = dti_table_new(COLUMNS);
    bool whole = true;
    for (size_t i = 0; i < COLUMNS; i++)
        dti_table_cell(table, DTI_STYLE_BOLD, heads[i]);
    dti_table_heads(table, "9647");
    for (size_t i = 0; i < rewrite->tensor_count && whole; i++) {
        const struct dti_dequant_form *const form = dti_dequant_form(rewrite, i);
        char words[FORM_SIZE];
        uint64_t specials[2];
        whole =
            dti_rewrite_cells(table, dti_rewrite_source(rewrite, i), dti_dequant_from(rewrite, i),
                              is_changed(rewrite, i) ? dti_rewrite_dtype(rewrite, i) : NULL);
        dti_table_cell(table, DTI_STYLE_PLAIN, form->dtype ? form_words(words, form) : "");
        dti_file_dequant_specials(job->request.dequant, rewrite->tensors[i].source, &specials[0],
                                  &specials[1]);
        for (size_t k = 0; k < 2; k++) {
            if (form->dtype && !job->tensors->dry_run)
                dti_count_cell(table, specials[k]);
            else
                dti_table_cell(table, DTI_STYLE_PLAIN, "");
        }
    }
    return dti_rewrite_table_end(job, table, whole, reterr);
}

/* A summary line, a line per storage form of the tensors, the losses of the cast to the dtype, and
 * with -v every tensor. */
static enum dti_status human(struct dti_rewrite_job *job, struct dti_error *reterr)
{
    struct dti_dequant_totals totals;
    struct dti_line line = dti_rewrite_line(job);
    dti_dequant_sum(job->rewrite, &totals);
    dti_rewrite_head(job, totals.stored_bytes, &line);
    const enum dti_status status = dti_rewrite_kinds(job, put_form, reterr);
    if (!job->tensors->dry_run)
        put_loss(job, &totals, &line);
    return status == DTI_OK && job->cx->verbose ? put_all(job, reterr) : status;
}

static bool fails(const struct dti_rewrite_job *job)
{
    const struct quant_args *const args = job->args;
    const struct dti_loss *const loss = &job->rewrite->loss;
    struct dti_dequant_totals totals;
    dti_dequant_sum(job->rewrite, &totals);
    const unsigned seen = (loss->overflowed > 0 ? DTI_QUANT_CLIPPED : 0U) |
                          (totals.nan > 0 || totals.inf > 0 ? DTI_QUANT_SPECIAL : 0U) |
                          (loss->inexact > 0 ? DTI_QUANT_INEXACT : 0U);
    return ((unsigned)args->fail_on & seen) != 0;
}

static const char *const kept[DTI_FATE_COUNT] = {
    [DTI_FATE_CHANGED] = "",
    [DTI_FATE_SAME] = "as it is",
    [DTI_FATE_KEEP] = "kept",
    [DTI_FATE_ONLY] = "kept: not in --quant-only",
    [DTI_FATE_INTEGER] = "kept: no scales",
    [DTI_FATE_COMPLEX] = "kept: complex",
};

static const struct dti_rewrite_command command = {
    .verb = "dequantized",
    .example = "as in 'dtinfo quant model.gguf bf16 --dequant -o model.safetensors'",
    .no_file = "no file to read",
    .kept = kept,
    .open = make_view,
    .answer = answer,
    .human = human,
    .fails = fails,
};

static enum dti_status check_options(const struct quant_args *args, char **operands, int count,
                                     struct dti_error *reterr)
{
    const char *const option = dti_quant_given(
        args, "min max scale zero-point tensor-scale axis symmetric affine symmetry division like "
              "mx-scale nv-scale per pad nested-absmax");
    const int files = args->transfer.input ? 0 : 1;
    if (option)
        return dti_fail(reterr, DTI_USAGE,
                        "--%s is for quantizing; --dequant reads it from the file: leave it out",
                        option);
    if (count != files)
        return DTI_OK;
    return dti_rewrite_no_dtype(&command, args->transfer.input ? args->transfer.input : operands[0],
                                reterr);
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

enum dti_status dti_quant_dequant(const struct quant_args *args, const struct dti_context *cx,
                                  char **operands, int count, struct dti_error *reterr)
{
    /* losses are counted */
    const struct dti_policy_args policy = {.fail_on = args->fail_on ? DTI_FLAG_INEXACT : 0};
    struct dti_rewrite_job job;
    const char *dtype = NULL;
    dti_rewrite_job_init(&job, &command, &args->transfer, &args->tensors, cx);
    job.args = args;
    job.request.recipe = DTI_RECIPE_DEQUANTIZE;
    enum dti_status status = check_options(args, operands, count, reterr);
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
        reterr->remedy = DTI_REMEDY_CAST_RAW; /* there is no --from */
    return status;
}

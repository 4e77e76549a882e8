/* SPDX-License-Identifier: MIT
 *
 * The whole cast of an array: open, cast, decide, keep or discard, report. */
#include <string.h>

#include "answers/cast.h"
#include "cli/cast/array.h"
#include "cli/shared/amount.h"
#include "cli/shared/human.h"
#include "cli/shared/loss_human.h"
#include "cli/shared/option_rows.h"
#include "dtinfo/loss_summary.h"
#include "dtinfo/parallel.h"
#include "dtinfo/table.h"

static size_t choose_threads(const struct cast_array *array)
{
    if ((array->from_text || array->to_text) && array->job.device.runner)
        return 1; /* which the device checks, or casts, in order */
    const size_t wanted = dti_cast_device_threads(&array->job.device, array->threads);
    if (wanted > 0)
        return wanted;
    return dti_amount_useful_threads(array->input.seekable ? array->input.size : UINT64_MAX);
}

static enum dti_status transfer(struct cast_array *array, struct dti_error *reterr)
{
    struct dti_team *team;
    const struct dti_transfer_options options = {0};
    const struct dti_transfer how = {.input = &array->input,
                                     .elements = array->count,
                                     .output = array->output,
                                     .progress = dti_progress_show,
                                     .progress_context = &array->progress};
    enum dti_status status = dti_team_new(&team, array->threads, DTI_WAIT_SLEEP, false, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_transfer_run(array->plan, team, &how, &options,
                              array->counted ? &array->loss : NULL, &array->elements, reterr);
    dti_team_free(team);
    if (status == DTI_OK)
        (void)(dti_plan_src_bytes(array->plan, array->elements, &array->input_bytes) &&
               dti_plan_dst_bytes(array->plan, array->elements, &array->output_bytes));
    return status;
}

/* Elements of a raw input whose size is known; 0 otherwise. */
static uint64_t expected_elements(const struct cast_array *array)
{
    const struct dti_request *request = &array->request;
    if (array->from_text || !array->input.seekable || array->input.size > UINT64_MAX / 8)
        return 0;
    if (array->count != DTI_UNTIL_END)
        return array->count;
    return array->input.size * 8 / dti_format_stored_bits(&request->src, &request->src_layout);
}

/* With --count: the file has exactly the bytes of that many elements, and the unused bits of its
 * last byte are zero. */
static enum dti_status check_count(const struct cast_array *array, struct dti_error *reterr)
{
    const struct dti_request *request = &array->request;
    const struct dti_input *input = &array->input;
    const unsigned long long count = array->count;
    char label[DTI_QUOTE_SIZE];
    uint64_t bytes;
    unsigned char last;
    if (array->count == DTI_UNTIL_END)
        return DTI_OK;
    dti_input_label(input, label);
    if (!input->seekable)
        return dti_fail(reterr, DTI_USAGE,
                        "%s has no size to check --count against; give a file, or leave it out",
                        label);
    if (!dti_plan_src_bytes(array->plan, array->count, &bytes) || bytes != input->size)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: the file has %llu bytes, which do not match --count %llu of %s; "
                        "correct the count or leave it out",
                        label, (unsigned long long)input->size, count, request->src.name);
    const unsigned bits = dti_format_stored_bits(&request->src, &request->src_layout);
    const unsigned used = (unsigned)(array->count % 8) * bits % 8;
    if (used == 0)
        return DTI_OK;
    enum dti_status status = dti_input_read_at(input, &last, 1, bytes - 1, reterr);
    if (status == DTI_OK && !dti_storage_padding_is_zero(&request->src_layout, last, 8 - used))
        return dti_fail(
            reterr, DTI_BAD_INPUT,
            "%s: the last %u bits, after %llu %s, are not zero; correct --count or --packing",
            label, 8 - used, count, request->src.name);
    return status;
}

static enum dti_status open_output(struct cast_array *array, struct dti_error *reterr)
{
    uint64_t size = 0;
    const uint64_t elements = expected_elements(array);
    if (array->to_text && array->to_stdout)
        return DTI_OK; /* text may go to a terminal, and through the buffer of stdout */
    if (!array->to_text && array->plan && !dti_plan_dst_bytes(array->plan, elements, &size))
        size = 0;
    dti_output_guard_signals();
    struct dti_output_leftovers leftovers = {.count = {0}};
    const enum dti_status status =
        dti_output_leftovers_find(&leftovers, array->out_path, false, array->args->force, reterr);
    if (status != DTI_OK)
        return status;
    dti_output_warn_leftovers(&leftovers, array->out_path, dti_cast_job_warn, &array->job);
    return dti_output_open(&array->output, array->out_path, array->args->force, size, reterr);
}

static enum dti_status run(struct cast_array *array, struct dti_error *reterr)
{
    const bool bar = dti_progress_wanted((enum dti_progress_when)array->args->progress, array->cx,
                                         array->to_stdout);
    const char *units = array->from_text ? "bytes" : "elements";
    const uint64_t total =
        array->from_text && array->input.seekable ? array->input.size : expected_elements(array);
    enum dti_status status;
    dti_loss_init(&array->loss);
    dti_progress_start(&array->progress, bar ? array->cx->err : NULL, total, units);
    if (array->from_text)
        status = dti_cast_array_from_text(array, reterr);
    else if (array->to_text)
        status = dti_cast_array_to_text(array, reterr);
    else
        status = transfer(array, reterr);
    dti_progress_end(&array->progress);
    return status;
}

/* As for values, a NaN is an error if a dtype on the route has no code for it. */
static enum dti_status check_nan(const struct cast_array *array, struct dti_error *reterr)
{
    const struct dti_loss *loss = &array->loss;
    const struct dti_format *const without =
        array->from_text ? NULL
                         : dti_loss_without_nan(loss, &array->request.cast, array->request.rule);
    char label[DTI_QUOTE_SIZE], place[64] = "";
    if (!without)
        return DTI_OK;
    if (loss->first_no_code != UINT64_MAX)
        (void)snprintf(place, sizeof place, "element %llu is NaN; ",
                       (unsigned long long)loss->first_no_code);
    return dti_fail(reterr, DTI_NOT_REPRESENTABLE,
                    "%s: %s%s has no NaN; --overflow saturate stores the largest number instead",
                    dti_input_label(&array->input, label), place, without->name);
}

/* Gives the work to the device; numbers read from text are rounded one by one, with the device as a
 * cross-check. */
static enum dti_status open_device(struct cast_array *array, struct dti_error *reterr)
{
    struct dti_cast_device *const device = &array->job.device;
    if (array->from_text)
        return dti_cast_device_open_cross_check(device, reterr);
    const enum dti_status status = dti_cast_device_open(device, reterr);
    return status == DTI_OK ? dti_cast_device_take(device, array->plan, reterr) : status;
}

static void put_dtype(const struct dti_array_side *side, struct dti_line *line)
{
    if (side->packs)
        dti_line_print(line, DTI_STYLE_PLAIN, "%s (packing %s)", side->format->name,
                       dti_choice_name(dti_choice_packing, (int)side->packing));
    else
        dti_line_print(line, DTI_STYLE_PLAIN, "%s%s", side->format->name,
                       side->text ? " as text" : "");
}

/* in.bin -> out.bin   268435456 fp32 -> bf16   1.00 GiB -> 512.00 MiB */
static void put_head(const struct cast_array *array, const struct dti_array_answer *answer,
                     struct dti_line *line)
{
    char from[DTI_QUOTE_SIZE], to[DTI_QUOTE_SIZE], read[DTI_TEXT_SIZE], written[DTI_TEXT_SIZE];
    dti_line_print(line, DTI_STYLE_PLAIN, "%s -> %s   %llu ",
                   strcmp(array->path, "-") == 0 ? "standard input"
                                                 : dti_human_path(from, array->path),
                   array->to_stdout ? "standard output" : dti_human_path(to, array->out_path),
                   (unsigned long long)array->elements);
    if (array->from_text)
        dti_line_text(line, array->elements == 1 ? "number" : "numbers");
    else
        put_dtype(&answer->input, line);
    dti_line_text(line, " -> ");
    put_dtype(&answer->output, line);
    dti_line_print(line, DTI_STYLE_PLAIN, "   %s -> %s\n",
                   dti_human_bytes(read, array->input_bytes),
                   dti_human_bytes(written, array->output_bytes));
}

static void show(struct cast_array *array, const struct dti_array_answer *answer)
{
    const struct dti_loss_summary *const loss = &answer->loss;
    const bool aside = array->to_stdout;
    struct dti_line line = {.out = aside ? array->cx->err : array->cx->out,
                            .colour = aside ? array->cx->colour_error : array->cx->colour};
    const struct dti_request *const request = &array->request;
    char place[64];
    (void)snprintf(place, sizeof place, "element %llu", (unsigned long long)loss->max_index);
    put_head(array, answer, &line);
    dti_loss_human_counts(loss, &line);
    dti_loss_human_errors(loss, place, &line);
    dti_loss_human_policies(&request->cast, request->rule, &line);
    dti_cast_device_human(&array->job.device, &line);
    if (array->cx->verbose)
        dti_line_print(&line, DTI_STYLE_DIM, "  level %s   %zu thread%s   %s\n",
                       dti_level_name(answer->level), answer->threads,
                       answer->threads == 1 ? "" : "s",
                       answer->kernels ? answer->kernels : "from text");
    dti_loss_human_hint(&request->cast, request->rule, loss, &line);
}

static struct dti_array_side side_of(const char *path, uint64_t bytes, bool text,
                                     const struct dti_format *format,
                                     const struct dti_layout *layout)
{
    return (struct dti_array_side){.path = path,
                                   .bytes = bytes,
                                   .text = text,
                                   .format = format,
                                   .packs = !text && dti_format_packs(format),
                                   .packing = layout->packing,
                                   .ordered = !text && dti_format_container(format) > 1};
}

static enum dti_status report(struct cast_array *array, struct dti_error *reterr)
{
    const struct dti_request *const request = &array->request;
    const struct dti_cast *const cast = &request->cast;
    char kernels[DTI_PLAN_TEXT_SIZE];
    dti_cast_device_warn(&array->job);
    if (array->cx->output == DTI_OUTPUT_HUMAN && !array->shown)
        return DTI_OK;
    struct dti_array_answer answer = {
        .input = side_of(array->path, array->input_bytes, array->from_text,
                         array->from_text ? NULL : &request->src, &request->src_layout),
        .output = side_of(array->out_path, array->output_bytes, array->to_text, &cast->dst,
                          &request->dst_layout),
        .elements = array->elements,
        .options = dti_cast_job_policies(&array->job, cast),
        .device = dti_cast_device_name(&array->job.device),
        .device_reason = dti_cast_device_reason(&array->job.device),
        .level = array->level,
        .kernels = array->plan ? dti_plan_describe_device(array->plan, kernels) : NULL,
        .threads = array->threads,
        .warnings = &array->job.warnings,
    };
    answer.input.big = array->args->endian == DTI_ENDIAN_BIG;
    dti_loss_summarize(&array->loss, &answer.loss);
    if (array->cx->output == DTI_OUTPUT_HUMAN) {
        show(array, &answer);
        return DTI_OK;
    }
    dti_cast_job_hint(&array->job, cast, request->rule, answer.loss.overflowed);
    return DTI_ANSWER(array->cx, cast_array, &answer, reterr);
}

static enum dti_status finish(struct cast_array *array, struct dti_error *reterr)
{
    enum dti_status status = check_nan(array, reterr);
    if (status == DTI_OK && !array->output)
        return report(array, reterr);
    if (status == DTI_OK) {
        status = dti_output_commit(array->output, reterr);
        array->output = NULL;
    }
    if (status != DTI_OK)
        return status;
    dti_output_is_complete(array->out_path);
    return dti_output_report_end(array->cx, array->out_path, report(array, reterr), reterr);
}

enum dti_status dti_cast_array(const struct cast_array_args *args, const struct dti_context *cx,
                               char **operands, int count, struct dti_error *reterr)
{
    struct cast_array array;
    enum dti_status status = dti_cast_array_init(&array, args, cx, operands, count, reterr);
    if (status != DTI_OK)
        return status;
    if (!array.from_text)
        status = dti_plan_new(&array.plan, &array.request, array.level, reterr);
    if (status == DTI_OK) {
        status = dti_input_open(&array.input, array.path, reterr);
        if (status == DTI_OK) {
            status = check_count(&array, reterr);
            if (status == DTI_OK)
                status = open_device(&array, reterr);
            array.threads = choose_threads(&array);
            if (status == DTI_OK)
                status = open_output(&array, reterr);
            if (status == DTI_OK)
                status = run(&array, reterr);
            if (status == DTI_OK)
                status = finish(&array, reterr);
            dti_output_discard(array.output); /* discards uncommitted output */
            dti_input_close(&array.input);
        }
        dti_plan_free(array.plan);
    }
    /* text is rounded number by number, and its flags are known */
    const unsigned events = array.from_text ? array.flags : dti_cast_events(&array.loss);
    const bool fatal = status == DTI_OK && ((unsigned)args->policy->fail_on & events) != 0;
    dti_cast_job_free(&array.job);
    return fatal ? dti_fail(reterr, DTI_ANSWER_NO, "%s", "") : status;
}

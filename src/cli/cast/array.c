/* SPDX-License-Identifier: MIT
 *
 * A cast of an array from beginning to end: open, cast, decide, keep or discard, report. */
#include "cli/cast/array.h"

#include "answers/cast_array.h"
#include "cli/shared/amount.h"
#include "cli/shell/output_words.h"
#include "dtinfo/loss_summary.h"
#include "dtinfo/parallel.h"

static size_t choose_threads(const struct cast_array *array)
{
    if (array->from_text || array->to_text)
        return 1;
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

/* With --count: the file is as long as so many elements are, and what is left of its last byte is
 * zero. */
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
                        "%s: %llu bytes are not as long as the %llu %s of --count; correct the "
                        "count or leave it out",
                        label, (unsigned long long)input->size, count, request->src.name);
    const unsigned bits = dti_format_stored_bits(&request->src, &request->src_layout);
    const unsigned used = (unsigned)(array->count % 8) * bits % 8;
    if (used == 0)
        return DTI_OK;
    enum dti_status status = dti_input_read_at(input, &last, 1, bytes - 1, reterr);
    if (status == DTI_OK && !dti_storage_padding_is_zero(&request->src_layout, last, 8 - used))
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: the last %u bits, behind %llu %s, are not zero; correct --count or "
                        "--packing",
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

/* As for values: a NaN for which a dtype on the way or at its end has no code is refused. */
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
                    "%s: %s%s has no NaN; --overflow saturate stores the largest number in its "
                    "place",
                    dti_input_label(&array->input, label), place, without->name);
}

/* Gives the work to the device; numbers of text are rounded one by one, and it is a cross-check. */
static enum dti_status open_device(struct cast_array *array, struct dti_error *reterr)
{
    struct dti_cast_device *const device = &array->job.device;
    if (array->from_text)
        return dti_cast_device_open_cross_check(device, reterr);
    const enum dti_status status = dti_cast_device_open(device, reterr);
    return status == DTI_OK ? dti_cast_device_take(device, array->plan, reterr) : status;
}

static enum dti_status answer(struct cast_array *array, const struct dti_loss_summary *loss,
                              struct dti_error *reterr)
{
    const struct dti_request *const request = &array->request;
    const struct dti_cast *const cast = &request->cast;
    dti_cast_job_hint(&array->job, cast, request->rule, loss->overflowed);
    const struct dti_array_answer answer = {
        .input = {.path = array->path,
                  .text = array->from_text,
                  .format = array->from_text ? NULL : &request->src,
                  .packing = request->src_layout.packing,
                  .big = array->args->endian == DTI_ENDIAN_BIG,
                  .bytes = array->input_bytes},
        .output = {.path = array->out_path,
                   .text = array->to_text,
                   .format = &cast->dst,
                   .packing = request->dst_layout.packing,
                   .bytes = array->output_bytes},
        .elements = array->elements,
        .options = dti_cast_job_policies(&array->job, cast),
        .device = dti_cast_device_name(&array->job.device),
        .device_reason = dti_cast_device_reason(&array->job.device),
        .level = array->level,
        .plan = array->plan,
        .threads = array->threads,
        .loss = *loss,
        .warnings = &array->job.warnings,
    };
    return DTI_ANSWER(array->cx, cast_array, &answer, reterr);
}

static enum dti_status report(struct cast_array *array, struct dti_error *reterr)
{
    struct dti_loss_summary loss;
    dti_cast_device_warn(&array->job);
    dti_loss_summarize(&array->loss, &loss);
    if (array->cx->output != DTI_OUTPUT_HUMAN)
        return answer(array, &loss, reterr);
    if (array->shown)
        dti_cast_array_human(array, &loss);
    return DTI_OK;
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
            dti_output_discard(array.output); /* what was not committed */
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

/* SPDX-License-Identifier: MIT
 *
 * The complete cast of an array. Builds the request from operands, options and the environment;
 * then opens, casts, decides, keeps or discards, reports. */
#include "cli/cast/array.h"

#include <stdlib.h>
#include <string.h>

#include "answers/cast/cast.h"
#include "cli/shared/human.h"
#include "cli/shared/loss_human.h"
#include "cli/shared/operand_kinds.h"
#include "containers/containers.h"
#include "files/scan/loss_summary.h"
#include "report/table.h"
#include "requests/amount.h"
#include "requests/option_rows.h"
#include "requests/rewrite/leftover_words.h"
#include "util/run/parallel.h"
#include "util/text/ascii.h"

#define EXAMPLE "as in 'dtinfo cast in.bin bf16 --from fp32 -o out.bin'"

/* The file and the name of the destination. */
static enum dti_status read_operands(struct cast_array *array, char **operands, int count,
                                     const char **ret_dtype, struct dti_error *reterr)
{
    const struct dti_transfer_args *args = array->args;
    const int files = args->input ? 0 : 1;
    if (count == 0)
        return dti_fail(reterr, DTI_USAGE, "nothing to cast; give %s, " EXAMPLE,
                        args->input ? "a dtype" : "a file and a dtype");
    if (count > files + 1 && args->input)
        return dti_fail_word(reterr, DTI_USAGE, operands[1], strlen(operands[1]),
                             "--input names the file, and an array goes to one dtype; %s is one "
                             "operand too many",
                             DTI_QUOTED(operands[1], strlen(operands[1])));
    if (count > files + 1)
        return dti_rewrite_surplus(operands[2], reterr);
    array->path = args->input ? args->input : operands[0];
    enum dti_input_kind kind;
    const int cause = strcmp(array->path, "-") != 0 ? dti_input_find(array->path, &kind) : 0;
    if (!args->from && cause != 0)
        return dti_no_such_file(array->path, cause, reterr);
    if (!args->from)
        return dti_operand_needs_from(array->path, reterr);
    if (count == files)
        return dti_fail(reterr, DTI_USAGE, "the target dtype of %s is missing; give one, " EXAMPLE,
                        DTI_QUOTED(array->path, strlen(array->path)));
    *ret_dtype = operands[files];
    if (args->input || strcmp(array->path, "-") == 0)
        return DTI_OK;
    if (!dti_operand_is_number(array->path))
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE,
                    "%s is a number, and --from is for files; leave it out, or write './%s' or "
                    "--input %s for the file of that name",
                    DTI_QUOTED(array->path, strlen(array->path)), array->path, array->path);
}

static enum dti_status check_options(const struct cast_array *array, const char *of_values,
                                     const char *of_tensors, struct dti_error *reterr)
{
    const struct dti_transfer_args *args = array->args;
    if (of_values)
        return dti_fail(reterr, DTI_USAGE, "--%s is for values, not for arrays; leave it out",
                        of_values);
    if (array->cx->quiet && args->report)
        return dti_fail(reterr, DTI_USAGE, "-q and --report exclude each other; give one of them");
    if (of_tensors)
        return dti_fail(
            reterr, DTI_USAGE,
            "--%s is for files of tensors; -o x.npy or --as npy turns raw codes into one",
            of_tensors);
    if (args->as_given && args->as > DTI_AS_TEXT)
        return dti_fail(reterr, DTI_USAGE,
                        "text is cast to raw codes or to text; cast it with --as raw first, then "
                        "the result with --from");
    if (!array->out_path)
        return dti_fail(reterr, DTI_USAGE,
                        "missing output; give -o FILE, or '-o -' for standard output");
    if (array->to_stdout && array->cx->output != DTI_OUTPUT_HUMAN)
        return dti_fail(reterr, DTI_USAGE,
                        "--json and the data would both go to standard output; give -o FILE");
    if (args->endian_given && array->from_text)
        return dti_fail(reterr, DTI_USAGE,
                        "--endian is the byte order of raw input; text has none: leave it out");
    if (array->recipe->from_packing_given && array->from_text)
        return dti_fail(reterr, DTI_USAGE,
                        "--from-packing is for raw codes; text has none: leave it out");
    if (args->count_given && array->from_text)
        return dti_fail(reterr, DTI_USAGE,
                        "--count is for raw codes; text needs no count: leave it out");
    return DTI_OK;
}

/* Packing applies to codes of less than 8 bits. */
static enum dti_status check_packing(const struct cast_array *array, struct dti_error *reterr)
{
    const struct dti_recipe *const recipe = array->recipe;
    const struct dti_request *request = &array->request;
    const bool source = !array->from_text && dti_format_packs(&request->src);
    const bool result = !array->to_text && dti_format_packs(&request->cast.dst);
    const char *option = recipe->packing_given && !source && !result ? "--packing"
                         : recipe->from_packing_given && !source     ? "--from-packing"
                                                                     : NULL;
    if (!option)
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE,
                    "%s is for codes of less than 8 bits, and there are none%s: leave it out",
                    option, option[2] == 'f' ? " in the input" : "");
}

static enum dti_status refuse_complex(const struct dti_format *dtype, bool source,
                                      struct dti_error *reterr)
{
    const char *component = dti_format_get(dtype->component)->name;
    if (source)
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "arrays of %s cannot be cast directly; --from %s reads the parts, "
                        "alternating real and imaginary",
                        dtype->name, component);
    return dti_fail(
        reterr, DTI_WRONG_KIND,
        "arrays cannot be cast to %s; cast the parts, alternating real and imaginary, to %s",
        dtype->name, component);
}

/* Files are little-endian unless --endian gives another byte order for the input. */
static enum dti_status read_dtypes(struct cast_array *array, const char *dtype,
                                   struct dti_error *reterr)
{
    const struct dti_transfer_args *args = array->args;
    const struct dti_recipe *const recipe = array->recipe;
    struct dti_cast_job *job = &array->job;
    if (job->target_count != 1 || !job->targets[0].named)
        return dti_fail(reterr, DTI_USAGE, "an array goes to one dtype; %s stands for several",
                        DTI_QUOTED(dtype, strlen(dtype)));
    const struct dti_cast_target *target = &job->targets[0];
    if (target->dtype.kind == DTI_KIND_COMPLEX)
        return refuse_complex(&target->dtype, false, reterr);

    struct dti_request *request = &array->request;
    request->cast = target->cast;
    request->rule = target->rule;
    request->dst_layout = dti_file_layout(&target->dtype, (enum dti_packing)recipe->packing, false);
    if (array->from_text)
        return DTI_OK;
    struct dti_dtype_operand source;
    enum dti_status status = dti_dtype_operand_read(args->from, NULL, array->cx, &source, reterr);
    if (status != DTI_OK)
        return status;
    if (source.format.kind == DTI_KIND_COMPLEX)
        return refuse_complex(&source.format, true, reterr);
    if (source.note)
        dti_warnings_add(&job->warnings, "dtype_name", source.format.name, 0, source.note);
    request->src = source.format;
    request->src_layout = dti_file_layout(
        &source.format,
        (enum dti_packing)(recipe->from_packing_given ? recipe->from_packing : recipe->packing),
        args->endian == (int)DTI_ENDIAN_BIG);
    return DTI_OK;
}

/* Fills everything except plan, input, output and the members after them: nothing is opened here.
 * Free the job on success only. */
static enum dti_status array_init(struct cast_array *ret, const struct cast_array_args *array_args,
                                  const struct dti_command_context *cx, char **operands, int count,
                                  struct dti_error *reterr)
{
    const struct dti_transfer_args *const args = array_args->transfer;
    const bool fails = array_args->policy->fail_on != 0;
    const char *dtype = NULL;
    memset(ret, 0, sizeof *ret);
    ret->args = args;
    ret->recipe = &array_args->policy->recipe;
    ret->cx = cx;
    ret->from_text = args->from && dti_ascii_equal(args->from, "text");
    ret->to_text = args->as == DTI_AS_TEXT;
    ret->count = args->count_given ? args->count : DTI_UNTIL_END;
    ret->out_path = args->output ? args->output : ret->to_text ? "-" : NULL;
    ret->to_stdout = ret->out_path && dti_output_is_standard(ret->out_path);
    enum dti_status status = read_operands(ret, operands, count, &dtype, reterr);
    if (status == DTI_OK)
        status = check_options(ret, array_args->of_values, array_args->of_tensors, reterr);
    if (status == DTI_OK)
        status = dti_transfer_amounts(&cx->asker, args->threads, NULL, &ret->threads, NULL,
                                      &ret->level, reterr);
    if (status != DTI_OK)
        return status;

    status = dti_cast_job_init(&ret->job, array_args->policy, &cx->asker, dtype, reterr);
    if (status != DTI_OK)
        return status;
    status = read_dtypes(ret, dtype, reterr);
    if (status == DTI_OK)
        status = check_packing(ret, reterr);
    if (status != DTI_OK) {
        dti_cast_job_free(&ret->job);
        return status;
    }
    const struct dti_format *dst = &ret->request.cast.dst;
    /* a NaN without a code is an error, found by counting */
    const bool refuses = dti_format_is_float(dst) && !dti_format_has_nan(dst) &&
                         ret->request.cast.policy.overflow == DTI_OVERFLOW_NATIVE;
    const bool json = cx->output != DTI_OUTPUT_HUMAN;
    ret->shown = json || (!cx->quiet && (!ret->to_stdout || args->report));
    ret->request.flags = fails;
    ret->counted = ret->shown || fails || refuses || ret->request.cast.via_count > 0;
    return DTI_OK;
}

static size_t choose_threads(const struct cast_array *array)
{
    if ((array->from_text || array->to_text) && array->job.device.runner)
        return 1; /* the device checks or casts numbers in order */
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
        return DTI_OK; /* text may go to a terminal, and through stdout's buffer */
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

static enum dti_status write_array(struct cast_array *array, struct dti_error *reterr)
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

enum dti_status dti_cast_array(const struct cast_array_args *args,
                               const struct dti_command_context *cx, char **operands, int count,
                               struct dti_error *reterr)
{
    struct cast_array array;
    enum dti_status status = array_init(&array, args, cx, operands, count, reterr);
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
                status = write_array(&array, reterr);
            if (status == DTI_OK)
                status = finish(&array, reterr);
            dti_output_discard(array.output); /* discards uncommitted output */
            dti_input_close(&array.input);
        }
        dti_plan_free(array.plan);
    }
    /* text is rounded number by number, and its flags are known */
    const unsigned events = array.from_text ? array.flags : dti_loss_flags(&array.loss);
    const bool fatal = status == DTI_OK && ((unsigned)args->policy->fail_on & events) != 0;
    dti_cast_job_free(&array.job);
    return fatal ? dti_fail(reterr, DTI_ANSWER_NO, "%s", "") : status;
}

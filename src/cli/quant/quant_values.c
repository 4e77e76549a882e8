/* SPDX-License-Identifier: MIT
 *
 * dtinfo quant VALUES... DTYPE: the values are one tensor, quantized to each dtype. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/quant/quant_values.h"
#include "cli/shared/human.h"
#include "cli/shared/operand_kinds.h"
#include "cli/shared/text_numbers.h"

#define EXAMPLE "as in 'dtinfo quant -1 0.1 3 int8'"

static bool is_target(const char *text)
{
    struct dti_format format;
    return dti_block_lookup(text) || dti_format_lookup(text, &format, NULL, NULL) == DTI_OK;
}

static enum dti_status check_operands(const struct quant_args *args, char **operands, int count,
                                      struct dti_error *reterr)
{
    const char *const of_files = dti_quant_given(
        args, "input output dequant as force layout nested-absmax bits quant-only "
              "keep select allow-unmatched no-copy assume lenient dry-run max-shard-size part "
              "finish threads max-memory progress axis pad");
    if (count == 0)
        return dti_fail(reterr, DTI_USAGE,
                        "nothing to quantize; give values and a dtype, " EXAMPLE);
    if (of_files)
        return dti_fail(reterr, DTI_USAGE,
                        "--%s is for files of tensors, as in 'dtinfo quant model.safetensors mxfp4 "
                        "-o out.safetensors'",
                        of_files);
    if (args->recipe.per_given && args->recipe.rules.per == DTI_PER_CHANNEL)
        return dti_fail(
            reterr, DTI_USAGE,
            "values have no channels; --per channel is for files, --block N for values and files");
    if (count == 1)
        return dti_fail(reterr, DTI_USAGE,
                        is_target(operands[0]) ? "the values are missing before %s, " EXAMPLE
                                               : "the dtype is missing after %s, " EXAMPLE,
                        DTI_QUOTED(operands[0], strlen(operands[0])));
    for (int i = 0; i < count - 1; i++) {
        if (strcmp(operands[i], "-") == 0 && count > 2)
            return dti_fail(
                reterr, DTI_USAGE,
                "'-' reads all values from standard input; give no other values with it");
    }
    const char *const last = operands[count - 1], *const first = operands[count - 2];
    if (!is_target(first) && dti_operand_is_number(last)) {
        const bool swapped = is_target(operands[0]);
        const char *const word = swapped ? operands[0] : last;
        return dti_fail(reterr, DTI_USAGE,
                        swapped
                            ? "expected a value, got the dtype %s; the dtype comes last, " EXAMPLE
                            : "the dtype is missing after %s, " EXAMPLE,
                        DTI_QUOTED(word, strlen(word)));
    }
    if (!is_target(first))
        return DTI_OK;
    if (is_target(last))
        return dti_fail(reterr, DTI_USAGE,
                        "expected a value, got the dtype %s; join dtypes with commas: %.64s,%.64s",
                        DTI_QUOTED(first, strlen(first)), first, last);
    if (dti_operand_is_number(last))
        return dti_fail(reterr, DTI_USAGE,
                        "expected a dtype, got the number %s; the dtype comes last: %.64s %.64s",
                        DTI_QUOTED(last, strlen(last)), last, first);
    return DTI_OK;
}

/* The values of standard input, separated by white space or commas. */
static enum dti_status read_input(struct dti_quant_inputs *numbers, struct dti_error *reterr)
{
    struct dti_input input;
    struct dti_text_numbers texts;
    enum dti_status status = dti_input_open(&input, "-", reterr);
    if (status != DTI_OK)
        return status;
    dti_text_numbers_init(&texts, &input);
    for (;;) {
        const char *text;
        size_t length;
        struct dti_error error;
        status = dti_text_numbers_next(&texts, &text, &length, reterr);
        if (status != DTI_OK || !text)
            break;
        status = dti_quant_inputs_add(numbers, text, length, &error);
        if (status != DTI_OK) {
            status = dti_text_numbers_fail(&texts, &error, reterr);
            break;
        }
    }
    dti_text_numbers_free(&texts);
    dti_input_close(&input);
    if (status == DTI_OK && numbers->count == 0)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "standard input is empty; give values separated by white space");
    return status;
}

static enum dti_status read_operands(struct dti_quant_inputs *numbers, char **operands, int count,
                                     struct dti_error *reterr)
{
    if (count == 1 && strcmp(operands[0], "-") == 0)
        return read_input(numbers, reterr);
    for (int i = 0; i < count; i++) {
        struct dti_error error;
        const enum dti_status status =
            dti_quant_inputs_add(numbers, operands[i], strlen(operands[i]), &error);
        if (status == DTI_OK)
            continue;
        dti_operand_hint(operands[i], &error);
        *reterr = error;
        return error.status;
    }
    return DTI_OK;
}

struct quant_values_job {
    const struct quant_args *args;
    const struct dti_context *cx;
    struct dti_quant_target *targets;
    size_t count;
    struct dti_quant_inputs numbers;
    unsigned events; /* set of enum dti_quant_event */
};

/* If only one end of a range is given, it must not be beyond the values. */
static enum dti_status check_range(const struct quant_values_job *job, size_t at,
                                   struct dti_error *reterr)
{
    const struct dti_quant_target *const target = &job->targets[at];
    char text[DTI_TEXT_SIZE];
    uint32_t end;
    if (!dti_quant_range_is_empty(target, &job->numbers, &end))
        return DTI_OK;
    return dti_fail(reterr, DTI_USAGE, "%s is beyond all values, whose %s is %s; give %s too",
                    target->has_min ? "--min" : "--max", target->has_min ? "largest" : "least",
                    dti_human_fp32(text, end), target->has_min ? "--max" : "--min");
}

static enum dti_status show(struct quant_values_job *job, size_t at, struct dti_error *reterr)
{
    struct dti_quant_result result;
    if (!dti_quant_result_make(&result, &job->targets[at], &job->numbers))
        return dti_no_memory(reterr);
    job->events |= dti_quant_events(&result);
    if (at > 0 && !job->cx->quiet)
        (void)fputc('\n', job->cx->out);
    const enum dti_status status = dti_quant_human(job->args, job->cx, &result, reterr);
    dti_quant_result_free(&result);
    return status;
}

/* Some targets in one document. */
static enum dti_status answer(struct quant_values_job *job, size_t first, size_t count,
                              struct dti_error *reterr)
{
    const struct dti_quant_answer answer = {
        .rules = &job->args->recipe.rules,
        .targets = job->targets + first,
        .count = count,
        .numbers = &job->numbers,
        .stream = job->cx->output == DTI_OUTPUT_JSON ? job->cx->out : NULL,
        .ret_events = &job->events,
    };
    return DTI_ANSWER(job->cx, quant, &answer, reterr);
}

static enum dti_status show_all(struct quant_values_job *job, struct dti_error *reterr)
{
    const bool document = job->cx->output == DTI_OUTPUT_JSON;
    enum dti_status status = DTI_OK;
    for (size_t at = 0; at < job->count && status == DTI_OK; at++) {
        status = check_range(job, at, reterr);
        if (status == DTI_OK && !document)
            status = job->cx->output == DTI_OUTPUT_HUMAN ? show(job, at, reterr)
                                                         : answer(job, at, 1, reterr);
    }
    return status == DTI_OK && document ? answer(job, 0, job->count, reterr) : status;
}

enum dti_status dti_quant_values(const struct quant_args *args, const struct dti_context *cx,
                                 char **operands, int count, struct dti_error *reterr)
{
    struct quant_values_job job = {.args = args, .cx = cx};
    enum dti_status status = check_operands(args, operands, count, reterr);
    if (status == DTI_OK)
        status =
            dti_quant_targets_read(args, cx, operands[count - 1], &job.targets, &job.count, reterr);
    if (status != DTI_OK)
        return status;
    dti_quant_inputs_init(&job.numbers);
    status = read_operands(&job.numbers, operands, count - 1, reterr);
    if (status == DTI_OK)
        status = show_all(&job, reterr);
    dti_quant_inputs_free(&job.numbers);
    free(job.targets);
    if (status == DTI_OK && (job.events & (unsigned)args->fail_on) != 0)
        return dti_fail(reterr, DTI_ANSWER_NO, "%s", ""); /* the answer itself shows the event */
    return status;
}

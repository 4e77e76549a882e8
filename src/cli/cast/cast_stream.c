/* SPDX-License-Identifier: MIT
 *
 * One value a line from standard input. -q takes a short path: text to value to code to text. */
#include <string.h>
#include <unistd.h>

#include "cli/cast/cast.h"
#include "dtinfo/lines.h"
#include "dtinfo/spell.h"

/* Whether -q can skip the exact form of the numbers. */
static bool is_plain(const struct cast_job *job)
{
    if (!job->cx->quiet || job->cx->output != DTI_OUTPUT_HUMAN || job->args->digits_given)
        return false;
    if (job->device.runner)
        return false;
    for (size_t i = 0; i < job->target_count; i++) {
        const struct cast_target *target = &job->targets[i];
        if (target->dtype.kind == DTI_KIND_COMPLEX || target->rule ||
            target->cast.policy.overflow == DTI_OVERFLOW_WRAP)
            return false;
    }
    return true;
}

static enum dti_status cast_full_line(struct cast_job *job, const char *text, size_t length,
                                      uint64_t index, struct dti_error *reterr)
{
    struct cast_operand operand;
    enum dti_status status = dti_cast_operand_parse(&operand, text, length, index, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_cast_operand_show(job, &operand, reterr);
    dti_cast_operand_free(&operand);
    return status;
}

static enum dti_status cast_plain_line(struct cast_job *job, const char *text, size_t length,
                                       uint64_t index, struct dti_error *reterr)
{
    struct dti_value value;
    struct dti_scalar scalar;
    char out[DTI_TEXT_SIZE];
    enum dti_status status = dti_value_parse(&value, text, length, reterr);
    if (status != DTI_OK)
        return status;
    if (value.class == DTI_CLASS_NAN) /* not every dtype has a code for it */
        return cast_full_line(job, text, length, index, reterr);
    for (size_t i = 0; i < job->target_count; i++) {
        dti_scalar_store(&job->targets[i].cast, &value, NULL, index, &scalar);
        job->flags |= scalar.flags;
        size_t spelled =
            dti_spell_stored(out, &job->targets[i].cast.dst, scalar.code, &scalar.stored);
        out[spelled] = '\n';
        (void)fwrite(out, 1, spelled + 1, job->cx->out);
    }
    return DTI_OK;
}

/* What no other line can make good. */
static bool is_final(enum dti_status status)
{
    return status == DTI_NO_MEMORY || status == DTI_DEVICE_FAILED || status == DTI_UNAVAILABLE ||
           status == DTI_BUG;
}

/* A bad line keeps its place: -q leaves a line empty, --jsonl has an error document there, and
 * --json a warning with its number. */
static enum dti_status report_bad_line(struct cast_job *job, uint64_t number,
                                       const struct dti_error *error, struct dti_error *reterr)
{
    struct dti_error line = *error;
    enum dti_output output = job->cx->output;
    (void)dti_fail(&line, DTI_BAD_INPUT, "standard input, line %llu: %s",
                   (unsigned long long)number, error->text);
    memcpy(line.argument, error->argument, sizeof line.argument);
    memcpy(line.suggestions, error->suggestions, sizeof line.suggestions);
    dti_complain(job->cx, &line);
    if (output == DTI_OUTPUT_HUMAN && job->cx->quiet)
        (void)fputc('\n', job->cx->out);
    if (output == DTI_OUTPUT_JSON && !job->open)
        dti_cast_json_begin(job);
    if (output == DTI_OUTPUT_JSON)
        dti_cast_json_warn(job, dti_status_code(error->status), NULL, number, error->text);
    return output == DTI_OUTPUT_JSONL
               ? dti_error_json(job->json, &line, number, job->cx->out, reterr)
               : DTI_OK;
}

enum dti_status dti_cast_stream(struct cast_job *job, struct dti_error *reterr)
{
    struct dti_lines lines;
    const char *text;
    size_t length;
    bool plain = is_plain(job), bad = false;
    enum dti_status status = DTI_OK;
    dti_lines_init(&lines, STDIN_FILENO);
    for (;;) {
        struct dti_error error;
        if (!dti_lines_ready(&lines) && lines.number > 0 && fflush(job->cx->out) != 0)
            break; /* the reader is gone or the disk full: dti_standard_close() says which */
        status = dti_lines_next(&lines, &text, &length, reterr);
        if (status != DTI_OK || !text)
            break;
        status = plain ? cast_plain_line(job, text, length, lines.number - 1, &error)
                       : cast_full_line(job, text, length, lines.number - 1, &error);
        if (is_final(status))
            *reterr = error;
        if (is_final(status) || (status == DTI_OK && ferror(job->cx->out)))
            break;
        if (status != DTI_OK) {
            bad = true;
            status = report_bad_line(job, lines.number, &error, reterr);
            if (status != DTI_OK)
                break;
        }
    }
    if (status == DTI_OK && lines.number == 0)
        status = dti_fail(reterr, DTI_BAD_INPUT, "standard input is empty; give one value a line");
    else if (bad && status == DTI_OK)
        status = dti_fail(reterr, DTI_BAD_INPUT, "%s", "");
    dti_lines_free(&lines);
    return status;
}

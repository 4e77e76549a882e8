/* SPDX-License-Identifier: MIT
 *
 * One value per line from standard input. -q takes a short path: text to value to code to text. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cast/values.h"
#include "dtinfo/lines.h"

/* Standard input, line by line. */
struct stream {
    struct cast_values *values;
    struct dti_lines lines;
    struct dti_cast_result *results; /* of a line */
    bool plain;                      /* -q needs no exact form of the numbers */
    bool begun;                      /* a line was cast or was invalid */
    bool bad;                        /* one was */
    enum dti_status status;          /* the error that ended it */
    struct dti_error *reterr;
};

static bool is_plain(const struct cast_values *values)
{
    if (!values->cx->quiet || values->cx->output != DTI_OUTPUT_HUMAN || values->args->digits_given)
        return false;
    if (values->job.device.runner)
        return false;
    for (size_t i = 0; i < values->job.target_count; i++) {
        const struct dti_cast_target *target = &values->job.targets[i];
        if (target->dtype.kind == DTI_KIND_COMPLEX || target->rule ||
            target->cast.policy.overflow == DTI_OVERFLOW_WRAP)
            return false;
    }
    return true;
}

static enum dti_status cast_full_line(struct stream *stream, const char *text, size_t length,
                                      struct dti_error *reterr)
{
    struct dti_cast_operand operand;
    enum dti_status status =
        dti_cast_operand_parse(&operand, text, length, stream->lines.number - 1, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_cast_operand_cast(stream->values, &operand, stream->results, reterr);
    if (status == DTI_OK) {
        stream->begun = true;
        status = dti_cast_operand_show(stream->values, &operand, stream->results, reterr);
    }
    dti_cast_operand_free(&operand);
    return status;
}

static enum dti_status cast_line(struct stream *stream, const char *text, size_t length,
                                 struct dti_error *reterr)
{
    struct cast_values *const values = stream->values;
    struct dti_value value;
    struct dti_scalar scalar;
    char out[DTI_TEXT_SIZE];
    if (!stream->plain)
        return cast_full_line(stream, text, length, reterr);
    enum dti_status status = dti_value_parse(&value, text, length, reterr);
    if (status != DTI_OK)
        return status;
    if (value.class == DTI_CLASS_NAN) /* not every dtype has a code for it */
        return cast_full_line(stream, text, length, reterr);
    for (size_t i = 0; i < values->job.target_count; i++) {
        const struct dti_cast *const cast = &values->job.targets[i].cast;
        dti_scalar_store(cast, &value, NULL, stream->lines.number - 1, &scalar);
        values->flags |= scalar.flags;
        const size_t spelled = dti_spell_stored(out, &cast->dst, scalar.code, &scalar.stored);
        out[spelled] = '\n';
        (void)fwrite(out, 1, spelled + 1, values->cx->out);
    }
    return DTI_OK;
}

/* Errors that end the stream. */
static bool is_final(enum dti_status status)
{
    return status == DTI_NO_MEMORY || status == DTI_DEVICE_FAILED || status == DTI_UNAVAILABLE ||
           status == DTI_BUG;
}

/* An invalid line keeps its place: -q prints an empty line, --jsonl an error document, and --json a
 * warning with the line number. */
static enum dti_status report_bad_line(struct stream *stream, const struct dti_error *error,
                                       struct dti_error *reterr)
{
    struct cast_values *const values = stream->values;
    const struct dti_context *const cx = values->cx;
    const uint64_t number = stream->lines.number;
    struct dti_error line = *error;
    (void)dti_fail(&line, DTI_BAD_INPUT, "standard input, line %llu: %s",
                   (unsigned long long)number, error->text);
    memcpy(line.argument, error->argument, sizeof line.argument);
    memcpy(line.suggestions, error->suggestions, sizeof line.suggestions);
    dti_complain(cx, &line);
    stream->bad = stream->begun = true;
    if (cx->output == DTI_OUTPUT_HUMAN && cx->quiet)
        (void)fputc('\n', cx->out);
    if (cx->output == DTI_OUTPUT_JSON)
        dti_warnings_add(&values->job.warnings, dti_status_code(error->status), NULL, number,
                         error->text);
    if (cx->output != DTI_OUTPUT_JSONL)
        return DTI_OK;
    values->headed = false;
    return dti_error_json(cx->json, &line, number, cx->out, reterr);
}

static enum dti_status cast_lines(struct stream *stream, struct dti_error *reterr)
{
    const struct dti_context *const cx = stream->values->cx;
    struct dti_lines *const lines = &stream->lines;
    const char *text;
    size_t length;
    for (;;) {
        struct dti_error error;
        if (!dti_lines_ready(lines) && lines->number > 0 && fflush(cx->raw) != 0)
            return DTI_OK; /* the reader is gone or the disk is full: dti_standard_close() reports
                            * which
                            */
        enum dti_status status = dti_lines_next(lines, &text, &length, reterr);
        if (status != DTI_OK || !text)
            return status;
        status = cast_line(stream, text, length, &error);
        if (is_final(status))
            *reterr = error;
        if (is_final(status) || (status == DTI_OK && ferror(cx->raw)))
            return status;
        if (status == DTI_OK)
            status = dti_context_turn(cx, reterr);
        else
            status = report_bad_line(stream, &error, reterr);
        if (status != DTI_OK)
            return status;
    }
}

/* Casts all lines and reports on them at the end. */
static enum dti_status cast_input(struct stream *stream, struct dti_error *reterr)
{
    const enum dti_status status = cast_lines(stream, reterr);
    if (status == DTI_OK && stream->lines.number == 0)
        return dti_fail(reterr, DTI_BAD_INPUT, "standard input is empty; give one value per line");
    return status == DTI_OK && stream->bad ? dti_fail(reterr, DTI_BAD_INPUT, "%s", "") : status;
}

/* One run prints one document: an error after its start is reported inside it. */
static void put_lines(void *context, struct dti_json *json)
{
    struct stream *const stream = context;
    struct dti_error *const reterr = stream->reterr;
    dti_json_stream(json, stream->values->cx->out);
    stream->status = cast_input(stream, reterr);
    if (stream->status == DTI_OK || !stream->begun || stream->status == DTI_NO_MEMORY ||
        reterr->text[0] == '\0')
        return;
    dti_complain(stream->values->cx, reterr);
    dti_warnings_add(&stream->values->job.warnings, dti_status_code(stream->status), NULL, 0,
                     reterr->text);
    reterr->text[0] = '\0';
}

static enum dti_status put_document(struct stream *stream, struct dti_error *reterr)
{
    struct cast_values *const values = stream->values;
    struct dti_json *const json = values->cx->json;
    struct dti_error error;
    values->answer.put = put_lines;
    values->answer.context = stream;
    stream->reterr = reterr;
    dti_document_cast(json, &values->answer);
    dti_put_cast_rest(json, &values->answer);
    if (!stream->begun || stream->status == DTI_NO_MEMORY)
        return stream->status; /* no document, or out of memory for its end too */
    const enum dti_status written = dti_json_write(json, values->cx->out, &error);
    if (written == DTI_OK)
        return stream->status;
    *reterr = error;
    return written;
}

enum dti_status dti_cast_stream(struct cast_values *values, struct dti_error *reterr)
{
    struct stream stream = {.values = values, .plain = is_plain(values)};
    stream.results = calloc(values->job.target_count + 1, sizeof *stream.results);
    if (!stream.results)
        return dti_no_memory(reterr);
    dti_lines_init(&stream.lines, STDIN_FILENO);
    const enum dti_status status = values->cx->output == DTI_OUTPUT_JSON
                                       ? put_document(&stream, reterr)
                                       : cast_input(&stream, reterr);
    dti_lines_free(&stream.lines);
    free(stream.results);
    return status;
}

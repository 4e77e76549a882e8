/* SPDX-License-Identifier: MIT
 *
 * The lines of a block, one value each. -q and the answers of one line take a short path: text to
 * value to code to text. */
#include "cli/cast/value_lines.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_KEPT = 4 << 20 }; /* bytes of answers beyond which their memory is given back */

bool dti_cast_lines_are_kept(const struct cast_values *values)
{
    const enum dti_output output = values->cx->output;
    const bool one_line = !values->args->digits_given && !values->args->stacks;
    return values->job.device.wish.kind == DTI_DEVICE_CPU && output != DTI_OUTPUT_JSON &&
           (output == DTI_OUTPUT_JSONL || one_line);
}

static bool is_plain(const struct cast_values *values)
{
    if (values->cx->output != DTI_OUTPUT_HUMAN || !dti_cast_lines_are_kept(values))
        return false;
    for (size_t i = 0; i < values->job.target_count; i++) {
        const struct dti_cast_target *target = &values->job.targets[i];
        if (target->dtype.kind == DTI_KIND_COMPLEX || target->rule ||
            target->cast.policy.overflow == DTI_OVERFLOW_WRAP)
            return false;
    }
    return true;
}

enum dti_status dti_cast_lines_init(struct cast_lines *ret, struct cast_values *values, bool first,
                                    struct dti_error *reterr)
{
    const bool kept = dti_cast_lines_are_kept(values);
    memset(ret, 0, sizeof *ret);
    dti_buffer_init(&ret->text);
    dti_buffer_init(&ret->said);
    ret->values = values;
    ret->plain = is_plain(values);
    ret->results = calloc(values->job.target_count + 1, sizeof *ret->results);
    if (!ret->results)
        return dti_no_memory(reterr);
    if (!first) {
        ret->copy = *values;
        ret->values = &ret->copy;
        ret->copy.job.warnings = (struct dti_warnings){.list = NULL};
        ret->copy.headed = false;
        ret->copy.flags = 0;
        ret->copy.json = dti_json_new();
        dti_cast_values_settle(&ret->copy);
        if (!ret->copy.json)
            return dti_no_memory(reterr);
    }
    ret->values->text = kept ? &ret->text : NULL;
    return DTI_OK;
}

void dti_cast_lines_free(struct cast_lines *lines)
{
    lines->values->text = NULL;
    if (lines->values == &lines->copy) {
        dti_warnings_free(&lines->copy.job.warnings);
        dti_json_free(lines->copy.json);
    }
    dti_line_block_free(&lines->block);
    dti_buffer_free(&lines->text);
    dti_buffer_free(&lines->said);
    free(lines->errors);
    free(lines->results);
}

static enum dti_status cast_full_line(struct cast_lines *lines, const char *text, size_t length,
                                      struct dti_error *reterr)
{
    struct dti_cast_operand operand;
    enum dti_status status =
        dti_cast_operand_parse(&operand, text, length, lines->block.number - 1, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_cast_operand_cast(lines->values, &operand, lines->results, reterr);
    if (status == DTI_OK) {
        lines->begun = true;
        status = dti_cast_operand_show(lines->values, &operand, lines->results, reterr);
    }
    dti_cast_operand_free(&operand);
    return status;
}

/* -q: only the stored number. */
static void put_stored(struct cast_lines *lines, const struct dti_cast *cast,
                       const struct dti_scalar *scalar)
{
    struct dti_buffer *const text = &lines->text;
    const size_t left = text->capacity - text->length; /* no call for the most frequent question */
    if ((left <= DTI_TEXT_SIZE || text->failed) && !dti_buffer_reserve(text, DTI_TEXT_SIZE))
        return;
    char *const at = text->data + text->length;
    const size_t length = dti_spell_stored(at, &cast->dst, scalar->code, &scalar->stored);
    at[length] = '\n';
    text->length += length + 1;
}

static enum dti_status cast_line(struct cast_lines *lines, const char *text, size_t length,
                                 struct dti_error *reterr)
{
    struct cast_values *const values = lines->values;
    struct dti_value value;
    if (!lines->plain)
        return cast_full_line(lines, text, length, reterr);
    const enum dti_status status = dti_value_parse(&value, text, length, reterr);
    if (status != DTI_OK && values->cx->quiet)
        return status;
    if (status != DTI_OK || value.class == DTI_CLASS_NAN) /* complex; without a code */
        return cast_full_line(lines, text, length, reterr);
    for (size_t i = 0; i < values->job.target_count; i++) {
        const struct dti_cast_target *const target = &values->job.targets[i];
        struct dti_cast_result *const result = &lines->results[i];
        struct dti_scalar *const scalar = &result->component[0];
        dti_scalar_store(&target->cast, &value, NULL, lines->block.number - 1, scalar);
        values->flags |= scalar->flags;
        if (values->cx->quiet) {
            put_stored(lines, &target->cast, scalar);
        } else {
            result->target = target;
            result->known = true;
            result->no_code = false;
            result->components = 1;
            lines->operand.text = text;
            lines->operand.length = length;
            dti_cast_human_line(values, &lines->operand, result);
        }
    }
    return DTI_OK;
}

/* Errors that end the stream. */
static bool is_final(enum dti_status status)
{
    return status == DTI_NO_MEMORY || status == DTI_DEVICE_FAILED || status == DTI_UNAVAILABLE ||
           status == DTI_BUG;
}

static bool note_error(struct cast_lines *lines, const struct dti_error *error)
{
    if (lines->error_count == lines->error_capacity) {
        const size_t capacity = lines->error_capacity ? 2 * lines->error_capacity : 16;
        struct cast_line_error *const more =
            realloc(lines->errors, capacity * sizeof *lines->errors);
        if (!more)
            return false;
        lines->errors = more;
        lines->error_capacity = capacity;
    }
    dti_complain_later(lines->values->cx, error, &lines->said);
    lines->errors[lines->error_count++] =
        (struct cast_line_error){lines->text.length, lines->said.length};
    return true;
}

/* An invalid line keeps its place: -q prints an empty line, --jsonl an error document, and --json a
 * warning with the line number. */
static enum dti_status report_bad_line(struct cast_lines *lines, const struct dti_error *error,
                                       struct dti_error *reterr)
{
    struct cast_values *const values = lines->values;
    const struct dti_context *const cx = values->cx;
    const uint64_t number = lines->block.number;
    struct dti_error line = *error;
    char nothing[2] = "";
    (void)dti_fail(&line, DTI_BAD_INPUT, "standard input, line %llu: %s",
                   (unsigned long long)number, error->text);
    memcpy(line.argument, error->argument, sizeof line.argument);
    memcpy(line.suggestions, error->suggestions, sizeof line.suggestions);
    if (!values->text)
        dti_complain(cx, &line);
    else if (!note_error(lines, &line))
        return dti_no_memory(reterr);
    lines->bad = lines->begun = true;
    if (cx->output == DTI_OUTPUT_HUMAN && cx->quiet)
        dti_cast_put_text(values, nothing, 0);
    if (cx->output == DTI_OUTPUT_JSON)
        dti_warnings_add(&values->job.warnings, dti_status_code(error->status), NULL, number,
                         error->text);
    if (cx->output != DTI_OUTPUT_JSONL)
        return DTI_OK;
    values->headed = false;
    dti_error_document(values->json, &line, number);
    return dti_cast_write(values, reterr);
}

/* Whether the stream goes on. */
static bool do_line(struct cast_lines *lines, const char *text, size_t length)
{
    struct dti_error error;
    const struct dti_context *const cx = lines->values->cx;
    const enum dti_status status = cast_line(lines, text, length, &error);
    if (is_final(status)) {
        lines->error = error;
        lines->status = status;
    } else if (status != DTI_OK) {
        lines->status = report_bad_line(lines, &error, &lines->error);
    } else if (!lines->values->text) {
        if (ferror(cx->raw))
            return false;
        lines->status = dti_context_turn(cx, &lines->error);
    }
    return lines->status == DTI_OK;
}

void dti_cast_lines_run(struct cast_lines *lines)
{
    const char *text;
    size_t length;
    if (lines->text.capacity > TEXT_KEPT)
        dti_buffer_free(&lines->text);
    dti_buffer_clear(&lines->text);
    dti_buffer_clear(&lines->said);
    lines->error_count = 0;
    while (dti_line_next(&lines->block, &text, &length) && do_line(lines, text, length))
        continue;
}

/* Answers up to a place. */
static enum dti_status put_text(const struct cast_lines *lines, size_t from, size_t to,
                                struct dti_error *reterr)
{
    const struct dti_context *const cx = lines->values->cx;
    if (from < to)
        (void)fwrite(lines->text.data + from, 1, to - from, cx->out);
    return from < to ? dti_context_turn(cx, reterr) : DTI_OK;
}

enum dti_status dti_cast_lines_put(struct cast_lines *lines, bool *ret_gone,
                                   struct dti_error *reterr)
{
    const struct dti_context *const cx = lines->values->cx;
    struct cast_line_error at = {0, 0};
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < lines->error_count && status == DTI_OK; i++) {
        const struct cast_line_error *const error = &lines->errors[i];
        status = put_text(lines, at.text, error->text, reterr);
        (void)fwrite(lines->said.data + at.said, 1, error->said - at.said, cx->err);
        at = *error;
    }
    if (status == DTI_OK)
        status = put_text(lines, at.text, lines->text.length, reterr);
    *ret_gone = ferror(cx->raw) != 0;
    if (status == DTI_OK && (lines->text.failed || lines->said.failed))
        return dti_no_memory(reterr);
    if (status == DTI_OK && lines->status != DTI_OK)
        *reterr = lines->error;
    return status == DTI_OK ? lines->status : status;
}

/* SPDX-License-Identifier: MIT
 *
 * One value per line from standard input, in blocks of lines. If there is more input than one
 * thread can handle, a team casts blocks in parallel, each thread with its own context, and answers
 * and errors are written in order; otherwise each line is answered as soon as it arrives. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cast/values.h"
#include "convert/block_queue.h"
#include "io/lines.h"
#include "util/run/allocate.h"
#include "util/run/grown.h"
#include "util/run/parallel.h"

/* Position of an error among the answers: an offset into the answers, and one into the error
 * text. */
struct cast_line_error {
    size_t text, messages;
};

/* The lines of a block, and their results. */
struct cast_lines {
    struct cast_values *values; /* the command's, or a copy */
    struct cast_values copy;
    struct dti_line_block block;
    struct dti_cast_result *results; /* results of one line */
    struct dti_cast_operand operand; /* for a plain line: holds only its text */
    bool plain;                 /* the answer needs no exact form of the numbers, nor neighbours */
    bool begun, bad;            /* a line was cast or was invalid; one was invalid */
    struct dti_buffer text;     /* answers, if values->text points here */
    struct dti_buffer messages; /* lines for standard error */
    struct cast_line_error *errors;
    size_t error_count, error_capacity;
    enum dti_status status; /* the error that ended the stream */
    struct dti_error error;
};

enum { TEXT_KEPT = 4 << 20 }; /* answer buffers that grow beyond this size are freed */

/* Whether answers can be buffered until their turn, so that several threads can be used. */
static bool are_kept(const struct cast_values *values)
{
    const enum dti_output output = values->cx->output;
    const bool one_line = !values->args->digits_given && !values->args->stacks;
    return values->job.device.choice.kind == DTI_DEVICE_CPU && output != DTI_OUTPUT_JSON &&
           (output == DTI_OUTPUT_JSONL || one_line);
}

/* Fast path for -q and one-line answers: text to value to code to text. */
static bool is_plain(const struct cast_values *values)
{
    if (values->cx->output != DTI_OUTPUT_HUMAN || !are_kept(values))
        return false;
    for (size_t i = 0; i < values->job.target_count; i++) {
        const struct dti_cast_target *target = &values->job.targets[i];
        if (target->dtype.kind == DTI_KIND_COMPLEX || target->rule ||
            target->cast.policy.overflow == DTI_OVERFLOW_WRAP)
            return false;
    }
    return true;
}

/* first: uses `values`; others use a copy with its own flags, warnings and writer. */
static enum dti_status lines_init(struct cast_lines *ret, struct cast_values *values, bool first,
                                  struct dti_error *reterr)
{
    const bool kept = are_kept(values);
    memset(ret, 0, sizeof *ret);
    dti_buffer_init(&ret->text);
    dti_buffer_init(&ret->messages);
    ret->values = values;
    ret->plain = is_plain(values);
    ret->results = dti_calloc(values->job.target_count + 1, sizeof *ret->results);
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

/* first: uses `values`; others use a copy with its own flags, warnings and writer. Fails with
 * DTI_NO_MEMORY. Always free it. */
static void lines_free(struct cast_lines *lines)
{
    lines->values->text = NULL;
    if (lines->values == &lines->copy) {
        dti_warnings_free(&lines->copy.job.warnings);
        dti_json_free(lines->copy.json);
    }
    dti_line_block_free(&lines->block);
    dti_buffer_free(&lines->text);
    dti_buffer_free(&lines->messages);
    dti_free(lines->errors);
    dti_free(lines->results);
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
    const size_t left = text->capacity - text->length; /* avoids a call in the common case */
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
    if (status != DTI_OK || value.kind == DTI_CLASS_NAN) /* complex; without a code */
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
    struct cast_line_error *const more =
        dti_grown(lines->errors, lines->error_count, &lines->error_capacity, sizeof *more);
    if (!more)
        return false;
    lines->errors = more;
    dti_complain_later(lines->values->cx, error, &lines->messages);
    lines->errors[lines->error_count++] =
        (struct cast_line_error){lines->text.length, lines->messages.length};
    return true;
}

/* An invalid line keeps its place: -q prints an empty line, --jsonl an error document, and --json a
 * warning with the line number. */
static enum dti_status report_bad_line(struct cast_lines *lines, const struct dti_error *error,
                                       struct dti_error *reterr)
{
    struct cast_values *const values = lines->values;
    const struct dti_command_context *const cx = values->cx;
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
    const struct dti_command_context *const cx = lines->values->cx;
    const enum dti_status status = cast_line(lines, text, length, &error);
    if (is_final(status)) {
        lines->error = error;
        lines->status = status;
    } else if (status != DTI_OK) {
        lines->status = report_bad_line(lines, &error, &lines->error);
    } else if (!lines->values->text) {
        if (ferror(cx->raw))
            return false;
        lines->status = dti_command_context_turn(cx, &lines->error);
    }
    return lines->status == DTI_OK;
}

/* Casts the lines of the block; the results are in `lines`. */
static void lines_run(struct cast_lines *lines)
{
    const char *text;
    size_t length;
    if (lines->text.capacity > TEXT_KEPT)
        dti_buffer_free(&lines->text);
    dti_buffer_clear(&lines->text);
    dti_buffer_clear(&lines->messages);
    lines->error_count = 0;
    while (dti_line_next(&lines->block, &text, &length) && do_line(lines, text, length))
        continue;
}

/* Writes the answers up to an offset. */
static enum dti_status put_text(const struct cast_lines *lines, size_t from, size_t to,
                                struct dti_error *reterr)
{
    const struct dti_command_context *const cx = lines->values->cx;
    if (from < to && fwrite(lines->text.data + from, 1, to - from, cx->out) < to - from)
        dti_standard_note_failure();
    return from < to ? dti_command_context_turn(cx, reterr) : DTI_OK;
}

/* Writes the answers and errors; *ret_gone: the reader is gone. Fails as the lines did. */
static enum dti_status lines_put(struct cast_lines *lines, bool *ret_gone, struct dti_error *reterr)
{
    const struct dti_command_context *const cx = lines->values->cx;
    struct cast_line_error at = {0, 0};
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < lines->error_count && status == DTI_OK; i++) {
        const struct cast_line_error *const error = &lines->errors[i];
        status = put_text(lines, at.text, error->text, reterr);
        (void)fwrite(lines->messages.data + at.messages, 1, error->messages - at.messages, cx->err);
        at = *error;
    }
    if (status == DTI_OK)
        status = put_text(lines, at.text, lines->text.length, reterr);
    *ret_gone = ferror(cx->raw) != 0;
    if (status == DTI_OK && (lines->text.failed || lines->messages.failed))
        return dti_no_memory(reterr);
    if (status == DTI_OK && lines->status != DTI_OK)
        *reterr = lines->error;
    return status == DTI_OK ? lines->status : status;
}

enum {
    /* Input bytes per block: the answers of a block stay well below 1 MiB. */
    BLOCK_QUIET = 64 << 10,
    BLOCK_LINE = 8 << 10,
    BLOCK_JSON = 2 << 10,
    BLOCK_LEAST = 256,
    THREADS_USEFUL = 16, /* only one thread reads, and one writes, at a time */
};

struct stream {
    struct cast_values *values;
    struct dti_lines input;
    struct cast_lines *members;
    size_t member_count; /* members that were initialized */
    size_t threads;      /* threads to use */
    struct dti_team *team;
    bool alone;             /* only one thread is at work */
    bool waits;             /* the next block must wait for input */
    bool full;              /* the last block was full */
    bool at_end, gone;      /* at_end: of the input; gone: the reader of the answers is gone */
    enum dti_status status; /* the error that ended it */
    struct dti_error *reterr;
};

/* Callback of struct dti_queue. A single thread that fills a block leaves the rest to the team. */
static enum dti_status take_lines(void *context, size_t member, bool *ret_any,
                                  struct dti_error *reterr)
{
    struct stream *const stream = context;
    struct dti_line_block *const block = &stream->members[member].block;
    const bool ready = stream->waits || dti_lines_ready(&stream->input);
    const bool handed_over = stream->alone && stream->full && stream->threads > 1 && !stream->waits;
    *ret_any = false;
    stream->full = stream->full && ready;
    if (!ready || handed_over)
        return DTI_OK;
    const enum dti_status status = dti_lines_read(&stream->input, block, reterr);
    stream->waits = false;
    stream->full = block->full;
    *ret_any = status == DTI_OK && block->length > 0;
    stream->at_end = status == DTI_OK && !*ret_any;
    return status;
}

static enum dti_status work(void *context, size_t member, size_t part, uint64_t first, size_t n,
                            struct dti_error *reterr)
{
    (void)part, (void)first, (void)n;
    (void)reterr; /* the answers before an error are written first */
    lines_run(&((struct stream *)context)->members[member]);
    return DTI_OK;
}

static enum dti_status finish(void *context, size_t member, size_t part, uint64_t first, size_t n,
                              struct dti_error *reterr)
{
    (void)part, (void)first, (void)n;
    struct stream *const stream = context;
    const enum dti_status status = lines_put(&stream->members[member], &stream->gone, reterr);
    return status == DTI_OK && stream->gone ? dti_fail(reterr, DTI_WRITE_FAILED, "%s", "") : status;
}

static enum dti_status add_member(struct stream *stream, struct dti_error *reterr)
{
    struct cast_lines *const member = &stream->members[stream->member_count];
    return lines_init(member, stream->values, stream->member_count++ == 0, reterr);
}

/* Without threads, or memory for them, a single thread casts all blocks. */
static void begin_team(struct stream *stream)
{
    struct dti_error none;
    enum dti_status status = DTI_OK;
    while (status == DTI_OK && stream->member_count < stream->threads)
        status = add_member(stream, &none);
    if (status == DTI_OK)
        status = dti_team_new(&stream->team, stream->threads, DTI_WAIT_SLEEP, false, &none);
    if (status != DTI_OK)
        stream->threads = 1;
}

static enum dti_status cast_blocks(struct stream *stream, struct dti_error *reterr)
{
    const struct dti_command_context *const cx = stream->values->cx;
    const struct dti_queue queue = {
        .take = take_lines, .work = work, .finish = finish, .context = stream};
    while (!stream->at_end) {
        if (stream->full && stream->threads > 1 && !stream->team)
            begin_team(stream);
        stream->alone = !stream->full || !stream->team;
        stream->waits = true;
        if (!dti_lines_ready(&stream->input) && stream->input.number > 0 &&
            dti_standard_flush(cx->raw, NULL) != DTI_OK)
            return DTI_OK; /* the reader is gone or the disk is full: dti_standard_close() reports
                            * which */
        const enum dti_status status =
            dti_queue_run(&queue, stream->alone ? NULL : stream->team, reterr);
        if (stream->gone)
            return DTI_OK; /* likewise */
        if (status != DTI_OK)
            return status;
    }
    return DTI_OK;
}

/* Casts all lines and reports on them at the end. */
static enum dti_status cast_input(struct stream *stream, struct dti_error *reterr)
{
    const enum dti_status status = cast_blocks(stream, reterr);
    bool bad = false;
    for (size_t i = 0; i < stream->member_count; i++) {
        stream->values->flags |= stream->members[i].values->flags;
        bad = bad || stream->members[i].bad;
    }
    if (status == DTI_OK && stream->input.number == 0)
        return dti_fail(reterr, DTI_BAD_INPUT, "standard input is empty; give one value per line");
    return status == DTI_OK && bad ? dti_fail(reterr, DTI_BAD_INPUT, "%s", "") : status;
}

/* One run prints one document: an error after its start is reported inside it. */
static void put_lines(void *context, struct dti_json *json)
{
    struct stream *const stream = context;
    struct dti_error *const reterr = stream->reterr;
    dti_json_stream(json, &stream->values->cx->sink);
    stream->status = cast_input(stream, reterr);
    if (stream->status == DTI_OK || !stream->members[0].begun || stream->status == DTI_NO_MEMORY ||
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
    struct dti_error error;
    values->answer.put = put_lines;
    values->answer.context = stream;
    stream->reterr = reterr;
    dti_document_cast(values->json, &values->answer);
    dti_put_cast_rest(values->json, &values->answer);
    if (!stream->members[0].begun || stream->status == DTI_NO_MEMORY)
        return stream->status; /* no document, or out of memory for its end too */
    const enum dti_status written = dti_cast_write(values, &error);
    if (written == DTI_OK)
        return stream->status;
    *reterr = error;
    return written;
}

static size_t block_size(const struct cast_values *values)
{
    const size_t block = values->cx->output != DTI_OUTPUT_HUMAN ? BLOCK_JSON
                         : values->cx->quiet                    ? BLOCK_QUIET
                                                                : BLOCK_LINE;
    const size_t size = block / values->job.target_count;
    return size < BLOCK_LEAST ? BLOCK_LEAST : size;
}

enum dti_status dti_cast_stream(struct cast_values *values, struct dti_error *reterr)
{
    struct stream stream = {.values = values, .threads = values->threads};
    if (stream.threads == 0)
        stream.threads = dti_cpu_count() < THREADS_USEFUL ? dti_cpu_count() : THREADS_USEFUL;
    if (!are_kept(values))
        stream.threads = 1;
    stream.members = dti_calloc(stream.threads, sizeof *stream.members);
    if (!stream.members)
        return dti_no_memory(reterr);
    dti_lines_init(&stream.input, STDIN_FILENO, block_size(values));
    enum dti_status status = add_member(&stream, reterr);
    if (status == DTI_OK)
        status = values->cx->output == DTI_OUTPUT_JSON ? put_document(&stream, reterr)
                                                       : cast_input(&stream, reterr);
    dti_team_free(stream.team);
    for (size_t i = 0; i < stream.member_count; i++)
        lines_free(&stream.members[i]);
    dti_free(stream.members);
    dti_lines_free(&stream.input);
    return status;
}

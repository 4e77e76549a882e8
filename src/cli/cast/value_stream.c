/* SPDX-License-Identifier: MIT
 *
 * One value per line from standard input, in blocks of lines. While there is more input than one
 * thread can take, a team casts blocks at the same time; otherwise each line is answered as soon as
 * it is there. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cast/value_lines.h"
#include "dtinfo/block_queue.h"
#include "dtinfo/parallel.h"

enum {
    /* Bytes of input, so that the answers of a block stay well below 1 MiB. */
    BLOCK_QUIET = 64 << 10,
    BLOCK_LINE = 8 << 10,
    BLOCK_JSON = 2 << 10,
    BLOCK_LEAST = 256,
    THREADS_USEFUL = 16, /* one thread reads, and one writes, at a time */
};

struct stream {
    struct cast_values *values;
    struct dti_lines input;
    struct cast_lines *members;
    size_t member_count; /* that were begun */
    size_t threads;      /* wanted */
    struct dti_team *team;
    bool alone;             /* one thread is at work */
    bool waits;             /* the next block waits for input */
    bool full;              /* the last block was */
    bool at_end, gone;      /* of the input; nobody takes the answers */
    enum dti_status status; /* the error that ended it */
    struct dti_error *reterr;
};

/* For struct dti_queue. One thread that fills a block leaves the rest to the team. */
static enum dti_status take(void *context, size_t member, bool *ret_any, struct dti_error *reterr)
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
    (void)reterr; /* the answers before an error come first */
    dti_cast_lines_run(&((struct stream *)context)->members[member]);
    return DTI_OK;
}

static enum dti_status finish(void *context, size_t member, size_t part, uint64_t first, size_t n,
                              struct dti_error *reterr)
{
    (void)part, (void)first, (void)n;
    struct stream *const stream = context;
    const enum dti_status status =
        dti_cast_lines_put(&stream->members[member], &stream->gone, reterr);
    return status == DTI_OK && stream->gone ? dti_fail(reterr, DTI_WRITE_FAILED, "%s", "") : status;
}

static enum dti_status add_member(struct stream *stream, struct dti_error *reterr)
{
    struct cast_lines *const member = &stream->members[stream->member_count];
    return dti_cast_lines_init(member, stream->values, stream->member_count++ == 0, reterr);
}

/* Without threads, or memory for them, one casts all blocks. */
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
    const struct dti_context *const cx = stream->values->cx;
    const struct dti_queue queue = {
        .take = take, .work = work, .finish = finish, .context = stream};
    while (!stream->at_end) {
        if (stream->full && stream->threads > 1 && !stream->team)
            begin_team(stream);
        stream->alone = !stream->full || !stream->team;
        stream->waits = true;
        if (!dti_lines_ready(&stream->input) && stream->input.number > 0 && fflush(cx->raw) != 0)
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
    dti_json_stream(json, stream->values->cx->out);
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
    if (!dti_cast_lines_are_kept(values))
        stream.threads = 1;
    stream.members = calloc(stream.threads, sizeof *stream.members);
    if (!stream.members)
        return dti_no_memory(reterr);
    dti_lines_init(&stream.input, STDIN_FILENO, block_size(values));
    enum dti_status status = add_member(&stream, reterr);
    if (status == DTI_OK)
        status = values->cx->output == DTI_OUTPUT_JSON ? put_document(&stream, reterr)
                                                       : cast_input(&stream, reterr);
    dti_team_free(stream.team);
    for (size_t i = 0; i < stream.member_count; i++)
        dti_cast_lines_free(&stream.members[i]);
    free(stream.members);
    dti_lines_free(&stream.input);
    return status;
}

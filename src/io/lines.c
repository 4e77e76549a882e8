/* SPDX-License-Identifier: MIT
 *
 * Lines from a file descriptor. */
#include "io/lines.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/descriptor.h"
#include "util/errno_text.h"
#include "util/run/allocate.h"

enum {
    CAPACITY_MAX = DTI_LINE_MAX + 2, /* including CR and LF */
    CAPACITY_KEPT = 1 << 20,         /* larger buffers are not kept for the next block */
};

void dti_lines_init(struct dti_lines *lines, int fd, size_t block_size)
{
    memset(lines, 0, sizeof *lines);
    lines->fd = fd;
    lines->block_size = block_size;
}

void dti_lines_free(struct dti_lines *lines)
{
    dti_free(lines->rest);
    lines->rest = NULL;
}

void dti_line_block_free(struct dti_line_block *block)
{
    dti_free(block->text);
    block->text = NULL;
    block->capacity = 0;
}

static enum dti_status fail_long(const struct dti_lines *lines, struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_BAD_INPUT, "standard input, line %llu: longer than %d MiB",
                    (unsigned long long)lines->number + 1, DTI_LINE_MAX >> 20);
}

/* Grows a buffer to at least `size` bytes and keeps its contents. */
static bool grow(char **text, size_t *capacity, size_t size)
{
    if (*capacity >= size)
        return true;
    char *const more = dti_realloc(*text, size);
    if (!more)
        return false;
    *text = more;
    *capacity = size;
    return true;
}

/* Empties the block, then puts in the partial line left over from the last one. */
static bool begin(struct dti_lines *lines, struct dti_line_block *block)
{
    if (block->capacity > CAPACITY_KEPT)
        dti_line_block_free(block);
    block->length = block->at = 0;
    block->number = lines->number;
    block->full = false;
    const size_t least = lines->length > lines->block_size ? lines->length : lines->block_size;
    if (!grow(&block->text, &block->capacity, least))
        return false;
    if (lines->length > 0)
        memcpy(block->text, lines->rest, lines->length);
    block->length = lines->length;
    lines->length = 0;
    return true;
}

/* Reads once after the existing bytes; doubles the buffer first if it is full. */
static enum dti_status fill(struct dti_lines *lines, struct dti_line_block *block,
                            struct dti_error *reterr)
{
    if (block->length == block->capacity) {
        const size_t twice = 2 * block->capacity;
        if (block->capacity >= CAPACITY_MAX)
            return fail_long(lines, reterr);
        if (!grow(&block->text, &block->capacity, twice < CAPACITY_MAX ? twice : CAPACITY_MAX))
            return dti_no_memory(reterr);
    }
    ssize_t got;
    DTI_AGAIN(got = read(lines->fd, block->text + block->length, block->capacity - block->length));
    if (got < 0)
        return dti_fail(reterr, DTI_BAD_INPUT, "cannot read standard input: %s",
                        dti_errno_text(errno));
    if (got == 0)
        lines->at_end = true;
    block->length += (size_t)got;
    return DTI_OK;
}

static size_t last_end(const struct dti_line_block *block, size_t from)
{
    for (size_t i = block->length; i > from; i--)
        if (block->text[i - 1] == '\n')
            return i;
    return 0;
}

static uint64_t count_lines(const struct dti_line_block *block)
{
    const char *at = block->text;
    const char *const end = at + block->length;
    uint64_t count = 0;
    while (end - at >= 8) { /* each byte of the sums counts up to 255 */
        const uint64_t low = UINT64_C(0x7F7F7F7F7F7F7F7F), pairs = UINT64_C(0x00FF00FF00FF00FF);
        const size_t left = (size_t)(end - at) / 8;
        const char *const stop = at + 8 * (left < 255 ? left : 255);
        uint64_t sums = 0;
        for (; at < stop; at += 8) { /* a byte is 0 only if just its top bit is set after this */
            uint64_t eight;
            memcpy(&eight, at, 8);
            eight ^= UINT64_C(0x0101010101010101) * '\n';
            sums += ~(((eight & low) + low) | eight | low) >> 7;
        }
        sums = (sums & pairs) + (sums >> 8 & pairs);
        count += sums * UINT64_C(0x0001000100010001) >> 48;
    }
    for (; at < end; at++)
        count += *at == '\n';
    return count + (block->length > 0 && end[-1] != '\n');
}

/* Moves the partial line after the last whole line out of the block; whole lines end at `end`. */
static bool cut(struct dti_lines *lines, struct dti_line_block *block, size_t end)
{
    const size_t rest = block->length - end;
    if (lines->capacity > CAPACITY_KEPT) {
        dti_free(lines->rest);
        lines->rest = NULL;
        lines->capacity = 0;
    }
    if (rest > 0 && !grow(&lines->rest, &lines->capacity, rest))
        return false;
    if (rest > 0)
        memcpy(lines->rest, block->text + end, rest);
    lines->length = rest;
    block->length = end;
    return true;
}

enum dti_status dti_lines_read(struct dti_lines *lines, struct dti_line_block *block,
                               struct dti_error *reterr)
{
    size_t end = 0, searched = 0;
    if (!begin(lines, block))
        return dti_no_memory(reterr);
    while (!lines->at_end &&
           (end == 0 || (block->length < lines->block_size && block->length < block->capacity &&
                         dti_lines_ready(lines)))) {
        const enum dti_status status = fill(lines, block, reterr);
        if (status != DTI_OK && end == 0)
            return status;
        if (status != DTI_OK)
            break; /* the error repeats on the next read */
        const size_t found = last_end(block, searched);
        end = found > 0 ? found : end;
        searched = block->length;
    }
    if (lines->at_end)
        end = block->length;
    block->full = block->length >= lines->block_size;
    if (!cut(lines, block, end))
        return dti_no_memory(reterr);
    const char *const first = end > DTI_LINE_MAX ? memchr(block->text, '\n', end) : NULL;
    const size_t length = first ? (size_t)(first - block->text) : end;
    if (length > (size_t)DTI_LINE_MAX + (first && length > 0 && first[-1] == '\r'))
        return fail_long(lines, reterr);
    lines->number += count_lines(block);
    return DTI_OK;
}

bool dti_lines_ready(const struct dti_lines *lines)
{
    struct pollfd input = {.fd = lines->fd, .events = POLLIN};
    return lines->at_end || poll(&input, 1, 0) > 0;
}

bool dti_line_next(struct dti_line_block *block, const char **ret_line, size_t *ret_length)
{
    const size_t left = block->length - block->at;
    if (left == 0)
        return false;
    const char *const line = block->text + block->at;
    const char *const newline = memchr(line, '\n', left);
    const size_t used = newline ? (size_t)(newline - line) : left;
    block->at += used + (newline != NULL);
    block->number++;
    *ret_line = line;
    *ret_length = used - (newline && used > 0 && line[used - 1] == '\r');
    return true;
}

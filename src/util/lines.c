/* SPDX-License-Identifier: MIT
 *
 * Lines from a file descriptor. */
#include "dtinfo/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/descriptor.h"

enum {
    CHUNK = 64 << 10,
    CAPACITY_MAX = DTI_LINE_MAX + 2, /* with CR and LF */
};

void dti_lines_init(struct dti_lines *lines, int fd)
{
    memset(lines, 0, sizeof *lines);
    lines->fd = fd;
}

void dti_lines_free(struct dti_lines *lines)
{
    free(lines->buffer);
    lines->buffer = NULL;
}

static enum dti_status fail_long(const struct dti_lines *lines, struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_BAD_INPUT, "standard input, line %llu: longer than %d MiB",
                    (unsigned long long)lines->number + 1, DTI_LINE_MAX >> 20);
}

/* Makes room after what is not yet consumed, then reads once. */
static enum dti_status fill(struct dti_lines *lines, struct dti_error *reterr)
{
    if (lines->start > 0) {
        memmove(lines->buffer, lines->buffer + lines->start, lines->end - lines->start);
        lines->end -= lines->start;
        lines->start = 0;
    }
    if (lines->end == lines->capacity) {
        size_t capacity = lines->capacity ? 2 * lines->capacity : CHUNK;
        if (lines->capacity == CAPACITY_MAX)
            return fail_long(lines, reterr);
        if (capacity > CAPACITY_MAX)
            capacity = CAPACITY_MAX;
        char *buffer = realloc(lines->buffer, capacity);
        if (!buffer)
            return dti_no_memory(reterr);
        lines->buffer = buffer;
        lines->capacity = capacity;
    }
    ssize_t got;
    DTI_AGAIN(got = read(lines->fd, lines->buffer + lines->end, lines->capacity - lines->end));
    if (got < 0)
        return dti_fail(reterr, DTI_BAD_INPUT, "cannot read standard input: %s", strerror(errno));
    if (got == 0)
        lines->at_end = true;
    lines->end += (size_t)got;
    return DTI_OK;
}

enum dti_status dti_lines_next(struct dti_lines *lines, const char **ret_line, size_t *ret_length,
                               struct dti_error *reterr)
{
    size_t searched = 0;
    for (;;) {
        size_t length = lines->end - lines->start;
        char *line = lines->buffer ? lines->buffer + lines->start : NULL;
        char *newline = length > searched ? memchr(line + searched, '\n', length - searched) : NULL;
        if (newline || (lines->at_end && length > 0)) {
            size_t used = newline ? (size_t)(newline - line) : length;
            length = used - (newline && used > 0 && line[used - 1] == '\r');
            if (length > DTI_LINE_MAX)
                return fail_long(lines, reterr);
            lines->start += used + (newline != NULL);
            lines->number++;
            *ret_line = line;
            *ret_length = length;
            return DTI_OK;
        }
        if (lines->at_end) {
            *ret_line = NULL;
            *ret_length = 0;
            return DTI_OK;
        }
        searched = length;
        enum dti_status status = fill(lines, reterr);
        if (status != DTI_OK)
            return status;
    }
}

bool dti_lines_ready(const struct dti_lines *lines)
{
    return lines->end > lines->start &&
           memchr(lines->buffer + lines->start, '\n', lines->end - lines->start) != NULL;
}

/* SPDX-License-Identifier: MIT
 *
 * Lines from a file descriptor, without copies: each line is a piece of one buffer, valid until the
 * next call. A line may be of any length up to a limit; memory is what the longest line needs.
 * Messages call the descriptor "standard input", whichever it is. */
#ifndef DTINFO_LINES_H
#define DTINFO_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtinfo/error.h"

enum { DTI_LINE_MAX = 64 << 20 }; /* bytes, the end of the line not counted */

struct dti_lines {
    int fd;
    char *buffer;
    size_t start, end, capacity;
    uint64_t number; /* of the line last returned, from 1 */
    bool at_end;
};

void dti_lines_init(struct dti_lines *lines, int fd);
void dti_lines_free(struct dti_lines *lines);

/* The next line without its end (LF or CRLF; a last line without one counts). *ret_line is NULL at
 * the end of the input. Fails with DTI_BAD_INPUT when reading fails or a line is longer than
 * DTI_LINE_MAX, and with DTI_NO_MEMORY. */
enum dti_status dti_lines_next(struct dti_lines *lines, const char **ret_line, size_t *ret_length,
                               struct dti_error *reterr);

/* Whether the next line is already in memory, so that asking for it cannot block. */
bool dti_lines_ready(const struct dti_lines *lines);

#endif

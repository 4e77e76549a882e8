/* SPDX-License-Identifier: MIT
 *
 * Lines from a file descriptor, in blocks of whole lines: as many as there are without waiting, up
 * to a size. A block is the reader's own, so that several threads can each work on one; its lines
 * are pieces of it. A line may be of any length up to a limit. Messages call the descriptor
 * "standard input", whichever it is. */
#ifndef IO_LINES_H
#define IO_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtinfo/error.h"

enum { DTI_LINE_MAX = 64 << 20 }; /* bytes, the end of the line not counted */

struct dti_lines {
    int fd;
    size_t block_size; /* bytes from which on a block is full */
    char *rest;        /* the beginning of a line after the last block */
    size_t length, capacity;
    uint64_t number; /* lines in all blocks so far */
    bool at_end;
};

struct dti_line_block {
    char *text;
    size_t length, capacity;
    size_t at;       /* where the next line begins */
    uint64_t number; /* of the line last returned, from 1 */
    bool full;       /* there may be more without waiting */
};

void dti_lines_init(struct dti_lines *lines, int fd, size_t block_size);
void dti_lines_free(struct dti_lines *lines);
void dti_line_block_free(struct dti_line_block *block); /* may be zeroed */

/* The next lines in place of those of the block, which starts zeroed: at least one, for which it
 * waits, or none at the end of the input. Fails with DTI_BAD_INPUT when reading fails or a line is
 * longer than DTI_LINE_MAX, and with DTI_NO_MEMORY; lines before the error come first. */
enum dti_status dti_lines_read(struct dti_lines *lines, struct dti_line_block *block,
                               struct dti_error *reterr);

/* Whether reading need not wait. */
bool dti_lines_ready(const struct dti_lines *lines);

/* The next line of a block without its end (LF or CRLF; a last line without one counts). False
 * after the last. */
bool dti_line_next(struct dti_line_block *block, const char **ret_line, size_t *ret_length);

#endif

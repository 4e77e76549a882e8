/* SPDX-License-Identifier: MIT
 *
 * Lines from a file descriptor, in blocks of whole lines: as many as are available without
 * waiting, up to a size. Each reader owns its block, so several threads can work on one block
 * each; lines point into their block. Line length is limited only by DTI_LINE_MAX. Messages
 * always call the descriptor "standard input". */
#ifndef IO_LINES_H
#define IO_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

enum { DTI_LINE_MAX = 64 << 20 }; /* bytes, without the line terminator */

struct dti_lines {
    int fd;
    size_t block_size; /* a block of at least this many bytes is full */
    char *rest;        /* partial line after the last block */
    size_t length, capacity;
    uint64_t number; /* lines in all blocks so far */
    bool at_end;
};

struct dti_line_block {
    char *text;
    size_t length, capacity;
    size_t at;       /* start of the next line */
    uint64_t number; /* number of the line last returned, from 1 */
    bool full;       /* more lines may be available without waiting */
};

void dti_lines_init(struct dti_lines *lines, int fd, size_t block_size);
void dti_lines_free(struct dti_lines *lines);
void dti_line_block_free(struct dti_line_block *block); /* accepts a zeroed block */

/* Replaces the block's contents with the next lines; the block starts zeroed. Waits for at least
 * one line; returns none at the end of the input. Fails with DTI_BAD_INPUT if reading fails or a
 * line is longer than DTI_LINE_MAX, and with DTI_NO_MEMORY. Lines before the error are returned
 * first. */
enum dti_status dti_lines_read(struct dti_lines *lines, struct dti_line_block *block,
                               struct dti_error *reterr);

/* Whether a read would not block. */
bool dti_lines_ready(const struct dti_lines *lines);

/* The next line of a block without its terminator (LF or CRLF; an unterminated last line
 * counts). Returns false after the last. */
bool dti_line_next(struct dti_line_block *block, const char **ret_line, size_t *ret_length);

#endif

/* SPDX-License-Identifier: MIT
 *
 * `cast -`: the lines of a block, and what they lead to. A thread has a member of its own, so that
 * blocks are cast at the same time; their answers and errors go out in turn. */
#ifndef DTINFO_CLI_CAST_VALUE_LINES_H
#define DTINFO_CLI_CAST_VALUE_LINES_H

#include "cli/cast/values.h"
#include "dtinfo/lines.h"

/* Where an error stands among the answers: after so many bytes of them and of other errors. */
struct cast_line_error {
    size_t text, said;
};

struct cast_lines {
    struct cast_values *values; /* of the command, or its own copy */
    struct cast_values copy;
    struct dti_line_block block;
    struct dti_cast_result *results; /* of a line */
    struct dti_cast_operand operand; /* of a plain line: only its text */
    bool plain;             /* the answer needs no exact form of the numbers, nor neighbours */
    bool begun, bad;        /* a line was cast or was invalid; one was invalid */
    struct dti_buffer text; /* answers, if values->text points here */
    struct dti_buffer said; /* lines for standard error */
    struct cast_line_error *errors;
    size_t error_count, error_capacity;
    enum dti_status status; /* the error that ended the stream */
    struct dti_error error;
};

/* first: works with `values`; others with a copy that has flags, warnings and a writer of its own.
 * Fails with DTI_NO_MEMORY. Free it in any case. */
enum dti_status dti_cast_lines_init(struct cast_lines *ret, struct cast_values *values, bool first,
                                    struct dti_error *reterr);
void dti_cast_lines_free(struct cast_lines *lines);

/* Whether answers can be kept in memory until their turn comes, and threads take part. */
bool dti_cast_lines_are_kept(const struct cast_values *values);

/* Casts the lines of the block; what it leads to stands in lines. */
void dti_cast_lines_run(struct cast_lines *lines);
/* Writes the answers and errors; *ret_gone when nobody takes them any more. Fails as the lines
 * did. */
enum dti_status dti_cast_lines_put(struct cast_lines *lines, bool *ret_gone,
                                   struct dti_error *reterr);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Lines of test vectors as they are written, and what each kind writes. */
#ifndef ANSWERS_VECTORS_VECTORS_LINES_H
#define ANSWERS_VECTORS_VECTORS_LINES_H

#include "answers/vectors/vectors.h"
#include "core/number/number.h"
#include "util/buffer.h"

enum { DTI_VECTORS_MODES = DTI_ROUND_STOCHASTIC }; /* the modes before it have a column each */

/* Where lines go: collected, and passed on in pieces. */
struct dti_vectors_out {
    const struct dti_vectors *what;
    const struct dti_sink *sink;
    struct dti_buffer text;
    bool lost; /* the sink failed */
};

void dti_vectors_code(struct dti_vectors_out *out, const struct dti_format *format, uint64_t code);

/* The names of the last columns: the policy, and a column for each mode. */
void dti_vectors_mode_heads(struct dti_vectors_out *out);

/* The lines of one input: as many as there are different results by policy. input: its cells, each
 * with a tab. values: the number for each mode, all the same one for a cast. number: the exact form
 * of text, or NULL. */
void dti_vectors_lines(struct dti_vectors_out *out, const char *input,
                       const struct dti_value values[DTI_VECTORS_MODES],
                       const struct dti_number *number);

/* Ends a line: passes on what has been collected. */
void dti_vectors_end_line(struct dti_vectors_out *out);

/* The lines of each kind, with the line of titles. False if memory ran out. */
bool dti_vectors_cast(struct dti_vectors_out *out);
bool dti_vectors_stochastic(struct dti_vectors_out *out);
bool dti_vectors_decode(struct dti_vectors_out *out);
bool dti_vectors_block(struct dti_vectors_out *out);
bool dti_vectors_arith(struct dti_vectors_out *out);

#endif

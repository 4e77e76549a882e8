/* SPDX-License-Identifier: MIT
 *
 * Python's literals as far as headers of .npy files need them. Nothing is evaluated. */
#ifndef DTINFO_NPY_LITERAL_H
#define DTINFO_NPY_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtinfo/buffer.h"

struct dti_npy_cursor {
    const char *at, *end;
    bool old; /* versions 1 and 2: Latin-1, and 10L is a number, as Python 2 wrote it */
    const char *problem;
};

/* Keeps the first problem; always false. The others return false with a problem. */
bool dti_npy_fail(struct dti_npy_cursor *cursor, const char *problem);

void dti_npy_skip_space(struct dti_npy_cursor *cursor);
/* Takes c, and white space before it, if it is there. */
bool dti_npy_take(struct dti_npy_cursor *cursor, char c);
/* Whether any of these characters is next. */
bool dti_npy_next_is(struct dti_npy_cursor *cursor, const char *any);

/* A string in either kind of quotes; the text between them, unchanged. */
bool dti_npy_take_string(struct dti_npy_cursor *cursor, const char **ret_text, size_t *ret_length);
/* Such a text as UTF-8: its escapes decoded, and before version 3 from Latin-1. */
void dti_npy_put_text(const struct dti_npy_cursor *cursor, struct dti_buffer *out, const char *text,
                      size_t length);
/* A dimension: an index of numpy is a signed number of 64 bits. */
bool dti_npy_take_number(struct dti_npy_cursor *cursor, uint64_t *ret);
/* A tuple of them; shape has room for DTI_NPY_RANK_MAX. */
bool dti_npy_take_tuple(struct dti_npy_cursor *cursor, uint64_t *shape, unsigned *ret_rank);

#endif

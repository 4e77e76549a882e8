/* SPDX-License-Identifier: MIT
 *
 * A growable byte buffer. A failed allocation sets `failed`; later appends do nothing, so check
 * it once, at the end. data is always NUL-terminated (the NUL is not counted in length). */
#ifndef UTIL_BUFFER_H
#define UTIL_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct dti_buffer {
    char *data;
    size_t length;
    size_t capacity;
    bool failed;
    bool borrowed; /* the buffer does not own data */
};

void dti_buffer_init(struct dti_buffer *buffer); /* empty, data points at "" */
/* Empty buffer that uses the caller's memory while contents are short; size > 0. */
void dti_buffer_borrow(struct dti_buffer *buffer, char *room, size_t size);
void dti_buffer_free(struct dti_buffer *buffer);
void dti_buffer_clear(struct dti_buffer *buffer); /* keeps the memory */
bool dti_buffer_reserve(struct dti_buffer *buffer, size_t more);
void dti_buffer_append(struct dti_buffer *buffer, const char *bytes, size_t length);
void dti_buffer_puts(struct dti_buffer *buffer, const char *text);
void dti_buffer_fill(struct dti_buffer *buffer, char byte, size_t count);
/* Like printf(), at most DTI_BUFFER_PRINT - 1 bytes: only for our own text, never for input. */
enum { DTI_BUFFER_PRINT = 512 };
void dti_buffer_print(struct dti_buffer *buffer, const char *format, ...) DTI_PRINTF(2, 3);

#endif

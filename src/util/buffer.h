/* SPDX-License-Identifier: MIT
 *
 * A byte buffer that grows. Running out of memory sets `failed`, after which appending does
 * nothing: test it once, at the end. data is always NUL-terminated (not counted in length). */
#ifndef UTIL_BUFFER_H
#define UTIL_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "dtinfo/error.h"

struct dti_buffer {
    char *data;
    size_t length;
    size_t capacity;
    bool failed;
    bool borrowed; /* data is not the buffer's own */
};

void dti_buffer_init(struct dti_buffer *buffer); /* empty, data points at "" */
/* Empty, with memory for short contents owned by the caller; size > 0. */
void dti_buffer_borrow(struct dti_buffer *buffer, char *room, size_t size);
void dti_buffer_free(struct dti_buffer *buffer);
void dti_buffer_clear(struct dti_buffer *buffer); /* keeps the memory */
bool dti_buffer_reserve(struct dti_buffer *buffer, size_t more);
void dti_buffer_append(struct dti_buffer *buffer, const char *bytes, size_t length);
void dti_buffer_puts(struct dti_buffer *buffer, const char *text);
void dti_buffer_fill(struct dti_buffer *buffer, char byte, size_t count);
/* As printf(), at most DTI_BUFFER_PRINT - 1 bytes: words of ours alone. */
enum { DTI_BUFFER_PRINT = 512 };
void dti_buffer_print(struct dti_buffer *buffer, const char *format, ...) DTI_PRINTF(2, 3);

#endif

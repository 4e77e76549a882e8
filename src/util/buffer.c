/* SPDX-License-Identifier: MIT
 *
 * A growable byte buffer. Capacity doubles, so an append takes amortized constant time. */
#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/buffer.h"
#include "util/run/allocate.h"

/* Data of an empty buffer. Never written to, because its capacity counts as 0. */
static const char nothing[1] = "";

void dti_buffer_init(struct dti_buffer *buffer)
{
    *buffer = (struct dti_buffer){.data = (char *)(uintptr_t)nothing};
}

void dti_buffer_borrow(struct dti_buffer *buffer, char *room, size_t size)
{
    room[0] = '\0';
    *buffer = (struct dti_buffer){.data = room, .capacity = size, .borrowed = true};
}

void dti_buffer_free(struct dti_buffer *buffer)
{
    if (buffer->capacity > 0 && !buffer->borrowed)
        dti_free(buffer->data);
    dti_buffer_init(buffer);
}

void dti_buffer_clear(struct dti_buffer *buffer)
{
    buffer->length = 0;
    buffer->failed = false;
    if (buffer->capacity > 0)
        buffer->data[0] = '\0';
}

bool dti_buffer_reserve(struct dti_buffer *buffer, size_t more)
{
    if (buffer->failed)
        return false;
    /* capacity includes the byte for the final NUL */
    if (buffer->length < buffer->capacity && more < buffer->capacity - buffer->length)
        return true;

    if (more >= SIZE_MAX / 2 - buffer->length) {
        buffer->failed = true;
        return false;
    }
    const size_t need = buffer->length + more + 1;
    size_t capacity = buffer->capacity > 0 ? buffer->capacity : 64;
    while (capacity < need)
        capacity = capacity > SIZE_MAX / 2 ? need : capacity * 2;

    const bool own = buffer->capacity > 0 && !buffer->borrowed;
    char *const data = dti_realloc(own ? buffer->data : NULL, capacity);
    if (!data) {
        buffer->failed = true;
        return false;
    }
    if (!own)
        memcpy(data, buffer->data, buffer->length);
    buffer->borrowed = false;
    data[buffer->length] = '\0';
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

void dti_buffer_append(struct dti_buffer *buffer, const char *bytes, size_t length)
{
    if (length == 0 || !dti_buffer_reserve(buffer, length))
        return;
    memcpy(buffer->data + buffer->length, bytes, length);
    buffer->length += length;
    buffer->data[buffer->length] = '\0';
}

void dti_buffer_puts(struct dti_buffer *buffer, const char *text)
{
    dti_buffer_append(buffer, text, strlen(text));
}

void dti_buffer_fill(struct dti_buffer *buffer, char byte, size_t count)
{
    if (count == 0 || !dti_buffer_reserve(buffer, count))
        return;
    memset(buffer->data + buffer->length, byte, count);
    buffer->length += count;
    buffer->data[buffer->length] = '\0';
}

void dti_buffer_print(struct dti_buffer *buffer, const char *format, ...)
{
    char text[DTI_BUFFER_PRINT];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    assert(length >= 0 && (size_t)length < sizeof text);
    if (length >= 0)
        dti_buffer_append(buffer, text,
                          (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

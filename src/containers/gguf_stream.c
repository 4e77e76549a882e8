/* SPDX-License-Identifier: MIT
 *
 * The header of a GGUF file as a stream: memory does not depend on its size, and a length is
 * accepted only if the rest of the file is long enough for it. */
#include <inttypes.h>
#include <string.h>

#include "containers/gguf.h"

/* Fails unless so many bytes are left. */
static bool expect(const struct dti_gguf_stream *stream, uint64_t size)
{
    return size <= dti_gguf_left(stream) ||
           dti_opening_refuse(stream->opening,
                              ": truncated: the header needs %" PRIu64 " bytes from byte %" PRIu64
                              " on, the file has %" PRIu64,
                              size, dti_gguf_at(stream), stream->opening->file->input.size);
}

/* Fills the buffer from the stream's position. */
static bool refill(struct dti_gguf_stream *stream)
{
    const uint64_t at = dti_gguf_at(stream), left = dti_gguf_left(stream);
    const size_t size = left < sizeof stream->buffer ? (size_t)left : sizeof stream->buffer;
    if (!dti_opening_read(stream->opening, stream->buffer, size, at))
        return false;
    stream->buffer_at = at;
    stream->have = size;
    stream->next = 0;
    return true;
}

bool dti_gguf_bytes(struct dti_gguf_stream *stream, void *ret, size_t size)
{
    unsigned char *to = ret;
    if (!expect(stream, size))
        return false;
    while (size > 0) {
        if (stream->next == stream->have && !refill(stream))
            return false;
        const size_t there = stream->have - stream->next;
        const size_t part = size < there ? size : there;
        memcpy(to, stream->buffer + stream->next, part);
        stream->next += part;
        to += part;
        size -= part;
    }
    return true;
}

bool dti_gguf_skip(struct dti_gguf_stream *stream, uint64_t size)
{
    if (!expect(stream, size))
        return false;
    if (size <= stream->have - stream->next) {
        stream->next += (size_t)size;
    } else {
        stream->buffer_at = dti_gguf_at(stream) + size;
        stream->have = stream->next = 0;
    }
    return true;
}

bool dti_gguf_number(struct dti_gguf_stream *stream, size_t size, uint64_t *ret)
{
    unsigned char bytes[8];
    if (!dti_gguf_bytes(stream, bytes, size))
        return false;
    *ret = 0;
    for (size_t i = 0; i < size; i++)
        *ret = *ret << 8 | bytes[stream->big_endian ? i : size - 1 - i];
    return true;
}

bool dti_gguf_length(struct dti_gguf_stream *stream, uint64_t *ret)
{
    if (!dti_gguf_number(stream, 8, ret))
        return false;
    const uint64_t left = dti_gguf_left(stream);
    if (*ret <= left && *ret <= DTI_GGUF_LENGTH_MAX)
        return true;
    return dti_opening_refuse(
        stream->opening, ": a string at byte %" PRIu64 " has %" PRIu64 " bytes, and %s %" PRIu64,
        dti_gguf_at(stream) - 8, *ret, *ret > left ? "the rest of the file" : "the limit is",
        *ret > left ? left : DTI_GGUF_LENGTH_MAX);
}

bool dti_gguf_string(struct dti_gguf_stream *stream, const char **ret, size_t *ret_length)
{
    uint64_t length;
    if (!dti_gguf_length(stream, &length))
        return false;
    char *const text = dti_opening_array(stream->opening, (size_t)length + 1, 1);
    if (!text || !dti_gguf_bytes(stream, text, (size_t)length))
        return false;
    text[length] = '\0';
    *ret = text;
    *ret_length = (size_t)length;
    return true;
}

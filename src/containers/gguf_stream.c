/* SPDX-License-Identifier: MIT
 *
 * The header of a GGUF file as a stream: memory does not depend on its size, and nothing is
 * believed before the rest of the file is long enough for it. */
#include <string.h>

#include "containers/gguf.h"

/* Fails unless so many bytes are left. */
static enum dti_status expect(const struct dti_gguf_stream *stream, uint64_t size,
                              struct dti_error *reterr)
{
    if (size <= dti_gguf_left(stream))
        return DTI_OK;
    return dti_fail(
        reterr, DTI_BAD_INPUT,
        "%s: truncated: the header needs %llu bytes from byte %llu on, the file has %llu",
        stream->label, (unsigned long long)size, (unsigned long long)dti_gguf_at(stream),
        (unsigned long long)stream->input->size);
}

/* Fills the buffer from where the stream stands. */
static enum dti_status refill(struct dti_gguf_stream *stream, struct dti_error *reterr)
{
    const uint64_t at = dti_gguf_at(stream);
    const uint64_t left = stream->input->size - at;
    const size_t size = left < sizeof stream->buffer ? (size_t)left : sizeof stream->buffer;
    const enum dti_status status =
        dti_input_read_at(stream->input, stream->buffer, size, at, reterr);
    if (status != DTI_OK)
        return status;
    stream->buffer_at = at;
    stream->have = size;
    stream->next = 0;
    return DTI_OK;
}

enum dti_status dti_gguf_bytes(struct dti_gguf_stream *stream, void *ret, size_t size,
                               struct dti_error *reterr)
{
    enum dti_status status = expect(stream, size, reterr);
    unsigned char *to = ret;
    while (status == DTI_OK && size > 0) {
        if (stream->next == stream->have)
            status = refill(stream, reterr);
        if (status != DTI_OK)
            break;
        const size_t there = stream->have - stream->next;
        const size_t part = size < there ? size : there;
        memcpy(to, stream->buffer + stream->next, part);
        stream->next += part;
        to += part;
        size -= part;
    }
    return status;
}

enum dti_status dti_gguf_skip(struct dti_gguf_stream *stream, uint64_t size,
                              struct dti_error *reterr)
{
    const enum dti_status status = expect(stream, size, reterr);
    if (status != DTI_OK)
        return status;
    if (size <= stream->have - stream->next) {
        stream->next += (size_t)size;
    } else {
        stream->buffer_at = dti_gguf_at(stream) + size;
        stream->have = stream->next = 0;
    }
    return DTI_OK;
}

enum dti_status dti_gguf_number(struct dti_gguf_stream *stream, size_t size, uint64_t *ret,
                                struct dti_error *reterr)
{
    unsigned char bytes[8];
    const enum dti_status status = dti_gguf_bytes(stream, bytes, size, reterr);
    if (status != DTI_OK)
        return status;
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value = value << 8 | bytes[stream->big_endian ? i : size - 1 - i];
    *ret = value;
    return DTI_OK;
}

enum dti_status dti_gguf_length(struct dti_gguf_stream *stream, uint64_t *ret,
                                struct dti_error *reterr)
{
    uint64_t length;
    const enum dti_status status = dti_gguf_number(stream, 8, &length, reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t left = dti_gguf_left(stream);
    if (length > left || length > DTI_GGUF_LENGTH_MAX)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: a string at byte %llu has %llu bytes, and %s %llu", stream->label,
                        (unsigned long long)dti_gguf_at(stream) - 8, (unsigned long long)length,
                        length > left ? "the rest of the file" : "the limit is",
                        (unsigned long long)(length > left ? left : DTI_GGUF_LENGTH_MAX));
    *ret = length;
    return DTI_OK;
}

enum dti_status dti_gguf_string(struct dti_gguf_stream *stream, struct dti_pool *pool,
                                const char **ret, size_t *ret_length, struct dti_error *reterr)
{
    uint64_t length;
    enum dti_status status = dti_gguf_length(stream, &length, reterr);
    if (status != DTI_OK)
        return status;
    char *const text = dti_pool_alloc(pool, (size_t)length + 1);
    if (!text)
        return dti_no_memory(reterr);
    status = dti_gguf_bytes(stream, text, (size_t)length, reterr);
    if (status != DTI_OK)
        return status;
    text[length] = '\0';
    *ret = text;
    *ret_length = (size_t)length;
    return DTI_OK;
}

/* SPDX-License-Identifier: MIT
 *
 * zlib streams over byte ranges of files. */
#include "containers/zip/inflate.h"
#include "util/run/allocate.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

enum {
    FIRST_PIECE = 1024, /* most streams are read only for a header */
    PIECE_MAX = 64 * 1024,
    RAW_WINDOW = -15, /* raw deflate data, without a zlib or gzip header */
};

struct dti_inflate {
    z_stream zlib;
    const struct dti_input *input;
    const char *label;
    uint64_t offset, left; /* range not yet read from the file */
    size_t piece;          /* bytes per read */
    bool ended;
    unsigned char buffer[PIECE_MAX];
};

struct dti_inflate *dti_inflate_new(void)
{
    struct dti_inflate *const stream = dti_calloc(1, sizeof *stream);
    if (stream && inflateInit2(&stream->zlib, RAW_WINDOW) != Z_OK) {
        dti_free(stream);
        return NULL;
    }
    return stream;
}

void dti_inflate_free(struct dti_inflate *stream)
{
    if (stream)
        (void)inflateEnd(&stream->zlib);
    dti_free(stream);
}

void dti_inflate_start(struct dti_inflate *stream, const struct dti_input *input, uint64_t offset,
                       uint64_t size, const char *label)
{
    (void)inflateReset2(&stream->zlib, RAW_WINDOW);
    stream->zlib.avail_in = 0;
    stream->input = input;
    stream->label = label;
    stream->offset = offset;
    stream->left = size;
    stream->piece = FIRST_PIECE;
    stream->ended = false;
}

static enum dti_status refill(struct dti_inflate *stream, struct dti_error *reterr)
{
    const size_t size = stream->left < stream->piece ? (size_t)stream->left : stream->piece;
    const enum dti_status status =
        dti_input_read_at(stream->input, stream->buffer, size, stream->offset, reterr);
    if (status != DTI_OK)
        return status;
    stream->offset += size;
    stream->left -= size;
    stream->piece = PIECE_MAX;
    stream->zlib.next_in = stream->buffer;
    stream->zlib.avail_in = (uInt)size;
    return DTI_OK;
}

enum dti_status dti_inflate_read(struct dti_inflate *stream, void *buffer, size_t size,
                                 size_t *ret_size, struct dti_error *reterr)
{
    unsigned char *const bytes = buffer;
    size_t done = 0;
    while (done < size && !stream->ended) {
        if (stream->zlib.avail_in == 0 && stream->left > 0) {
            const enum dti_status status = refill(stream, reterr);
            if (status != DTI_OK)
                return status;
        }
        const size_t wanted = size - done < INT_MAX ? size - done : INT_MAX;
        stream->zlib.next_out = bytes + done;
        stream->zlib.avail_out = (uInt)wanted;
        const int result = inflate(&stream->zlib, Z_NO_FLUSH);
        done += wanted - stream->zlib.avail_out;
        switch (result) {
        case Z_STREAM_END:
            stream->ended = true;
            break;
        case Z_OK:
            break;
        case Z_BUF_ERROR: /* no input was left */
            return dti_fail(reterr, DTI_BAD_INPUT,
                            "%s: truncated: its compressed data end too early", stream->label);
        case Z_MEM_ERROR:
            return dti_no_memory(reterr);
        default:
            return dti_fail(reterr, DTI_BAD_INPUT, "%s: its compressed data are damaged",
                            stream->label);
        }
    }
    *ret_size = done;
    return DTI_OK;
}

uint64_t dti_inflate_unused(const struct dti_inflate *stream)
{
    return stream->ended ? stream->left + stream->zlib.avail_in : 0;
}

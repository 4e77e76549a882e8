/* SPDX-License-Identifier: MIT
 *
 * The parts of the GGUF reader: a stream over the header, the key-values, the element types. */
#ifndef DTINFO_CONTAINERS_GGUF_H
#define DTINFO_CONTAINERS_GGUF_H

#include "containers/containers.h"

/* ggml's limits. */
enum {
    DTI_GGUF_LENGTH_MAX = 1 << 30, /* of strings and arrays */
    DTI_GGUF_NAME_MAX = 63,        /* of tensors; other builds of ggml take longer ones */
    DTI_GGUF_RANK_MAX = 4,
    DTI_GGUF_ALIGNMENT = 32, /* unless general.alignment says otherwise */
};

/* Numbers and bytes one after another, from a buffer of fixed size. What is asked for is first
 * compared with what is left of the file. */
enum { DTI_GGUF_BUFFER = 1 << 16 };
struct dti_gguf_stream {
    const struct dti_input *input;
    const char *label; /* of the file, for messages */
    bool big_endian;
    uint64_t buffer_at; /* where in the file the buffer begins */
    size_t have, next;  /* bytes in the buffer, and of those taken */
    unsigned char buffer[DTI_GGUF_BUFFER];
};

static inline uint64_t dti_gguf_at(const struct dti_gguf_stream *stream)
{
    return stream->buffer_at + stream->next;
}

static inline uint64_t dti_gguf_left(const struct dti_gguf_stream *stream)
{
    return stream->input->size - dti_gguf_at(stream);
}

enum dti_status dti_gguf_bytes(struct dti_gguf_stream *stream, void *ret, size_t size,
                               struct dti_error *reterr);
enum dti_status dti_gguf_skip(struct dti_gguf_stream *stream, uint64_t size,
                              struct dti_error *reterr);
/* An unsigned number of 1, 2, 4 or 8 bytes. */
enum dti_status dti_gguf_number(struct dti_gguf_stream *stream, size_t size, uint64_t *ret,
                                struct dti_error *reterr);
/* The length of a string, which then is there. */
enum dti_status dti_gguf_length(struct dti_gguf_stream *stream, uint64_t *ret,
                                struct dti_error *reterr);
/* A whole string, copied to the pool. */
enum dti_status dti_gguf_string(struct dti_gguf_stream *stream, struct dti_pool *pool,
                                const char **ret, size_t *ret_length, struct dti_error *reterr);

/* Reads `count` key-values into *ret. *ret_alignment: that of the data. */
enum dti_status dti_gguf_metadata(struct dti_gguf_stream *stream, struct dti_notes *notes,
                                  uint64_t count, struct dti_metadata **ret,
                                  uint64_t *ret_alignment, struct dti_error *reterr);

/* A row of gguf_types.def. */
struct dti_gguf_type {
    unsigned id;
    const char *name;
    unsigned elements, bytes; /* of a block */
    enum dti_dtype dtype;     /* DTI_NONE: blocks */
    const char *block;        /* a name in blocks.def, or NULL */
    const char *refusal;      /* why values of blocks are not read */
};
const struct dti_gguf_type *dti_gguf_type(uint64_t id); /* NULL: unknown */

#endif

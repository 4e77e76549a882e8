/* SPDX-License-Identifier: MIT
 *
 * The parts of the GGUF reader: a stream over the header, and the key-values. */
#ifndef DTINFO_CONTAINERS_GGUF_H
#define DTINFO_CONTAINERS_GGUF_H

#include "containers/opening.h"

/* ggml's limits. */
enum {
    DTI_GGUF_LENGTH_MAX = 1 << 30, /* of strings and arrays */
    DTI_GGUF_NAME_MAX = 63,        /* of tensors; other builds of ggml take longer ones */
    DTI_GGUF_RANK_MAX = 4,
    DTI_GGUF_ALIGNMENT = 32, /* unless general.alignment says otherwise */
};

/* Numbers and bytes one after another, from a buffer of fixed size. Every request is first checked
 * against what is left of the file. Functions return false when they have failed. */
enum { DTI_GGUF_BUFFER = 1 << 16 };
struct dti_gguf_stream {
    struct dti_opening *opening;
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
    return stream->opening->file->input.size - dti_gguf_at(stream);
}

bool dti_gguf_bytes(struct dti_gguf_stream *stream, void *ret, size_t size);
bool dti_gguf_skip(struct dti_gguf_stream *stream, uint64_t size);
/* An unsigned number of 1, 2, 4 or 8 bytes. */
bool dti_gguf_number(struct dti_gguf_stream *stream, size_t size, uint64_t *ret);
/* The length of a string, which then is there. */
bool dti_gguf_length(struct dti_gguf_stream *stream, uint64_t *ret);
/* A whole string, copied to the pool. */
bool dti_gguf_string(struct dti_gguf_stream *stream, const char **ret, size_t *ret_length);

/* Reads `count` key-values into the container, which knows where they are. *ret_alignment: that of
 * the data. */
bool dti_gguf_metadata(struct dti_gguf_stream *stream, uint64_t count, uint64_t *ret_alignment);

/* gguf_write.c: dti_container_layout(), dti_container_blocks() and dti_container_stores() for this
 * kind. */
enum dti_status dti_gguf_layout(struct dti_new_tensor *tensors, size_t count,
                                const struct dti_metadata *metadata, size_t metadata_count,
                                struct dti_new_head *ret_head, uint64_t *ret_size,
                                struct dti_error *reterr);
const struct dti_format *dti_gguf_blocks(const struct dti_gguf_type *type);
/* The type of a format that is stored; NULL: there is none. */
const struct dti_gguf_type *dti_gguf_type_written(const struct dti_format *format);

/* gguf_file_type.c: general.quantization_version after the key-values, where it is missing and some
 * tensors are encoded. */
bool dti_gguf_adds_version(const struct dti_new_head *head);
void dti_gguf_add_version(struct dti_new_head *head);
/* general.file_type of the head's text, whose key-values begin at `at`, once the tensors have their
 * bytes: stays what it is where the types do not ask for another one than those of the file that
 * the key-values come from. */
void dti_gguf_set_file_type(struct dti_new_head *head, size_t at,
                            const struct dti_new_tensor *tensors, size_t count);
bool dti_gguf_stores(const struct dti_format *format, struct dti_layout *ret_layout);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The parts of the GGUF reader: a stream over the header, and the key-values. */
#ifndef CONTAINERS_GGUF_GGUF_H
#define CONTAINERS_GGUF_GGUF_H

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
/* An unsigned number of 1, 2, 4 or 8 bytes. */
bool dti_gguf_number(struct dti_gguf_stream *stream, size_t size, uint64_t *ret);
/* A whole string, copied to the pool. */
bool dti_gguf_string(struct dti_gguf_stream *stream, const char **ret, size_t *ret_length);

/* What the key-values say of a file that is one of several. */
enum dti_gguf_split_key {
    DTI_GGUF_SPLIT_NO,      /* which of them it is, from 0 on */
    DTI_GGUF_SPLIT_COUNT,   /* how many there are; 0: merged, and so a whole file */
    DTI_GGUF_SPLIT_TENSORS, /* tensors of all together */
    DTI_GGUF_SPLIT_KEYS
};
struct dti_gguf_split_value {
    bool there;
    int64_t number;
};
/* That key; DTI_GGUF_SPLIT_KEYS: it is another one. */
enum dti_gguf_split_key dti_gguf_split_key(const char *key, size_t length);
extern const char *const dti_gguf_split_keys[DTI_GGUF_SPLIT_KEYS];

/* One file, which may be a part, and where in the container that is which it has. */
struct dti_gguf_part {
    struct dti_pairs pairs;
    struct dti_gguf_split_value split[DTI_GGUF_SPLIT_KEYS];
    size_t first_metadata, first_tensor;
};
/* Adds what the file that the opening has turned to holds: number `file` of the container. */
bool dti_gguf_read_part(struct dti_opening *opening, unsigned file, struct dti_gguf_part *ret);

/* Reads `count` key-values, which are added to the container. */
bool dti_gguf_metadata(struct dti_gguf_stream *stream, uint64_t count, struct dti_gguf_part *part);

/* gguf_parts.c. Names of files, sorted: *ret_part is NULL, or the first part of the one model
 * that is in parts. False: there are other models, of which two are told. */
bool dti_gguf_find_part(const char *const *names, size_t count, const char **ret_part,
                        const char *ret_two[2]);

/* gguf_split.c: a GGUF in parts, of which one has that name in the folder that is the container's
 * path. */
bool dti_gguf_open_folder(struct dti_opening *opening, const char *name);

/* gguf_write.c: dti_container_layout() for this kind. */
enum dti_status dti_gguf_layout(struct dti_new_tensor *tensors, size_t count,
                                const struct dti_metadata *metadata, size_t metadata_count,
                                struct dti_new_head *ret_head, uint64_t *ret_size,
                                struct dti_error *reterr);
/* dti_container_blocks() and dti_container_stores() for this kind. */
const struct dti_format *dti_gguf_blocks(const struct dti_gguf_type *type);
bool dti_gguf_stores(const struct dti_format *format, struct dti_layout *ret_layout);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The parts of the GGUF reader: a stream over the header, and the key-values. */
#ifndef CONTAINERS_GGUF_GGUF_H
#define CONTAINERS_GGUF_GGUF_H

#include "containers/opening.h"

/* ggml's limits. */
enum {
    DTI_GGUF_LENGTH_MAX = 1 << 30, /* of strings and arrays */
    DTI_GGUF_NAME_MAX = 63,        /* of tensor names; other builds of ggml accept longer ones */
    DTI_GGUF_RANK_MAX = 4,
    DTI_GGUF_ALIGNMENT = 32, /* default, overridden by general.alignment */
};

/* Reads numbers and bytes in sequence through a fixed-size buffer. Every read is first checked
 * against the rest of the file. Functions return false on failure. */
enum { DTI_GGUF_BUFFER = 1 << 16 };
struct dti_gguf_stream {
    struct dti_opening *opening;
    bool big_endian;
    uint64_t buffer_at; /* file offset of the buffer */
    size_t have, next;  /* valid bytes in the buffer; bytes consumed */
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

/* The key-values that describe one file of a split GGUF. */
enum dti_gguf_split_key {
    DTI_GGUF_SPLIT_NO,      /* the index of this file, from 0 */
    DTI_GGUF_SPLIT_COUNT,   /* the number of files; 0: merged into a single file */
    DTI_GGUF_SPLIT_TENSORS, /* total number of tensors in all files */
    DTI_GGUF_SPLIT_KEYS
};
struct dti_gguf_split_value {
    bool there;
    int64_t number;
};
/* The split key of this name; DTI_GGUF_SPLIT_KEYS: not a split key. */
enum dti_gguf_split_key dti_gguf_split_key(const char *key, size_t length);
extern const char *const dti_gguf_split_keys[DTI_GGUF_SPLIT_KEYS];

/* One file, which may be a part, and where its entries start in the container. */
struct dti_gguf_part {
    struct dti_pairs pairs;
    struct dti_gguf_split_value split[DTI_GGUF_SPLIT_KEYS];
    size_t first_metadata, first_tensor;
};
/* Reads the opening's current file, number `file` of the container, and adds its contents. */
bool dti_gguf_read_part(struct dti_opening *opening, unsigned file, struct dti_gguf_part *ret);

/* Reads `count` key-values and adds them to the container. */
bool dti_gguf_metadata(struct dti_gguf_stream *stream, uint64_t count, struct dti_gguf_part *part);

/* gguf_parts.c. names: file names, sorted. *ret_part: the first part of the only split model among
 * them, or NULL. False: there are several models; ret_two names two of them. */
bool dti_gguf_find_part(const char *const *names, size_t count, const char **ret_part,
                        const char *ret_two[2]);

/* gguf_split.c: opens a split GGUF, given the name of one part in the folder that is the
 * container's path. */
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

/* SPDX-License-Identifier: MIT
 *
 * What the readers of the kinds of files and the front of them share: a container with the memory
 * that belongs to it. */
#ifndef DTINFO_CONTAINERS_H
#define DTINFO_CONTAINERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtinfo/container.h"
#include "dtinfo/memory_pool.h"

/* A container as dti_container_open() makes it. Whoever reads a file takes all memory that the
 * container points at from the pool. */
struct dti_container_whole {
    struct dti_container container; /* first: a pointer to it is one to the whole */
    struct dti_pool pool;
    struct dti_container_data *data; /* .npz: NULL until data were asked for; one a tensor */
};

/* Where the data of a tensor are. The input belongs to the reader, which closes it when the
 * container is freed. */
struct dti_container_data {
    bool known;
    struct dti_input input;
    uint64_t offset;
};

/* A list of notes under way. */
struct dti_notes {
    struct dti_pool *pool;
    struct dti_note *notes;
    size_t count, capacity;
};

/* Adds a note; code is a literal, text is copied and must be safe for a terminal. False: memory ran
 * out. */
bool dti_notes_add(struct dti_notes *notes, const char *code, const char *text);

/* Room for one more in a list that comes from a pool and doubles: *list is moved when full. */
bool dti_list_grow(struct dti_pool *pool, void **list, size_t count, size_t *capacity,
                   size_t element_size);

/* Whether a file's bytes are in the order that is not this machine's. */
static inline bool dti_is_swapped(bool file_is_big_endian)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return !file_is_big_endian;
#else
    return file_is_big_endian;
#endif
}

/* The layout of elements in a little- or big-endian file: 8 bits and less have no byte order. */
struct dti_layout dti_file_layout(const struct dti_format *format, enum dti_packing packing,
                                  bool file_is_big_endian);

/* Bytes of a tensor, complex or not; false when they or its elements do not fit in 64 bits. */
bool dti_tensor_bytes(const struct dti_format *format, const struct dti_layout *layout,
                      unsigned rank, const uint64_t *shape, uint64_t *ret_bytes);

/* raw.c: a file without a header is one tensor "data". */
enum dti_status dti_raw_read(struct dti_pool *pool, struct dti_container_file *file,
                             const struct dti_raw *raw, struct dti_tensor *ret,
                             struct dti_error *reterr);

/* gguf_read.c: files[0].input is open; fills tensors, metadata, notes and version. */
enum dti_status dti_gguf_read(struct dti_pool *pool, struct dti_container_file *file,
                              struct dti_container *container, struct dti_error *reterr);

/* sharded_read.c: opens all shards. index_file is that of an open index, or has no path:
 * container.path is a folder. */
enum dti_status dti_sharded_open(struct dti_container_whole *whole,
                                 const struct dti_container_options *options,
                                 struct dti_error *reterr);

/* What the first bytes of a file, its size and its name say. */
enum {
    DTI_HEAD_SIZE = 4096, /* bytes that are looked at */
};
struct dti_foreign {
    const char *is;     /* "is a Python pickle, which could run code and is never read" */
    const char *remedy; /* after a semicolon */
};
struct dti_content {
    bool known;
    enum dti_container_kind kind;
    const struct dti_foreign *foreign; /* where not known: NULL, or what it is instead */
};
struct dti_content dti_content_of(const char *name, const unsigned char *head, size_t head_size,
                                  uint64_t size);

#endif

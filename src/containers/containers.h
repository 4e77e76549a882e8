/* SPDX-License-Identifier: MIT
 *
 * The operations of a container kind, and the data that they work on. */
#ifndef CONTAINERS_CONTAINERS_H
#define CONTAINERS_CONTAINERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "containers/container.h"
#include "containers/opening.h"

/* A member that is NULL is what the kind cannot do, or has no need of. */
struct dti_container_ops {
    unsigned traits; /* DTI_TRAIT_TEXTS ... */
    /* dti_container_becomes(), not in a stream; the first one where it is not said: safetensors. */
    enum dti_container_kind becomes;
    enum dti_container_kind
        remade;         /* dti_container_remakes(): what is made from it, or the first */
    const char *packed; /* dti_container_packed(), unless that is "compressed" */
    /* Whether a file of file_size bytes that begins so is one, whatever its name; and whether it
     * may be one, when neither the bytes nor the name identify it. */
    bool (*detect)(const unsigned char *head, size_t head_size, uint64_t file_size);
    bool (*resembles)(const unsigned char *head, size_t head_size);
    const char *other_extension; /* further endings of names, or NULL */
    /* Reads what is open as opening->file and fills the container. */
    bool (*open)(struct dti_opening *opening);
    /* dti_container_data() and dti_container_verify(), where the bytes are not a plain range of the
     * file. */
    enum dti_status (*data)(struct dti_container *container, size_t tensor,
                            const struct dti_input **ret_input, uint64_t *ret_offset,
                            struct dti_error *reterr);
    enum dti_status (*verify)(struct dti_container *container,
                              void (*progress)(void *context, uint64_t done_bytes), void *context,
                              struct dti_error *reterr);
    void (*free)(struct dti_container *container); /* what container->own is; it is not NULL */
    /* dti_container_blocks(), dti_container_stores() and dti_container_layout(), of what is
     * written. */
    const struct dti_format *(*blocks)(const struct dti_gguf_type *type);
    bool (*stores)(const struct dti_format *format, struct dti_layout *ret_layout);
    enum dti_status (*layout)(struct dti_new_tensor *tensors, size_t count,
                              const struct dti_metadata *metadata, size_t metadata_count,
                              struct dti_new_head *ret_head, uint64_t *ret_size,
                              struct dti_error *reterr);
};
#define CONTAINER(id, kind_name, kind_extension, kind_ops) \
    extern const struct dti_container_ops kind_ops;
#include "containers/containers.def"
#undef CONTAINER
const struct dti_container_ops *dti_container_ops(enum dti_container_kind kind);

/* Reads the header of what is open as files[0], or finds the shards of a folder, as its kind says;
 * all memory comes from pool. options may be NULL. On failure nothing but the pool and the files is
 * to be freed. */
enum dti_status dti_container_read(struct dti_container *container, struct dti_pool *pool,
                                   const struct dti_container_options *options,
                                   struct dti_error *reterr);

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

/* What the first bytes of a file, its size and its name say. */
enum {
    DTI_HEAD_SIZE = 4096, /* bytes that are looked at */
};
struct dti_foreign {
    const char *is;     /* "is a Python pickle, which could run code and is never read" */
    const char *remedy; /* after a semicolon */
};
/* DTI_CONTAINER_COUNT: none that is read; *ret_foreign is NULL, or what it is instead. */
enum dti_container_kind dti_content_of(const char *name, const unsigned char *head, size_t size,
                                       uint64_t file_size, const struct dti_foreign **ret_foreign);
bool dti_begins(const unsigned char *head, size_t head_size, const char *magic);
/* A zip archive whose first member has a name that ends so; "": any. */
bool dti_is_zip(const unsigned char *head, size_t head_size, const char *first);
#define DTI_TORCH_FIRST "/data.pkl" /* of torch.save(): the pickle in a folder */
/* The first byte from `at` on that is not JSON white space: head_size when there is none. */
size_t dti_skip_space(const unsigned char *head, size_t head_size, size_t at);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The operations of a container kind, and the data they work on. */
#ifndef CONTAINERS_CONTAINERS_H
#define CONTAINERS_CONTAINERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "containers/container.h"
#include "containers/opening.h"

/* The code of the note that says which file is read, the first of its container. */
#define DTI_HUB_NOTE "hub_file"

/* Lists the files of the model that is the container's path, hf://org/model[@revision], and
 * replaces that path with the address of the file that holds the model; a note says which one.
 * Fails with DTI_BAD_INPUT if there is no such model, no such file, or more than one of equal rank.
 */
enum dti_status dti_hub_choose(struct dti_container *container, struct dti_pool *pool,
                               struct dti_error *reterr);

/* A NULL member is an operation that the kind does not support or does not need. */
struct dti_container_ops {
    unsigned traits; /* DTI_TRAIT_TEXTS ... */
    /* dti_container_becomes() when not streaming; the first kind, safetensors, is the default. */
    enum dti_container_kind becomes;
    enum dti_container_kind remade; /* what can be made from it; default: the first kind */
    const char *packed;             /* dti_container_packed(), unless that is "compressed" */
    /* detect: whether a file of file_size bytes that starts with these bytes is of this kind,
     * whatever its name. resembles: whether it might be, if neither bytes nor name identify it. */
    bool (*detect)(const unsigned char *head, size_t head_size, uint64_t file_size);
    bool (*resembles)(const unsigned char *head, size_t head_size);
    const char *other_extension; /* further file extensions, or NULL */
    /* Reads the open opening->file and fills the container. */
    bool (*open)(struct dti_opening *opening);
    /* dti_container_data() and dti_container_verify(), for data that are not a plain byte range of
     * the file. */
    enum dti_status (*data)(struct dti_container *container, size_t tensor,
                            const struct dti_input **ret_input, uint64_t *ret_offset,
                            struct dti_error *reterr);
    enum dti_status (*verify)(struct dti_container *container,
                              void (*progress)(void *context, uint64_t done_bytes), void *context,
                              struct dti_error *reterr);
    void (*free)(struct dti_container *container); /* frees container->own, which is not NULL */
    /* dti_container_blocks(), dti_container_stores() and dti_container_layout(), for kinds that are
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

/* Reads the header of the open files[0], or finds the shards of a folder, depending on the kind.
 * All memory comes from pool. options may be NULL. After a failure the caller frees only the pool
 * and the files. */
enum dti_status dti_container_read(struct dti_container *container, struct dti_pool *pool,
                                   const struct dti_container_options *options,
                                   struct dti_error *reterr);

/* compact.c: dti_container_take_less() where it can, with the pool of the container. */
bool dti_container_compact(struct dti_container *container, struct dti_pool *pool);

/* Whether the file's byte order differs from this machine's. */
static inline bool dti_is_swapped(bool file_is_big_endian)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return !file_is_big_endian;
#else
    return file_is_big_endian;
#endif
}

/* The element layout in a little- or big-endian file: 8 bits and less have no byte order. */
struct dti_layout dti_file_layout(const struct dti_format *format, enum dti_packing packing,
                                  bool file_is_big_endian);

/* Detection by the first bytes of a file, its size and its name. */
enum {
    DTI_HEAD_SIZE = 4096, /* bytes that are examined */
};
struct dti_foreign {
    char is[88];      /* "is a Python pickle, which could run code and is never read" */
    char remedy[120]; /* after a semicolon */
};
/* DTI_CONTAINER_COUNT: not a supported container; *ret_foreign is then NULL or says what the file
 * is. */
enum dti_container_kind dti_content_of(const char *name, const unsigned char *head, size_t size,
                                       uint64_t file_size, const struct dti_foreign **ret_foreign);
bool dti_begins(const unsigned char *head, size_t head_size, const char *magic);
/* A zip archive whose first member's name ends in `first`; "": any archive. */
bool dti_is_zip(const unsigned char *head, size_t head_size, const char *first);
#define DTI_TORCH_FIRST "/data.pkl" /* of torch.save(): the pickle in a folder */
/* The first byte from `at` on that is not JSON white space; head_size if there is none. */
size_t dti_skip_space(const unsigned char *head, size_t head_size, size_t at);

#endif

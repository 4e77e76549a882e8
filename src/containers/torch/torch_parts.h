/* SPDX-License-Identifier: MIT
 *
 * The reading of one PyTorch file: storages by their keys, and the tensors that are found. */
#ifndef CONTAINERS_TORCH_TORCH_PARTS_H
#define CONTAINERS_TORCH_TORCH_PARTS_H

#include "containers/npy/npy.h"
#include "containers/torch/torch.h"
#include "containers/zip/zip.h"

enum {
    DTI_TORCH_RANK_MAX = 64,
    DTI_TORCH_KEY_MAX = 200, /* bytes */
};

/* A storage as a pickle describes it. */
struct dti_torch_storage {
    const char *key;
    size_t key_length;
    const struct dti_format *format; /* NULL: untyped, or none of ours */
    const char *torch_name;          /* "torch.float32"; of an untyped one NULL */
    uint64_t item, bytes;            /* of an element, and of all of it */
    uint64_t view_at, view_bytes;    /* the part of it that is meant */
    uint64_t offset;                 /* in the file; UINT64_MAX: not known yet */
};
/* False: the value is something else. */
bool dti_torch_storage(const struct dti_pickle *pickle, uint32_t value,
                       struct dti_torch_storage *ret);

/* An array of numpy. */
struct dti_torch_array {
    char descr[24]; /* "<f4" */
    struct dti_npy_type type;
    bool big_endian, fortran;
    uint32_t shape;    /* a value of the pickle */
    uint32_t axes;     /* another: the axes of that shape in another order; or None */
    bool there;        /* its bytes are known: */
    bool encoded;      /* characters in UTF-8 */
    uint64_t at, size; /* in the file, as they are there */
};
/* Of a CALL; false: it is no array, or not one of numbers. */
bool dti_torch_array(const struct dti_pickle *pickle, uint32_t call, struct dti_torch_array *ret);

struct dti_torch_found {
    struct dti_tensor tensor;
    const uint64_t *strides; /* in bytes; NULL: its bytes are a plain range of the file */
    uint64_t item;           /* bytes of an element, with strides */
    uint64_t span;           /* bytes from its first element to the end of its last */
    uint64_t encoded;        /* bytes of text in UTF-8 that has them; 0: they are as they are */
    size_t order;
};
struct dti_torch_reading {
    struct dti_opening *opening;
    struct dti_pickle pickle;
    bool big_endian;
    /* Where a storage is, for the tensor that refers to it; fills its offset. */
    bool (*locate)(struct dti_torch_reading *reading, struct dti_subject tensor,
                   struct dti_torch_storage *storage);
    struct dti_name_order order; /* of the members, or of the storages */
    struct dti_zip zip;
    size_t folder_length; /* of the members' names: "archive/" */
    struct dti_torch_storage *storages;
    size_t storage_count;
    /* what is found */
    struct dti_torch_found *found;
    size_t found_count, found_capacity;
    uint64_t claimed;  /* memory that the tensors take, which the pickle's length bounds */
    uint64_t repeated; /* bytes of all tensors */
    size_t others, shared;
    const char *other_name, *shared_name; /* the first of them, quoted */
};

/* torch_zip.c: reads the pickle and finds the storages. */
bool dti_torch_open_zip(struct dti_torch_reading *reading);
/* Finds the bytes of a member, which are those of the archive. */
bool dti_torch_locate(struct dti_opening *opening, struct dti_zip *zip, size_t index);
/* Whether members have sums: torch.serialization.set_crc32_options(False) writes zeros. */
bool dti_torch_has_sums(const struct dti_zip *zip);

/* torch_tensor.c: adds the tensor that a CALL makes. The name is copied. */
bool dti_torch_tensor(struct dti_torch_reading *reading, uint32_t call, const char *name,
                      size_t name_length);

#endif

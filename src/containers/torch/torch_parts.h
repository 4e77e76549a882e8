/* SPDX-License-Identifier: MIT
 *
 * State while one PyTorch file is read: storages by key, and the tensors found. */
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
    const struct dti_format *format; /* NULL: untyped, or an unsupported dtype */
    const char *torch_name;          /* "torch.float32"; NULL if untyped */
    uint64_t item, bytes;            /* bytes of an element; total bytes */
    uint64_t view_at, view_bytes;    /* the byte range of it that is referenced */
    uint64_t offset;                 /* in the file; UINT64_MAX: not known yet */
};
/* False: the value is not a storage. */
bool dti_torch_storage(const struct dti_pickle *pickle, uint32_t value,
                       struct dti_torch_storage *ret);

/* A numpy array. */
struct dti_torch_array {
    char descr[24]; /* "<f4" */
    struct dti_npy_type type;
    bool big_endian, fortran;
    uint32_t shape; /* a value of the pickle */
    uint32_t axes;  /* a value of the pickle: the permutation of the axes of that shape; or None */
    bool there;     /* the location of its bytes is known: */
    bool encoded;   /* stored as UTF-8 characters */
    uint64_t at, size; /* in the file, as stored */
};
/* For a CALL; false: not an array, or not one of numbers. */
bool dti_torch_array(const struct dti_pickle *pickle, uint32_t call, struct dti_torch_array *ret);

struct dti_torch_found {
    struct dti_tensor tensor;
    const uint64_t *strides; /* in bytes; NULL: a contiguous byte range of the file */
    uint64_t item;           /* bytes of an element, if strided */
    uint64_t span;           /* bytes from its first element to the end of its last */
    uint64_t encoded;        /* size of the UTF-8 text that encodes its bytes; 0: not encoded */
    size_t order;
};
struct dti_torch_reading {
    struct dti_opening *opening;
    struct dti_pickle pickle;
    bool big_endian;
    /* Locates a storage for the tensor that refers to it; sets its offset. */
    bool (*locate)(struct dti_torch_reading *reading, struct dti_subject tensor,
                   struct dti_torch_storage *storage);
    struct dti_name_order order; /* of the members, or of the storages */
    struct dti_zip zip;
    size_t folder_length; /* of the member name prefix "archive/" */
    struct dti_torch_storage *storages;
    size_t storage_count;
    /* tensors found */
    struct dti_torch_found *found;
    size_t found_count, found_capacity;
    uint64_t claimed;  /* memory used by the tensors, bounded by the pickle's length */
    uint64_t repeated; /* bytes of all tensors */
    size_t others, shared;
    const char *other_name, *shared_name; /* the first of each, quoted */
};

/* torch_zip.c: reads the pickle and finds the storages. */
bool dti_torch_open_zip(struct dti_torch_reading *reading);
/* Locates the bytes of a stored member in the archive. */
bool dti_torch_locate(struct dti_opening *opening, struct dti_zip *zip, size_t index);
/* Whether members have checksums: torch.serialization.set_crc32_options(False) writes zeros. */
bool dti_torch_has_sums(const struct dti_zip *zip);

/* torch_tensor.c: adds the tensor that a CALL creates. The name is copied. */
bool dti_torch_tensor(struct dti_torch_reading *reading, uint32_t call, const char *name,
                      size_t name_length);

#endif

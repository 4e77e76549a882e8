/* SPDX-License-Identifier: MIT
 *
 * The reading of one PyTorch file: storages by their keys, and the tensors that are found. */
#ifndef DTINFO_TORCH_PARTS_H
#define DTINFO_TORCH_PARTS_H

#include "containers/torch.h"
#include "containers/zip.h"

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

struct dti_torch_found {
    struct dti_tensor tensor;
    const uint64_t *strides; /* NULL: its bytes are a plain range of the file */
    uint64_t span;           /* bytes from its first element to the end of its last */
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

/* torch_zip.c, torch_legacy.c: read the pickle and find the storages. */
bool dti_torch_open_zip(struct dti_torch_reading *reading);
bool dti_torch_open_legacy(struct dti_torch_reading *reading);

/* torch_walk.c: finds the tensors in the values of the pickle. */
bool dti_torch_walk(struct dti_torch_reading *reading);

/* torch_tensor.c: adds the tensor that a CALL makes. The name is copied. */
bool dti_torch_tensor(struct dti_torch_reading *reading, uint32_t call, const char *name,
                      size_t name_length);

#endif

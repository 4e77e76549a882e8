/* SPDX-License-Identifier: MIT
 *
 * numpy's .npz: a zip of .npy members. The state shared by finding its arrays, reading their data
 * and verifying them. */
#ifndef CONTAINERS_NPY_NPZ_H
#define CONTAINERS_NPY_NPZ_H

#include "containers/npy/npy.h"
#include "containers/zip/inflate.h"
#include "containers/zip/zip.h"

struct dti_npz_array {
    size_t member;               /* its index in the archive */
    size_t start;                /* of the data in the unpacked member */
    uint32_t header_crc;         /* of what precedes the data; of stored ones only */
    bool unpacked;               /* and its CRC was right */
    uint64_t offset;             /* in scratch, then */
    struct dti_npz_watch *watch; /* of a stored one, once its data were requested */
    bool fields;                 /* it is several tensors, whose data are never all of it */
};
struct dti_npz {
    struct dti_pool *pool;
    struct dti_zip zip;
    size_t count;
    struct dti_npz_array *arrays;    /* in the order of the members */
    struct dti_gather_place *places; /* of each tensor */
    size_t place_capacity;
    bool unpacking;           /* scratch is open */
    struct dti_input scratch; /* what has been unpacked, one array behind the other */
    struct dti_gathered gathered;
};

/* npz_data.c: whether a member is stored or deflated; the label is that of the member. */
bool dti_npz_check_method(struct dti_opening *opening, const struct dti_zip_member *member);

/* The operations. An array that is compressed, or has fields, is unpacked into an
 * unnamed temporary file, and its length and CRC-32 are checked: all of them share that file.
 * Another one is checked while it is read. */
enum dti_status dti_npz_data(struct dti_container *container, size_t tensor,
                             const struct dti_input **ret_input, uint64_t *ret_offset,
                             struct dti_error *reterr);
enum dti_status dti_npz_verify(struct dti_container *container,
                               void (*progress)(void *context, uint64_t done_bytes), void *context,
                               struct dti_error *reterr);
void dti_npz_free(struct dti_container *container);

/* npz_write.c: dti_container_layout() for this kind. Fails, besides as that of npy does, for names
 * that no member can have, or that numpy could not tell apart. */
enum dti_status dti_npz_layout(struct dti_new_tensor *tensors, size_t count,
                               const struct dti_metadata *metadata, size_t metadata_count,
                               struct dti_new_head *ret_head, uint64_t *ret_size,
                               struct dti_error *reterr);

#endif

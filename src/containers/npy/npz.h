/* SPDX-License-Identifier: MIT
 *
 * numpy's .npz: a zip of .npy members. State shared by listing the arrays, reading their data and
 * verifying them. */
#ifndef CONTAINERS_NPY_NPZ_H
#define CONTAINERS_NPY_NPZ_H

#include "containers/npy/npy.h"
#include "containers/zip/inflate.h"
#include "containers/zip/zip.h"

struct dti_npz_array {
    size_t member;               /* its index in the archive */
    size_t start;                /* offset of the data in the unpacked member */
    uint32_t header_crc;         /* CRC of the bytes before the data; stored members only */
    bool unpacked;               /* unpacked, with a correct CRC */
    uint64_t offset;             /* then: its offset in scratch */
    struct dti_npz_watch *watch; /* stored members, once their data were requested */
    bool fields;                 /* split into field tensors, which never span all of its data */
};
struct dti_npz {
    struct dti_pool *pool;
    struct dti_zip zip;
    size_t count;
    struct dti_npz_array *arrays;    /* in member order */
    struct dti_gather_place *places; /* one per tensor */
    size_t place_capacity;
    bool unpacking;           /* scratch is open */
    struct dti_input scratch; /* unpacked arrays, one after another */
    struct dti_gathered gathered;
};

/* npz_data.c: whether a member is stored or deflated; the opening's label must be the member's. */
bool dti_npz_check_method(struct dti_opening *opening, const struct dti_zip_member *member);

/* The operations. A compressed array, or one with fields, is unpacked into an unnamed temporary
 * file shared by all arrays, and its length and CRC-32 are checked. Other arrays are checked while
 * they are read. */
enum dti_status dti_npz_data(struct dti_container *container, size_t tensor,
                             const struct dti_input **ret_input, uint64_t *ret_offset,
                             struct dti_error *reterr);
enum dti_status dti_npz_verify(struct dti_container *container,
                               void (*progress)(void *context, uint64_t done_bytes), void *context,
                               struct dti_error *reterr);
void dti_npz_free(struct dti_container *container);

/* npz_write.c: dti_container_layout() for this kind. Fails like npy, and for names that are not
 * valid for a member or that numpy could not distinguish. */
enum dti_status dti_npz_layout(struct dti_new_tensor *tensors, size_t count,
                               const struct dti_metadata *metadata, size_t metadata_count,
                               struct dti_new_head *ret_head, uint64_t *ret_size,
                               struct dti_error *reterr);

#endif

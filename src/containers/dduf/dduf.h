/* SPDX-License-Identifier: MIT
 *
 * dduf, by Hugging Face: the folder of a diffusion model as a zip of stored members. Tensors come
 * from the .safetensors members; their names are prefixed with the folder: "unet/conv_in.weight".
 * Other members are copied unchanged. */
#ifndef CONTAINERS_DDUF_DDUF_H
#define CONTAINERS_DDUF_DDUF_H

#include "containers/npy/npz.h"

/* A member with tensors. */
struct dti_dduf_part {
    size_t member; /* its index in the archive */
    size_t folder; /* length of the folder part of its name, including the last slash */
    size_t first, tensor_count;            /* of the container's tensors */
    size_t first_metadata, metadata_count; /* range of the archive's metadata */
};
struct dti_dduf {
    struct dti_npz npz; /* must be first: members are verified like non-array members of a .npz */
    size_t count;
    struct dti_dduf_part *parts;         /* in file order */
    const struct dti_metadata *metadata; /* of all parts, not deduplicated */
};

/* dduf_write.c: dti_container_layout() for this kind, from a file of this kind. All members keep
 * their order; those with tensors get the new tensors and keep their metadata. A tensor that the
 * source lacks goes to the first member in its nearest enclosing folder. Fails like safetensors,
 * and with DTI_WRONG_KIND if there is no such file or folder. */
enum dti_status dti_dduf_layout(struct dti_new_tensor *tensors, size_t count,
                                const struct dti_metadata *metadata, size_t metadata_count,
                                struct dti_new_head *ret_head, uint64_t *ret_size,
                                struct dti_error *reterr);

#endif

/* SPDX-License-Identifier: MIT
 *
 * dduf, by Hugging Face: the folder of a diffusion model as a zip of stored members. Of these the
 * .safetensors files have tensors, which are known by their folder and their name there:
 * "unet/conv_in.weight". The others are taken over as they are. */
#ifndef CONTAINERS_DDUF_DDUF_H
#define CONTAINERS_DDUF_DDUF_H

#include "containers/npy/npz.h"

/* A member with tensors. */
struct dti_dduf_part {
    size_t member;                         /* its index in the archive */
    size_t folder;                         /* bytes of its name up to the last slash, with it */
    size_t first, tensor_count;            /* of the container's tensors */
    size_t first_metadata, metadata_count; /* of those of the archive */
};
struct dti_dduf {
    struct dti_npz npz; /* first: members are verified as those of a .npz that are no arrays */
    size_t count;
    struct dti_dduf_part *parts;         /* in the order of their places */
    const struct dti_metadata *metadata; /* of all parts, as each has them */
};

/* dduf_write.c: dti_container_layout() for this kind, from a file of this kind: all its members in
 * their order, of which those with tensors hold the new ones, and the metadata they had. A tensor
 * that it does not have goes to the first one of the nearest folder that it is in. Fails, besides
 * as that of safetensors does, with DTI_WRONG_KIND without such a file or folder. */
enum dti_status dti_dduf_layout(struct dti_new_tensor *tensors, size_t count,
                                const struct dti_metadata *metadata, size_t metadata_count,
                                struct dti_new_head *ret_head, uint64_t *ret_size,
                                struct dti_error *reterr);

#endif

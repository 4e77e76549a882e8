/* SPDX-License-Identifier: MIT
 *
 * numpy's .npz: a zip of .npy members. */
#ifndef DTINFO_NPZ_H
#define DTINFO_NPZ_H

#include "containers/containers.h"

/* container->files[0].input is open; fills tensors, notes and own. On failure there is nothing to
 * be freed but the pool. */
enum dti_status dti_npz_open(struct dti_pool *pool, struct dti_container *container,
                             const struct dti_container_options *options, struct dti_error *reterr);

/* Unpacks a compressed tensor of the container into an unnamed temporary file, checking its length
 * and its CRC-32. All tensors share that file, which dti_npz_free() closes: *ret_input is another
 * view of it at each call. To be called once a tensor. */
enum dti_status dti_npz_unpack(struct dti_container *container, const struct dti_tensor *tensor,
                               struct dti_input *ret_input, uint64_t *ret_offset,
                               struct dti_error *reterr);
void dti_npz_free(struct dti_container *container);

#endif

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

/* Where a tensor's data are. A compressed one is unpacked into an unnamed temporary file, and its
 * length and CRC-32 are checked: all of them share that file, which dti_npz_free() closes. A stored
 * one is checked while it is read. *ret_input is another view of a file at each call. To be called
 * once a tensor. */
enum dti_status dti_npz_data(struct dti_container *container, const struct dti_tensor *tensor,
                             struct dti_input *ret_input, uint64_t *ret_offset,
                             struct dti_error *reterr);

/* npz_verify.c: dti_container_verify() for .npz. */
enum dti_status dti_npz_verify(struct dti_container *container,
                               void (*progress)(void *context, uint64_t done_bytes), void *context,
                               struct dti_error *reterr);
void dti_npz_free(struct dti_container *container);

#endif

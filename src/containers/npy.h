/* SPDX-License-Identifier: MIT
 *
 * numpy's .npy: one array behind a header that is a Python literal. */
#ifndef DTINFO_NPY_H
#define DTINFO_NPY_H

#include "containers/containers.h"

/* container->files[0].input is open; fills its header_bytes, the container's version and notes, and
 * *ret with the one tensor, "data". */
enum dti_status dti_npy_read(struct dti_pool *pool, struct dti_container *container,
                             const struct dti_container_options *options, struct dti_tensor *ret,
                             struct dti_error *reterr);

/* dti_container_layout() and dti_container_stores() for .npy. Metadata has no place in it. */
enum dti_status dti_npy_layout(struct dti_new_tensor *tensors, size_t count,
                               const struct dti_metadata *metadata, size_t metadata_count,
                               struct dti_buffer *ret_head, uint64_t *ret_size,
                               struct dti_error *reterr);
bool dti_npy_stores(const struct dti_format *format, struct dti_layout *ret_layout);

#endif

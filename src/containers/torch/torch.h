/* SPDX-License-Identifier: MIT
 *
 * Files of torch.save(): zip archives, and before torch 1.6 a sequence of pickles. Tensors are
 * views of storages: an offset, a shape and strides. */
#ifndef CONTAINERS_TORCH_TORCH_H
#define CONTAINERS_TORCH_TORCH_H

#include "containers/containers.h"
#include "containers/gather.h"
#include "containers/pickle/pickle.h"
#include "containers/zip/zip.h"

/* Per-tensor and per-file state in addition to the container's own. */
struct dti_torch_place {
    struct dti_gather_place gather;
    uint64_t encoded; /* size of the UTF-8 text whose characters are the tensor's bytes; or 0 */
};
struct dti_torch {
    size_t count, capacity;
    struct dti_torch_place *places; /* one per tensor of the container */
    struct dti_gathered gathered;
    struct dti_zip *zips; /* one per file; empty for the older format */
    size_t zip_count, zip_capacity;
};

/* Whether the first bytes are those of a torch.save() file. */
bool dti_torch_detect(const unsigned char *head, size_t head_size);

/* Reads the opening's file, number `file_index` of the container, and appends its tensors to the
 * container and to ret, in the order of their data. */
bool dti_torch_read(struct dti_opening *opening, unsigned file_index, struct dti_torch *ret);

/* The operations of a container whose `own` is a struct dti_torch. */
enum dti_status dti_torch_data(struct dti_container *container, size_t index,
                               const struct dti_input **ret_input, uint64_t *ret_offset,
                               struct dti_error *reterr);
enum dti_status dti_torch_verify(struct dti_container *container,
                                 void (*progress)(void *context, uint64_t done_bytes),
                                 void *context, struct dti_error *reterr);
void dti_torch_free(struct dti_container *container);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Files of torch.save(): zip archives, and before torch 1.6 pickles one after another. Tensors are
 * views of storages: an offset, a shape and strides. */
#ifndef DTINFO_TORCH_H
#define DTINFO_TORCH_H

#include "containers/containers.h"
#include "containers/pickle.h"

/* What is known about the tensors of one file or of several, beside the container's own. */
struct dti_torch_place {
    const uint64_t *strides; /* in elements; NULL: its bytes are a plain range of the file */
    uint64_t encoded;        /* or that many bytes of text, whose characters are the bytes; or 0 */
    bool gathered;           /* and then they begin here in scratch */
    uint64_t gathered_at;
};
struct dti_torch {
    size_t count, capacity;
    struct dti_torch_place *places; /* of each tensor of the container */
    bool gathering;                 /* scratch is open, with room for more than is used */
    struct dti_input scratch;
    uint64_t used;
    unsigned char *buffers; /* for gathering */
};

/* Whether a file that begins so was written by torch.save(). */
bool dti_torch_detect(const unsigned char *head, size_t head_size);

/* Reads the opening's file, which is the container's file of that index, and appends its tensors to
 * the container and to ret, in the order of their data. */
bool dti_torch_read(struct dti_opening *opening, unsigned file_index, struct dti_torch *ret);

/* Of an archive that torch.jit.save() wrote. */
bool dti_torch_refuse_script(struct dti_opening *opening);

/* The operations of a container whose own is a struct dti_torch. */
enum dti_status dti_torch_data(struct dti_container *container, size_t tensor,
                               const struct dti_input **ret_input, uint64_t *ret_offset,
                               struct dti_error *reterr);
void dti_torch_free(struct dti_container *container);

#endif

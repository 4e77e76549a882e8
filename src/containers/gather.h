/* SPDX-License-Identifier: MIT
 *
 * Tensors that are not contiguous in their file: views of PyTorch storages, fields of numpy
 * records. On first access their data are gathered row by row into an unnamed temporary file that
 * all tensors of a container share. */
#ifndef CONTAINERS_GATHER_H
#define CONTAINERS_GATHER_H

#include "containers/container.h"

enum { DTI_GATHER_PIECE = 1 << 20 };

struct dti_gathered {
    bool open;
    struct dti_input scratch; /* larger than what is used */
    uint64_t used;
    unsigned char *buffers; /* 2 x DTI_GATHER_PIECE bytes, allocated on first use */
};

/* The records of an array, in row order; its fields are consecutive tensors. */
struct dti_gather_records {
    uint64_t count, bytes; /* number of records; bytes of one */
    unsigned rank;         /* each field starts with the dimensions of the array */
    size_t fields;
};

/* Where a tensor's elements are. */
struct dti_gather_place {
    const uint64_t *strides; /* in bytes, one per dimension, all within the file. NULL: a contiguous
                                byte range */
    uint64_t item;           /* bytes of an element */
    uint64_t inside;         /* of a field: its offset in a record */
    const struct dti_gather_records *records; /* the records it is a field of; NULL: not a field */
    size_t field, array; /* field: its index; array: the reader's index of these records */
    bool gathered;       /* already gathered, starting at this offset of scratch */
    uint64_t at;
};

/* Makes room for this many bytes from `used` on; name: the file they come from, for messages. */
enum dti_status dti_gathered_room(struct dti_gathered *gathered, const char *name, uint64_t bytes,
                                  struct dti_error *reterr);
/* Records that a tensor of this size has been gathered. */
static inline void dti_gathered_add(struct dti_gathered *gathered, struct dti_gather_place *place,
                                    uint64_t bytes)
{
    place->gathered = true;
    place->at = gathered->used;
    gathered->used += bytes;
}

/* Returns the bytes of a tensor in row-major order, gathering them on first use. The tensor has
 * elements, the first one at `offset` of the input. For records, the following fields are gathered
 * too, up to an eighth of all bytes, so that the records are read at most 16 times. place and
 * tensor must then point into the arrays of all fields. */
enum dti_status dti_gather(struct dti_gathered *gathered, struct dti_gather_place *place,
                           const struct dti_tensor *tensor, const struct dti_input *input,
                           uint64_t offset, const struct dti_input **ret_input,
                           uint64_t *ret_offset, struct dti_error *reterr);
void dti_gathered_free(struct dti_gathered *gathered);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Tensors whose elements do not follow each other in their file: views of PyTorch's storages,
 * fields of numpy's records. When their data are wanted, they are put into order, row by row, in an
 * unnamed temporary file that all tensors of a container share. */
#ifndef CONTAINERS_GATHER_H
#define CONTAINERS_GATHER_H

#include "containers/container.h"

enum { DTI_GATHER_PIECE = 1 << 20 };

struct dti_gathered {
    bool open;
    struct dti_input scratch; /* with room for more than is used */
    uint64_t used;
    unsigned char *buffers; /* 2 x DTI_GATHER_PIECE bytes, once there is room for a tensor */
};

/* The records of an array, row by row; its fields are tensors, one after another. */
struct dti_gather_records {
    uint64_t count, bytes; /* how many; of one */
    unsigned rank;         /* the first dimensions of each field are those of the array */
    size_t fields;
};

/* Of a tensor. */
struct dti_gather_place {
    const uint64_t *strides; /* in bytes, as many as it has dimensions; within its file. NULL: its
                              * bytes are a plain range */
    uint64_t item;           /* bytes of an element */
    uint64_t inside;         /* of a field: where it begins in a record */
    const struct dti_gather_records *records; /* whose field it is; NULL: it stands alone */
    size_t field, array; /* which one of the records; for the reader: which records these are */
    bool gathered;       /* and then its bytes begin here in scratch */
    uint64_t at;
};

/* Room for so many bytes from `used` on; name: of the file that they come from. */
enum dti_status dti_gathered_room(struct dti_gathered *gathered, const char *name, uint64_t bytes,
                                  struct dti_error *reterr);
/* A tensor of so many bytes has been put there. */
static inline void dti_gathered_add(struct dti_gathered *gathered, struct dti_gather_place *place,
                                    uint64_t bytes)
{
    place->gathered = true;
    place->at = gathered->used;
    gathered->used += bytes;
}

/* The bytes of a tensor that has elements and whose first one is at `offset` of the input, in
 * order; they are gathered when they are first asked for. Of records also the fields behind it, up
 * to an eighth of all bytes: the records are read no more than 16 times. place and tensor are then
 * among those of all fields. */
enum dti_status dti_gather(struct dti_gathered *gathered, struct dti_gather_place *place,
                           const struct dti_tensor *tensor, const struct dti_input *input,
                           uint64_t offset, const struct dti_input **ret_input,
                           uint64_t *ret_offset, struct dti_error *reterr);
void dti_gathered_free(struct dti_gathered *gathered);

#endif

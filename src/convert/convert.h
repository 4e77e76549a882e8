/* SPDX-License-Identifier: MIT
 *
 * A plan over a stream of bytes: blocks are read, cast and written by a team of threads in bounded
 * memory. Containers provide the byte ranges of their tensors; raw files are one range. */
#ifndef CONVERT_CONVERT_H
#define CONVERT_CONVERT_H

#include <stdint.h>

#include "convert/plan.h"
#include "io/input.h"
#include "io/output.h"

/* Where an array's bytes come from and go to. */
struct dti_transfer {
    struct dti_input *input;
    uint64_t input_offset; /* of the first element, from the input's start; seekable inputs */
    uint64_t elements;     /* DTI_UNTIL_END: until the input ends */
    struct dti_output_file *output;
    uint64_t output_offset; /* seekable outputs */
    /* Called between blocks, by one thread at a time, with elements done so far, which only grow;
     * may be NULL. */
    void (*progress)(void *context, uint64_t done);
    void *progress_context;
};
/* Packed codes of less than 8 bits do not give their number: all that fit are taken, so that the
 * last byte may yield elements that are its padding (3 codes of 4 bits are read as 4, 3 of 6 bits
 * as 4), and bits too few for another one must be zero. */
#define DTI_UNTIL_END UINT64_MAX

/* Bytes of source per block and thread; settable for tests (a multiple of DTI_TILE elements is
 * taken, at least one tile). 0 is the default. */
struct dti_transfer_options {
    uint64_t block_bytes;
};

/* How many elements `bytes` bytes of the plan's source are, as DTI_UNTIL_END takes them.
 * *ret_padding (may be NULL) is how many bits are left over in the last byte, less than one packed
 * element. Fails with DTI_BAD_INPUT ("7 bytes are 1 fp32 and 3 bytes left over"); label names the
 * input. */
enum dti_status dti_transfer_elements(const struct dti_plan *plan, uint64_t bytes,
                                      const char *label, uint64_t *ret_elements,
                                      unsigned *ret_padding, struct dti_error *reterr);

/* Casts the whole transfer; team may be NULL. *ret_elements: how many there were. What can be known
 * before is checked before anything is written. Whatever the blocks and threads: the same bytes,
 * the same loss, and of several errors the one that comes first in the array. Fails with
 * DTI_BAD_INPUT when the input's length is not a multiple of the element or it shrinks in the
 * meantime, with DTI_USAGE when the output is the input, with DTI_WRITE_FAILED,
 * DTI_NOT_REPRESENTABLE, DTI_NO_MEMORY; the output is then to be discarded. loss (may be NULL) is
 * added to on success. */
enum dti_status dti_transfer_run(const struct dti_plan *plan, struct dti_team *team,
                                 const struct dti_transfer *transfer,
                                 const struct dti_transfer_options *options, struct dti_loss *loss,
                                 uint64_t *ret_elements, struct dti_error *reterr);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Runs a plan over a stream of bytes: a team of threads reads, casts and writes blocks in
 * bounded memory. Containers provide the byte ranges of their tensors; a raw file is one range. */
#ifndef CONVERT_CONVERT_H
#define CONVERT_CONVERT_H

#include <stdint.h>

#include "convert/plan.h"
#include "io/input.h"
#include "io/output.h"

/* Source and destination of an array. */
struct dti_transfer {
    struct dti_input *input;
    uint64_t input_offset; /* of the first element, from the input's start; for seekable inputs */
    uint64_t elements;     /* DTI_UNTIL_END: until the input ends */
    struct dti_output_file *output;
    uint64_t output_offset; /* for seekable outputs */
    /* Called between blocks, by one thread at a time, with the elements done so far, which only
     * increase; may be NULL. */
    void (*progress)(void *context, uint64_t done);
    void *progress_context;
};
/* The length in bytes does not determine the number of packed codes below 8 bits. All codes that
 * fit are taken, so padding of the last byte may be read as elements (3 codes of 4 bits are read
 * as 4, 3 of 6 bits as 4). Left-over bits too few for a code must be zero. */
#define DTI_UNTIL_END UINT64_MAX

/* Source bytes per block and thread; settable for tests (rounded to a multiple of DTI_TILE
 * elements, at least one tile). 0: the default. */
struct dti_transfer_options {
    uint64_t block_bytes;
};

/* The number of elements in `bytes` bytes of the plan's source, as DTI_UNTIL_END counts them.
 * *ret_padding (may be NULL): bits left over in the last byte, less than one packed element.
 * Fails with DTI_BAD_INPUT ("7 bytes are 1 fp32 and 3 bytes left over"); label names the input. */
enum dti_status dti_transfer_elements(const struct dti_plan *plan, uint64_t bytes,
                                      const char *label, uint64_t *ret_elements,
                                      unsigned *ret_padding, struct dti_error *reterr);

/* Casts the whole transfer; team may be NULL. *ret_elements: the number of elements. Checks all
 * it can before anything is written. Bytes and loss do not depend on blocks and threads; of
 * several errors, returns the first in the array. Fails with DTI_BAD_INPUT if the input's length
 * is not a multiple of the element or it shrinks meanwhile, with DTI_USAGE if the output is the
 * input, with DTI_WRITE_FAILED, DTI_NOT_REPRESENTABLE, DTI_NO_MEMORY; then discard the output.
 * loss (may be NULL) is added to on success. */
enum dti_status dti_transfer_run(const struct dti_plan *plan, struct dti_team *team,
                                 const struct dti_transfer *transfer,
                                 const struct dti_transfer_options *options, struct dti_loss *loss,
                                 uint64_t *ret_elements, struct dti_error *reterr);

#endif

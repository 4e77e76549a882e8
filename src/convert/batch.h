/* SPDX-License-Identifier: MIT
 *
 * The casts of many tensors at once: from byte ranges of regular files into one output, by a team,
 * in memory that does not grow with the files. */
#ifndef CONVERT_BATCH_H
#define CONVERT_BATCH_H

#include <stdint.h>

#include "convert/plan.h"
#include "io/input.h"
#include "io/output.h"
#include "io/window.h"

/* An array that is made while it is read: codes with scales become numbers. */
struct dti_batch_source {
    /* Fills the bytes offset to offset + size - 1 of the array, from any thread. Both are multiples
     * of an element, except that size may be what is left. window: of the thread, not looked into;
     * scratch: likewise, aligned. */
    enum dti_status (*read)(void *context, void *buffer, size_t size, uint64_t offset,
                            struct dti_window *window, void *scratch, struct dti_error *reterr);
    void *context;
    size_t scratch_bytes;
};

struct dti_batch_part {
    const struct dti_plan *plan; /* NULL: bytes are copied, and elements are bytes */
    const struct dti_input *input;
    uint64_t input_offset;
    uint64_t elements;
    struct dti_output_file *output; /* NULL: the result is discarded; only its loss is needed */
    uint64_t output_offset; /* of an output that is not seekable: where the part before ended */
    struct dti_loss *loss;  /* NULL: not counted; initialised by the caller and added to */
    /* Not NULL: in place of input, which is NULL then; input_offset is 0. */
    const struct dti_batch_source *source;
};

struct dti_batch_options {
    uint64_t max_memory; /* bytes for buffers of all threads; 0 for the default (16 MiB). At least a
                          * tile's worth is taken, with fewer threads where need be. The scratch of
                          * sources comes on top */
    void (*progress)(void *context, uint64_t done); /* bytes of input; may be NULL */
    void *progress_context;
    /* NULL, or says in the error of an element which part it is of; called by any thread. */
    void (*place)(void *context, size_t part, struct dti_error *reterr);
    void *place_context;
};

/* Casts all parts; team and options may be NULL. The same bytes and losses whatever the team and
 * the memory. Parts of a seekable output may come in any order; small ones are faster when they
 * follow each other in input and output. Fails as dti_transfer_run() does, with the error that
 * comes first in the order of the parts; the outputs are then to be discarded, and losses mean
 * nothing. */
enum dti_status dti_batch_run(const struct dti_batch_part *parts, size_t count,
                              struct dti_team *team, const struct dti_batch_options *options,
                              struct dti_error *reterr);

#endif

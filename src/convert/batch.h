/* SPDX-License-Identifier: MIT
 *
 * Casts many tensors in one run: from byte ranges of regular files to outputs, by a team, in
 * memory that does not grow with the files. */
#ifndef CONVERT_BATCH_H
#define CONVERT_BATCH_H

#include <stdint.h>

#include "convert/plan.h"
#include "io/input.h"
#include "io/output.h"
#include "io/window.h"

/* An array that is generated while it is read: codes with scales become numbers. read NULL: there
 * is none. */
struct dti_batch_source {
    /* Callback: fills the bytes offset to offset + size - 1 of the array, from any thread. Both
     * are multiples of an element, except that size may be the remainder. window: the thread's,
     * without a current look; scratch: the thread's, aligned. */
    enum dti_status (*read)(void *context, void *buffer, size_t size, uint64_t offset,
                            struct dti_window *window, void *scratch, struct dti_error *reterr);
    void *context;
    size_t scratch_bytes;
};

struct dti_batch_part {
    const struct dti_plan *plan; /* NULL: bytes are copied; an element is a byte */
    const struct dti_input *input;
    uint64_t input_offset;
    uint64_t elements;
    struct dti_output_file *output; /* NULL: discard the result; only its loss is needed */
    uint64_t output_offset; /* for an output that is not seekable: the end of the previous part */
    struct dti_loss *loss;  /* NULL: not counted; initialized by the caller, added to */
    /* If there is one, replaces input, which is NULL; input_offset is 0. */
    struct dti_batch_source source;
};

struct dti_batch_options {
    uint64_t max_memory; /* bytes for the buffers of all threads; 0: the default (16 MiB). At least
                            one tile is allocated, with fewer threads if necessary. Scratch memory
                            of sources is extra */
    void (*progress)(void *context, uint64_t done); /* bytes of input; may be NULL */
    void *progress_context;
    /* NULL, or a callback that adds the part to an element's error; called by any thread. */
    void (*place)(void *context, size_t part, struct dti_error *reterr);
    void *place_context;
};

/* Casts all parts; team and options may be NULL. Bytes and losses do not depend on the team or
 * the memory. Parts of a seekable output may come in any order; small ones are faster if
 * contiguous in the output, and then in the input. Fails as dti_transfer_run() does, with the first
 * error in the order of the parts; then discard the outputs and ignore the losses. */
enum dti_status dti_batch_run(const struct dti_batch_part *parts, size_t count,
                              struct dti_team *team, const struct dti_batch_options *options,
                              struct dti_error *reterr);

#endif

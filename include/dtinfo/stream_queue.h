/* SPDX-License-Identifier: MIT
 *
 * A stream of unknown length cut into blocks for a team of threads: blocks are read one after
 * another, worked on at the same time, and finished one after another in the order in which they
 * were read. */
#ifndef DTINFO_STREAM_QUEUE_H
#define DTINFO_STREAM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "dtinfo/error.h"
#include "dtinfo/parallel.h"

/* Does its part for the block of a member, which identifies the thread and its memory. */
typedef enum dti_status dti_stream_fn(void *context, size_t member, struct dti_error *reterr);

struct dti_stream_queue {
    size_t members; /* of the team that take part: 0 to members - 1; 0 for all */
    /* Reads the next block into the member's memory, in one thread at a time; *ret_any is false
     * when there is none. */
    enum dti_status (*take)(void *context, size_t member, bool *ret_any, struct dti_error *reterr);
    dti_stream_fn *work;   /* in several threads */
    dti_stream_fn *finish; /* in the order of take(), in one thread at a time */
    void *context;
};

/* Until take() finds no more blocks; team may be NULL. Of several errors the one of the first block
 * is returned, whichever thread was faster; what comes before it has been done. */
enum dti_status dti_stream_queue_run(const struct dti_stream_queue *queue, struct dti_team *team,
                                     struct dti_error *reterr);

#endif

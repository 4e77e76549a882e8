/* SPDX-License-Identifier: MIT
 *
 * Much work cut into blocks for a team of threads: many arrays, each of many tiles, one queue; or a
 * stream of unknown length. */
#ifndef CONVERT_BLOCK_QUEUE_H
#define CONVERT_BLOCK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtinfo/error.h"
#include "util/run/parallel.h"

/* One array: its elements, and how many of them make a block (more than 0; for kernels a multiple
 * of DTI_TILE; the last one may be shorter). Without elements there is no block. The queue only
 * counts: to see progress in bytes, let a byte be an element. */
struct dti_queue_part {
    uint64_t elements, block;
};

/* Does the elements first to first + n - 1 of a part; of a stream the block in the memory of the
 * member, which identifies the thread. */
typedef enum dti_status dti_queue_fn(void *context, size_t member, size_t part, uint64_t first,
                                     size_t n, struct dti_error *reterr);

struct dti_queue {
    const struct dti_queue_part *parts;
    size_t count;
    /* Instead of parts, for a stream: reads the next block into the member's memory, in one thread
     * at a time; *ret_any is false when there is none. */
    enum dti_status (*take)(void *context, size_t member, bool *ret_any, struct dti_error *reterr);
    size_t members;       /* of the team that take part: 0 to members - 1; 0 for all */
    dti_queue_fn *work;   /* in several threads, begun in order */
    dti_queue_fn *finish; /* NULL, or called after work() by the same thread, for one block after
                           * another in the order of the parts: writing to a pipe */
    void *context;
    /* NULL, or called between blocks, by one thread at a time, with elements done so far of all
     * parts, which only grow; at the end with all of them. */
    void (*progress)(void *context, uint64_t done);
    void *progress_context;
};

/* Runs all blocks; team may be NULL. Of several errors the one that comes first in order is
 * returned, whichever thread was faster; what comes before it has been done. */
enum dti_status dti_queue_run(const struct dti_queue *queue, struct dti_team *team,
                              struct dti_error *reterr);

#endif

/* SPDX-License-Identifier: MIT
 *
 * A work queue for a team of threads: many arrays, each cut into blocks of tiles, or a stream of
 * unknown length. */
#ifndef CONVERT_BLOCK_QUEUE_H
#define CONVERT_BLOCK_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"
#include "util/run/parallel.h"

/* One array: its elements, and the elements per block (more than 0; for kernels a multiple of
 * DTI_TILE; the last block may be shorter). No elements, no blocks. The queue only counts: for
 * progress in bytes, let an element be a byte. */
struct dti_queue_part {
    uint64_t elements, block;
};

/* Callback: processes the elements first to first + n - 1 of a part; for a stream, the block in
 * the member's memory. `member` identifies the thread. */
typedef enum dti_status dti_queue_fn(void *context, size_t member, size_t part, uint64_t first,
                                     size_t n, struct dti_error *reterr);

struct dti_queue {
    const struct dti_queue_part *parts;
    size_t count;
    /* For a stream, instead of parts: reads the next block into the member's memory, in one
     * thread at a time; *ret_any is false at the end. */
    enum dti_status (*take)(void *context, size_t member, bool *ret_any, struct dti_error *reterr);
    size_t members;       /* team members that take part: 0 to members - 1; 0 for all */
    dti_queue_fn *work;   /* runs in several threads; blocks start in order */
    dti_queue_fn *finish; /* NULL, or called after work() by the same thread, one block at a time in
                             the order of the parts: writes to a pipe */
    void *context;
    /* NULL, or called between blocks, by one thread at a time, with the elements done so far in
     * all parts, which only increase; at the end with all. */
    void (*progress)(void *context, uint64_t done);
    void *progress_context;
};

/* Runs all blocks; team may be NULL. Returns the first error in block order, whichever thread
 * was faster; all blocks before it are done. */
enum dti_status dti_queue_run(const struct dti_queue *queue, struct dti_team *team,
                              struct dti_error *reterr);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What the two halves of a batch share: batch.c prepares a job, batch_blocks.c does it. */
#ifndef DTINFO_CONVERT_BATCH_JOB_H
#define DTINFO_CONVERT_BATCH_JOB_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtinfo/batch.h"
#include "dtinfo/block_queue.h"
#include "dtinfo/window.h"

enum { DTI_BATCH_LINE = 64 };

/* One thread's own things. */
struct dti_batch_member {
    unsigned char *memory, *scratch;
    struct dti_window window;
    bool heeds_sigpipe;
    struct dti_loss loss;
};

/* The queue's parts are groups: one part of the batch in blocks, or several small ones that follow
 * each other in input and output, as one block. Both are counted in bytes of input. */
struct dti_batch_job {
    const struct dti_batch_part *parts;
    const struct dti_batch_options *options;
    size_t count;
    size_t group_count;
    struct dti_queue_part *groups;
    size_t *firsts; /* of each group its first part, and count at the end */
    size_t member_count, member_bytes, scratch_bytes; /* the last within member_bytes, at its end */
    struct dti_batch_member *members;
    bool any_pipe;             /* among the outputs */
    struct dti_runner *runner; /* of the first plan that has one, or NULL */
    pthread_mutex_t merging;   /* held while a loss is added to a part's */
};

/* Bits of an element in input and output. */
struct dti_batch_widths {
    unsigned src, dst;
};
struct dti_batch_widths dti_batch_widths(const struct dti_batch_part *part);

/* The same in bytes, for n elements; after the part was checked. */
struct dti_batch_sizes {
    uint64_t src, dst;
};
struct dti_batch_sizes dti_batch_sizes(const struct dti_batch_part *part, uint64_t n);

/* Bytes that a member needs for a block of these sizes. */
static inline uint64_t dti_batch_member_bytes(uint64_t src, uint64_t dst)
{
    return src + dst + 3 * DTI_BATCH_LINE;
}

/* Whether its result is written as it comes. */
static inline bool dti_batch_is_piped(const struct dti_batch_part *part)
{
    return part->output && !dti_output_seekable(part->output);
}

/* For the queue. */
enum dti_status dti_batch_block(void *context, size_t member, size_t group, uint64_t first,
                                size_t size, struct dti_error *reterr);
enum dti_status dti_batch_put(void *context, size_t member, size_t group, uint64_t first,
                              size_t size, struct dti_error *reterr);

#endif

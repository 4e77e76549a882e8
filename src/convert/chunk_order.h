/* SPDX-License-Identifier: MIT
 *
 * Shared state of threads that process numbered blocks: whose turn it is to write to a pipe,
 * which error comes first, how much is done. A thread finishes a block it has begun, whatever
 * happens to later ones, so everything before the first error is done, and the error does not
 * depend on timing. */
#ifndef CONVERT_CHUNK_ORDER_H
#define CONVERT_CHUNK_ORDER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

struct dti_chunk_order {
    pthread_mutex_t lock;   /* guards the members below */
    pthread_cond_t changed; /* next or failed has changed */
    uint64_t next;          /* the block whose turn it is to write */
    uint64_t done;          /* elements */
    uint64_t failed;        /* the lowest block that failed, or UINT64_MAX */
    enum dti_status status;
    struct dti_error error;
    atomic_bool stop; /* a block has failed: start no more */

    pthread_mutex_t reporting; /* held while progress() runs */
    uint64_t reported;
    void (*progress)(void *context, uint64_t done); /* may be NULL */
    void *progress_context;
};

void dti_chunk_order_init(struct dti_chunk_order *ret,
                          void (*progress)(void *context, uint64_t done), void *progress_context);
/* After all threads have ended: the first error, or DTI_OK. */
enum dti_status dti_chunk_order_end(struct dti_chunk_order *order, struct dti_error *reterr);

bool dti_chunk_order_stopped(const struct dti_chunk_order *order);
/* Call before a block is taken, without a lock: if the call is cancelled, all fails after the
 * blocks that were taken. */
void dti_chunk_order_look(struct dti_chunk_order *order);
/* Locks a mutex that another member may hold for long, because it reads from a pipe. */
void dti_chunk_order_lock(struct dti_chunk_order *order, pthread_mutex_t *mutex);
void dti_chunk_order_fail(struct dti_chunk_order *order, uint64_t number, enum dti_status status,
                          const struct dti_error *error);

/* Waits until all blocks before this one have passed on the turn. Returns false if this block or
 * an earlier one failed. */
bool dti_chunk_order_await(struct dti_chunk_order *order, uint64_t number);

/* Marks a block of n elements as done. in_order: it had the turn, which passes to the next
 * block. */
void dti_chunk_order_done(struct dti_chunk_order *order, uint64_t number, uint64_t n,
                          bool in_order);

/* Unblocks SIGPIPE, which team members block like all signals. A closed pipe signals the thread
 * that writes, and must be able to end the process from any thread; unless the process belongs to a
 * caller, whose signals stay as they are. */
void dti_chunk_order_heed_sigpipe(void);

#endif

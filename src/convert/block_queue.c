/* SPDX-License-Identifier: MIT
 *
 * A queue of blocks of many arrays or of a stream; serializes writers, keeps the first error,
 * reports progress. */
#include "convert/block_queue.h"

#include <errno.h>
#include <signal.h>

#include "convert/chunk_order.h"
#include "util/run/caller.h"
#include "util/run/clock.h"

void dti_chunk_order_init(struct dti_chunk_order *ret,
                          void (*progress)(void *context, uint64_t done), void *progress_context)
{
    ret->next = ret->done = ret->reported = 0;
    ret->failed = UINT64_MAX;
    ret->status = DTI_OK;
    ret->progress = progress;
    ret->progress_context = progress_context;
    atomic_init(&ret->stop, false);
    pthread_mutex_init(&ret->lock, NULL);
    pthread_mutex_init(&ret->reporting, NULL);
    pthread_cond_init(&ret->changed, NULL);
}

enum dti_status dti_chunk_order_end(struct dti_chunk_order *order, struct dti_error *reterr)
{
    pthread_cond_destroy(&order->changed);
    pthread_mutex_destroy(&order->reporting);
    pthread_mutex_destroy(&order->lock);
    if (order->failed != UINT64_MAX) {
        if (reterr)
            *reterr = order->error;
        return order->status;
    }
    if (order->progress && order->done > order->reported)
        order->progress(order->progress_context, order->done);
    return DTI_OK;
}

bool dti_chunk_order_stopped(const struct dti_chunk_order *order)
{
    return atomic_load(&order->stop);
}

void dti_chunk_order_fail(struct dti_chunk_order *order, uint64_t number, enum dti_status status,
                          const struct dti_error *error)
{
    pthread_mutex_lock(&order->lock);
    if (number < order->failed) {
        order->failed = number;
        order->status = status;
        order->error = *error;
    }
    atomic_store(&order->stop, true);
    pthread_cond_broadcast(&order->changed);
    pthread_mutex_unlock(&order->lock);
}

void dti_chunk_order_look(struct dti_chunk_order *order)
{
    struct dti_error error;
    if (dti_interrupted())
        dti_chunk_order_fail(order, UINT64_MAX - 1, dti_cancelled(&error), &error);
}

void dti_chunk_order_lock(struct dti_chunk_order *order, pthread_mutex_t *mutex)
{
    const bool polls = dti_call_polls();
    bool locked = false;
    while (polls && !locked) {
        const struct timespec until = dti_clock_soon(DTI_POLL_MS);
        locked = pthread_mutex_timedlock(mutex, &until) == 0;
        if (!locked)
            dti_chunk_order_look(order);
    }
    if (!polls)
        pthread_mutex_lock(mutex);
}

bool dti_chunk_order_await(struct dti_chunk_order *order, uint64_t number)
{
    const bool polls = dti_call_polls();
    pthread_mutex_lock(&order->lock);
    while (order->next != number && order->failed > number) {
        const struct timespec until = polls ? dti_clock_soon(DTI_POLL_MS) : (struct timespec){0};
        if (!polls)
            pthread_cond_wait(&order->changed, &order->lock);
        else if (pthread_cond_timedwait(&order->changed, &order->lock, &until) == ETIMEDOUT) {
            pthread_mutex_unlock(&order->lock);
            dti_chunk_order_look(order);
            pthread_mutex_lock(&order->lock);
        }
    }
    const bool mine = order->failed > number;
    pthread_mutex_unlock(&order->lock);
    return mine;
}

/* Reports progress. If another thread is reporting, leaves it to the next block or the end. */
static void report(struct dti_chunk_order *order)
{
    if (pthread_mutex_trylock(&order->reporting) != 0)
        return;
    pthread_mutex_lock(&order->lock);
    const uint64_t done = order->done;
    pthread_mutex_unlock(&order->lock);
    if (done > order->reported)
        order->progress(order->progress_context, done);
    order->reported = done;
    pthread_mutex_unlock(&order->reporting);
}

void dti_chunk_order_done(struct dti_chunk_order *order, uint64_t number, uint64_t n, bool in_order)
{
    pthread_mutex_lock(&order->lock);
    order->done += n;
    if (in_order) {
        order->next = number + 1;
        pthread_cond_broadcast(&order->changed);
    }
    pthread_mutex_unlock(&order->lock);
    if (order->progress)
        report(order);
}

void dti_chunk_order_heed_sigpipe(void)
{
    sigset_t set;
    if (!dti_caller_is_process())
        return;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

struct queue_run {
    const struct dti_queue *queue;
    size_t members; /* members with work to do */
    struct dti_chunk_order order;
    pthread_mutex_t taking; /* guards the next block: */
    uint64_t number;
    size_t part;
    uint64_t first;
    bool at_end; /* end of the stream */
};

struct queue_chunk {
    uint64_t number;
    size_t part;
    uint64_t first;
    size_t n;
};

static bool take_of_parts(struct queue_run *run, struct queue_chunk *ret)
{
    const struct dti_queue_part *const parts = run->queue->parts;
    while (run->part < run->queue->count && run->first >= parts[run->part].elements) {
        run->part++;
        run->first = 0;
    }
    if (run->part == run->queue->count)
        return false;
    const uint64_t left = parts[run->part].elements - run->first, block = parts[run->part].block;
    const uint64_t n = left < block ? left : block;
    *ret = (struct queue_chunk){.part = run->part, .first = run->first, .n = (size_t)n};
    run->first += n;
    return true;
}

static bool take_of_stream(struct queue_run *run, size_t member, struct queue_chunk *ret)
{
    const struct dti_queue *const queue = run->queue;
    struct dti_error error;
    bool any = false;
    const enum dti_status status = queue->take(queue->context, member, &any, &error);
    if (status != DTI_OK)
        dti_chunk_order_fail(&run->order, run->number, status, &error);
    run->at_end = !any || status != DTI_OK;
    *ret = (struct queue_chunk){.first = run->number, .n = 1};
    return !run->at_end;
}

static bool take_chunk(struct queue_run *run, size_t member, struct queue_chunk *ret)
{
    dti_chunk_order_look(&run->order);
    dti_chunk_order_lock(&run->order, &run->taking);
    const bool any =
        !run->at_end && !dti_chunk_order_stopped(&run->order) &&
        (run->queue->take ? take_of_stream(run, member, ret) : take_of_parts(run, ret));
    ret->number = run->number;
    run->number += any;
    pthread_mutex_unlock(&run->taking);
    return any;
}

/* Runs a block. Returns whether the member goes on: not after its own error or one of an earlier
 * block. */
static bool do_block(struct queue_run *run, size_t member, const struct queue_chunk *block)
{
    const struct dti_queue *const queue = run->queue;
    struct dti_error error;
    enum dti_status status =
        queue->work(queue->context, member, block->part, block->first, block->n, &error);
    if (status == DTI_OK && queue->finish) {
        if (!dti_chunk_order_await(&run->order, block->number))
            return false;
        status = queue->finish(queue->context, member, block->part, block->first, block->n, &error);
    }
    if (status != DTI_OK)
        dti_chunk_order_fail(&run->order, block->number, status, &error);
    else
        dti_chunk_order_done(&run->order, block->number, block->n, queue->finish != NULL);
    return status == DTI_OK;
}

/* Callback for dti_team_run(). */
static void run_member(void *context, size_t member, size_t size)
{
    struct queue_run *const run = context;
    struct queue_chunk block;
    (void)size;
    if (run->queue->take && member > 0)
        dti_chunk_order_heed_sigpipe();
    while (member < run->members && take_chunk(run, member, &block) &&
           do_block(run, member, &block))
        continue;
}

/* At most as many members as blocks, if their number is known. */
static size_t count_members(const struct dti_queue *queue, struct dti_team *team)
{
    size_t most = team ? dti_team_size(team) : 1;
    if (queue->members > 0 && queue->members < most)
        most = queue->members;
    if (queue->take)
        return most;
    uint64_t blocks = 0;
    for (size_t i = 0; i < queue->count && blocks < most; i++) {
        const struct dti_queue_part *const part = &queue->parts[i];
        const uint64_t more = part->elements > 0 ? (part->elements - 1) / part->block + 1 : 0;
        blocks = more < most ? blocks + more : most;
    }
    return blocks < most ? (size_t)blocks : most;
}

enum dti_status dti_queue_run(const struct dti_queue *queue, struct dti_team *team,
                              struct dti_error *reterr)
{
    struct queue_run run = {.queue = queue, .members = count_members(queue, team)};
    pthread_mutex_init(&run.taking, NULL);
    dti_chunk_order_init(&run.order, queue->progress, queue->progress_context);
    if (run.members > 1)
        dti_team_run(team, run_member, &run);
    else
        run_member(&run, 0, 1);
    pthread_mutex_destroy(&run.taking);
    return dti_chunk_order_end(&run.order, reterr);
}

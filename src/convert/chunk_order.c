/* SPDX-License-Identifier: MIT
 *
 * The order of writers, the first error, progress. */
#include "convert/chunk_order.h"

#include <signal.h>

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

bool dti_chunk_order_await(struct dti_chunk_order *order, uint64_t number)
{
    pthread_mutex_lock(&order->lock);
    while (order->next != number && order->failed > number)
        pthread_cond_wait(&order->changed, &order->lock);
    const bool mine = order->failed > number;
    pthread_mutex_unlock(&order->lock);
    return mine;
}

/* Whoever finds another thread reporting leaves it to the next block, or to the end. */
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
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

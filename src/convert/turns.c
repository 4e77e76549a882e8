/* SPDX-License-Identifier: MIT
 *
 * Turns, the first error, progress. */
#include "convert/turns.h"

#include <signal.h>

void dti_turns_init(struct dti_turns *ret, void (*progress)(void *context, uint64_t done),
                    void *progress_context)
{
    ret->next = ret->done = ret->reported = 0;
    ret->failed = UINT64_MAX;
    ret->status = DTI_OK;
    ret->progress = progress;
    ret->progress_context = progress_context;
    atomic_init(&ret->stop, false);
    pthread_mutex_init(&ret->lock, NULL);
    pthread_mutex_init(&ret->reporting, NULL);
    pthread_cond_init(&ret->turn, NULL);
}

enum dti_status dti_turns_end(struct dti_turns *turns, struct dti_error *reterr)
{
    pthread_cond_destroy(&turns->turn);
    pthread_mutex_destroy(&turns->reporting);
    pthread_mutex_destroy(&turns->lock);
    if (turns->failed != UINT64_MAX) {
        if (reterr)
            *reterr = turns->error;
        return turns->status;
    }
    if (turns->progress && turns->done > turns->reported)
        turns->progress(turns->progress_context, turns->done);
    return DTI_OK;
}

bool dti_turns_stopped(const struct dti_turns *turns)
{
    return atomic_load(&turns->stop);
}

void dti_turns_fail(struct dti_turns *turns, uint64_t number, enum dti_status status,
                    const struct dti_error *error)
{
    pthread_mutex_lock(&turns->lock);
    if (number < turns->failed) {
        turns->failed = number;
        turns->status = status;
        turns->error = *error;
    }
    atomic_store(&turns->stop, true);
    pthread_cond_broadcast(&turns->turn);
    pthread_mutex_unlock(&turns->lock);
}

bool dti_turns_await(struct dti_turns *turns, uint64_t number)
{
    pthread_mutex_lock(&turns->lock);
    while (turns->next != number && turns->failed > number)
        pthread_cond_wait(&turns->turn, &turns->lock);
    const bool mine = turns->failed > number;
    pthread_mutex_unlock(&turns->lock);
    return mine;
}

/* Whoever finds another thread reporting leaves it to the next block, or to the end. */
static void report(struct dti_turns *turns)
{
    if (pthread_mutex_trylock(&turns->reporting) != 0)
        return;
    pthread_mutex_lock(&turns->lock);
    const uint64_t done = turns->done;
    pthread_mutex_unlock(&turns->lock);
    if (done > turns->reported)
        turns->progress(turns->progress_context, done);
    turns->reported = done;
    pthread_mutex_unlock(&turns->reporting);
}

void dti_turns_done(struct dti_turns *turns, uint64_t number, uint64_t n, bool in_order)
{
    pthread_mutex_lock(&turns->lock);
    turns->done += n;
    if (in_order) {
        turns->next = number + 1;
        pthread_cond_broadcast(&turns->turn);
    }
    pthread_mutex_unlock(&turns->lock);
    if (turns->progress)
        report(turns);
}

void dti_turns_heed_sigpipe(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

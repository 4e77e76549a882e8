/* SPDX-License-Identifier: MIT
 *
 * A lock that names the process of its holder. */
#include "util/run/once.h"

#include <time.h>
#include <unistd.h>

void dti_process_lock(atomic_int *holder)
{
    const int own = (int)getpid();
    int seen = 0;
    while (!atomic_compare_exchange_strong(holder, &seen, own)) {
        if (seen == own) {
            const struct timespec pause = {.tv_nsec = 100000};
            (void)nanosleep(&pause, NULL);
            seen = 0;
        } /* else the holder was a thread of the parent: take it over */
    }
}

void dti_process_unlock(atomic_int *holder)
{
    atomic_store(holder, 0);
}

bool dti_once_begin(struct dti_once *once)
{
    if (atomic_load(&once->done))
        return false;
    dti_process_lock(&once->holder);
    if (!atomic_load(&once->done))
        return true;
    dti_process_unlock(&once->holder);
    return false;
}

void dti_once_end(struct dti_once *once, bool done)
{
    atomic_store(&once->done, done);
    dti_process_unlock(&once->holder);
}

/* SPDX-License-Identifier: MIT
 *
 * Facts about the process that are found at the first use: a loaded library, a table. Until that
 * has succeeded, each use tries again; others wait meanwhile.
 *
 *     static struct dti_once once;
 *     if (dti_once_begin(&once))
 *         dti_once_end(&once, find());
 *
 * Unlike a mutex it survives fork() in the child: the holder was a thread of another process, so
 * the lock is taken over, and the work begins again. */
#ifndef UTIL_RUN_ONCE_H
#define UTIL_RUN_ONCE_H

#include <stdatomic.h>
#include <stdbool.h>

struct dti_once {
    atomic_int holder; /* the process that is at it, or 0 */
    atomic_bool done;
};

/* False if it is done. Otherwise the caller has to do it now, and to call dti_once_end(). */
bool dti_once_begin(struct dti_once *once);
void dti_once_end(struct dti_once *once, bool done);

/* The lock alone, for a few instructions or a rare measurement. */
void dti_process_lock(atomic_int *holder);
void dti_process_unlock(atomic_int *holder);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Remembers the memory that a computation allocates, so that it can be freed when the computation
 * is left by longjmp(): GMP and MPFR have no other way to say that memory ran out. */
#ifndef UTIL_RUN_TRACK_H
#define UTIL_RUN_TRACK_H

#include <pthread.h>

#include "util/run/caller.h"

struct dti_track {
    struct dti_call call;
    pthread_mutex_t lock;
    void **blocks; /* a table by address; NULL: a free place */
    size_t count, room;
};

/* Begins in the current call, and not for the process. What layers keep for the caller (states in
 * caller.h) is not the computation's. */
void dti_track_begin(struct dti_track *ret);
/* Ends it in the same thread. drop: frees all that was allocated since and is not freed. */
void dti_track_end(struct dti_track *track, bool drop);

#endif

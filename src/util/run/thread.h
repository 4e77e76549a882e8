/* SPDX-License-Identifier: MIT
 *
 * Starts threads that do not handle signals. */
#ifndef UTIL_RUN_THREAD_H
#define UTIL_RUN_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* Runs main(context) on a stack of the given size. Signals go to the existing threads; only
 * faults are delivered to the thread that caused them. Returns 0 or an errno value. */
int dti_thread_start(pthread_t *ret, size_t stack_bytes, void *(*main)(void *context),
                     void *context);

/* Blocks SIGPIPE for this thread: a write to a pipe or connection that its reader has closed must
 * not end the program, nor change how other threads handle SIGPIPE. It then fails with EPIPE. */
struct dti_pipe_guard {
    sigset_t before;
    bool was_pending;
};
void dti_pipe_guard_begin(struct dti_pipe_guard *ret);
void dti_pipe_guard_end(const struct dti_pipe_guard *guard); /* keeps errno */

#endif

/* SPDX-License-Identifier: MIT
 *
 * The one place that starts threads. */
#include "util/run/thread.h"

#include <errno.h>
#include <time.h>

int dti_thread_start(pthread_t *ret, size_t stack_bytes, void *(*main)(void *context),
                     void *context)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    sigset_t blocked, before;
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error)
        return error;
    (void)pthread_attr_setstacksize(&attributes, stack_bytes);
    sigfillset(&blocked);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    error = pthread_create(ret, &attributes, main, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

void dti_pipe_guard_begin(struct dti_pipe_guard *ret)
{
    sigset_t pipe, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    sigemptyset(&pending);
    (void)sigpending(&pending);
    ret->was_pending = sigismember(&pending, SIGPIPE) == 1;
    (void)pthread_sigmask(SIG_BLOCK, &pipe, &ret->before);
}

void dti_pipe_guard_end(const struct dti_pipe_guard *guard)
{
    const struct timespec now = {.tv_sec = 0};
    const int error = errno;
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    if (!guard->was_pending)
        (void)sigtimedwait(&pipe, NULL, &now);
    (void)pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
    errno = error;
}

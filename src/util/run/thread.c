/* SPDX-License-Identifier: MIT
 *
 * The one place that starts threads. */
#include "util/run/thread.h"

#include <signal.h>

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

/* SPDX-License-Identifier: MIT
 *
 * Starts threads that do not handle signals. */
#ifndef UTIL_RUN_THREAD_H
#define UTIL_RUN_THREAD_H

#include <pthread.h>
#include <stddef.h>

/* Runs main(context) on a stack of the given size. Signals go to the existing threads; only
 * faults are delivered to the thread that caused them. Returns 0 or an errno value. */
int dti_thread_start(pthread_t *ret, size_t stack_bytes, void *(*main)(void *context),
                     void *context);

#endif

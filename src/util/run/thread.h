/* SPDX-License-Identifier: MIT
 *
 * Starting a thread that leaves signals alone. */
#ifndef UTIL_RUN_THREAD_H
#define UTIL_RUN_THREAD_H

#include <pthread.h>
#include <stddef.h>

/* Runs main(context) on a stack of that size. Signals go to the threads that were there before;
 * only faults stay with the thread that made them. Returns 0 or an errno value. */
int dti_thread_start(pthread_t *ret, size_t stack_bytes, void *(*main)(void *context),
                     void *context);

#endif

/* SPDX-License-Identifier: MIT
 *
 * POSIX threads where there is one thread: a lock is always free, and no thread starts. The C
 * library for WebAssembly has no <pthread.h>, nor a type of signal sets. */
#ifndef TOOLS_SITE_WASM_PTHREAD_H
#define TOOLS_SITE_WASM_PTHREAD_H

#include <errno.h>
#include <stddef.h>
#include <time.h>

typedef unsigned long sigset_t;
typedef int pthread_t, pthread_mutex_t, pthread_mutexattr_t, pthread_cond_t, pthread_condattr_t;

#define PTHREAD_MUTEX_INITIALIZER 0
#define PTHREAD_COND_INITIALIZER  0

static inline pthread_t pthread_self(void)
{
    return 0;
}

static inline int pthread_mutex_init(pthread_mutex_t *ret, const pthread_mutexattr_t *attributes)
{
    (void)attributes;
    *ret = 0;
    return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

static inline int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    (void)mutex;
    return 0;
}

static inline int pthread_cond_init(pthread_cond_t *ret, const pthread_condattr_t *attributes)
{
    (void)attributes;
    *ret = 0;
    return 0;
}

static inline int pthread_cond_destroy(pthread_cond_t *condition)
{
    (void)condition;
    return 0;
}

static inline int pthread_cond_signal(pthread_cond_t *condition)
{
    (void)condition;
    return 0;
}

static inline int pthread_cond_broadcast(pthread_cond_t *condition)
{
    (void)condition;
    return 0;
}

/* Nobody else could change what is waited for. */
static inline int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    (void)condition;
    (void)mutex;
    __builtin_trap();
}

static inline int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                         const struct timespec *until)
{
    (void)condition;
    (void)mutex;
    (void)until;
    return ETIMEDOUT;
}

#endif

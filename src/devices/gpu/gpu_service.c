/* SPDX-License-Identifier: MIT
 *
 * The thread that calls the driver. A call is queued; the caller first spins briefly, because
 * most calls take a few microseconds, then sleeps. Requests belong to the service: the job may
 * still write to one after its caller has given up. */
#include "devices/gpu/gpu_service.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "devices/gpu/gpu.h"
#include "util/errno_text.h"
#include "util/run/allocate.h"
#include "util/run/clock.h"
#include "util/run/thread.h"

enum {
    WATCH_NANOSECONDS = 30000, /* spin time before sleeping, on both sides */
    LOOKS = 64,                /* polls between two clock readings */
    STACK_BYTES = 8 << 20,     /* the driver's compiler runs on it */
    SLICES = 16,               /* slices of a job's time limit */
};

struct request {
    struct request *next;
    void (*job)(void *args);
    atomic_bool done;
    _Alignas(max_align_t) unsigned char args[DTI_SERVICE_ARGS_MAX];
};

struct dti_gpu_service {
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t work, done;
    struct request *first, *last; /* the queue */
    struct request *spare;
    atomic_uint queued;
    atomic_uint sleepers;    /* number of sleeping callers */
    _Atomic(uint64_t) since; /* start of the current job; 0: idle */
    uint64_t limit;          /* nanoseconds */
    bool resting;            /* the thread is sleeping */
    bool quit, hangs;
    struct dti_gpu_service *next; /* list of hanging services */
};

static atomic_bool something_hangs;
/* Kept reachable, because their threads may resume. */
static _Atomic(struct dti_gpu_service *) hanging;

bool dti_gpu_hangs(void)
{
    return atomic_load(&something_hangs);
}

void dti_gpu_set_hanging(void)
{
    atomic_store(&something_hangs, true);
}

static void relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

static struct timespec moment(uint64_t nanoseconds)
{
    const struct timespec time = {.tv_sec = (time_t)(nanoseconds / 1000000000U),
                                  .tv_nsec = (long)(nanoseconds % 1000000000U)};
    return time;
}

/* Service thread */

static void watch_queue(struct dti_gpu_service *service)
{
    const uint64_t start = dti_clock_now();
    do {
        for (int i = 0; i < LOOKS; i++) {
            if (atomic_load_explicit(&service->queued, memory_order_relaxed) > 0)
                return;
            relax();
        }
        (void)sched_yield(); /* callers may need this CPU */
    } while (dti_clock_now() - start < WATCH_NANOSECONDS);
}

/* Takes the next request; NULL if the thread must end. */
static struct request *take_request(struct dti_gpu_service *service)
{
    watch_queue(service);
    pthread_mutex_lock(&service->mutex);
    while (!service->first && !service->quit && !service->hangs) {
        service->resting = true;
        pthread_cond_wait(&service->work, &service->mutex);
        service->resting = false;
    }
    struct request *const request = service->hangs ? NULL : service->first;
    if (request) {
        service->first = request->next;
        if (!service->first)
            service->last = NULL;
        atomic_fetch_sub(&service->queued, 1);
        atomic_store(&service->since, dti_clock_now());
    }
    pthread_mutex_unlock(&service->mutex);
    return request;
}

static void *service_main(void *argument)
{
    struct dti_gpu_service *const service = argument;
    struct request *request;
    while ((request = take_request(service))) {
        request->job(request->args);
        atomic_store(&service->since, 0);
        /* last access to the request, unless its caller has stopped waiting */
        atomic_store(&request->done, true);
        if (atomic_load(&service->sleepers) > 0) {
            pthread_mutex_lock(&service->mutex);
            pthread_cond_broadcast(&service->done);
            pthread_mutex_unlock(&service->mutex);
        }
    }
    return NULL;
}

/* Callers */

static struct request *put(struct dti_gpu_service *service, void (*job)(void *args),
                           const void *args, size_t size, enum dti_service_answer *ret_why_not)
{
    struct request *request = NULL;
    pthread_mutex_lock(&service->mutex);
    *ret_why_not = service->hangs ? DTI_SERVICE_HANGS : DTI_SERVICE_NO_MEMORY;
    if (!service->hangs) {
        request = service->spare;
        if (request)
            service->spare = request->next;
        else
            request = dti_process_malloc(sizeof *request);
    }
    if (request) {
        request->next = NULL;
        request->job = job;
        atomic_init(&request->done, false);
        memcpy(request->args, args, size);
        if (service->last)
            service->last->next = request;
        else
            service->first = request;
        service->last = request;
        atomic_fetch_add(&service->queued, 1);
        if (service->resting)
            pthread_cond_signal(&service->work);
    }
    pthread_mutex_unlock(&service->mutex);
    return request;
}

static bool watch_request(struct request *request)
{
    const uint64_t start = dti_clock_now();
    do {
        for (int i = 0; i < LOOKS; i++) {
            if (atomic_load_explicit(&request->done, memory_order_acquire))
                return true;
            relax();
        }
        (void)sched_yield(); /* the service thread may need this CPU */
    } while (dti_clock_now() - start < WATCH_NANOSECONDS);
    return false;
}

/* Sleeps until the request is done or the current job exceeds its time limit; the mutex is held.
 * Time is counted in slices: hours during which the process was stopped count as one slice. */
static bool sleep_until_done(struct dti_gpu_service *service, struct request *request)
{
    uint64_t seen = 0; /* start time of the job that `slices` refers to */
    unsigned slices = 0;
    atomic_fetch_add(&service->sleepers, 1);
    while (!atomic_load(&request->done) && !service->hangs) {
        const uint64_t since = atomic_load(&service->since);
        if (since != seen) {
            seen = since;
            slices = 0;
        } else if (since != 0 && slices >= SLICES) {
            service->hangs = true;
            dti_gpu_set_hanging();
            pthread_cond_broadcast(&service->done);
            break;
        }
        const struct timespec until = moment(dti_clock_now() + service->limit / SLICES + 1);
        slices +=
            pthread_cond_timedwait(&service->done, &service->mutex, &until) == ETIMEDOUT ? 1 : 0;
    }
    atomic_fetch_sub(&service->sleepers, 1);
    return atomic_load(&request->done);
}

enum dti_service_answer dti_gpu_service_call(struct dti_gpu_service *service,
                                             void (*job)(void *args), void *args, size_t size)
{
    enum dti_service_answer why_not;
    assert(size <= DTI_SERVICE_ARGS_MAX);
    struct request *const request = put(service, job, args, size, &why_not);
    if (!request)
        return why_not;
    bool done = watch_request(request);
    pthread_mutex_lock(&service->mutex);
    if (!done)
        done = sleep_until_done(service, request);
    if (done) {
        memcpy(args, request->args, size);
        request->next = service->spare;
        service->spare = request;
    }
    pthread_mutex_unlock(&service->mutex);
    return done ? DTI_SERVICE_DONE : DTI_SERVICE_HANGS;
}

static void discard(struct dti_gpu_service *service)
{
    while (service->spare) {
        struct request *const next = service->spare->next;
        dti_process_free(service->spare);
        service->spare = next;
    }
    pthread_cond_destroy(&service->work);
    pthread_cond_destroy(&service->done);
    pthread_mutex_destroy(&service->mutex);
    dti_process_free(service);
}

enum dti_status dti_gpu_service_new(struct dti_gpu_service **ret, double seconds,
                                    struct dti_error *reterr)
{
    struct dti_gpu_service *const service = dti_process_calloc(1, sizeof *service);
    if (!service)
        return dti_no_memory(reterr);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&service->mutex, NULL);
    pthread_cond_init(&service->work, &monotonic);
    pthread_cond_init(&service->done, &monotonic);
    pthread_condattr_destroy(&monotonic);
    service->limit = (uint64_t)(seconds * 1e9);
    const int error = dti_thread_start(&service->thread, STACK_BYTES, service_main, service);
    if (error) {
        discard(service);
        return dti_fail(reterr, DTI_UNAVAILABLE,
                        "no thread could be started for the CUDA driver: "
                        "%s",
                        dti_errno_text(error));
    }
    *ret = service;
    return DTI_OK;
}

void dti_gpu_service_free(struct dti_gpu_service *service)
{
    if (!service)
        return;
    pthread_mutex_lock(&service->mutex);
    const bool hangs = service->hangs;
    service->quit = true;
    pthread_cond_signal(&service->work);
    pthread_mutex_unlock(&service->mutex);
    if (hangs) {
        pthread_detach(service->thread);
        service->next = atomic_load(&hanging);
        while (!atomic_compare_exchange_weak(&hanging, &service->next, service))
            continue;
        return;
    }
    pthread_join(service->thread, NULL);
    discard(service);
}

/* SPDX-License-Identifier: MIT
 *
 * A thread team, of its own threads or of the caller's. A generation number dispatches work: a
 * member that sees a new one runs the job once and reports back. Sleeping members wait for it under
 * a mutex, spinning ones poll it; both use the same generation number and job. */
#define _GNU_SOURCE /* thread affinity: Linux only, and optional */
#include "util/run/parallel.h"
#include "util/errno_text.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/run/allocate.h"
#include "util/run/caller.h"
#include "util/run/clock.h"
#include "util/run/thread.h"

enum {
    STACK_BYTES = 1 << 20, /* per member: tiles live on the stack, little else does */
    SPINS = 4096,          /* polls of the generation before yielding the CPU */
};

typedef void team_job(void *context, size_t member, size_t size);

struct team_member {
    struct dti_team *team;
    size_t index;
    pthread_t thread;
};

struct dti_team {
    size_t size;    /* members, including the caller */
    size_t started; /* threads to join */
    enum dti_waiting waiting;
    pthread_mutex_t mutex;
    pthread_cond_t begin, end;
    atomic_uint generation; /* of the current `job`; 0 before the first */
    atomic_uint finished;   /* members that finished it, excluding the caller */
    atomic_bool quit;
    team_job *job;
    void *context;
    struct dti_call *call;  /* that the job belongs to */
    dti_run_tasks_fn *pool; /* NULL: the team has its own threads */
    void *pool_context;
    struct cpu_list *cpus; /* NULL: not pinned */
    struct team_member member[];
};

/* The CPUs this process may use. */
struct cpu_list {
    size_t count;
#if defined __linux__
    size_t bytes;
    cpu_set_t *set;
#endif
};

#if defined __linux__
static void list_free(struct cpu_list *list)
{
    if (list)
        CPU_FREE(list->set);
    dti_free(list);
}

/* The kernel rejects a CPU set smaller than its own, so try growing sizes. */
static struct cpu_list *list_new(void)
{
    struct cpu_list *const list = dti_calloc(1, sizeof *list);
    if (!list)
        return NULL;
    for (size_t cpus = CPU_SETSIZE; cpus <= CPU_SETSIZE * 1024; cpus *= 2) {
        list->bytes = CPU_ALLOC_SIZE(cpus);
        list->set = CPU_ALLOC(cpus);
        if (list->set && sched_getaffinity(0, list->bytes, list->set) == 0) {
            list->count = (size_t)CPU_COUNT_S(list->bytes, list->set);
            return list;
        }
        const bool larger = list->set && errno == EINVAL;
        CPU_FREE(list->set);
        list->set = NULL;
        if (!larger)
            break;
    }
    dti_free(list);
    return NULL;
}

static void pin(const struct cpu_list *list, pthread_t thread, size_t member)
{
    size_t wanted = list->count > 0 ? member % list->count : 0;
    cpu_set_t *const one = CPU_ALLOC(list->bytes * 8);
    if (!one)
        return;
    CPU_ZERO_S(list->bytes, one);
    for (size_t cpu = 0; cpu < list->bytes * 8; cpu++) {
        if (CPU_ISSET_S(cpu, list->bytes, list->set) && wanted-- == 0) {
            CPU_SET_S(cpu, list->bytes, one);
            (void)pthread_setaffinity_np(thread, list->bytes, one);
            break;
        }
    }
    CPU_FREE(one);
}

static void unpin(const struct cpu_list *list)
{
    (void)pthread_setaffinity_np(pthread_self(), list->bytes, list->set);
}
#else
static void list_free(struct cpu_list *list)
{
    dti_free(list);
}

static struct cpu_list *list_new(void)
{
    return NULL;
}

static void pin(const struct cpu_list *list, pthread_t thread, size_t member)
{
    (void)list, (void)thread, (void)member;
}

static void unpin(const struct cpu_list *list)
{
    (void)list;
}
#endif

size_t dti_cpu_count(void)
{
    struct cpu_list *const list = list_new();
    size_t count = list ? list->count : 0;
    list_free(list);
    if (count == 0) {
#ifdef _SC_NPROCESSORS_ONLN
        const long online = sysconf(_SC_NPROCESSORS_ONLN);
        count = online > 0 ? (size_t)online : 1;
#else
        count = 1;
#endif
    }
    return count;
}

static void relax(unsigned *spins)
{
    if (++*spins % SPINS == 0)
        (void)sched_yield();
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

/* Waits until the generation is no longer `seen`; returns the new one. */
static unsigned wait_begin(struct dti_team *team, unsigned seen)
{
    unsigned now;
    if (team->waiting == DTI_WAIT_SPIN) {
        unsigned spins = 0;
        while ((now = atomic_load_explicit(&team->generation, memory_order_acquire)) == seen)
            relax(&spins);
        return now;
    }
    pthread_mutex_lock(&team->mutex);
    while ((now = atomic_load_explicit(&team->generation, memory_order_relaxed)) == seen)
        pthread_cond_wait(&team->begin, &team->mutex);
    pthread_mutex_unlock(&team->mutex);
    return now;
}

static void report_end(struct dti_team *team)
{
    if (team->waiting == DTI_WAIT_SPIN) {
        (void)atomic_fetch_add_explicit(&team->finished, 1, memory_order_release);
        return;
    }
    pthread_mutex_lock(&team->mutex);
    const unsigned before = atomic_fetch_add_explicit(&team->finished, 1, memory_order_relaxed);
    if (before + 1 == team->size - 1)
        pthread_cond_signal(&team->end);
    pthread_mutex_unlock(&team->mutex);
}

static void work(void *argument, size_t member)
{
    const struct dti_team *const team = argument;
    struct dti_call call;
    dti_call_join(&call, team->call);
    team->job(team->context, member, team->size);
    dti_call_leave(&call);
}

static void *member_main(void *argument)
{
    struct team_member *const self = argument;
    struct dti_team *const team = self->team;
    unsigned seen = 0;
    for (;;) {
        seen = wait_begin(team, seen);
        if (atomic_load_explicit(&team->quit, memory_order_relaxed))
            return NULL;
        work(team, self->index);
        report_end(team);
    }
}

static void begin(struct dti_team *team)
{
    if (team->waiting == DTI_WAIT_SPIN) {
        (void)atomic_fetch_add_explicit(&team->generation, 1, memory_order_release);
        return;
    }
    pthread_mutex_lock(&team->mutex);
    (void)atomic_fetch_add_explicit(&team->generation, 1, memory_order_relaxed);
    pthread_cond_broadcast(&team->begin);
    pthread_mutex_unlock(&team->mutex);
}

static void wait_end(struct dti_team *team)
{
    const unsigned others = (unsigned)(team->size - 1);
    if (team->waiting == DTI_WAIT_SPIN) {
        unsigned spins = 0;
        while (atomic_load_explicit(&team->finished, memory_order_acquire) != others)
            relax(&spins);
        return;
    }
    const bool polls = dti_call_polls();
    pthread_mutex_lock(&team->mutex);
    while (atomic_load_explicit(&team->finished, memory_order_relaxed) != others) {
        if (!polls) {
            pthread_cond_wait(&team->end, &team->mutex);
            continue;
        }
        const struct timespec until = dti_clock_soon(DTI_POLL_MS);
        if (pthread_cond_timedwait(&team->end, &team->mutex, &until) != ETIMEDOUT)
            continue;
        pthread_mutex_unlock(&team->mutex);
        (void)dti_interrupted(); /* the members see the answer */
        pthread_mutex_lock(&team->mutex);
    }
    pthread_mutex_unlock(&team->mutex);
}

static int start(struct dti_team *team)
{
    int error = 0;
    while (!error && team->started < team->size - 1) {
        struct team_member *const member = &team->member[team->started + 1];
        member->team = team;
        member->index = team->started + 1;
        error = dti_thread_start(&member->thread, STACK_BYTES, member_main, member);
        if (!error) {
            team->started++;
            if (team->cpus)
                pin(team->cpus, member->thread, member->index);
        }
    }
    return error;
}

/* A team of `size` members with room for that many threads. */
static enum dti_status make(struct dti_team **ret_team, size_t size, size_t threads,
                            struct dti_error *reterr)
{
    if (size < 1 || size > DTI_THREADS_MAX)
        return dti_fail(reterr, DTI_BUG, "a team cannot have %zu threads", size);
    struct dti_team *const team = dti_calloc(1, sizeof *team + threads * sizeof team->member[0]);
    if (!team)
        return dti_no_memory(reterr);
    team->size = size;
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->begin, NULL);
    pthread_cond_init(&team->end, NULL);
    atomic_init(&team->generation, 0);
    atomic_init(&team->finished, 0);
    atomic_init(&team->quit, false);
    *ret_team = team;
    return DTI_OK;
}

enum dti_status dti_team_new_with(struct dti_team **ret_team, dti_run_tasks_fn *run, void *context,
                                  size_t width, struct dti_error *reterr)
{
    const enum dti_status status = make(ret_team, width, 0, reterr);
    if (status == DTI_OK) {
        (*ret_team)->pool = run;
        (*ret_team)->pool_context = context;
    }
    return status;
}

enum dti_status dti_team_new(struct dti_team **ret_team, size_t threads, enum dti_waiting waiting,
                             bool pinned, struct dti_error *reterr)
{
    struct dti_team *team;
    const struct dti_caller *const caller = dti_caller_current();
    if (caller->pool)
        return dti_team_new_with(ret_team, caller->pool, caller->pool_context, threads, reterr);
    const enum dti_status status = make(&team, threads, threads, reterr);
    if (status != DTI_OK)
        return status;
    team->waiting = waiting;
    team->cpus = pinned ? list_new() : NULL;
    if (team->cpus)
        pin(team->cpus, pthread_self(), 0);
    const int error = start(team);
    if (error) {
        const size_t had = team->started + 1;
        dti_team_free(team);
        return dti_fail(reterr, DTI_UNAVAILABLE,
                        "only %zu of %zu threads could be started (%s); use fewer", had, threads,
                        dti_errno_text(error));
    }
    *ret_team = team;
    return DTI_OK;
}

void dti_team_free(struct dti_team *team)
{
    if (!team)
        return;
    atomic_store_explicit(&team->quit, true, memory_order_relaxed);
    begin(team);
    for (size_t i = 1; i <= team->started; i++)
        pthread_join(team->member[i].thread, NULL);
    if (team->cpus)
        unpin(team->cpus);
    list_free(team->cpus);
    pthread_cond_destroy(&team->end);
    pthread_cond_destroy(&team->begin);
    pthread_mutex_destroy(&team->mutex);
    dti_free(team);
}

size_t dti_team_size(const struct dti_team *team)
{
    return team->size;
}

void dti_team_run(struct dti_team *team, team_job *job, void *context)
{
    team->call = dti_call_current();
    if (team->pool && team->size > 1) {
        team->job = job;
        team->context = context;
        team->pool(team->pool_context, work, team, team->size);
        return;
    }
    if (team->size > 1) {
        team->job = job;
        team->context = context;
        atomic_store_explicit(&team->finished, 0, memory_order_relaxed);
        begin(team);
    }
    job(context, 0, team->size);
    if (team->size > 1)
        wait_end(team);
}

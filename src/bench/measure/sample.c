/* SPDX-License-Identifier: MIT
 *
 * Taking one sample. Members synchronize before the clock starts, so that wake-up times are not
 * counted; the sample ends when the last one has finished its passes. */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "bench/measure/sample.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dtinfo/clock.h"

/* How often the calling thread was preempted; 0 if the system does not report it. */
static long preemptions_so_far(void)
{
#ifdef RUSAGE_THREAD
    struct rusage usage;
    if (getrusage(RUSAGE_THREAD, &usage) == 0)
        return usage.ru_nivcsw;
#endif
    return 0;
}

/* The eighth number of the first line of /proc/stat: "cpu  user nice system idle iowait irq softirq
 * steal ...". */
static uint64_t steal_of(const char *line)
{
    enum { STEAL = 8 };
    uint64_t value = 0;
    if (strncmp(line, "cpu ", 4) != 0)
        return 0;
    line += 3;
    for (int field = 0; field < STEAL; field++) {
        line += strspn(line, " ");
        value = 0;
        for (; *line >= '0' && *line <= '9'; line++)
            value = value * 10 + (uint64_t)(*line - '0');
        if (*line != ' ')
            return 0;
    }
    return value;
}

/* Time stolen by the hypervisor from all CPUs so far, in clock ticks; 0 if unknown. */
static uint64_t stolen_ticks(void)
{
    char text[256];
    const int file = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return 0;
    const ssize_t length = read(file, text, sizeof text - 1);
    (void)close(file);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    return steal_of(text);
}

enum dti_status dti_sampler_init(struct dti_sampler *ret, struct dti_team *team,
                                 struct dti_error *reterr)
{
    const size_t size = team ? dti_team_size(team) : 1;
    void *const members =
        aligned_alloc(_Alignof(struct dti_member_sample), size * sizeof(struct dti_member_sample));
    if (!members)
        return dti_no_memory(reterr);
    *ret = (struct dti_sampler){.team = team, .size = size, .members = members};
    atomic_init(&ret->arrived, 0);
    return DTI_OK;
}

void dti_sampler_free(struct dti_sampler *sampler)
{
    free(sampler->members);
    sampler->members = NULL;
}

static void run_all(struct dti_sampler *sampler, void (*job)(void *, size_t, size_t))
{
    if (sampler->team)
        dti_team_run(sampler->team, job, sampler);
    else
        job(sampler, 0, 1);
}

/* Spins, but yields now and then: there may be more members than CPUs. */
static void wait_until(const atomic_size_t *counter, size_t value)
{
    enum { SPINS = 20000 };
    for (unsigned spins = 1; atomic_load_explicit(counter, memory_order_acquire) < value; spins++) {
        if (spins % SPINS == 0)
            (void)sched_yield();
    }
}

static void sample_job(void *context, size_t member, size_t size)
{
    struct dti_sampler *const sampler = context;
    const struct dti_bench_candidate *const candidate = sampler->candidate;
    struct dti_member_sample *const mine = &sampler->members[member];
    size_t set = sampler->first_set;
    /* the caches now hold data of other measurements; with hot caches the buffers must be in them
     * from the start */
    if (candidate->sets == 1 && sampler->passes > 1)
        candidate->run(candidate->context, set, member, size);
    const long preemptions = preemptions_so_far();
    (void)atomic_fetch_add_explicit(&sampler->arrived, 1, memory_order_acq_rel);
    wait_until(&sampler->arrived, size);
    mine->start = dti_clock_now();
    for (uint64_t pass = 0; pass < sampler->passes; pass++) {
        candidate->run(candidate->context, set, member, size);
        if (++set == candidate->sets)
            set = 0;
    }
    mine->end = dti_clock_now();
    mine->preemptions = preemptions_so_far() - preemptions;
}

/* By the clock of a device, which other programs on this CPU disturb only if they keep this thread
 * from queuing work. */
static uint64_t take_timed(struct dti_sampler *sampler, const struct dti_bench_candidate *candidate,
                           uint64_t passes, size_t first_set, bool *ret_disturbed)
{
    const long preemptions = preemptions_so_far();
    const double nanoseconds = candidate->timed(candidate->context, first_set, passes) * 1e9;
    *ret_disturbed = preemptions_so_far() != preemptions;
    if (!(nanoseconds >= 0))
        sampler->failed = true;
    return nanoseconds >= 1 && nanoseconds < 1e18 ? (uint64_t)nanoseconds : 1;
}

uint64_t dti_sampler_take(struct dti_sampler *sampler, const struct dti_bench_candidate *candidate,
                          uint64_t passes, size_t *first_set, bool *ret_disturbed)
{
    const size_t first = *first_set;
    *first_set = (size_t)((first + passes) % candidate->sets);
    if (candidate->timed)
        return take_timed(sampler, candidate, passes, first, ret_disturbed);
    const uint64_t stolen = stolen_ticks();
    sampler->candidate = candidate;
    sampler->passes = passes;
    sampler->first_set = first;
    atomic_store(&sampler->arrived, 0);
    run_all(sampler, sample_job);
    uint64_t start = sampler->members[0].start, end = sampler->members[0].end;
    bool disturbed = stolen_ticks() != stolen;
    for (size_t i = 0; i < sampler->size; i++) {
        const struct dti_member_sample *const member = &sampler->members[i];
        start = member->start < start ? member->start : start;
        end = member->end > end ? member->end : end;
        disturbed = disturbed || member->preemptions > 0;
    }
    *ret_disturbed = disturbed;
    return end > start ? end - start : 1;
}

/* The ball is hit by member 0 at even counts, by the partner at odd ones. */
struct rally {
    _Alignas(64) atomic_size_t ball;
    size_t partner;
    uint64_t nanoseconds;
};

enum { RALLY_TRIPS = 300, RALLIES = 4 };

static void rally_job(void *context, size_t member, size_t size)
{
    struct rally *const rally = context;
    (void)size;
    if (member != 0 && member != rally->partner)
        return;
    const size_t mine = member == 0 ? 0 : 1;
    uint64_t start = 0;
    /* the first trips wake the partner up */
    for (size_t trip = 0; trip < 2 * RALLY_TRIPS; trip++) {
        wait_until(&rally->ball, 2 * trip + mine);
        if (trip == RALLY_TRIPS && mine == 0)
            start = dti_clock_now();
        atomic_store_explicit(&rally->ball, 2 * trip + mine + 1, memory_order_release);
    }
    if (mine == 0) {
        wait_until(&rally->ball, 4 * RALLY_TRIPS);
        rally->nanoseconds = dti_clock_now() - start;
    }
}

/* The quickest of a few: a rally in which one of the two was preempted is meaningless. */
static double round_trip_with(struct dti_team *team, size_t partner)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < RALLIES; i++) {
        struct rally rally = {.partner = partner};
        atomic_init(&rally.ball, 0);
        dti_team_run(team, rally_job, &rally);
        best = rally.nanoseconds < best ? rally.nanoseconds : best;
    }
    return (double)best / RALLY_TRIPS;
}

double dti_sampler_round_trip(struct dti_sampler *sampler)
{
    if (sampler->size < 2)
        return 0;
    const double next = round_trip_with(sampler->team, 1);
    const double last =
        sampler->size > 2 ? round_trip_with(sampler->team, sampler->size - 1) : next;
    return next > last ? next : last;
}

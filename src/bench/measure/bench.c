/* SPDX-License-Identifier: MIT
 *
 * The measurement engine: samples, calibration, rounds, and the stopping rule. */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "bench/measure/bench.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench/measure/splitmix.h"
#include "util/run/allocate.h"
#include "util/run/clock.h"

/* One member's timestamps, on their own cache line. */
struct member_sample {
    _Alignas(64) uint64_t start, end;
    long preemptions;
};

/* Takes samples. A sample is some passes of one candidate by all members of a team, timed from a
 * common start, with a flag for disturbances. Members synchronize before the clock starts, so
 * wake-up times do not count; the sample ends when the last member has finished its passes. */
struct bench_sampler {
    struct dti_team *team; /* NULL: this thread alone */
    size_t size;
    struct member_sample *members;
    /* of the sample being taken */
    const struct dti_bench_candidate *candidate;
    size_t first_set;
    uint64_t passes;
    atomic_size_t arrived;
    bool failed; /* a device failed during its timed passes */
};

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

/* Field 8 of the first line of /proc/stat: "cpu  user nice system idle iowait irq softirq steal
 * ...". */
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

static enum dti_status sampler_init(struct bench_sampler *ret, struct dti_team *team,
                                    struct dti_error *reterr)
{
    const size_t size = team ? dti_team_size(team) : 1;
    void *const members =
        dti_malloc_aligned(_Alignof(struct member_sample), size * sizeof(struct member_sample));
    if (!members)
        return dti_no_memory(reterr);
    *ret = (struct bench_sampler){.team = team, .size = size, .members = members};
    atomic_init(&ret->arrived, 0);
    return DTI_OK;
}

static void sampler_free(struct bench_sampler *sampler)
{
    dti_free(sampler->members);
    sampler->members = NULL;
}

static void run_all(struct bench_sampler *sampler, void (*job)(void *, size_t, size_t))
{
    if (sampler->team)
        dti_team_run(sampler->team, job, sampler);
    else
        job(sampler, 0, 1);
}

/* Spins with an occasional yield, because there may be more members than CPUs. */
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
    struct bench_sampler *const sampler = context;
    const struct dti_bench_candidate *const candidate = sampler->candidate;
    struct member_sample *const mine = &sampler->members[member];
    size_t set = sampler->first_set;
    /* other candidates have evicted our data; with hot caches, load the buffers again first */
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

/* Timed by a device's clock: other programs on this CPU disturb it only if they keep this thread
 * from queuing work. */
static uint64_t take_timed(struct bench_sampler *sampler,
                           const struct dti_bench_candidate *candidate, uint64_t passes,
                           size_t first_set, bool *ret_disturbed)
{
    const long preemptions = preemptions_so_far();
    const double nanoseconds = candidate->timed(candidate->context, first_set, passes) * 1e9;
    *ret_disturbed = preemptions_so_far() != preemptions;
    if (!(nanoseconds >= 0))
        sampler->failed = true;
    return nanoseconds >= 1 && nanoseconds < 1e18 ? (uint64_t)nanoseconds : 1;
}

/* Takes a sample; *first_set is the set of the first pass and advances. Returns the nanoseconds of
 * all passes, at least 1. */
static uint64_t take_sample(struct bench_sampler *sampler,
                            const struct dti_bench_candidate *candidate, uint64_t passes,
                            size_t *first_set, bool *ret_disturbed)
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
        const struct member_sample *const member = &sampler->members[i];
        start = member->start < start ? member->start : start;
        end = member->end > end ? member->end : end;
        disturbed = disturbed || member->preemptions > 0;
    }
    *ret_disturbed = disturbed;
    return end > start ? end - start : 1;
}

/* A cache line ping-pong: member 0 moves at even counts, the partner at odd ones. */
struct rally {
    _Alignas(64) atomic_size_t ball;
    size_t partner;
    uint64_t nanoseconds;
};

enum { RALLY_TRIPS = 300, RALLY_TURNS = 4 * RALLY_TRIPS, RALLIES = 4 };

static void rally_job(void *context, size_t member, size_t size)
{
    struct rally *const rally = context;
    (void)size;
    if (member != 0 && member != rally->partner)
        return;
    const size_t mine = member == 0 ? 0 : 1;
    uint64_t start = 0;
    /* the first half of the trips wakes the partner up */
    for (size_t trip = 0; trip < RALLY_TURNS / 2; trip++) {
        wait_until(&rally->ball, 2 * trip + mine);
        if (trip == RALLY_TRIPS && mine == 0)
            start = dti_clock_now();
        atomic_store_explicit(&rally->ball, 2 * trip + mine + 1, memory_order_release);
    }
    if (mine == 0) {
        wait_until(&rally->ball, RALLY_TURNS);
        rally->nanoseconds = dti_clock_now() - start;
    }
}

/* The fastest of a few runs: one in which either thread was preempted is meaningless. */
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

/* The round trip of a cache line in nanoseconds, between the first member and the second or the
 * last, whichever is longer; 0 with one thread. */
static double longest_round_trip(struct bench_sampler *sampler)
{
    if (sampler->size < 2)
        return 0;
    const double next = round_trip_with(sampler->team, 1);
    const double last =
        sampler->size > 2 ? round_trip_with(sampler->team, sampler->size - 1) : next;
    return next > last ? next : last;
}

enum {
    ROUNDS_MIN = 11,
    TRIES = 4, /* attempts per sample and round if samples are disturbed */
    FEW = 5,   /* this few undisturbed samples are too few, if most samples are disturbed */
    RESOLUTIONS = 1000,
    TRIAL_ROUNDS = 3, /* before slow candidates are dropped */
    SHORTER = 10,     /* maximum reduction of the passes if other programs interrupt every sample */
    PASSES_MAX = 1 << 30,
};
static const uint64_t sample_longest = 10000000, rounds_time_min = 500000000;
static const double near_below = 200, wanted_half_width = 0.01, far_behind = 1.25;

struct bench_run {
    struct dti_bench *bench;
    const struct dti_bench_candidate *candidates;
    struct bench_sampler sampler;
    size_t *next_set, *order;
    uint64_t random;
    size_t cpus;
    uint64_t *fewest; /* lower limit for the passes of a sample if every longer one is
                       * interrupted */
    uint64_t end;     /* deadline */
};

static void shuffle(struct bench_run *run)
{
    for (size_t i = 0; i < run->bench->candidates; i++)
        run->order[i] = i;
    for (size_t i = run->bench->candidates; i > 1; i--) {
        const size_t other = (size_t)(dti_splitmix(&run->random) % i);
        const size_t kept = run->order[i - 1];
        run->order[i - 1] = run->order[other];
        run->order[other] = kept;
    }
}

static uint64_t sample_candidate(struct bench_run *run, size_t candidate, bool *ret_disturbed)
{
    return take_sample(&run->sampler, &run->candidates[candidate], run->bench->passes[candidate],
                       &run->next_set[candidate], ret_disturbed);
}

/* Runs one warm-up pass, then finds the number of passes that takes at least `least`
 * nanoseconds. A disturbed attempt would give too few passes, so an undisturbed one decides if
 * possible. */
static void calibrate(struct bench_run *run, size_t candidate, uint64_t least)
{
    uint64_t *const passes = &run->bench->passes[candidate];
    bool disturbed;
    *passes = 1;
    (void)sample_candidate(run, candidate, &disturbed);
    for (int tries = 0; tries < TRIES && !run->sampler.failed;) {
        const uint64_t taken = sample_candidate(run, candidate, &disturbed);
        if (taken >= least) {
            if (!disturbed)
                return;
            tries++;
            continue;
        }
        /* 10 % more than needed, so that the next sample is long enough; at most ten times more,
         * because short times are inexact */
        const double wanted = 1.1 * (double)least / (double)taken;
        const double next = (double)*passes * (wanted < 10 ? wanted : 10) + 1;
        if (next > PASSES_MAX)
            return;
        *passes = (uint64_t)next;
    }
}

static bool is_crowded(const struct bench_run *run)
{
    return run->cpus > 0 && run->sampler.size > run->cpus;
}

/* The round trip in nanoseconds; not measured if a thread of the pair may have to wait for a
 * CPU. */
static double probe(struct bench_run *run)
{
    return is_crowded(run) ? 0 : longest_round_trip(&run->sampler);
}

static enum dti_bench_place place_of(const struct bench_run *run, double round_trip)
{
    if (run->sampler.size > 1 && is_crowded(run))
        return DTI_BENCH_CROWDED;
    if (round_trip == 0)
        return DTI_BENCH_ALONE;
    return round_trip < near_below ? DTI_BENCH_NEAR : DTI_BENCH_FAR;
}

static bool is_over(const struct bench_run *run)
{
    return dti_clock_now() >= run->end;
}

/* Whether some other candidate of its group was far ahead in each of the first rounds, with both
 * undisturbed. */
static bool is_left_out(const struct bench_run *run, size_t candidate)
{
    const struct dti_bench *const bench = run->bench;
    const unsigned group = run->candidates[candidate].group;
    if (group == 0 || bench->rounds < TRIAL_ROUNDS)
        return false;
    for (size_t round = 0; round < TRIAL_ROUNDS; round++) {
        const double *const seconds = &bench->seconds[round * bench->candidates];
        bool behind = false;
        for (size_t i = 0; i < bench->candidates && seconds[candidate] > 0; i++)
            behind = behind || (run->candidates[i].group == group && seconds[i] > 0 &&
                                far_behind * seconds[i] < seconds[candidate]);
        if (!behind)
            return false;
    }
    return true;
}

/* Samples every candidate once; a disturbed sample is repeated a few times. */
static void run_round(struct bench_run *run)
{
    struct dti_bench *const bench = run->bench;
    shuffle(run);
    for (size_t i = 0; i < bench->candidates; i++) {
        const size_t candidate = run->order[i];
        if (is_left_out(run, candidate))
            continue;
        double *const seconds = &bench->seconds[bench->rounds * bench->candidates + candidate];
        for (int tries = 0; tries < TRIES && !run->sampler.failed; tries++) {
            bool disturbed;
            const uint64_t taken = sample_candidate(run, candidate, &disturbed);
            const double pass = (double)taken * 1e-9 / (double)bench->passes[candidate];
            *seconds = disturbed ? -pass : pass;
            if (!disturbed)
                break;
            bench->discarded[candidate]++;
            if (is_over(run))
                break;
            if (tries > 0 && bench->passes[candidate] / 2 >= run->fewest[candidate])
                bench->passes[candidate] /= 2;
        }
    }
    const double before =
        bench->rounds > 0 ? bench->round_trips[bench->rounds - 1] : bench->round_trips[0];
    const double after = probe(run);
    const bool moved = place_of(run, before * 1e9) != place_of(run, after);
    bench->places[bench->rounds] = moved ? DTI_BENCH_MOVED : place_of(run, after);
    bench->round_trips[bench->rounds] = after * 1e-9;
    bench->rounds++;
}

/* Half the relative width of the interval of a median within this process; huge if unknown. */
static double half_width(const struct dti_bench *bench, size_t candidate,
                         enum dti_bench_place place)
{
    struct dti_bench_figure figure;
    dti_bench_time(&figure, bench, candidate, place);
    if (figure.samples < ROUNDS_MIN)
        return 1e9;
    const double up = figure.high - figure.median, down = figure.median - figure.low;
    return ((up > down ? up : down) / figure.median - DTI_BENCH_BETWEEN) / DTI_BENCH_BETWEEN_FACTOR;
}

/* The largest half width of any subject. */
static double widest(const struct bench_run *run, size_t rounds)
{
    struct dti_bench first = *run->bench; /* copy, cut to the first `rounds` */
    double width = 0;
    first.rounds = rounds;
    const enum dti_bench_place place = dti_bench_main_place(&first);
    for (size_t i = 0; i < first.candidates; i++) {
        const double own = run->candidates[i].subject ? half_width(&first, i, place) : 0;
        width = own > width ? own : width;
    }
    return width;
}

/* Whether more rounds stopped helping: doubling them narrows an interval by a factor of 0.71 at
 * best. */
static bool is_steady(const struct bench_run *run)
{
    const size_t rounds = run->bench->rounds, half = rounds / 2;
    const double before = widest(run, half);
    return before < 1e9 && widest(run, rounds) > 0.95 * before;
}

static void run_rounds(struct bench_run *run, uint64_t start)
{
    struct dti_bench *const bench = run->bench;
    while (!run->sampler.failed) {
        run_round(run);
        if (bench->rounds == DTI_BENCH_ROUNDS_MAX)
            bench->stop = DTI_BENCH_ROUNDS;
        else if (is_over(run))
            bench->stop = DTI_BENCH_TIME;
        else if (bench->rounds < ROUNDS_MIN || dti_clock_now() - start < rounds_time_min)
            continue;
        else if (widest(run, bench->rounds) <= wanted_half_width)
            bench->stop = DTI_BENCH_CONVERGED;
        else if (bench->rounds / ROUNDS_MIN >= 4 && bench->rounds % ROUNDS_MIN == 0 &&
                 is_steady(run))
            bench->stop = DTI_BENCH_STEADY;
        else
            continue;
        return;
    }
}

/* Whether so few samples are undisturbed, on a very busy machine, that disturbed ones must be
 * used. */
static bool has_too_few(const struct dti_bench *bench)
{
    for (size_t candidate = 0; candidate < bench->candidates; candidate++) {
        size_t good = 0, bad = 0;
        for (size_t round = 0; round < bench->rounds; round++) {
            const double seconds = bench->seconds[round * bench->candidates + candidate];
            good += seconds > 0;
            bad += seconds < 0;
        }
        if (good < FEW && good < bad)
            return true;
    }
    return false;
}

static void *array(size_t count, size_t size)
{
    return dti_calloc(count > 0 ? count : 1, size);
}

/* Short enough for the least number of rounds to end before the time limit. */
static uint64_t wanted_sample(const struct dti_bench_options *options, size_t candidates)
{
    if (options->sample_nanoseconds > 0)
        return options->sample_nanoseconds;
    const uint64_t share = options->nanoseconds / ROUNDS_MIN / (candidates > 0 ? candidates : 1);
    return share < sample_longest ? share : sample_longest;
}

enum dti_status dti_bench_run(struct dti_bench *ret, const struct dti_bench_candidate *candidates,
                              size_t count, struct dti_team *team,
                              const struct dti_bench_options *options, struct dti_error *reterr)
{
    struct dti_bench bench = {.candidates = count};
    struct bench_run run = {
        .bench = &bench, .candidates = candidates, .cpus = options->cpus, .random = options->seed};
    bench.seconds = array(count * DTI_BENCH_ROUNDS_MAX, sizeof *bench.seconds);
    bench.places = array(DTI_BENCH_ROUNDS_MAX, sizeof *bench.places);
    bench.round_trips = array(DTI_BENCH_ROUNDS_MAX, sizeof *bench.round_trips);
    bench.passes = array(count, sizeof *bench.passes);
    bench.discarded = array(count, sizeof *bench.discarded);
    run.next_set = array(count, sizeof *run.next_set);
    run.order = array(count, sizeof *run.order);
    run.fewest = array(count, sizeof *run.fewest);
    enum dti_status status = DTI_OK;
    if (!bench.seconds || !bench.places || !bench.round_trips || !bench.passes ||
        !bench.discarded || !run.next_set || !run.order || !run.fewest)
        status = dti_no_memory(reterr);
    if (status == DTI_OK)
        status = sampler_init(&run.sampler, team, reterr);
    if (status == DTI_OK) {
        const uint64_t clock = RESOLUTIONS * dti_clock_resolution();
        const uint64_t wanted = wanted_sample(options, count),
                       least = wanted > clock ? wanted : clock;
        const uint64_t times = least / clock < SHORTER ? least / clock : SHORTER;
        for (size_t i = 0; i < count; i++) {
            calibrate(&run, i, least);
            run.fewest[i] = bench.passes[i] / times + 1;
        }
        bench.round_trips[0] = probe(&run) * 1e-9;
        const uint64_t start = dti_clock_now();
        run.end = start + options->nanoseconds;
        run_rounds(&run, start);
        bench.disturbed = has_too_few(&bench);
        if (run.sampler.failed)
            status = dti_fail(reterr, DTI_DEVICE_FAILED, "a device failed during the measurement");
    }
    if (status == DTI_OK)
        *ret = bench;
    else
        dti_bench_free(&bench);
    sampler_free(&run.sampler);
    dti_free(run.next_set);
    dti_free(run.order);
    dti_free(run.fewest);
    return status;
}

void dti_bench_free(struct dti_bench *bench)
{
    dti_free(bench->seconds);
    dti_free(bench->places);
    dti_free(bench->passes);
    dti_free(bench->discarded);
    dti_free(bench->round_trips);
    *bench = (struct dti_bench){0};
}

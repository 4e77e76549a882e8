/* SPDX-License-Identifier: MIT
 *
 * Calibration, rounds, and when to stop. */
#include "dtinfo/bench.h"

#include <stdlib.h>

#include "bench/measure/sample.h"
#include "bench/measure/splitmix.h"
#include "dtinfo/clock.h"

enum {
    ROUNDS_MIN = 11,
    TRIES = 4, /* retries of a disturbed sample in one round */
    FEW = 5,   /* too few undisturbed samples, if they are the minority */
    RESOLUTIONS = 1000,
    TRIAL_ROUNDS = 3, /* before candidates are left out */
    SHORTER = 10,     /* maximum retries if other programs interrupt every sample */
    PASSES_MAX = 1 << 30,
};
static const uint64_t sample_default = 10000000, rounds_time_min = 500000000;
static const double near_below = 200, wanted_half_width = 0.01, far_behind = 1.25;

struct bench_run {
    struct dti_bench *bench;
    const struct dti_bench_candidate *candidates;
    struct dti_sampler sampler;
    size_t *next_set, *order;
    uint64_t random;
    size_t cpus;
    uint64_t *fewest; /* passes of a sample if other programs interrupt every longer one */
    uint64_t end;     /* when the time limit comes */
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

static uint64_t take(struct bench_run *run, size_t candidate, bool *ret_disturbed)
{
    return dti_sampler_take(&run->sampler, &run->candidates[candidate],
                            run->bench->passes[candidate], &run->next_set[candidate],
                            ret_disturbed);
}

/* One pass to warm up, then as many as make a sample of `least` nanoseconds. A disturbed try would
 * give too few, so an undisturbed try decides, if there is one. */
static void calibrate(struct bench_run *run, size_t candidate, uint64_t least)
{
    uint64_t *const passes = &run->bench->passes[candidate];
    bool disturbed;
    *passes = 1;
    (void)take(run, candidate, &disturbed);
    for (int tries = 0; tries < TRIES && !run->sampler.failed;) {
        const uint64_t taken = take(run, candidate, &disturbed);
        if (taken >= least) {
            if (!disturbed)
                return;
            tries++;
            continue;
        }
        /* a tenth more than it takes, so that the next sample is long enough; ten times at most,
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

/* Nanoseconds; not measured if a thread of the pair may have to wait for a CPU. */
static double probe(struct bench_run *run)
{
    return is_crowded(run) ? 0 : dti_sampler_round_trip(&run->sampler);
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

/* Whether another of its group was far ahead in each of the first rounds, undisturbed. */
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

/* A sample of every candidate; one that is disturbed is taken again a few times. */
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
            const uint64_t taken = take(run, candidate, &disturbed);
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

/* Half the width of the interval of a median within this process, relative; huge if unknown. */
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

/* The widest of the subjects. */
static double widest(const struct bench_run *run, size_t rounds)
{
    struct dti_bench first = *run->bench; /* the value after a number of rounds */
    double width = 0;
    first.rounds = rounds;
    const enum dti_bench_place place = dti_bench_main_place(&first);
    for (size_t i = 0; i < first.candidates; i++) {
        const double own = run->candidates[i].subject ? half_width(&first, i, place) : 0;
        width = own > width ? own : width;
    }
    return width;
}

/* Doubling the rounds narrows an interval by a factor of 0.71, if at all. */
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
        else if (bench->rounds >= 4 * ROUNDS_MIN && bench->rounds % ROUNDS_MIN == 0 &&
                 is_steady(run))
            bench->stop = DTI_BENCH_STEADY;
        else
            continue;
        return;
    }
}

/* If the machine is so busy that hardly any sample is undisturbed, the disturbed ones are used. */
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
    return calloc(count > 0 ? count : 1, size);
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
        status = dti_sampler_init(&run.sampler, team, reterr);
    if (status == DTI_OK) {
        const uint64_t clock = RESOLUTIONS * dti_clock_resolution();
        const uint64_t wanted =
            options->sample_nanoseconds > 0 ? options->sample_nanoseconds : sample_default;
        const uint64_t least = wanted > clock ? wanted : clock;
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
    dti_sampler_free(&run.sampler);
    free(run.next_set);
    free(run.order);
    free(run.fewest);
    return status;
}

void dti_bench_free(struct dti_bench *bench)
{
    free(bench->seconds);
    free(bench->places);
    free(bench->passes);
    free(bench->discarded);
    free(bench->round_trips);
    *bench = (struct dti_bench){0};
}

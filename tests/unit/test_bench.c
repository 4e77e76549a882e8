/* SPDX-License-Identifier: MIT
 *
 * The measuring engine: its statistics compared with independent results, and its rounds with
 * candidates whose work is known. */
#include <math.h>
#include <stdlib.h>

#include "bench/measure/bench.h"
#include "unit.h"
#include "util/run/clock.h"

static bool near(double got, double want)
{
    return fabs(got - want) <= 1e-12 * fabs(want);
}

static void median_of_an_odd_and_of_an_even_count(void)
{
    struct dti_bench_figure figure;
    double odd[] = {5, 1, 4, 2, 100}, even[] = {5, 1, 4, 2};
    dti_bench_summarize(&figure, odd, 5);
    CHECK(near(figure.median, 4));
    CHECK(near(figure.minimum, 1));
    CHECK(near(figure.mad, 2.0 / 4)); /* deviations 0 1 2 3 96 */
    CHECK_SIZE(figure.samples, 5);
    dti_bench_summarize(&figure, even, 4);
    CHECK(near(figure.median, 3));
}

static void nothing_is_known_without_samples(void)
{
    struct dti_bench_figure figure;
    dti_bench_summarize(&figure, NULL, 0);
    CHECK_SIZE(figure.samples, 0);
    CHECK(!figure.has_interval);
    CHECK(dti_bench_judge(&figure) == DTI_BENCH_CANNOT_TELL);
}

/* Ranks of the 95 % interval of the median, from tables of the sign test (Conover, Practical
 * Nonparametric Statistics, quantile tests): n, lower rank; the upper rank is n + 1 - lower. */
static void interval_has_the_ranks_of_the_sign_test(void)
{
    static const struct {
        size_t n, rank;
    } rows[] = {{6, 1},  {7, 1},  {8, 1},  {9, 2},   {10, 2},  {11, 2},   {12, 3},
                {15, 4}, {20, 6}, {25, 8}, {30, 10}, {50, 18}, {100, 40}, {1000, 469}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double samples[1000];
        struct dti_bench_figure figure;
        for (size_t j = 0; j < rows[i].n; j++)
            samples[j] = (double)(rows[i].n - j); /* n, n - 1, ... 1 */
        dti_bench_summarize(&figure, samples, rows[i].n);
        CHECK(figure.has_interval);
        CHECK_U64((uint64_t)figure.low, rows[i].rank);
        CHECK_U64((uint64_t)figure.high, rows[i].n + 1 - rows[i].rank);
    }
    for (size_t n = 1; n < 6; n++) {
        double samples[5] = {1, 2, 3, 4, 5};
        struct dti_bench_figure figure;
        dti_bench_summarize(&figure, samples, n);
        CHECK(!figure.has_interval);
        CHECK(figure.has_mad == (n >= 3));
    }
}

/* A machine that slows down: samples scatter by 1 %, and by 10 % between before and after. */
static void interval_tells_of_drift(void)
{
    enum { ROUNDS = 120 };
    double seconds[2 * ROUNDS];
    enum dti_bench_place places[ROUNDS];
    const struct dti_bench bench = {
        .candidates = 2, .rounds = ROUNDS, .seconds = seconds, .places = places};
    struct dti_bench_figure figure;
    for (size_t i = 0; i < ROUNDS; i++) {
        const double noise = 1 + 0.01 * (double)(i * 7 % 11) / 11;
        seconds[2 * i] = (i < 2 * ROUNDS / 3 ? 1 : 1.1) * noise;
        seconds[2 * i + 1] = seconds[2 * i] / noise;
        places[i] = DTI_BENCH_ALONE;
    }
    dti_bench_time(&figure, &bench, 0, DTI_BENCH_ALONE);
    CHECK(figure.median < 1.01 && figure.low >= 0.98 && figure.high > 1.1);
    CHECK(figure.low < 0.99); /* wider than the samples: another process may differ */
    dti_bench_ratio(&figure, &bench, 0, 1, DTI_BENCH_ALONE); /* drift cancels in the ratio */
    CHECK(figure.high < 1.01);
}

static void verdict_needs_an_interval_clear_of_one(void)
{
    struct dti_bench_figure ratio = {.samples = 11, .has_interval = true};
    ratio.low = 0.97, ratio.high = 0.985;
    CHECK(dti_bench_judge(&ratio) == DTI_BENCH_LESS);
    ratio.high = 0.992;
    CHECK(dti_bench_judge(&ratio) == DTI_BENCH_CANNOT_TELL);
    ratio.low = 1.02, ratio.high = 1.5;
    CHECK(dti_bench_judge(&ratio) == DTI_BENCH_MORE);
    ratio.low = 1.005;
    CHECK(dti_bench_judge(&ratio) == DTI_BENCH_CANNOT_TELL);
    ratio.has_interval = false, ratio.low = 1.02;
    CHECK(dti_bench_judge(&ratio) == DTI_BENCH_CANNOT_TELL);
}

/* Three candidates, four rounds: place changes in the third round, and the fourth lacks a valid
 * sample of candidate 1. */
static void ratios_are_those_within_rounds(void)
{
    double seconds[] = {1, 2, 8, 3, 9, 8, 1, 100, 8, 1, -7, 8};
    enum dti_bench_place places[] = {DTI_BENCH_NEAR, DTI_BENCH_NEAR, DTI_BENCH_MOVED,
                                     DTI_BENCH_NEAR};
    struct dti_bench bench = {.candidates = 3, .rounds = 4, .seconds = seconds, .places = places};
    struct dti_bench_figure ratio;
    dti_bench_ratio(&ratio, &bench, 1, 0, DTI_BENCH_NEAR);
    CHECK_SIZE(ratio.samples, 2);
    CHECK(near(ratio.median, 2.5)); /* of 2 and 3, though the medians are 5.5 and 1 */
    CHECK(dti_bench_main_place(&bench) == DTI_BENCH_NEAR);
    dti_bench_time(&ratio, &bench, 0, DTI_BENCH_FAR);
    CHECK_SIZE(ratio.samples, 0);
    bench.disturbed = true; /* now the disturbed sample counts */
    dti_bench_ratio(&ratio, &bench, 1, 0, DTI_BENCH_NEAR);
    CHECK_SIZE(ratio.samples, 3);
    CHECK(near(ratio.median, 3));
}

/* One sample of 24 is an outlier. In a disturbed run it widens the interval of a time, because the
 * next run may have more of them, but not the interval of a ratio. */
static void times_of_a_disturbed_run_have_a_wide_interval(void)
{
    enum { ROUNDS = 24 };
    double seconds[2 * ROUNDS];
    enum dti_bench_place places[ROUNDS];
    struct dti_bench bench = {
        .candidates = 2, .rounds = ROUNDS, .seconds = seconds, .places = places};
    struct dti_bench_figure calm, busy, ratio;
    for (size_t i = 0; i < ROUNDS; i++) {
        seconds[2 * i] = i == 6 ? 9 : 1;
        seconds[2 * i + 1] = 1;
        places[i] = DTI_BENCH_ALONE;
    }
    dti_bench_time(&calm, &bench, 0, DTI_BENCH_ALONE);
    CHECK(calm.has_interval && calm.high < 2);
    for (size_t i = 0; i < 2 * ROUNDS; i++)
        seconds[i] = -seconds[i];
    bench.disturbed = true;
    dti_bench_time(&busy, &bench, 0, DTI_BENCH_ALONE);
    CHECK(busy.has_interval && near(busy.median, 1) && busy.low <= 1 && busy.high > 9);
    dti_bench_ratio(&ratio, &bench, 0, 1, DTI_BENCH_ALONE);
    CHECK(ratio.has_interval && ratio.high < 2);
}

/* Work of a known amount: generator steps, kept alive by a volatile. */
struct work {
    uint64_t steps;
    volatile uint64_t kept;
    uint64_t runs, last_set;
    bool sets_in_turn;
    size_t sets;
};

static void work_run(void *context, size_t set, size_t member, size_t size)
{
    struct work *const work = context;
    uint64_t x = 1;
    (void)size;
    if (member != 0)
        return;
    if (work->runs > 0 && set != (work->last_set + 1) % work->sets)
        work->sets_in_turn = false;
    work->last_set = set;
    work->runs++;
    for (uint64_t i = 0; i < work->steps; i++)
        x = x * UINT64_C(6364136223846793005) + work->kept;
    work->kept = x | 1;
}

static void longer_work_takes_longer_and_sets_take_turns(void)
{
    struct work once = {.steps = 2000, .kept = 1, .sets_in_turn = true, .sets = 3};
    struct work thrice = {.steps = 6000, .kept = 1, .sets_in_turn = true, .sets = 1};
    const struct dti_bench_candidate candidates[] = {
        {.run = work_run, .context = &once, .sets = 3, .subject = true},
        {.run = work_run, .context = &thrice, .sets = 1, .subject = true},
    };
    const struct dti_bench_options options = {
        .nanoseconds = 300000000, .sample_nanoseconds = 1000000, .seed = 7};
    struct dti_bench bench;
    struct dti_bench_figure one, three;
    if (!CHECK(dti_bench_run(&bench, candidates, 2, NULL, &options, NULL) == DTI_OK))
        return;
    CHECK(bench.rounds > 0 && bench.rounds <= DTI_BENCH_ROUNDS_MAX);
    CHECK(dti_bench_main_place(&bench) == DTI_BENCH_ALONE);
    bench.disturbed = true; /* on a busy machine all samples may be disturbed */
    dti_bench_time(&one, &bench, 0, DTI_BENCH_ALONE);
    dti_bench_time(&three, &bench, 1, DTI_BENCH_ALONE);
    CHECK(one.samples == bench.rounds && three.samples == bench.rounds);
    CHECK(three.minimum > 1.5 * one.minimum);
    CHECK(one.median * (double)bench.passes[0] > 0.04e-3); /* at least a tenth */
    CHECK(once.sets_in_turn);
    dti_bench_free(&bench);
}

/* Which candidate runs first is chosen at random in each round. */
struct order {
    unsigned *first, *runs;
    unsigned id;
    uint64_t nanoseconds; /* duration of a run */
};

static void order_run(void *context, size_t set, size_t member, size_t size)
{
    struct order *const order = context;
    (void)set, (void)member, (void)size;
    const uint64_t start = dti_clock_now();
    while (dti_clock_now() - start < order->nanoseconds)
        continue;
    order->first[*order->runs % 4096] = order->id;
    ++*order->runs;
}

static void candidates_come_in_changing_order(void)
{
    static unsigned log[4096];
    unsigned runs = 0;
    /* four times the minimum sample time: a busy machine may measure a coarser clock next time */
    const uint64_t least = 20000, clock = 1000 * dti_clock_resolution();
    struct order a = {
        .first = log, .runs = &runs, .id = 0, .nanoseconds = 4 * (clock > least ? clock : least)};
    struct order b = a;
    b.id = 1;
    const struct dti_bench_candidate candidates[] = {
        {.run = order_run, .context = &a, .sets = 2, .subject = true},
        {.run = order_run, .context = &b, .sets = 2, .subject = true},
    };
    const struct dti_bench_options options = {
        .nanoseconds = 120000000, .sample_nanoseconds = least, .seed = 3};
    struct dti_bench bench;
    if (!CHECK(dti_bench_run(&bench, candidates, 2, NULL, &options, NULL) == DTI_OK))
        return;
    for (size_t i = 0; i < 2 * bench.rounds; i++) {
        if (!CHECK(bench.seconds[i] != 0)) /* every candidate has a sample in every round */
            break;
    }
    /* After calibration, the first candidate of a round is the last one of the previous round in
     * half of the rounds. Samples repeated because they were disturbed are subtracted. */
    enum { CALIBRATION = 12 };
    uint64_t twice = 0;
    for (unsigned i = CALIBRATION; i < runs && i < 4096; i++)
        twice += log[i] == log[i - 1];
    const bool single = bench.passes[0] == 1 && bench.passes[1] == 1;
    if (single && bench.rounds > 100 && runs < 4096)
        CHECK(twice > bench.discarded[0] + bench.discarded[1] + bench.rounds / 4);
    dti_bench_free(&bench);
}

static void members_all_run_and_their_place_is_told(void)
{
    struct dti_team *team;
    if (dti_cpu_count() < 2) {
        printf("skipped: one CPU\n");
        return;
    }
    if (!CHECK(dti_team_new(&team, 2, DTI_WAIT_SPIN, true, NULL) == DTI_OK))
        return;
    struct work work = {.steps = 5000, .kept = 1, .sets = 1, .sets_in_turn = true};
    const struct dti_bench_candidate candidate = {
        .run = work_run, .context = &work, .sets = 1, .subject = true};
    const struct dti_bench_options options = {
        .nanoseconds = 50000000, .sample_nanoseconds = 1000000, .seed = 1};
    struct dti_bench bench;
    if (CHECK(dti_bench_run(&bench, &candidate, 1, team, &options, NULL) == DTI_OK)) {
        CHECK(dti_bench_main_place(&bench) != DTI_BENCH_ALONE);
        double least = bench.round_trips[0]; /* other programs may keep the CPU busy for a while */
        for (size_t i = 1; i < bench.rounds; i++)
            least = bench.round_trips[i] < least ? bench.round_trips[i] : least;
        CHECK(least > 1e-9 && least < 1e-2);
        dti_bench_free(&bench);
    }
    dti_team_free(team);
}

/* A device whose passes take 3 ms by its own clock, and no time by the host's clock. */
struct device {
    size_t sets, next, calls, fails_at;
    bool sets_in_turn;
};

static double device_run(void *context, size_t set, uint64_t passes)
{
    struct device *const device = context;
    device->sets_in_turn = device->sets_in_turn && set == device->next;
    device->next = (size_t)((set + passes) % device->sets);
    return ++device->calls == device->fails_at ? -1 : 3e-3 * (double)passes;
}

static void devices_time_themselves(void)
{
    struct device device = {.sets = 3, .sets_in_turn = true};
    const struct dti_bench_candidate candidate = {
        .timed = device_run, .context = &device, .sets = 3, .subject = true};
    const struct dti_bench_options options = {.nanoseconds = 2000000000, .seed = 1};
    struct dti_bench bench;
    struct dti_bench_figure time;
    if (!CHECK(dti_bench_run(&bench, &candidate, 1, NULL, &options, NULL) == DTI_OK))
        return;
    dti_bench_time(&time, &bench, 0, DTI_BENCH_ALONE);
    CHECK(near(time.median, 3e-3) && near(time.minimum, 3e-3));
    CHECK(bench.passes[0] >= 1);
    CHECK(device.sets_in_turn);
    dti_bench_free(&bench);
}

static void failure_of_a_device_ends_it(void)
{
    for (size_t at = 1; at < 20; at++) {
        struct device device = {.sets = 1, .sets_in_turn = true, .fails_at = at};
        const struct dti_bench_candidate candidate = {
            .timed = device_run, .context = &device, .sets = 1, .subject = true};
        const struct dti_bench_options options = {.nanoseconds = 2000000000, .seed = 1};
        struct dti_bench bench;
        struct dti_error error;
        CHECK(dti_bench_run(&bench, &candidate, 1, NULL, &options, &error) == DTI_DEVICE_FAILED);
        CHECK_SIZE(device.calls, at);
    }
}

/* Seconds per pass by its own clock. */
static double told_run(void *context, size_t set, uint64_t passes)
{
    (void)set;
    return *(const double *)context * (double)passes;
}

/* A sample of 10 ms, unless 11 rounds of both candidates would then take longer than the limit. */
static void a_sample_leaves_time_for_the_least_rounds(void)
{
    static double pass = 1e-6;
    const struct dti_bench_candidate candidates[] = {
        {.timed = told_run, .context = &pass, .sets = 1},
        {.timed = told_run, .context = &pass, .sets = 1}};
    static const struct {
        uint64_t limit, sample;
        double least, most; /* seconds of a sample; the most is 10 % above the least, and a pass */
    } rows[] = {{500000000, 0, 10e-3, 11.01e-3},
                {220000000, 0, 10e-3, 11.01e-3},
                {110000000, 0, 5e-3, 5.51e-3},
                {110000000, 7000000, 7e-3, 7.71e-3}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct dti_bench_options options = {
            .nanoseconds = rows[i].limit, .sample_nanoseconds = rows[i].sample, .seed = 1};
        struct dti_bench bench;
        if (!CHECK(dti_bench_run(&bench, candidates, 2, NULL, &options, NULL) == DTI_OK))
            return;
        const double taken = pass * (double)bench.passes[0];
        CHECK(taken >= rows[i].least && taken <= rows[i].most);
        CHECK(bench.passes[1] == bench.passes[0]);
        dti_bench_free(&bench);
    }
}

static void what_is_far_behind_its_group_is_left_out(void)
{
    enum { ROUNDS = 11, TRIALS = 3 };
    static double seconds[] = {9e-3, 3e-3, 3.6e-3, 5e-3, 8e-3};
    static const unsigned groups[] = {0, 1, 1, 1, 2};
    struct dti_bench_candidate candidates[5];
    for (size_t i = 0; i < 5; i++)
        candidates[i] = (struct dti_bench_candidate){.timed = told_run,
                                                     .context = &seconds[i],
                                                     .sets = 1,
                                                     .subject = i == 0,
                                                     .group = groups[i]};
    const struct dti_bench_options options = {.nanoseconds = 2000000000, .seed = 1};
    struct dti_bench bench;
    if (!CHECK(dti_bench_run(&bench, candidates, 5, NULL, &options, NULL) == DTI_OK))
        return;
    for (size_t i = 0; i < 5; i++) {
        struct dti_bench_figure time;
        dti_bench_time(&time, &bench, i, DTI_BENCH_ALONE);
        CHECK(i == 3 ? time.samples == TRIALS : time.samples >= ROUNDS);
        CHECK(near(time.median, seconds[i]));
    }
    dti_bench_free(&bench);
}

static void clock_goes_forward(void)
{
    const uint64_t a = dti_clock_now(), step = dti_clock_resolution(), b = dti_clock_now();
    CHECK(b > a);
    CHECK(step >= 1 && step < 100000000);
}

UNIT_MAIN(interval_tells_of_drift, median_of_an_odd_and_of_an_even_count,
          nothing_is_known_without_samples, interval_has_the_ranks_of_the_sign_test,
          verdict_needs_an_interval_clear_of_one, ratios_are_those_within_rounds,
          times_of_a_disturbed_run_have_a_wide_interval,
          longer_work_takes_longer_and_sets_take_turns, candidates_come_in_changing_order,
          members_all_run_and_their_place_is_told, devices_time_themselves,
          failure_of_a_device_ends_it, a_sample_leaves_time_for_the_least_rounds,
          what_is_far_behind_its_group_is_left_out, clock_goes_forward)

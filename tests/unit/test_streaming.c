/* SPDX-License-Identifier: MIT
 *
 * Decisions based on memory measurements, with synthetic results; and every kind of streaming
 * copies the same bytes. */
#include "kernels/streaming.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/cast/copy.h"
#include "kernels/cpuid.h"
#include "kernels/streaming_measure.h"
#include "unit.h"

#define MIB ((size_t)1 << 20)

static void the_usable_cache_ends_where_loads_come_from_memory(void)
{
    static const struct {
        const char *what;
        size_t count, most, reported;
        struct dti_cache_step steps[6];
    } cases[] = {
        {"a core complex of 32 MiB",
         6,
         32,
         384,
         {{2 * MIB, 10, 139},
          {4 * MIB, 13, 142},
          {8 * MIB, 17, 139},
          {16 * MIB, 20, 140},
          {32 * MIB, 41, 143},
          {64 * MIB, 110, 141}}},
        {"a share of a host's 480 MiB",
         4,
         8,
         480,
         {{4 * MIB, 62, 125}, {8 * MIB, 70, 128}, {16 * MIB, 104, 126}, {32 * MIB, 122, 127}}},
        {"a slow mesh that answers in less than memory",
         2,
         8,
         480,
         {{4 * MIB, 70, 110}, {8 * MIB, 74, 112}}},
        {"others took all of it", 1, 1, 32, {{2 * MIB, 131, 140}}},
        {"time for one step", 1, 2, 480, {{2 * MIB, 10, 140}}},
        {"a gap: what lies beyond does not count",
         3,
         2,
         8,
         {{2 * MIB, 10, 140}, {4 * MIB, 120, 140}, {8 * MIB, 15, 140}}},
        {"a first step that was disturbed", 2, 1, 4, {{2 * MIB, 138, 140}, {4 * MIB, 13, 140}}},
        {"the time was over, and the report is believable",
         3,
         32,
         32,
         {{2 * MIB, 10, 140}, {4 * MIB, 13, 140}, {8 * MIB, 15, 140}}},
        {"the time was over, and it is not",
         3,
         8,
         36,
         {{2 * MIB, 10, 140}, {4 * MIB, 13, 140}, {8 * MIB, 15, 140}}},
        {"nothing is reported", 2, 4, 0, {{2 * MIB, 10, 140}, {4 * MIB, 13, 140}}},
        {"nothing", 0, 1, 32, {{0}}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!CHECK_SIZE(
                dti_cache_judge(cases[i].steps, cases[i].count, MIB, cases[i].reported * MIB),
                cases[i].most * MIB))
            printf("  %s\n", cases[i].what);
    }
}

/* rates: gigabytes per second, in the order of the rows. */
static enum dti_streaming_id judge(const double rates[DTI_STREAMING_COUNT])
{
    double seconds[DTI_STREAMING_COUNT];
    for (size_t i = 0; i < DTI_STREAMING_COUNT; i++)
        seconds[i] = rates[i] > 0 ? 1 / rates[i] : 0;
    return dti_streaming_judge(seconds);
}

static void the_fastest_way_is_chosen_if_it_is_clearly_faster(void)
{
    static const struct {
        const char *what;
        enum dti_streaming_id best;
        double rates[DTI_STREAMING_COUNT]; /* PLAIN AHEAD FAR PAGES PAGES_FAR SPREAD; staggered: not
                                              tried */
    } cases[] = {
        {"Zen 5", DTI_STREAMING_FAR, {60.9, 59.3, 59.1, 42.7, 45.8}},
        {"Sapphire Rapids", DTI_STREAMING_PAGES, {16.2, 22.3, 20.0, 28.4, 27.9}},
        {"Zen 4", DTI_STREAMING_SPREAD, {42.0, 44.3, 43.2, 12.2, 23.5, 51.6}},
        {"one stream, near", DTI_STREAMING_AHEAD, {16.2, 22.3, 19.0, 15.0, 15.0}},
        {"prefetching is in the way", DTI_STREAMING_PLAIN, {30, 25, 25, 20, 20}},
        {"the last row", DTI_STREAMING_PAGES_FAR, {10, 11, 12, 13, 14}},
        {"all alike", DTI_STREAMING_FAR, {20, 20, 20, 20, 20}},
        {"a little faster", DTI_STREAMING_FAR, {20.8, 20, 20, 20.9, 20}},
        {"not measured", DTI_STREAMING_FAR, {0}},
        {"cut short", DTI_STREAMING_PAGES, {10, 0, 20, 30, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!CHECK(judge(cases[i].rates) == cases[i].best))
            printf("  %s\n", cases[i].what);
    }
}

/* Not even where the result has half as many bytes as the source, or a quarter. */
static void staggered_streams_are_at_different_places_of_their_pages(void)
{
    enum { PAGE = 4096, LINE = 64 };
    for (size_t id = DTI_STREAMING_STAGGERED; id <= DTI_STREAMING_STAGGERED_AHEAD; id++) {
        const struct dti_streaming *const way = &dti_streamings[id];
        for (unsigned part = 1; part <= 4; part *= 2) {
            const unsigned stretch = way->stretch / part;
            for (unsigned i = 1; i < way->streams; i++)
                CHECK(i * stretch % PAGE >= 2 * LINE && i * stretch % PAGE <= PAGE - 2 * LINE);
        }
    }
}

static void small_work_is_neither_streamed_nor_measured(void)
{
    CHECK(!dti_stores_stream(DTI_STORES_AUTO, 300000));
    CHECK(dti_stores_stream(DTI_STORES_STREAMED, 1));
    CHECK(!dti_stores_stream(DTI_STORES_CACHED, UINT64_MAX));
    CHECK(dti_streaming_for(300000) == &dti_streamings[DTI_STREAMING_PLAIN]);
}

static void large_work_is_judged_by_one_measurement(void)
{
    const struct dti_streaming *const way = dti_streaming_for(64 * MIB);
    const size_t usable = dti_usable_cache_bytes();
    CHECK(way >= dti_streamings && way < dti_streamings + DTI_STREAMING_COUNT);
    CHECK(usable > 0 && usable <= dti_last_cache_bytes());
    CHECK(dti_stores_stream(DTI_STORES_AUTO, UINT64_MAX));
    CHECK(dti_stores_stream(DTI_STORES_AUTO, dti_last_cache_bytes() + 64 * MIB));
    CHECK(dti_streaming_for(256 * MIB) == way);
    CHECK_SIZE(dti_usable_cache_bytes(), usable);
}

/* A benchmark, which takes more time to measure, casts as every other program does. */
static void a_longer_measurement_changes_no_decision(void)
{
    uint64_t least = 4 * MIB;
    while (!dti_stores_stream(DTI_STORES_AUTO, least))
        least += MIB / 2;
    const struct dti_streaming *const way = dti_streaming_for(least * 8);
    dti_usable_cache_measure(50000000);
    const size_t usable = dti_usable_cache_bytes();
    CHECK(usable > 0 && usable <= dti_last_cache_bytes());
    CHECK(dti_stores_stream(DTI_STORES_AUTO, least));
    CHECK(dti_streaming_for(least * 8) == way);
    dti_usable_cache_measure(1000);
    CHECK_SIZE(dti_usable_cache_bytes(), usable);
}

/* However slow the system is to provide memory: without a step, the size that the processor reports
 * would be believed, which may be that of a host with many machines. */
static void one_step_is_measured_in_any_case(void)
{
    struct dti_cache_step steps[DTI_CACHE_STEPS_MAX];
    if (!dti_cpuid_source) /* not an x86 processor: lines cannot be flushed */
        return;
    CHECK_SIZE(dti_cache_measure(steps, 16 * MIB, 64 * MIB, 0), 1);
    CHECK_SIZE(steps[0].bytes, 32 * MIB);
    CHECK(steps[0].left > 0 && steps[0].flushed > 0);
}

/* Spans of streams next to each other and far apart, whole and shortened ones, with unaligned
 * beginning and end. */
static void every_copy_is_one(void)
{
    enum { BYTES = (12 << 20) + 6 * 80000 + 4096 + 300, SLACK = 256 };
    unsigned char *const src = malloc(BYTES + SLACK), *const dst = malloc(BYTES + SLACK);
    if (!CHECK(src && dst))
        goto out;
    for (size_t i = 0; i < BYTES + SLACK; i++)
        src[i] = (unsigned char)(i * 7 + i / 251);
    for (size_t i = 0; i < dti_copy_count; i++) {
        const struct dti_copy *const copy = &dti_copies[i];
        if (!copy->exact || !dti_level_present(copy->level))
            continue;
        for (size_t cut = 0; cut < 130; cut += 26) {
            const size_t n = BYTES - 3 * cut;
            memset(dst, 0xA5, BYTES + SLACK);
            dti_copy_run(copy)(dst + cut, src + 2 * cut / 3, n, dti_copy_stream(copy));
            bool ok = CHECK(memcmp(dst + cut, src + 2 * cut / 3, n) == 0);
            for (size_t at = 0; at < cut; at++)
                ok = ok && dst[at] == 0xA5;
            for (size_t at = cut + n; at < BYTES + SLACK; at++)
                ok = ok && dst[at] == 0xA5;
            if (!CHECK(ok))
                printf("  %s, %zu bytes at %zu\n", copy->name, n, cut);
        }
    }
out:
    free(src);
    free(dst);
}

UNIT_MAIN(the_usable_cache_ends_where_loads_come_from_memory,
          the_fastest_way_is_chosen_if_it_is_clearly_faster,
          staggered_streams_are_at_different_places_of_their_pages,
          small_work_is_neither_streamed_nor_measured, one_step_is_measured_in_any_case,
          large_work_is_judged_by_one_measurement, a_longer_measurement_changes_no_decision,
          every_copy_is_one)

/* SPDX-License-Identifier: MIT
 *
 * Tables of measurements: their items, their memory, and the limits that items are compared with.
 */
#include <math.h>
#include <stdlib.h>

#include "bench/measure/frame.h"
#include "unit.h"

static struct dti_error error;

static bool near(double got, double want)
{
    return fabs(got - want) <= 1e-12 * fabs(want);
}

static void tables_take_as_much_as_they_hold(void)
{
    struct dti_bench_table *const table = calloc(1, sizeof *table);
    if (!CHECK(table))
        return;
    for (size_t i = 0; i < DTI_BENCH_ITEMS_MAX; i++) {
        const struct dti_bench_item *const item = dti_bench_add_item(table, "read", "cpu");
        CHECK(item && item->limit_item == SIZE_MAX);
    }
    CHECK(!dti_bench_add_item(table, "read", "cpu"));
    CHECK_SIZE(table->count, DTI_BENCH_ITEMS_MAX);
    for (int i = 0; i < DTI_BENCH_NOTES_MAX + 3; i++)
        dti_bench_add_note(table, "note %d", i);
    CHECK_SIZE(table->note_count, DTI_BENCH_NOTES_MAX);
    CHECK_STR(table->notes[2], "note 2");
    free(table);
}

static void memory_is_apart_and_takes_turns(void)
{
    static const uint64_t sizes[] = {1, 63, 4096, 4097, 100000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct dti_bench_memory memory;
        struct dti_bench_table table = {.count = 0};
        if (!CHECK(dti_bench_memory_new(&memory, dti_bench_alike(3, sizes[i], DTI_BENCH_COLD), NULL,
                                        &error) == DTI_OK))
            return;
        const size_t sets = memory.sets;
        CHECK(sets * 3 * (sizes[i] + 4095) >= 2 * (uint64_t)dti_usable_cache_bytes());
        for (size_t operand = 0; operand < 6; operand++) {
            unsigned char *const at = dti_bench_memory_at(&memory, operand / 3, operand % 3);
            CHECK((uintptr_t)at % 4096 == 0);
            memset(at, (int)operand + 1, (size_t)sizes[i]);
        }
        for (size_t operand = 0; operand < 6; operand++) {
            const unsigned char *const at = dti_bench_memory_at(&memory, operand / 3, operand % 3);
            CHECK(at[0] == operand + 1 && at[sizes[i] - 1] == operand + 1);
        }
        dti_bench_memory_describe(&memory, &table);
        CHECK_SIZE(table.sets, sets);
        CHECK(table.memory >= sets * 3 * sizes[i] && table.in_cache);
        dti_bench_memory_free(&memory);
    }
}

static void hot_memory_is_one_set(void)
{
    struct dti_bench_memory memory;
    if (!CHECK(dti_bench_memory_new(&memory, dti_bench_alike(2, 1000, DTI_BENCH_HOT), NULL,
                                    &error) == DTI_OK))
        return;
    CHECK_SIZE(memory.sets, 1);
    dti_bench_memory_free(&memory);
}

static void too_much_memory_is_refused(void)
{
    static const uint64_t sizes[] = {UINT64_MAX,     UINT64_MAX - 4095, UINT64_MAX / 2,
                                     UINT64_MAX / 3, (uint64_t)1 << 62, (uint64_t)1 << 50};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct dti_bench_memory memory;
        CHECK(dti_bench_memory_check(dti_bench_alike(3, sizes[i], DTI_BENCH_HOT), &error) ==
              DTI_UNAVAILABLE);
        CHECK(dti_bench_memory_new(&memory, dti_bench_alike(3, sizes[i], DTI_BENCH_COLD), NULL,
                                   &error) == DTI_UNAVAILABLE);
    }
}

/* Runs the limits directly: checks what they copy and the byte counts that they report. */
static void limits_read_and_copy_what_they_say(void)
{
    enum { BYTES = 100001 };
    struct dti_bench_table *const table = calloc(1, sizeof *table);
    struct dti_bench_request request = {.n = BYTES};
    struct dti_frame frame = {.request = &request, .table = table, .threads = 1};
    struct dti_bench_memory memory;
    if (!CHECK(table) || !CHECK(dti_level_choose(NULL, &request.level, &error) == DTI_OK) ||
        !CHECK(dti_bench_memory_new(&memory, dti_bench_alike(2, BYTES, DTI_BENCH_HOT), NULL,
                                    &error) == DTI_OK))
        return;
    dti_frame_add_limits(&frame, &memory, 2, BYTES, true, NULL);
    const size_t copy_count = table->count;
    dti_frame_add_limits(&frame, &memory, 2, BYTES, false, "fp32");
    const size_t count = table->count;
    CHECK(copy_count > 0 && count > copy_count);
    unsigned char *const src = dti_bench_memory_at(&memory, 0, 0), *const dst = dti_bench_memory_at(
                                                                       &memory, 0, 1);
    for (size_t i = 0; i < BYTES; i++)
        src[i] = (unsigned char)(i * 7 + i / 251);
    for (size_t i = 0; i < count; i++) {
        const struct dti_bench_item *const item = &table->items[i];
        CHECK_STR(item->role, i < copy_count ? "copy" : "read");
        CHECK_STR(item->dtype, i < copy_count ? "" : "fp32");
        CHECK(item->limit && item->bytes_read == (i < copy_count ? 1 : 2) * (uint64_t)BYTES);
        CHECK_U64(item->bytes_written, i < copy_count ? BYTES : 0);
        memset(dst, 0, BYTES);
        for (size_t member = 0; member < 3; member++)
            frame.candidates[i].run(frame.candidates[i].context, 0, member, 3);
        CHECK(i >= copy_count || memcmp(src, dst, BYTES) == 0);
    }
    dti_bench_memory_free(&memory);
    free(table);
}

static size_t streams_among(const struct dti_bench_table *table)
{
    size_t streams = 0;
    for (size_t i = 0; i < table->count; i++)
        streams += table->items[i].stream;
    return streams;
}

/* Hot or cold: the measurement finds out what fits in a cache. */
static void limits_leave_no_way_of_storing_out(void)
{
    enum { BYTES = 1000 };
    struct dti_bench_table *const table = calloc(1, sizeof *table);
    struct dti_bench_request request = {.n = BYTES};
    struct dti_frame frame = {.request = &request, .table = table, .threads = 1};
    bool has_stream = false;
    if (!CHECK(table) || !CHECK(dti_level_choose(NULL, &request.level, &error) == DTI_OK))
        return;
    for (size_t i = 0; i < dti_copy_count; i++)
        has_stream = has_stream || (dti_copies[i].exact && dti_copy_stream(&dti_copies[i]) &&
                                    dti_level_includes(request.level, dti_copies[i].level));
    for (int cold = 0; cold < 2; cold++) {
        struct dti_bench_memory memory;
        table->count = 0;
        if (!CHECK(dti_bench_memory_new(
                       &memory, dti_bench_alike(2, BYTES, cold ? DTI_BENCH_COLD : DTI_BENCH_HOT),
                       NULL, &error) == DTI_OK))
            break;
        dti_frame_add_limits(&frame, &memory, 2, BYTES, true, NULL);
        CHECK(memory.in_cache && (memory.sets > 1) == (cold == 1));
        CHECK((streams_among(table) > 0) == has_stream);
        dti_bench_memory_free(&memory);
    }
    free(table);
}

/* Four candidates, three rounds. */
static void best_limit_has_the_highest_rate(void)
{
    double seconds[] = {2, 1, 4, 1, 2, 1, 4, 1, 2, 1, 4, 1};
    enum dti_bench_place places[] = {DTI_BENCH_ALONE, DTI_BENCH_ALONE, DTI_BENCH_ALONE};
    struct dti_bench_table *const table = calloc(1, sizeof *table);
    if (!CHECK(table))
        return;
    table->bench =
        (struct dti_bench){.candidates = 4, .rounds = 3, .seconds = seconds, .places = places};
    struct dti_bench_item *const subject = dti_bench_add_item(table, "dot", "cpu");
    struct dti_bench_item *const slow = dti_bench_add_item(table, "read", "cpu");
    struct dti_bench_item *const fast = dti_bench_add_item(table, "read", "cpu");
    struct dti_bench_item *const other = dti_bench_add_item(table, "read", "cuda:0");
    slow->limit = fast->limit = other->limit = true;
    subject->bytes_read = 600, slow->bytes_read = 100, fast->bytes_read = 1600,
    other->bytes_read = 9999;
    CHECK_SIZE(dti_bench_best_limit(table, "read", "cpu"), 2);
    CHECK_SIZE(dti_bench_best_limit(table, "read", "cuda:0"), 3);
    CHECK(dti_bench_best_limit(table, "dot", "cpu") == SIZE_MAX);
    CHECK(dti_bench_best_limit(table, "copy", "cpu") == SIZE_MAX);
    CHECK_SIZE(dti_bench_fastest(table, "read", DTI_BENCH_ON_CPU, DTI_BENCH_ALONE), 1);
    CHECK_SIZE(dti_bench_fastest(table, "read", DTI_BENCH_WHOLE, DTI_BENCH_ALONE), 4);
    CHECK(near(dti_bench_least_seconds(table, 0, 2), 1.5)); /* 600 of 1600 bytes in 4 seconds */
    CHECK(dti_bench_least_seconds(table, 0, SIZE_MAX) == 0);
    struct dti_bench_figure share;
    CHECK(!dti_bench_of_limit(&share, table, 0, DTI_BENCH_ALONE));
    subject->limit_item = 2; /* 600 / 2 of 1600 / 4 */
    CHECK(dti_bench_of_limit(&share, table, 0, DTI_BENCH_ALONE) && near(share.median, 0.75));
    CHECK(!dti_bench_of_limit(&share, table, 0, DTI_BENCH_FAR));
    subject->operations = 10, fast->operations = 100; /* 5 of 25 */
    CHECK(dti_bench_of_limit(&share, table, 0, DTI_BENCH_ALONE) && near(share.median, 0.2));
    subject->operations = fast->operations = 0;
    subject->bytes_written = 50; /* against a pure read, writes are not counted */
    CHECK(near(dti_bench_least_seconds(table, 0, 2), 1.5));
    fast->bytes_written = 400;
    CHECK(near(dti_bench_least_seconds(table, 0, 2), 1.3));
    free(table);
}

static void copies_are_measured_and_verified(void)
{
    const struct dti_bench_kind *kind = NULL;
    for (size_t i = 0; i < dti_bench_kind_count; i++)
        kind = strcmp(dti_bench_kinds[i]->name, "copy") == 0 ? dti_bench_kinds[i] : kind;
    struct dti_bench_table *const table = calloc(1, sizeof *table);
    struct dti_bench_request request = {
        .n = 10001, .seed = 1, .options = {.nanoseconds = 1000000, .sample_nanoseconds = 10000}};
    if (!CHECK(kind) || !CHECK(table) ||
        !CHECK(dti_level_choose(NULL, &request.level, &error) == DTI_OK))
        return;
    CHECK(dti_bench_check(kind, &request, &error) == DTI_OK);
    if (CHECK(dti_bench_measure(table, kind, &request, NULL, &error) == DTI_OK)) {
        CHECK(table->count >= 4 && table->bench.candidates == table->count);
        for (size_t i = 0; i < table->count; i++) {
            CHECK(table->items[i].limit_item < table->count);
            CHECK(table->items[i].bytes_read + table->items[i].bytes_written >= 10001);
        }
        dti_bench_table_free(table);
    }
    free(table);
}

UNIT_MAIN(tables_take_as_much_as_they_hold, memory_is_apart_and_takes_turns, hot_memory_is_one_set,
          too_much_memory_is_refused, limits_read_and_copy_what_they_say,
          limits_leave_no_way_of_storing_out, best_limit_has_the_highest_rate,
          copies_are_measured_and_verified)

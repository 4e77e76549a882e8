/* SPDX-License-Identifier: MIT
 *
 * Measuring casts: the input data, how the work is divided, and what a measurement must contain.
 * Speed is not checked. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure/frame.h"
#include "unit.h"

enum { N = 32 * DTI_TILE };

static const struct dti_format *format(enum dti_dtype id)
{
    return dti_format_get(id);
}

static double mean_square(const float *numbers, double *ret_mean)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; i < N; i++) {
        sum += (double)numbers[i];
        squares += (double)numbers[i] * (double)numbers[i];
    }
    *ret_mean = sum / N;
    return squares / N;
}

static float *floats(enum dti_dtype dst, enum dti_bench_data data, uint64_t seed)
{
    static float array[N];
    dti_bench_data_fill(array, N, format(DTI_FP32), format(dst), data, seed);
    return array;
}

static void normal_data_has_mean_0_and_deviation_1(void)
{
    double mean;
    const double square = mean_square(floats(DTI_BF16, DTI_BENCH_NORMAL, 1), &mean);
    CHECK(fabs(mean) < 0.02); /* five standard errors */
    CHECK(fabs(square - 1) < 0.03);
    /* a quarter of the range of int8 */
    const double integers = mean_square(floats(DTI_INT8, DTI_BENCH_NORMAL, 1), &mean);
    CHECK(fabs(sqrt(integers) - 32) < 0.5);
}

static void uniform_data_lies_in_1_to_2(void)
{
    double mean;
    const float *const numbers = floats(DTI_BF16, DTI_BENCH_UNIFORM, 1);
    for (size_t i = 0; i < N; i++) {
        if (!CHECK(numbers[i] >= 1 && numbers[i] <= 2))
            break;
    }
    (void)mean_square(numbers, &mean);
    CHECK(fabs(mean - 1.5) < 0.006);
}

static void subnormal_data_is_subnormal_in_the_destination(void)
{
    const float *const half = floats(DTI_FP16, DTI_BENCH_SUBNORMAL, 1);
    size_t negative = 0;
    for (size_t i = 0; i < N; i++) {
        negative += half[i] < 0;
        if (!CHECK(fabsf(half[i]) <= 0x1p-14F))
            break;
    }
    CHECK(negative > N / 100 * 48 && negative < N / 100 * 53);
    const float *const own = floats(DTI_FP64, DTI_BENCH_SUBNORMAL, 1);
    for (size_t i = 0; i < N; i++) {
        if (!CHECK(fabsf(own[i]) <= 0x1p-126F))
            break;
    }
}

static void one_of_a_hundred_is_no_number(void)
{
    const float *const numbers = floats(DTI_BF16, DTI_BENCH_NAN1, 1);
    size_t nans = 0, infinities = 0;
    for (size_t i = 0; i < N; i++) {
        nans += isnan(numbers[i]) != 0;
        infinities += isinf(numbers[i]) != 0;
    }
    CHECK(nans + infinities > N / 125 && nans + infinities < N / 80);
    CHECK(nans > 0 && infinities > 0);
}

static void a_seed_gives_the_same_data(void)
{
    static float first[N];
    memcpy(first, floats(DTI_BF16, DTI_BENCH_NORMAL, 5), sizeof first);
    CHECK(memcmp(first, floats(DTI_BF16, DTI_BENCH_NORMAL, 5), sizeof first) == 0);
    CHECK(memcmp(first, floats(DTI_BF16, DTI_BENCH_NORMAL, 6), sizeof first) != 0);
}

static void bits_are_codes_of_the_dtype(void)
{
    static unsigned char array[N];
    dti_bench_data_fill(array, N, format(DTI_BOOL), format(DTI_FP32), DTI_BENCH_BITS, 1);
    size_t ones = 0;
    for (size_t i = 0; i < N; i++) {
        ones += array[i];
        if (!CHECK(array[i] <= 1))
            break;
    }
    CHECK(ones > N / 100 * 48 && ones < N / 100 * 53);
}

static void parts_cover_everything_once_at_whole_grains(void)
{
    for (size_t n = 0; n < 300; n++) {
        for (size_t size = 1; size <= 9; size++) {
            size_t next = 0;
            for (size_t member = 0; member < size; member++) {
                const struct dti_share share = dti_share_of(n, 16, member, size);
                if (share.count > 0)
                    CHECK_SIZE(share.first, next);
                CHECK(share.count == 0 || share.first % 16 == 0);
                next += share.count;
            }
            if (!CHECK_SIZE(next, n))
                return;
        }
    }
}

static struct dti_bench_cast cast;

static struct dti_bench_request request_of(enum dti_dtype src, enum dti_dtype dst, uint64_t bytes)
{
    struct dti_bench_request request = {
        .cast = &cast,
        .n = bytes,
        .seed = 1,
        .options = {.nanoseconds = 1000000, .sample_nanoseconds = 100000, .seed = 1},
    };
    CHECK(dti_level_choose(getenv("DTINFO_CPU"), &request.level, NULL) == DTI_OK);
    cast = (struct dti_bench_cast){
        .src = *format(src), .dst = *format(dst), .levels = {request.level}, .level_count = 1};
    return request;
}

static size_t casts_in(const struct dti_bench_table *table)
{
    size_t casts = 0;
    for (size_t i = 0; i < table->count; i++)
        casts += !table->items[i].limit;
    return casts;
}

static void check_run(const struct dti_bench_request *request, struct dti_team *team,
                      uint64_t elements, uint64_t written)
{
    struct dti_bench_table table;
    struct dti_error error;
    if (!CHECK(dti_bench_measure(&table, &dti_bench_kind_cast, request, team, &error) == DTI_OK)) {
        printf("%s\n", error.text);
        return;
    }
    const struct dti_bench_item *const first = &table.items[0];
    const size_t casts = casts_in(&table);
    CHECK_U64(table.elements, elements);
    CHECK_U64(first->bytes_written, written);
    CHECK_SIZE(casts, cast.level_count * (cast.loss ? 2 : 1));
    size_t copies = 0;
    for (size_t i = 0; i < table.count; i++) {
        const struct dti_bench_item *const item = &table.items[i];
        CHECK((strcmp(item->role, "cast") == 0) == (i < casts));
        if (strcmp(item->role, "copy") == 0) {
            const uint64_t both = item->bytes_read + item->bytes_written;
            CHECK(both / 2 == (first->bytes_read + first->bytes_written) / 2);
            copies++;
        }
        CHECK(strcmp(item->role, "shape") != 0 || (item->bytes_read == first->bytes_read &&
                                                   item->bytes_written == first->bytes_written));
    }
    CHECK(copies > 0);
    CHECK(dti_bench_fastest(&table, "copy", DTI_BENCH_ON_CPU, dti_bench_main_place(&table.bench)) <
          table.count);
    dti_bench_table_free(&table);
}

static void a_cast_is_measured_beside_copies(void)
{
    struct dti_bench_request request = request_of(DTI_FP32, DTI_BF16, 4099);
    check_run(&request, NULL, 1024, 2048);
    request = request_of(DTI_FP4_E2M1, DTI_FP16, 1000);
    check_run(&request, NULL, 2000, 4000);
    request = request_of(DTI_FP32, DTI_FP8_E4M3FN, 40000);
    cast.loss = true;
    request.cache = DTI_BENCH_COLD;
    cast.data = DTI_BENCH_NAN1;
    check_run(&request, NULL, 10000, 10000);
}

static void threads_share_a_cast(void)
{
    struct dti_team *team;
    if (!CHECK(dti_team_new(&team, 3, DTI_WAIT_SPIN, false, NULL) == DTI_OK))
        return;
    struct dti_bench_request request = request_of(DTI_FP32, DTI_INT8, 100000);
    check_run(&request, team, 25000, 25000);
    dti_team_free(team);
}

/* Available levels that share the same kernels form one row, under the level that the kernels need.
 */
static void levels_of_the_same_kernels_are_one_row(void)
{
    struct dti_bench_request request = request_of(DTI_FP32, DTI_BF16, 4096);
    struct dti_bench_table table;
    const enum dti_level highest = request.level;
    cast.level_count = 0;
    for (unsigned i = DTI_LEVEL_COUNT; i-- > 0;) {
        if (dti_level_includes(highest, (enum dti_level)i))
            cast.levels[cast.level_count++] = (enum dti_level)i;
    }
    if (!CHECK(dti_bench_measure(&table, &dti_bench_kind_cast, &request, NULL, NULL) == DTI_OK))
        return;
    const size_t casts = casts_in(&table);
    for (size_t i = 0; i < casts; i++) {
        const struct dti_bench_item *const row = &table.items[i];
        for (size_t j = 0; j < i; j++)
            CHECK(strcmp(row->kernel, table.items[j].kernel) != 0 &&
                  row->level != table.items[j].level);
        CHECK(row->level == DTI_LEVEL_SCALAR || strstr(row->kernel, dti_level_name(row->level)));
        CHECK(strstr(row->kernel, "dti_") == NULL);
    }
    CHECK(table.items[casts - 1].level == DTI_LEVEL_SCALAR);
    dti_bench_table_free(&table);

    cast.levels[0] = cast.levels[1] = highest; /* the same level twice */
    cast.level_count = 2;
    if (!CHECK(dti_bench_measure(&table, &dti_bench_kind_cast, &request, NULL, NULL) == DTI_OK))
        return;
    CHECK_SIZE(casts_in(&table), 2);
    dti_bench_table_free(&table);
}

static void more_threads_than_cpus_are_neither_near_nor_far(void)
{
    struct dti_team *team;
    struct dti_bench_table table;
    const size_t threads = dti_cpu_count() + 1;
    if (!CHECK(dti_team_new(&team, threads, DTI_WAIT_SPIN, false, NULL) == DTI_OK))
        return;
    struct dti_bench_request request = request_of(DTI_FP32, DTI_BF16, 4096);
    request.options.cpus = threads - 1;
    if (CHECK(dti_bench_measure(&table, &dti_bench_kind_cast, &request, team, NULL) == DTI_OK)) {
        for (size_t i = 0; i < table.bench.rounds; i++)
            CHECK(table.bench.places[i] == DTI_BENCH_CROWDED);
        dti_bench_table_free(&table);
    }
    dti_team_free(team);
}

static void what_cannot_be_measured_is_said_at_once(void)
{
    struct dti_error error;
    struct dti_bench_request request = request_of(DTI_FP32, DTI_BF16, 3);
    CHECK(dti_bench_check(&dti_bench_kind_cast, &request, &error) == DTI_USAGE);
    request.n = UINT64_C(1) << 50;
    CHECK(dti_bench_check(&dti_bench_kind_cast, &request, &error) == DTI_UNAVAILABLE);
    request.n = 4096;
    CHECK(dti_bench_check(&dti_bench_kind_cast, &request, &error) == DTI_OK);
}

UNIT_MAIN(normal_data_has_mean_0_and_deviation_1, uniform_data_lies_in_1_to_2,
          subnormal_data_is_subnormal_in_the_destination, one_of_a_hundred_is_no_number,
          a_seed_gives_the_same_data, bits_are_codes_of_the_dtype,
          parts_cover_everything_once_at_whole_grains, a_cast_is_measured_beside_copies,
          threads_share_a_cast, levels_of_the_same_kernels_are_one_row,
          more_threads_than_cpus_are_neither_near_nor_far, what_cannot_be_measured_is_said_at_once)

/* SPDX-License-Identifier: MIT
 *
 * Checks the benchmark itself: the same cast as two candidates of one run must be equally fast,
 * within 1 %. Exits with 1 if it is not and the run was undisturbed, or if a run fails. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/measure/bench_table.h"

static bool same_path(uint64_t bytes, size_t threads)
{
    struct dti_bench_cast cast = {
        .src = *dti_format_get(DTI_FP32), .dst = *dti_format_get(DTI_BF16), .level_count = 2};
    struct dti_bench_request request = {
        .cast = &cast,
        .n = bytes,
        .seed = 1,
        .options = {.nanoseconds = UINT64_C(10000000000), .seed = 1},
    };
    struct dti_bench_table result;
    struct dti_team *team = NULL;
    struct dti_error error;
    if (dti_level_choose(getenv("DTINFO_CPU"), &request.level, &error) != DTI_OK)
        return false;
    cast.levels[0] = cast.levels[1] = request.level;
    enum dti_status status = DTI_OK;
    if (threads > 1)
        status = dti_team_new(&team, threads, DTI_WAIT_SPIN, true, &error);
    if (status == DTI_OK)
        status = dti_bench_measure(&result, &dti_bench_kind_cast, &request, team, &error);
    dti_team_free(team);
    if (status != DTI_OK) {
        printf("%s\n", error.text);
        return false;
    }
    const enum dti_bench_place place = dti_bench_main_place(&result.bench);
    struct dti_bench_figure ratio, time;
    dti_bench_ratio(&ratio, &result.bench, 1, 0, place);
    dti_bench_time(&time, &result.bench, 0, place);
    const bool met = ratio.median > 0.99 && ratio.median < 1.01;
    printf("the same cast twice, %4" PRIu64 " KiB, %zu thread(s), %s: ratio %.4f (%.4f to %.4f), "
           "MAD %.2f %%, %zu rounds, %s%s\n",
           bytes / 1024, threads, dti_bench_place_name(place), ratio.median, ratio.low, ratio.high,
           time.mad * 100, result.bench.rounds,
           met                      ? "met"
           : result.bench.disturbed ? "cannot tell on a busy machine"
                                    : "MISSED",
           result.bench.disturbed ? ", disturbed" : "");
    const bool missed = !met && !result.bench.disturbed;
    dti_bench_table_free(&result);
    return !missed;
}

int main(void)
{
    static const uint64_t sizes[] = {4 << 10, 1 << 20, 64 << 20};
    bool met = true;
    for (size_t threads = 1; threads <= 2 && threads <= dti_cpu_count(); threads++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            met = same_path(sizes[i], threads) && met;
    }
    return met ? EXIT_SUCCESS : EXIT_FAILURE;
}

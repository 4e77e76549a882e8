/* SPDX-License-Identifier: MIT
 *
 * Warnings about casts that move fewer bytes than another of the same run and take longer. */
#ifndef DTINFO_CLI_BENCH_NARROW_H
#define DTINFO_CLI_BENCH_NARROW_H

#include "answers/bench_answer.h"
#include "cli/shell/command.h"

enum { BENCH_CASTS_MAX = 64, BENCH_CAST_NAME = 48 };

/* A cast that was measured beyond the caches; times are of an element. */
struct bench_cast_seen {
    char src[BENCH_CAST_NAME], dst[BENCH_CAST_NAME];
    unsigned src_width, dst_width;
    size_t threads;
    enum dti_bench_place place;
    double seconds, low, high; /* the median and its interval */
};
struct bench_casts {
    struct bench_cast_seen seen[BENCH_CASTS_MAX];
    size_t count;
};

/* Whether the narrower of `now` and an earlier cast is clearly slower, with the same threads; if so
 * which earlier one, of the largest difference, and whether `now` is the slow one. */
bool dti_bench_cast_is_slow(const struct bench_cast_seen *seen, size_t count,
                            const struct bench_cast_seen *now, size_t *ret_other, bool *ret_now);
/* Adds a finished measurement and warns if it shows one. */
void dti_bench_casts_see(struct bench_casts *casts, const struct dti_bench_result *result,
                         const struct dti_context *cx);

#endif

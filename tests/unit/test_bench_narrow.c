/* SPDX-License-Identifier: MIT
 *
 * Casts that move fewer bytes but take longer, with synthetic times. */
#include "cli/bench/bench_job.h"

#include "unit.h"

static struct bench_cast_seen seen_of(unsigned src, unsigned dst, double nanoseconds)
{
    return (struct bench_cast_seen){.src_width = src,
                                    .dst_width = dst,
                                    .threads = 1,
                                    .place = DTI_BENCH_ALONE,
                                    .seconds = nanoseconds * 1e-9,
                                    .low = nanoseconds * 0.98e-9,
                                    .high = nanoseconds * 1.02e-9};
}

static void the_narrower_cast_should_not_be_slower(void)
{
    const struct bench_cast_seen seen[] = {seen_of(32, 16, 0.12), seen_of(64, 32, 0.22),
                                           seen_of(16, 32, 0.12)};
    size_t other = 99;
    bool slow = false;
    struct bench_cast_seen now = seen_of(32, 8, 0.18);
    CHECK(dti_bench_cast_is_slow(seen, 3, &now, &other, &slow) && other == 0 && slow);
    now = seen_of(32, 8, 0.10);
    CHECK(!dti_bench_cast_is_slow(seen, 3, &now, &other, &slow));
    /* only slightly slower, or too uncertain */
    now = seen_of(32, 8, 0.131);
    CHECK(!dti_bench_cast_is_slow(seen, 3, &now, &other, &slow));
    now = seen_of(32, 8, 0.18);
    now.low = 0.11e-9;
    CHECK(!dti_bench_cast_is_slow(seen, 3, &now, &other, &slow));
    /* other threads */
    now = seen_of(32, 8, 0.18);
    now.threads = 2;
    CHECK(!dti_bench_cast_is_slow(seen, 3, &now, &other, &slow));
    /* neither is narrower: 8 bits more in, 8 fewer out */
    now = seen_of(24, 24, 0.5);
    CHECK(!dti_bench_cast_is_slow(seen, 1, &now, &other, &slow));
}

static void the_wider_cast_may_come_later(void)
{
    const struct bench_cast_seen seen[] = {seen_of(32, 16, 0.20), seen_of(16, 8, 0.30)};
    const struct bench_cast_seen now = seen_of(64, 32, 0.10);
    size_t other = 99;
    bool slow = true;
    CHECK(dti_bench_cast_is_slow(seen, 2, &now, &other, &slow) && other == 1 && !slow);
}

UNIT_MAIN(the_narrower_cast_should_not_be_slower, the_wider_cast_may_come_later)

/* SPDX-License-Identifier: MIT
 *
 * Clocks and the resolution of the monotonic one. */
#include "util/run/clock.h"

#include <time.h>

static uint64_t now_of(clockid_t clock)
{
    struct timespec now = {0};
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t dti_clock_now(void)
{
    return now_of(CLOCK_MONOTONIC);
}

uint64_t dti_clock_thread(void)
{
    return now_of(CLOCK_THREAD_CPUTIME_ID);
}

struct timespec dti_clock_soon(unsigned milliseconds)
{
    struct timespec at = {0};
    (void)clock_gettime(CLOCK_REALTIME, &at);
    const long more = at.tv_nsec + (long)(milliseconds % 1000) * 1000000;
    at.tv_sec += (time_t)(milliseconds / 1000) + more / 1000000000;
    at.tv_nsec = more % 1000000000;
    return at;
}

uint64_t dti_clock_resolution(void)
{
    enum { TRIES = 64 };
    uint64_t smallest = UINT64_MAX;
    for (int i = 0; i < TRIES; i++) {
        const uint64_t start = dti_clock_now();
        uint64_t next = start;
        while (next == start)
            next = dti_clock_now();
        if (next - start < smallest)
            smallest = next - start;
    }
    return smallest;
}

/* SPDX-License-Identifier: MIT
 *
 * Monotonic time and processor time, for measuring durations. */
#ifndef UTIL_RUN_CLOCK_H
#define UTIL_RUN_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds since an arbitrary start. */
uint64_t dti_clock_now(void);

/* Processor time of the calling thread in nanoseconds, which other load on the machine changes
 * little. */
uint64_t dti_clock_thread(void);

/* That many milliseconds from now, for pthread_cond_timedwait() with the default clock. If that
 * clock is set meanwhile, the wait is shorter or longer. */
struct timespec dti_clock_soon(unsigned milliseconds);

/* The smallest difference observed between two readings, in nanoseconds, at least 1. Includes
 * the cost of a reading. */
uint64_t dti_clock_resolution(void);

#endif

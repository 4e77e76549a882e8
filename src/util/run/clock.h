/* SPDX-License-Identifier: MIT
 *
 * Monotonic time, for measuring durations. */
#ifndef UTIL_RUN_CLOCK_H
#define UTIL_RUN_CLOCK_H

#include <stdint.h>

/* Nanoseconds since an arbitrary start. */
uint64_t dti_clock_now(void);

/* The smallest difference observed between two readings, in nanoseconds, at least 1. Includes
 * the cost of a reading. */
uint64_t dti_clock_resolution(void);

#endif

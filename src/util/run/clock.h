/* SPDX-License-Identifier: MIT
 *
 * Time that only goes forward, for measuring durations. */
#ifndef UTIL_RUN_CLOCK_H
#define UTIL_RUN_CLOCK_H

#include <stdint.h>

/* Nanoseconds since some moment. */
uint64_t dti_clock_now(void);

/* The smallest step that two readings were seen to differ by, in nanoseconds, at least 1: it holds
 * the cost of a reading too. */
uint64_t dti_clock_resolution(void);

#endif

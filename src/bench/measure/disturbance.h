/* SPDX-License-Identifier: MIT
 *
 * Causes for which a sample is dropped. */
#ifndef DTINFO_BENCH_DISTURBANCE_H
#define DTINFO_BENCH_DISTURBANCE_H

#include <stdint.h>

/* How often the calling thread had to give its CPU away; 0 where the system does not tell. */
long dti_preemptions(void);

/* What the hypervisor has taken from all CPUs so far, in clock ticks; 0 where that is not known. */
uint64_t dti_stolen_ticks(void);

#endif

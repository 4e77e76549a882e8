/* SPDX-License-Identifier: MIT
 *
 * Memory measurements for streaming.c; they allocate and free their own memory. */
#ifndef KERNELS_STREAMING_MEASURE_H
#define KERNELS_STREAMING_MEASURE_H

#include "kernels/streaming.h"

/* Measures steps that double from twice `least` up to `most` bytes, until time runs out (after the
 * first step) or a step does not stay in a cache. Returns the number of steps; 0 if lines cannot be
 * flushed or memory is missing. */
size_t dti_cache_measure(struct dti_cache_step steps[DTI_CACHE_STEPS_MAX], size_t least,
                         size_t most, uint64_t nanoseconds);
/* Times the ways of moving the same data, with the traffic of a cast from 4 to 2 bytes, whose
 * streams are as near to each other as this short measurement needs; leaves the other `seconds`
 * unchanged, and all of them if there is no kernel or no memory. */
void dti_streaming_times(double seconds[DTI_STREAMING_COUNT], uint64_t nanoseconds);

#endif

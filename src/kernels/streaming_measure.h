/* SPDX-License-Identifier: MIT
 *
 * Measurements of memory for streaming.c, with memory of their own, which they give back. */
#ifndef KERNELS_STREAMING_MEASURE_H
#define KERNELS_STREAMING_MEASURE_H

#include "kernels/streaming.h"

/* Steps that double from twice `least` to `most` bytes, as many as the time allows and until one
 * does not stay in a cache; 0 where lines cannot be flushed or memory is missing. */
size_t dti_cache_measure(struct dti_cache_step steps[DTI_CACHE_STEPS_MAX], size_t least,
                         size_t most, uint64_t nanoseconds);
/* Times of moving the same data from memory in each way, a cast's traffic of 4 bytes in and 2 out;
 * leaves them alone if there is no kernel or no memory. */
void dti_streaming_times(double seconds[DTI_STREAMING_COUNT], uint64_t nanoseconds);

#endif

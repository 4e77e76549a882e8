/* SPDX-License-Identifier: MIT
 *
 * What copies on the CPU and those to, from and on a CUDA device share. */
#ifndef DTINFO_BENCH_COPY_DEVICE_H
#define DTINFO_BENCH_COPY_DEVICE_H

#include "bench/measure/frame.h"

extern const struct dti_bench_workload dti_copy_on_device;

/* Everything is beside the fastest of its sort; making memory beside writing it. */
void dti_copy_set_beside(struct dti_bench_table *table);
/* Bytes that no faulty copy makes by itself. */
void dti_copy_make_pattern(unsigned char *memory, size_t size, uint64_t seed);

#endif

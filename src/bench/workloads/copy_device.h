/* SPDX-License-Identifier: MIT
 *
 * Shared by copies on the CPU and copies to, from and on a CUDA device. */
#ifndef DTINFO_BENCH_COPY_DEVICE_H
#define DTINFO_BENCH_COPY_DEVICE_H

#include "bench/measure/frame.h"

extern const struct dti_bench_workload dti_copy_on_device;

/* Each is compared with the fastest of its sort; creating memory with writing it. */
void dti_copy_set_beside(struct dti_bench_table *table);
/* Bytes that a faulty copy cannot produce by accident. */
void dti_copy_make_pattern(unsigned char *memory, size_t size, uint64_t seed);

#endif

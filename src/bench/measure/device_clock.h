/* SPDX-License-Identifier: MIT
 *
 * Time by a device's own events. */
#ifndef DTINFO_BENCH_DEVICE_CLOCK_H
#define DTINFO_BENCH_DEVICE_CLOCK_H

#include "dtinfo/gpu.h"

/* Ends a sample of what was queued since `begin` was recorded: waits for it, and returns its
 * seconds. status: whether all of it could be queued. Less than 0 when anything failed. */
double dti_device_seconds(struct dti_gpu_stream *stream, struct dti_gpu_event *begin,
                          struct dti_gpu_event *end, enum dti_status status,
                          struct dti_error *reterr);

#endif

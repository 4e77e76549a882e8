/* SPDX-License-Identifier: MIT
 *
 * Using a CUDA device: memory, streams, kernels, events, through the driver only. Every call of the
 * driver has a time limit (dti_gpu_timeout()): a driver call that does not return, and a device
 * that reports a fault, leave the device lost, and every later call fails at once with the first
 * reason. Functions may be called by several threads; a stream by one at a time.
 *
 * Statuses: DTI_UNAVAILABLE (no driver, no device, too old, no kernels built in), DTI_NO_MEMORY (of
 * the device: try less), DTI_DEVICE_FAILED (lost: what was not finished means nothing). */
#ifndef DEVICES_GPU_GPU_H
#define DEVICES_GPU_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "devices/device.h"
#include "devices/gpu/gpu_kernels.h"
#include "dtinfo/error.h"

struct dti_gpu;
struct dti_gpu_stream;
struct dti_gpu_event;
typedef uint64_t dti_gpu_address; /* 0: none */

/* Opens device `number`: its primary context, and the kernels for it. Its module is loaded at the
 * first launch or dti_gpu_load(). Fails with DTI_UNAVAILABLE, saying how many devices there are. */
enum dti_status dti_gpu_open(struct dti_gpu **ret, unsigned number, struct dti_error *reterr);
/* Gives back what the device has of the process, unless its driver hangs. Everything that was made
 * for it is freed before. NULL is fine. */
void dti_gpu_close(struct dti_gpu *gpu);
const struct dti_gpu_facts *dti_gpu_facts(const struct dti_gpu *gpu);
bool dti_gpu_is_lost(struct dti_gpu *gpu);
/* Whether a driver or a kernel was left hanging in this process. exit() would wait for it, so
 * main() must end by _exit(). Until then it may read and write the host memory that was given to
 * calls which did not succeed, and to those that were queued and not finished: that memory must be
 * neither freed nor used again. */
bool dti_gpu_hangs(void);
/* Makes the kernels ready (the driver compiles them once for each device); *ret_seconds is what it
 * took, 0 when they were. */
enum dti_status dti_gpu_load(struct dti_gpu *gpu, double *ret_seconds, struct dti_error *reterr);
/* Bytes that can be allocated now, about. */
enum dti_status dti_gpu_free_bytes(struct dti_gpu *gpu, uint64_t *ret_bytes,
                                   struct dti_error *reterr);
/* Seconds that a call may take: 30, or DTINFO_CUDA_TIMEOUT. */
double dti_gpu_timeout(void);
/* Reads its value. Fails with DTI_BAD_ENVIRONMENT. */
enum dti_status dti_gpu_timeout_parse(const char *text, double *ret, struct dti_error *reterr);

/* Memory of the device, at least 256-byte aligned; and memory of the host that the device reaches
 * by itself (pinned), page-aligned. */
enum dti_status dti_gpu_alloc(struct dti_gpu *gpu, uint64_t size, dti_gpu_address *ret,
                              struct dti_error *reterr);
void dti_gpu_free(struct dti_gpu *gpu, dti_gpu_address memory);
enum dti_status dti_gpu_host_alloc(struct dti_gpu *gpu, size_t size, void **ret,
                                   struct dti_error *reterr);
void dti_gpu_host_free(struct dti_gpu *gpu, void *memory);

/* Work in order, concurrent with other streams. */
enum dti_status dti_gpu_stream_new(struct dti_gpu *gpu, struct dti_gpu_stream **ret,
                                   struct dti_error *reterr);
void dti_gpu_stream_free(struct dti_gpu_stream *stream); /* NULL is fine */

/* Queued; host memory that is not pinned is done with when they return. */
enum dti_status dti_gpu_upload(struct dti_gpu_stream *stream, dti_gpu_address dst, const void *src,
                               size_t size, struct dti_error *reterr);
enum dti_status dti_gpu_download(struct dti_gpu_stream *stream, void *dst, dti_gpu_address src,
                                 size_t size, struct dti_error *reterr);
enum dti_status dti_gpu_copy(struct dti_gpu_stream *stream, dti_gpu_address dst,
                             dti_gpu_address src, size_t size, struct dti_error *reterr);
enum dti_status dti_gpu_fill(struct dti_gpu_stream *stream, dti_gpu_address dst, uint8_t byte,
                             size_t size, struct dti_error *reterr);
/* args: the kernel's parameter struct (gpu_kernels.h), copied. items: how many threads have work;
 * kernels go on in strides of the grid, which is of the device's size. */
enum dti_status dti_gpu_launch(struct dti_gpu_stream *stream, enum dti_gpu_kernel kernel,
                               const void *args, size_t args_size, uint64_t items,
                               struct dti_error *reterr);
/* Waits for all that was queued. What was downloaded counts from here on, if it is DTI_OK. */
enum dti_status dti_gpu_finish(struct dti_gpu_stream *stream, struct dti_error *reterr);

/* Moments on a stream, by the device's clock. */
enum dti_status dti_gpu_event_new(struct dti_gpu *gpu, struct dti_gpu_event **ret,
                                  struct dti_error *reterr);
void dti_gpu_event_free(struct dti_gpu_event *event); /* NULL is fine */
enum dti_status dti_gpu_record(struct dti_gpu_stream *stream, struct dti_gpu_event *event,
                               struct dti_error *reterr);
/* The stream waits for the event before what is queued next. */
enum dti_status dti_gpu_wait(struct dti_gpu_stream *stream, struct dti_gpu_event *event,
                             struct dti_error *reterr);
/* Both have passed (after dti_gpu_finish()). */
enum dti_status dti_gpu_elapsed(struct dti_gpu_event *from, struct dti_gpu_event *to,
                                double *ret_seconds, struct dti_error *reterr);

/* For libraries based on the driver, such as cuBLASLt: makes the context current in the calling
 * thread; the driver's own handle of a stream (CUstream). */
enum dti_status dti_gpu_enter(struct dti_gpu *gpu, struct dti_error *reterr);
void *dti_gpu_stream_handle(struct dti_gpu_stream *stream);

#endif

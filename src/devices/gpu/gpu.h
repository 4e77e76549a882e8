/* SPDX-License-Identifier: MIT
 *
 * Access to a CUDA device through the driver API only: memory, streams, kernels, events. Every
 * driver call has a time limit (dti_gpu_timeout()). If a call does not return, or the device
 * reports a fault, the device is lost: every later call fails at once with the first reason.
 * Functions are thread-safe, but a stream may be used by only one thread at a time.
 *
 * Statuses: DTI_UNAVAILABLE (no driver, no device, too old, no kernels built in), DTI_NO_MEMORY
 * (of the device: try less), DTI_DEVICE_FAILED (lost: discard unfinished results). */
#ifndef DEVICES_GPU_GPU_H
#define DEVICES_GPU_GPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "devices/device.h"
#include "devices/gpu/gpu_kernels.h"
#include "util/error.h"

struct dti_gpu;
struct dti_gpu_stream;
struct dti_gpu_event;
typedef uint64_t dti_gpu_address; /* 0: none */

/* Opens device `number` and retains its primary context. Its kernels are loaded at the first
 * launch or by dti_gpu_load(). Fails with DTI_UNAVAILABLE, stating how many devices there are. */
enum dti_status dti_gpu_open(struct dti_gpu **ret, unsigned number, struct dti_error *reterr);
/* Releases the device's resources, unless its driver hangs. Free everything that was made for it
 * first. NULL is fine. */
void dti_gpu_close(struct dti_gpu *gpu);
const struct dti_gpu_facts *dti_gpu_facts(const struct dti_gpu *gpu);
bool dti_gpu_is_lost(struct dti_gpu *gpu);
/* Whether a driver call or a kernel hangs in this process. exit() would wait for it, so main()
 * must use _exit(). Until then it may access the host memory passed to calls that failed, or
 * that were queued and not finished: do not free or reuse that memory. */
bool dti_gpu_hangs(void);
/* Loads the kernels, which the driver compiles once per device. *ret_seconds: the time that
 * took, or 0 if they were loaded before. */
enum dti_status dti_gpu_load(struct dti_gpu *gpu, double *ret_seconds, struct dti_error *reterr);
/* Approximate bytes that can be allocated now. */
enum dti_status dti_gpu_free_bytes(struct dti_gpu *gpu, uint64_t *ret_bytes,
                                   struct dti_error *reterr);
/* Time limit of a call in seconds: 30, or DTINFO_CUDA_TIMEOUT. */
double dti_gpu_timeout(void);
/* Parses the value of DTINFO_CUDA_TIMEOUT. Fails with DTI_BAD_ENVIRONMENT. */
enum dti_status dti_gpu_timeout_parse(const char *text, double *ret, struct dti_error *reterr);

/* Device memory, aligned to at least 256 bytes; and pinned host memory, which the device
 * accesses directly, page-aligned. */
enum dti_status dti_gpu_alloc(struct dti_gpu *gpu, uint64_t size, dti_gpu_address *ret,
                              struct dti_error *reterr);
void dti_gpu_free(struct dti_gpu *gpu, dti_gpu_address address);
enum dti_status dti_gpu_host_alloc(struct dti_gpu *gpu, size_t size, void **ret,
                                   struct dti_error *reterr);
void dti_gpu_host_free(struct dti_gpu *gpu, void *host);

/* A stream: work runs in order, concurrently with other streams. */
enum dti_status dti_gpu_stream_new(struct dti_gpu *gpu, struct dti_gpu_stream **ret,
                                   struct dti_error *reterr);
void dti_gpu_stream_free(struct dti_gpu_stream *stream); /* NULL is fine */

/* Asynchronous; host memory that is not pinned may be reused when they return. */
enum dti_status dti_gpu_upload(struct dti_gpu_stream *stream, dti_gpu_address dst, const void *src,
                               size_t size, struct dti_error *reterr);
enum dti_status dti_gpu_download(struct dti_gpu_stream *stream, void *dst, dti_gpu_address src,
                                 size_t size, struct dti_error *reterr);
enum dti_status dti_gpu_copy(struct dti_gpu_stream *stream, dti_gpu_address dst,
                             dti_gpu_address src, size_t size, struct dti_error *reterr);
enum dti_status dti_gpu_fill(struct dti_gpu_stream *stream, dti_gpu_address dst, uint8_t byte,
                             size_t size, struct dti_error *reterr);
/* args: the kernel's parameter struct (gpu_kernels.h), which is copied. items: number of threads
 * with work. The grid is sized for the device; kernels use grid-stride loops. */
enum dti_status dti_gpu_launch(struct dti_gpu_stream *stream, enum dti_gpu_kernel kernel,
                               const void *args, size_t args_size, uint64_t items,
                               struct dti_error *reterr);
/* Waits for all queued work. Downloaded data is valid only after this returns DTI_OK. */
enum dti_status dti_gpu_finish(struct dti_gpu_stream *stream, struct dti_error *reterr);

/* Timestamps on a stream, by the device's clock. */
enum dti_status dti_gpu_event_new(struct dti_gpu *gpu, struct dti_gpu_event **ret,
                                  struct dti_error *reterr);
void dti_gpu_event_free(struct dti_gpu_event *event); /* NULL is fine */
enum dti_status dti_gpu_record(struct dti_gpu_stream *stream, struct dti_gpu_event *event,
                               struct dti_error *reterr);
/* Makes the stream wait for the event before any later work. */
enum dti_status dti_gpu_wait(struct dti_gpu_stream *stream, struct dti_gpu_event *event,
                             struct dti_error *reterr);
/* Seconds between two events, which must both have passed (after dti_gpu_finish()). */
enum dti_status dti_gpu_elapsed(struct dti_gpu_event *from, struct dti_gpu_event *to,
                                double *ret_seconds, struct dti_error *reterr);

/* For libraries on top of the driver, such as cuBLASLt: makes the context current in the calling
 * thread; returns the driver's stream handle (CUstream). */
enum dti_status dti_gpu_enter(struct dti_gpu *gpu, struct dti_error *reterr);
void *dti_gpu_stream_handle(struct dti_gpu_stream *stream);

#endif

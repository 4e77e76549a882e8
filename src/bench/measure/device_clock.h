/* SPDX-License-Identifier: MIT
 *
 * Time by a device's own events, and what else its measurements share. */
#ifndef DTINFO_BENCH_DEVICE_CLOCK_H
#define DTINFO_BENCH_DEVICE_CLOCK_H

#include "dtinfo/bench_table.h"
#include "dtinfo/gpu.h"

/* Queues a pass over one set of operands. */
typedef enum dti_status dti_device_pass_fn(void *context, size_t set, struct dti_error *reterr);
/* What a candidate does: passes over sets that take turns. */
struct dti_device_work {
    struct dti_device_clock *clock;
    dti_device_pass_fn *pass;
    void *context;
    size_t sets;
    bool host_works; /* the host's clock is the one to ask */
};

struct dti_device_clock {
    struct dti_gpu_stream *stream; /* what is timed is queued there */
    struct dti_gpu_stream *own;    /* the same, if the clock opened it */
    struct dti_gpu_event *begin, *end;
    struct dti_error error; /* of the pass that failed */
    struct dti_bench_candidate candidates[DTI_BENCH_ITEMS_MAX];
    struct dti_device_work work[DTI_BENCH_ITEMS_MAX];
};
/* stream: the one to time, or NULL to open one. Close it after a failure, too. */
enum dti_status dti_device_clock_open(struct dti_device_clock *clock, struct dti_gpu *gpu,
                                      struct dti_gpu_stream *stream, struct dti_error *reterr);
void dti_device_clock_close(struct dti_device_clock *clock);

/* Appends an item of a role, a limit or a subject, and what it does; NULL when there is no more
 * room.
 */
struct dti_bench_item *dti_device_add(struct dti_device_clock *clock, struct dti_bench_table *table,
                                      const char *role, struct dti_gpu *gpu,
                                      const struct dti_device_work *work, bool limit);
/* `timed` of a candidate, of a struct dti_device_work: passes are queued without a pause. */
double dti_device_time(void *work, size_t set, uint64_t passes);
/* Measures the items that were added; a pass that failed says why. */
enum dti_status dti_device_bench_run(struct dti_device_clock *clock, struct dti_bench_table *table,
                                     const struct dti_bench_options *options,
                                     struct dti_error *reterr);

/* How far apart two operands of `bytes` are, and how many pairs of them take turns so that a cold
 * cache does not help; false when they are more than there can be. */
bool dti_device_lay_out(const struct dti_bench_request *request, uint64_t bytes,
                        uint64_t *ret_stride, size_t *ret_sets);
/* The bytes of the device's second cache, or a guess. */
uint64_t dti_device_cache_bytes(struct dti_gpu *gpu);
/* Whether a device has so much memory left; DTI_UNAVAILABLE. */
enum dti_status dti_device_has_memory(struct dti_gpu *gpu, uint64_t bytes,
                                      struct dti_error *reterr);

#endif

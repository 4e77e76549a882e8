/* SPDX-License-Identifier: MIT
 *
 * Internals of a runner, for the files of this folder: a device, and its lanes, each taken by
 * one thread with a block. */
#ifndef CONVERT_RUNNER_PARTS_H
#define CONVERT_RUNNER_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "convert/runner.h"
#include "devices/gpu/gpu.h"

enum {
    DTI_RUNNER_LANES = 8, /* maximum */
    DTI_LANE_SLOTS = 2,   /* double buffering: one is copied out while the other is copied in */
};

/* A stream, device memory, and host staging memory. */
struct dti_slot {
    struct dti_gpu_stream *stream;
    dti_gpu_address memory;
    uint64_t size;
    unsigned char *host;
    size_t host_size;
};

struct dti_lane {
    struct dti_slot slot[DTI_LANE_SLOTS];
    bool taken;
};

/* Memory allocated by dti_runner_alloc(). */
struct dti_runner_block {
    struct dti_runner_block *next;
    unsigned char *memory;
    size_t size;
    bool pinned;
};

struct dti_runner {
    struct dti_gpu *gpu; /* NULL: on the CPU from the start */
    bool demanded;       /* a failure is an error */
    char id[DTI_DEVICE_ID_SIZE];
    atomic_bool on_device;
    pthread_mutex_t lock; /* guards the members below */
    pthread_cond_t freed; /* signalled when a lane is given back */
    struct dti_lane *lanes[DTI_RUNNER_LANES];
    size_t lane_count, lane_max;
    uint64_t slot_size; /* largest slot size known to fit in device memory */
    struct dti_runner_block *blocks;
    char reason[768]; /* constant once on_device is false */
};

/* Whether the device is still in use. */
static inline bool dti_runner_is_on(const struct dti_runner *runner)
{
    return runner && atomic_load(&runner->on_device);
}

/* Falls back to the CPU from now on; keeps the first reason. */
void dti_runner_leave(struct dti_runner *runner, const struct dti_error *error);

/* Whether the memory is pinned, so that the device reads it directly. */
bool dti_runner_reaches(struct dti_runner *runner, const void *memory, size_t size);

/* Takes a lane for exclusive use; waits for one. Fails with DTI_NO_MEMORY. */
enum dti_status dti_lane_take(struct dti_runner *runner, struct dti_lane **ret,
                              struct dti_error *reterr);
/* Gives back a lane without queued work. */
void dti_lane_give(struct dti_runner *runner, struct dti_lane *lane);
/* Frees a lane instead, if the device has no memory for it; then take another one. Returns false
 * if it is the only lane, which stays taken. */
bool dti_lane_drop(struct dti_runner *runner, struct dti_lane *lane);

/* Ensures that a slot has a stream, `size` bytes of device memory and `host_size` bytes of host
 * memory; previous contents are lost. Fails with DTI_NO_MEMORY; then try less. */
enum dti_status dti_slot_prepare(struct dti_runner *runner, struct dti_slot *slot, uint64_t size,
                                 size_t host_size, struct dti_error *reterr);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The parts of a runner, for the files of this folder: a device, and lanes, which threads with a
 * block take. */
#ifndef CONVERT_RUNNER_PARTS_H
#define CONVERT_RUNNER_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "convert/runner.h"
#include "devices/gpu/gpu.h"

enum {
    DTI_RUNNER_LANES = 8, /* at most */
    DTI_LANE_SLOTS = 2,   /* while one is copied out of, the other is copied into */
};

/* A stream, memory of the device, and host memory on the way to and from it. */
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

/* Memory that dti_runner_alloc() handed out. */
struct dti_runner_block {
    struct dti_runner_block *next;
    unsigned char *memory;
    size_t size;
    bool pinned;
};

struct dti_runner {
    struct dti_gpu *gpu; /* NULL: on the CPU from the beginning */
    bool demanded;       /* a failure is an error */
    char id[DTI_DEVICE_ID_SIZE];
    atomic_bool on_device;
    pthread_mutex_t lock; /* over the rest */
    pthread_cond_t freed; /* a lane */
    struct dti_lane *lanes[DTI_RUNNER_LANES];
    size_t lane_count, lane_max;
    uint64_t slot_size; /* bytes that a slot of the device was found to be able to have */
    struct dti_runner_block *blocks;
    char reason[768]; /* constant once on_device is false */
};

/* Whether the device is still used. */
static inline bool dti_runner_is_on(const struct dti_runner *runner)
{
    return runner && atomic_load(&runner->on_device);
}

/* From now on the CPU does the work; the first reason is kept. */
void dti_runner_leave(struct dti_runner *runner, const struct dti_error *error);

/* Whether the device reads these bytes by itself. */
bool dti_runner_reaches(struct dti_runner *runner, const void *memory, size_t size);

/* A lane for the calling thread alone; waits for one. Fails with DTI_NO_MEMORY. */
enum dti_status dti_lane_take(struct dti_runner *runner, struct dti_lane **ret,
                              struct dti_error *reterr);
/* No work is queued in it. */
void dti_lane_give(struct dti_runner *runner, struct dti_lane *lane);
/* Instead, when the device has no memory for it: false when there is no other lane either, and the
 * lane stays taken. True: it is gone; take another one. */
bool dti_lane_drop(struct dti_runner *runner, struct dti_lane *lane);

/* Sees to a slot's stream and its memory, `size` bytes of the device and `host_size` of the host;
 * what was in it is lost. Fails with DTI_NO_MEMORY; less may do then. */
enum dti_status dti_slot_prepare(struct dti_runner *runner, struct dti_slot *slot, uint64_t size,
                                 size_t host_size, struct dti_error *reterr);

#endif

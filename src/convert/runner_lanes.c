/* SPDX-License-Identifier: MIT
 *
 * Lanes of a device: one for each thread with a block, created on demand, with as much memory as
 * they need and the device has. */
#include <stdlib.h>

#include "convert/runner_parts.h"

static void free_lane(struct dti_runner *runner, struct dti_lane *lane)
{
    for (size_t i = 0; i < DTI_LANE_SLOTS; i++) {
        struct dti_slot *const slot = &lane->slot[i];
        dti_gpu_stream_free(slot->stream);
        if (slot->memory != 0)
            dti_gpu_free(runner->gpu, slot->memory);
        dti_runner_free(runner, slot->host);
    }
    free(lane);
}

void dti_lanes_free(struct dti_runner *runner)
{
    for (size_t i = 0; i < runner->lane_count; i++)
        free_lane(runner, runner->lanes[i]);
    runner->lane_count = 0;
}

/* Those made first are taken first, so that others are not made without need. */
static struct dti_lane *idle_lane(struct dti_runner *runner)
{
    for (size_t i = 0; i < runner->lane_count; i++) {
        if (!runner->lanes[i]->taken)
            return runner->lanes[i];
    }
    if (runner->lane_count == runner->lane_max)
        return NULL;
    struct dti_lane *const lane = calloc(1, sizeof *lane);
    if (lane)
        runner->lanes[runner->lane_count++] = lane;
    else
        runner->lane_max = runner->lane_count;
    return lane;
}

enum dti_status dti_lane_take(struct dti_runner *runner, struct dti_lane **ret,
                              struct dti_error *reterr)
{
    pthread_mutex_lock(&runner->lock);
    struct dti_lane *lane = idle_lane(runner);
    while (!lane && runner->lane_count > 0) {
        pthread_cond_wait(&runner->freed, &runner->lock);
        lane = idle_lane(runner);
    }
    if (lane)
        lane->taken = true;
    pthread_mutex_unlock(&runner->lock);
    if (!lane)
        return dti_no_memory(reterr);
    *ret = lane;
    return DTI_OK;
}

void dti_lane_give(struct dti_runner *runner, struct dti_lane *lane)
{
    pthread_mutex_lock(&runner->lock);
    lane->taken = false;
    pthread_cond_signal(&runner->freed);
    pthread_mutex_unlock(&runner->lock);
}

bool dti_lane_drop(struct dti_runner *runner, struct dti_lane *lane)
{
    pthread_mutex_lock(&runner->lock);
    const bool others = runner->lane_count > 1;
    if (others) {
        size_t at = 0;
        while (runner->lanes[at] != lane)
            at++;
        runner->lanes[at] = runner->lanes[--runner->lane_count];
        runner->lane_max = runner->lane_count;
    }
    pthread_mutex_unlock(&runner->lock);
    if (others)
        free_lane(runner, lane);
    return others;
}

static enum dti_status grow_device(struct dti_runner *runner, struct dti_slot *slot, uint64_t size,
                                   struct dti_error *reterr)
{
    if (slot->size >= size)
        return DTI_OK;
    if (slot->memory != 0)
        dti_gpu_free(runner->gpu, slot->memory);
    slot->memory = 0;
    slot->size = 0;
    const enum dti_status status = dti_gpu_alloc(runner->gpu, size, &slot->memory, reterr);
    if (status == DTI_OK)
        slot->size = size;
    return status;
}

static enum dti_status grow_host(struct dti_runner *runner, struct dti_slot *slot, size_t size,
                                 struct dti_error *reterr)
{
    if (slot->host_size >= size)
        return DTI_OK;
    dti_runner_free(runner, slot->host);
    slot->host_size = 0;
    slot->host = dti_runner_alloc(runner, size);
    if (!slot->host)
        return dti_no_memory(reterr);
    slot->host_size = size;
    return DTI_OK;
}

enum dti_status dti_slot_prepare(struct dti_runner *runner, struct dti_slot *slot, uint64_t size,
                                 size_t host_size, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (!slot->stream)
        status = dti_gpu_stream_new(runner->gpu, &slot->stream, reterr);
    if (status == DTI_OK)
        status = grow_device(runner, slot, size, reterr);
    if (status == DTI_OK)
        status = grow_host(runner, slot, host_size, reterr);
    return status;
}

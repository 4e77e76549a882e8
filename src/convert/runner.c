/* SPDX-License-Identifier: MIT
 *
 * Runners: which device, whether it is still in use, and why not; its lanes, one per thread with
 * a block, created on demand, with as much memory as they need and the device has; and pinned
 * host memory for blocks, which the device reads directly while other work continues. Memory
 * that a hung driver may still use is never freed: a copy that resumes later must not write into
 * reused memory. So it is the process's, not that of the caller's allocator. */
#include "convert/runner.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/runner_parts.h"
#include "util/run/allocate.h"
#include "util/run/library.h"
#include "util/run/pages.h"

/* Blocks that a hung driver may still use: reachable, and never freed. */
static _Atomic(struct dti_runner_block *) abandoned;

static void abandon(struct dti_runner_block *block)
{
    block->next = atomic_load(&abandoned);
    while (!atomic_compare_exchange_weak(&abandoned, &block->next, block))
        continue;
}

void *dti_runner_alloc(struct dti_runner *runner, size_t size)
{
    void *memory = NULL;
    if (size > SIZE_MAX - DTI_PAGE)
        return NULL;
    size = size > 0 ? dti_pages_round(size) : DTI_PAGE;
    if (!runner)
        return dti_pages_alloc(size, true);
    struct dti_runner_block *const block = dti_process_malloc(sizeof *block);
    if (!block)
        return NULL;
    /* The system may limit pinned memory. */
    block->pinned =
        dti_runner_is_on(runner) && dti_gpu_host_alloc(runner->gpu, size, &memory, NULL) == DTI_OK;
    if (!block->pinned)
        memory = dti_process_pages_alloc(size, true);
    if (!memory) {
        dti_process_free(block);
        return NULL;
    }
    block->memory = memory;
    block->size = size;
    pthread_mutex_lock(&runner->lock);
    block->next = runner->blocks;
    runner->blocks = block;
    pthread_mutex_unlock(&runner->lock);
    return memory;
}

void dti_runner_free(struct dti_runner *runner, void *memory)
{
    if (!runner || !memory) {
        dti_free(memory);
        return;
    }
    pthread_mutex_lock(&runner->lock);
    struct dti_runner_block **at = &runner->blocks;
    while ((*at)->memory != memory)
        at = &(*at)->next;
    struct dti_runner_block *const block = *at;
    *at = block->next;
    pthread_mutex_unlock(&runner->lock);
    if (runner->gpu && dti_gpu_is_lost(runner->gpu) && dti_gpu_hangs()) {
        abandon(block);
        return;
    }
    if (block->pinned)
        dti_gpu_host_free(runner->gpu, memory);
    else
        dti_process_free(memory);
    dti_process_free(block);
}

bool dti_runner_reaches(struct dti_runner *runner, const void *memory, size_t size)
{
    const uintptr_t from = (uintptr_t)memory;
    bool reaches = false;
    pthread_mutex_lock(&runner->lock);
    for (const struct dti_runner_block *at = runner->blocks; at && !reaches; at = at->next) {
        const uintptr_t begin = (uintptr_t)at->memory;
        reaches = at->pinned && from >= begin && from - begin <= at->size &&
                  size <= at->size - (from - begin);
    }
    pthread_mutex_unlock(&runner->lock);
    return reaches;
}

static void free_lane(struct dti_runner *runner, struct dti_lane *lane)
{
    for (size_t i = 0; i < DTI_LANE_SLOTS; i++) {
        struct dti_slot *const slot = &lane->slot[i];
        dti_gpu_stream_free(slot->stream);
        if (slot->memory != 0)
            dti_gpu_free(runner->gpu, slot->memory);
        dti_runner_free(runner, slot->host);
    }
    dti_free(lane);
}

static void lanes_free(struct dti_runner *runner)
{
    for (size_t i = 0; i < runner->lane_count; i++)
        free_lane(runner, runner->lanes[i]);
    runner->lane_count = 0;
}

/* Prefers the oldest lane, so that new lanes are made only if needed. */
static struct dti_lane *idle_lane(struct dti_runner *runner)
{
    for (size_t i = 0; i < runner->lane_count; i++) {
        if (!runner->lanes[i]->taken)
            return runner->lanes[i];
    }
    if (runner->lane_count == runner->lane_max)
        return NULL;
    struct dti_lane *const lane = dti_calloc(1, sizeof *lane);
    if (lane)
        runner->lanes[runner->lane_count++] = lane;
    else if (runner->lane_count > 0) /* these have to do */
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

enum { THREADS_MAX = 16 };

/* Opens a device and loads its kernels, so that anything missing is reported before work starts. */
static enum dti_status open_gpu(struct dti_runner *runner, unsigned number,
                                struct dti_error *reterr)
{
    struct dti_gpu *gpu;
    double seconds;
    enum dti_status status = dti_gpu_open(&gpu, number, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_gpu_load(gpu, &seconds, reterr);
    if (status != DTI_OK) {
        dti_gpu_close(gpu);
        return status;
    }
    runner->gpu = gpu;
    memcpy(runner->id, dti_gpu_facts(gpu)->id, sizeof runner->id);
    atomic_store(&runner->on_device, true);
    return DTI_OK;
}

/* Opens the first device that works; if none does, returns the first device's error. */
static enum dti_status open_any(struct dti_runner *runner, struct dti_error *reterr)
{
    struct dti_gpu_list list;
    enum dti_status status = open_gpu(runner, 0, reterr);
    if (status == DTI_OK || dti_gpu_hangs() || dti_gpu_probe(&list, NULL) != DTI_OK)
        return status;
    for (size_t i = 0; i < list.count && status != DTI_OK && !dti_gpu_hangs(); i++) {
        if (list.gpus[i].number != 0)
            status = open_gpu(runner, list.gpus[i].number, NULL);
    }
    dti_gpu_list_free(&list);
    return status;
}

enum dti_status dti_runner_open(struct dti_runner **ret, const struct dti_device_choice *choice,
                                struct dti_error *reterr)
{
    struct dti_error error;
    if (choice->kind == DTI_DEVICE_CPU) {
        *ret = NULL;
        return DTI_OK;
    }
    if (choice->kind == DTI_DEVICE_ALL)
        return dti_fail(reterr, DTI_USAGE,
                        "a cast has one device, not 'all'; use cpu, cuda, cuda:N or auto");
    struct dti_runner *const runner = dti_calloc(1, sizeof *runner);
    if (!runner)
        return dti_no_memory(reterr);
    runner->demanded = choice->kind == DTI_DEVICE_CUDA;
    runner->lane_max = DTI_RUNNER_LANES;
    runner->slot_size = UINT64_MAX;
    atomic_init(&runner->on_device, false);
    pthread_mutex_init(&runner->lock, NULL);
    pthread_cond_init(&runner->freed, NULL);
    const enum dti_status status =
        runner->demanded ? open_gpu(runner, choice->number, &error) : open_any(runner, &error);
    /* if the loader hangs, the CPU's threads could not be started either */
    const bool stuck = status != DTI_OK && dti_library_is_opening();
    if (status != DTI_OK && (runner->demanded || status == DTI_BAD_ENVIRONMENT || stuck)) {
        if (reterr)
            *reterr = error;
        dti_runner_close(runner);
        return status;
    }
    if (status != DTI_OK)
        (void)snprintf(runner->reason, sizeof runner->reason, "%s", error.text);
    *ret = runner;
    return DTI_OK;
}

void dti_runner_close(struct dti_runner *runner)
{
    if (!runner)
        return;
    lanes_free(runner);
    dti_gpu_close(runner->gpu);
    pthread_cond_destroy(&runner->freed);
    pthread_mutex_destroy(&runner->lock);
    dti_free(runner);
}

void dti_runner_leave(struct dti_runner *runner, const struct dti_error *error)
{
    pthread_mutex_lock(&runner->lock);
    if (atomic_load(&runner->on_device)) {
        (void)snprintf(runner->reason, sizeof runner->reason, "%s; the rest was cast on the CPU",
                       error->text);
        atomic_store(&runner->on_device, false);
    }
    pthread_mutex_unlock(&runner->lock);
}

const char *dti_runner_device(const struct dti_runner *runner)
{
    return dti_runner_is_on(runner) ? runner->id : "cpu";
}

const char *dti_runner_reason(const struct dti_runner *runner)
{
    return runner && !dti_runner_is_on(runner) ? runner->reason : "";
}

size_t dti_runner_threads(const struct dti_runner *runner, size_t cpus)
{
    if (!dti_runner_is_on(runner))
        return cpus;
    return cpus < THREADS_MAX ? cpus + 1 : THREADS_MAX;
}

/* SPDX-License-Identifier: MIT
 *
 * Host memory for blocks that go to a device: it is pinned, so that the device reads it directly
 * while other work continues. What a driver that hangs may still use is never given back: a copy
 * that resumes later must not write into memory that has been reused. */
#include <stdint.h>
#include <stdlib.h>

#include "convert/runner_parts.h"
#include "util/pages.h"

/* What a driver that hangs may still use: reachable, and never freed. */
static pthread_mutex_t abandoning = PTHREAD_MUTEX_INITIALIZER;
static struct dti_runner_block *abandoned;

static void abandon(struct dti_runner_block *block)
{
    pthread_mutex_lock(&abandoning);
    block->next = abandoned;
    abandoned = block;
    pthread_mutex_unlock(&abandoning);
}

void *dti_runner_alloc(struct dti_runner *runner, size_t size)
{
    void *memory = NULL;
    if (size > SIZE_MAX - DTI_PAGE)
        return NULL;
    size = size > 0 ? dti_pages_round(size) : DTI_PAGE;
    if (!runner)
        return dti_pages_alloc(size, true);
    struct dti_runner_block *const block = malloc(sizeof *block);
    if (!block)
        return NULL;
    /* The system may not let so much be pinned. */
    block->pinned =
        dti_runner_is_on(runner) && dti_gpu_host_alloc(runner->gpu, size, &memory, NULL) == DTI_OK;
    if (!block->pinned)
        memory = dti_pages_alloc(size, true);
    if (!memory) {
        free(block);
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
        free(memory);
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
        free(memory);
    free(block);
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

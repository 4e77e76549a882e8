/* SPDX-License-Identifier: MIT
 *
 * Memory of the fake CUDA driver. A device block is host memory between guard bytes. Its device
 * address is a number that is not a valid host address. New memory holds garbage. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"

/* Sanitizers that check every access need no guards; guards would hide overruns from them. */
#if defined __SANITIZE_ADDRESS__
#define GUARDED 0
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define GUARDED 0
#endif
#endif
#ifndef GUARDED
#define GUARDED 1
#endif

enum { ALIGNMENT = 256, GUARD = GUARDED ? 256 : 0, GUARD_BYTE = 0xa5, RUBBISH = 0xcb };

struct block {
    struct block *next;
    const struct fake_device *device;
    CUdeviceptr address;
    size_t size;
    unsigned char *memory; /* with guards */
    bool overrun;
};

struct pinned {
    struct pinned *next;
    struct fake_device *device;
    unsigned char *memory;
    size_t size;
};

static struct block *blocks;
static struct pinned *pinned_list;
static uint64_t pinned_bytes;
/* Not a canonical address on a 64-bit host: dereferencing it ends the process. */
static CUdeviceptr next_address = 0x0dec000000000000;

static bool guard_is_whole(const unsigned char *guard)
{
    for (size_t i = 0; i < GUARD; i++) {
        if (guard[i] != GUARD_BYTE)
            return false;
    }
    return true;
}

/* Checks the guards of a block. Each overrun block is reported once. */
static bool check_block(struct block *block)
{
    if (!block->overrun &&
        !(guard_is_whole(block->memory) && guard_is_whole(block->memory + GUARD + block->size))) {
        block->overrun = true;
        fake_totals.overruns++;
        return false;
    }
    return true;
}

bool fake_guards_are_whole(const struct fake_device *device)
{
    bool whole = true;
    for (struct block *block = blocks; block; block = block->next) {
        if (block->device == device && !check_block(block))
            whole = false;
    }
    return whole;
}

static struct block *find(const struct fake_device *device, CUdeviceptr address)
{
    for (struct block *block = blocks; block; block = block->next) {
        if (block->device == device && address >= block->address &&
            address - block->address < block->size)
            return block;
    }
    return NULL;
}

unsigned char *fake_memory_from(const struct fake_device *device, CUdeviceptr address)
{
    const struct block *const block = find(device, address);
    return block ? block->memory + GUARD + (address - block->address) : NULL;
}

unsigned char *fake_memory_at(const struct fake_device *device, CUdeviceptr address, size_t size)
{
    const struct block *const block = find(device, address);
    if (!block || size > block->size - (address - block->address))
        return NULL;
    return block->memory + GUARD + (address - block->address);
}

bool fake_is_pinned(const void *memory, size_t size)
{
    const unsigned char *const from = memory;
    for (const struct pinned *pinned = pinned_list; pinned; pinned = pinned->next) {
        if (from >= pinned->memory && from < pinned->memory + pinned->size &&
            size <= (size_t)(pinned->memory + pinned->size - from))
            return true;
    }
    return false;
}

static CUresult alloc(struct fake_device *device, CUdeviceptr *ret, size_t size)
{
    const uint64_t total = fake_script()->memory > 0 ? fake_script()->memory : device->memory_bytes;
    struct block *const block = calloc(1, sizeof *block);
    void *memory = NULL;
    if (size == 0) {
        free(block);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!block || size > total - device->used_bytes ||
        posix_memalign(&memory, ALIGNMENT, size + 2 * GUARD) != 0) {
        free(block);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    block->memory = memory;
    memset(block->memory, GUARD_BYTE, GUARD);
    memset(block->memory + GUARD, RUBBISH, size);
    memset(block->memory + GUARD + size, GUARD_BYTE, GUARD);
    block->device = device;
    block->size = size;
    block->address = next_address;
    next_address += (size + 2 * ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    block->next = blocks;
    blocks = block;
    device->used_bytes += size;
    if (device->used_bytes > fake_totals.peak_bytes)
        fake_totals.peak_bytes = device->used_bytes;
    *ret = block->address;
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t size)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = fake_context_result();
    if (result == CUDA_SUCCESS)
        result = alloc(fake_current(), address, size);
    return fake_leave(result);
}

static void remove_block(struct fake_device *device, struct block **at)
{
    struct block *const block = *at;
    (void)check_block(block);
    device->used_bytes -= block->size;
    *at = block->next;
    free(block->memory);
    free(block);
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = fake_context_result();
    if (result != CUDA_SUCCESS)
        return fake_leave(result);
    fake_streams_run_all(fake_current()); /* the real driver waits, too */
    struct block **at = &blocks;
    while (*at && !((*at)->address == address && (*at)->device == fake_current()))
        at = &(*at)->next;
    if (*at)
        remove_block(fake_current(), at);
    else
        result = CUDA_ERROR_INVALID_VALUE;
    return fake_leave(result);
}

CUresult cuMemHostAlloc(void **ret, size_t size, unsigned flags)
{
    CUresult result = fake_enter(__func__);
    void *memory = NULL;
    if (result == CUDA_SUCCESS)
        result = fake_context_result();
    if (result == CUDA_SUCCESS && (size == 0 || flags != CU_MEMHOSTALLOC_PORTABLE))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return fake_leave(result);
    struct pinned *const pinned = calloc(1, sizeof *pinned);
    if (!pinned || posix_memalign(&memory, 4096, size) != 0) {
        free(pinned);
        return fake_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    memset(memory, RUBBISH, size);
    pinned->memory = memory;
    pinned->size = size;
    pinned->device = fake_current();
    pinned->next = pinned_list;
    pinned_list = pinned;
    pinned_bytes += size;
    if (pinned_bytes > fake_totals.peak_pinned_bytes)
        fake_totals.peak_pinned_bytes = pinned_bytes;
    *ret = memory;
    return fake_leave(CUDA_SUCCESS);
}

static void remove_pinned(struct pinned **at)
{
    struct pinned *const pinned = *at;
    *at = pinned->next;
    pinned_bytes -= pinned->size;
    free(pinned->memory);
    free(pinned);
}

/* Allowed after a fault, too: this is host memory. */
CUresult cuMemFreeHost(void *memory)
{
    CUresult result = fake_enter(__func__);
    if (result != CUDA_SUCCESS)
        return fake_leave(result);
    if (fake_current())
        fake_streams_run_all(fake_current());
    struct pinned **at = &pinned_list;
    while (*at && (*at)->memory != memory)
        at = &(*at)->next;
    if (*at)
        remove_pinned(at);
    else
        result = CUDA_ERROR_INVALID_VALUE;
    return fake_leave(result);
}

void fake_memory_discard(struct fake_device *device)
{
    for (struct block **at = &blocks; *at;) {
        if ((*at)->device == device) {
            fake_totals.leaked_blocks++;
            fake_totals.leaked_bytes += (*at)->size;
            remove_block(device, at);
        } else {
            at = &(*at)->next;
        }
    }
    for (struct pinned **at = &pinned_list; *at;) {
        if ((*at)->device == device) {
            fake_totals.leaked_pinned++;
            remove_pinned(at);
        } else {
            at = &(*at)->next;
        }
    }
}

/* SPDX-License-Identifier: MIT
 *
 * Device memory, and host memory that the device can access. */
#include "devices/gpu/gpu_parts.h"

struct memory_args {
    struct dti_gpu_job job;
    size_t size;
    CUdeviceptr address;
    void *host;
    size_t free_bytes;
};

static void get_info(void *args)
{
    struct memory_args *const memory = args;
    size_t total;
    (void)DTI_GPU_FAILED(&memory->job, cuMemGetInfo_v2, &memory->free_bytes, &total);
}

enum dti_status dti_gpu_free_bytes(struct dti_gpu *gpu, uint64_t *ret_bytes,
                                   struct dti_error *reterr)
{
    struct memory_args args = {.size = 0};
    const enum dti_status status = dti_gpu_do(gpu, get_info, &args, sizeof args, reterr);
    if (status == DTI_OK)
        *ret_bytes = args.free_bytes;
    return status;
}

static void alloc(void *args)
{
    struct memory_args *const memory = args;
    size_t total;
    if (DTI_GPU_FAILED(&memory->job, cuMemAlloc_v2, &memory->address, memory->size) &&
        memory->job.cuda->cuMemGetInfo_v2(&memory->free_bytes, &total) != CUDA_SUCCESS)
        memory->free_bytes = 0;
}

enum dti_status dti_gpu_alloc(struct dti_gpu *gpu, uint64_t size, dti_gpu_address *ret,
                              struct dti_error *reterr)
{
    struct memory_args args = {.size = size > 0 ? (size_t)size : 1};
    if (size > SIZE_MAX)
        return dti_fail(reterr, DTI_NO_MEMORY, "%s: %llu bytes are too many", gpu->facts.id,
                        (unsigned long long)size);
    const enum dti_status status = dti_gpu_do(gpu, alloc, &args, sizeof args, reterr);
    if (status == DTI_NO_MEMORY && args.job.failure.code == CUDA_ERROR_OUT_OF_MEMORY)
        return dti_fail(reterr, DTI_NO_MEMORY, "%s: out of memory: %llu bytes needed, %llu free",
                        gpu->facts.id, (unsigned long long)size,
                        (unsigned long long)args.free_bytes);
    if (status == DTI_OK)
        *ret = args.address;
    return status;
}

static void give_back(void *args)
{
    const struct memory_args *const memory = args;
    (void)memory->job.cuda->cuMemFree_v2(memory->address);
}

void dti_gpu_free(struct dti_gpu *gpu, dti_gpu_address address)
{
    struct memory_args args = {.address = address};
    if (address != 0)
        dti_gpu_undo(gpu, give_back, &args, sizeof args);
}

DTI_GPU_JOB(host_alloc, memory_args, memory, cuMemHostAlloc, &memory->host, memory->size,
            CU_MEMHOSTALLOC_PORTABLE)

enum dti_status dti_gpu_host_alloc(struct dti_gpu *gpu, size_t size, void **ret,
                                   struct dti_error *reterr)
{
    struct memory_args args = {.size = size > 0 ? size : 1};
    const enum dti_status status = dti_gpu_do(gpu, host_alloc, &args, sizeof args, reterr);
    if (status == DTI_NO_MEMORY)
        return dti_fail(reterr, DTI_NO_MEMORY,
                        "%s: cannot allocate %zu bytes of pinned host memory", gpu->facts.id, size);
    if (status == DTI_OK)
        *ret = args.host;
    return status;
}

static void host_give_back(void *args)
{
    const struct memory_args *const memory = args;
    (void)memory->job.cuda->cuMemFreeHost(memory->host);
}

void dti_gpu_host_free(struct dti_gpu *gpu, void *host)
{
    struct memory_args args = {.host = host};
    if (host)
        dti_gpu_undo(gpu, host_give_back, &args, sizeof args);
}

/* SPDX-License-Identifier: MIT
 *
 * Modules and kernels of the fake CUDA driver. It checks the PTX text as a driver would. The
 * kernels that run are the same device code compiled for the host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/gpu/gpu_kernels.h"
#include "fake_cuda.h"

enum { ENTRY_SIZE = 96, BLOCK_MAX = 1024 };

/* Marks a member of a kernel's arguments as a pointer. */
#define AT(type, member) (offsetof(struct type, member) + 1)
#define ADDRESSES_dti_gpu_cast_args \
    AT(dti_gpu_cast_args, src), AT(dti_gpu_cast_args, dst), AT(dti_gpu_cast_args, table)
#define ADDRESSES_dti_gpu_loss_args                                                   \
    AT(dti_gpu_loss_args, x), AT(dti_gpu_loss_args, y), AT(dti_gpu_loss_args, lanes), \
        AT(dti_gpu_loss_args, tiles)
#define ADDRESSES_dti_gpu_math_args \
    AT(dti_gpu_math_args, a), AT(dti_gpu_math_args, b), AT(dti_gpu_math_args, dst)

static const struct fake_kernel kernels[DTI_GPU_KERNEL_COUNT] = {
#define GPU_CAST(id, entry, ...) \
    [DTI_GPU_##id] = {           \
        "dti_gpu_" #entry, sizeof(struct dti_gpu_cast_args), {ADDRESSES_dti_gpu_cast_args}},
#define GPU_OTHER(id, entry, parameters) \
    [DTI_GPU_##id] = {"dti_gpu_" #entry, sizeof(struct parameters), {ADDRESSES_##parameters}},
#include "devices/gpu/gpu_kernels.def"
#undef GPU_CAST
#undef GPU_OTHER
};

struct CUmod_st {
    struct CUmod_st *next;
    struct fake_device *device;
    char *text;
};

static struct CUmod_st *modules;

/* The number after a directive: 6.3 is 63, sm_75 is 75. */
static unsigned directive(const char *text, const char *name)
{
    const char *at = strstr(text, name);
    unsigned number = 0;
    if (!at)
        return 0;
    for (at += strlen(name); (*at >= '0' && *at <= '9') || *at == '.'; at++)
        number = *at == '.' ? number : number * 10 + (unsigned)(*at - '0');
    return number;
}

/* The newest PTX version that the driver of a CUDA version accepts: 10.0 6.3, 10.1 6.4, 10.2 6.5,
 * then 11.x 7.x, 12.x 8.x, 13.x 9.x. */
static unsigned newest_ptx(unsigned version)
{
    const unsigned major = version / 1000, minor = version % 1000 / 10;
    return major < 10 ? 60 : major == 10 ? 63 + minor : (major - 4) * 10 + minor;
}

static void log_error(unsigned count, const CUjit_option *options, void *const *values,
                      const char *text)
{
    char *log = NULL;
    uintptr_t size = 0;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            log = values[i];
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            memcpy(&size, &values[i], sizeof size);
    }
    if (log && size > 0)
        snprintf(log, size, "%s", text);
}

static CUresult check_program(const struct fake_device *device, const char *text, unsigned count,
                              const CUjit_option *options, void *const *values)
{
    const unsigned ptx = directive(text, ".version "), target = directive(text, ".target sm_");
    char log[128];
    if (ptx == 0 || target == 0)
        return CUDA_ERROR_INVALID_IMAGE;
    if (ptx > newest_ptx(fake_script()->version)) {
        snprintf(log, sizeof log, "ptxas fatal   : Unsupported .version %u.%u\nand so on", ptx / 10,
                 ptx % 10);
        log_error(count, options, values, log);
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
    if (target > device->major * 10 + device->minor)
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadDataEx(CUmodule *ret, const void *image, unsigned count, CUjit_option *options,
                            void **values)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = fake_context_result();
    if (result == CUDA_SUCCESS)
        result = check_program(fake_current(), image, count, options, values);
    if (result != CUDA_SUCCESS)
        return fake_leave(result);
    const size_t size = strlen(image) + 1;
    const CUmodule module = calloc(1, sizeof *module);
    char *const text = malloc(size);
    if (!module || !text) {
        free(module);
        free(text);
        return fake_leave(CUDA_ERROR_OUT_OF_MEMORY);
    }
    memcpy(text, image, size);
    module->text = text;
    module->device = fake_current();
    module->next = modules;
    modules = module;
    *ret = module;
    return fake_leave(CUDA_SUCCESS);
}

static void remove_module(CUmodule *at)
{
    const CUmodule module = *at;
    *at = module->next;
    free(module->text);
    free(module);
}

static CUmodule *find_module(CUmodule module)
{
    CUmodule *at = &modules;
    while (*at && *at != module)
        at = &(*at)->next;
    return at;
}

CUresult cuModuleUnload(CUmodule module)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = fake_context_result();
    CUmodule *const at = find_module(module);
    if (result == CUDA_SUCCESS && !*at)
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS)
        remove_module(at);
    return fake_leave(result);
}

void fake_modules_discard(struct fake_device *device)
{
    for (CUmodule *at = &modules; *at;) {
        if ((*at)->device == device) {
            fake_totals.leaked_modules++;
            remove_module(at);
        } else {
            at = &(*at)->next;
        }
    }
}

static bool has_entry(const char *text, const char *name)
{
    char entry[ENTRY_SIZE];
    snprintf(entry, sizeof entry, ".entry %s(", name);
    return strstr(text, entry) != NULL;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = fake_context_result();
    if (result == CUDA_SUCCESS && !*find_module(module))
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result != CUDA_SUCCESS)
        return fake_leave(result);
    for (size_t i = 0; i < DTI_GPU_KERNEL_COUNT; i++) {
        if (strcmp(kernels[i].name, name) == 0 && has_entry(module->text, name)) {
            *function = (CUfunction)(uintptr_t)(i + 1);
            return fake_leave(CUDA_SUCCESS);
        }
    }
    return fake_leave(CUDA_ERROR_NOT_FOUND);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        CUstream stream, void **parameters, void **extra)
{
    CUresult result = fake_enter(__func__);
    const uintptr_t number = (uintptr_t)function;
    if (result == CUDA_SUCCESS)
        result = fake_context_result();
    if (result == CUDA_SUCCESS && (number == 0 || number > DTI_GPU_KERNEL_COUNT))
        result = CUDA_ERROR_INVALID_HANDLE;
    if (result == CUDA_SUCCESS &&
        (grid_x == 0 || grid_x > INT32_MAX || grid_y != 1 || grid_z != 1 || block_x == 0 ||
         block_x > BLOCK_MAX || block_y != 1 || block_z != 1 || shared_bytes != 0 || !parameters ||
         !parameters[0] || extra))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = fake_launch_queue(stream, &kernels[number - 1], parameters[0],
                                   (uint64_t)grid_x * block_x);
    return fake_leave(result);
}

CUresult fake_kernel_run(struct fake_device *device, const struct fake_kernel *kernel, void *args,
                         uint64_t threads)
{
    for (size_t i = 0; kernel->addresses[i] != 0; i++) {
        CUdeviceptr address;
        unsigned char *const at = (unsigned char *)args + kernel->addresses[i] - 1;
        memcpy(&address, at, sizeof address);
        const uint64_t host = (uint64_t)(uintptr_t)fake_memory_from(device, address);
        if (address != 0 && host == 0)
            return CUDA_ERROR_ILLEGAL_ADDRESS;
        memcpy(at, &host, sizeof host);
    }
    fake_totals.kernels++;
    dti_gpu_host_run((enum dti_gpu_kernel)(kernel - kernels), args, threads);
    return fake_guards_are_whole(device) ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS;
}

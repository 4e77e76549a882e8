/* SPDX-License-Identifier: MIT
 *
 * Devices, contexts and error names of the fake CUDA driver. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_cuda.h"

#define GIB (UINT64_C(1) << 30)
#define HOPPER                                                                         \
    {                                                                                  \
        .name = "NVIDIA Pretend H200", .major = 9, .minor = 0, .multiprocessors = 132, \
        .memory_bytes = 140 * GIB                                                      \
    }
#define TURING                                                                      \
    {                                                                               \
        .name = "NVIDIA Pretend T4", .major = 7, .minor = 5, .multiprocessors = 40, \
        .memory_bytes = 15 * GIB                                                    \
    }

struct fake_device fake_devices[FAKE_DEVICES_MAX] = {HOPPER, TURING, HOPPER, TURING,
                                                     HOPPER, TURING, HOPPER, TURING};
static bool initialised;

/* The current context of each thread. Not _Thread_local: the sanitizers of clang 14 fail on such
 * variables in a library that is loaded late. */
static pthread_key_t current_key;
static pthread_once_t current_once = PTHREAD_ONCE_INIT;

static void make_current_key(void)
{
    if (pthread_key_create(&current_key, NULL) != 0)
        abort();
}

struct fake_device *fake_current(void)
{
    (void)pthread_once(&current_once, make_current_key);
    return pthread_getspecific(current_key);
}

static void set_current(struct fake_device *device)
{
    (void)pthread_once(&current_once, make_current_key);
    if (pthread_setspecific(current_key, device) != 0)
        abort();
}

CUresult fake_context_result(void)
{
    if (!initialised)
        return CUDA_ERROR_NOT_INITIALIZED;
    const struct fake_device *const current = fake_current();
    if (!current || current->retained == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    return current->fault;
}

bool fake_is_fault(CUresult code)
{
    return code == CUDA_ERROR_ECC_UNCORRECTABLE || code == CUDA_ERROR_ILLEGAL_ADDRESS ||
           code == CUDA_ERROR_LAUNCH_TIMEOUT || code == CUDA_ERROR_CONTEXT_IS_DESTROYED ||
           code == CUDA_ERROR_ASSERT || code == CUDA_ERROR_LAUNCH_FAILED ||
           code == CUDA_ERROR_UNKNOWN ||
           (code >= CUDA_ERROR_HARDWARE_STACK_ERROR && code <= CUDA_ERROR_INVALID_PC);
}

CUresult fake_fault(struct fake_device *device, CUresult code)
{
    if (device->fault == CUDA_SUCCESS && fake_is_fault(code))
        device->fault = code;
    return code;
}

static CUresult device_result(CUdevice device)
{
    if (!initialised)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (device < 0 || (unsigned)device >= fake_script()->devices)
        return CUDA_ERROR_INVALID_DEVICE;
    return CUDA_SUCCESS;
}

static uint64_t memory_of(const struct fake_device *device)
{
    return fake_script()->memory > 0 ? fake_script()->memory : device->memory_bytes;
}

CUresult cuInit(unsigned flags)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS && flags != 0)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && fake_script()->devices == 0)
        result = CUDA_ERROR_NO_DEVICE;
    if (result == CUDA_SUCCESS)
        initialised = true;
    return fake_leave(result);
}

CUresult cuDriverGetVersion(int *version)
{
    const CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        *version = (int)fake_script()->version;
    return fake_leave(result);
}

CUresult cuGetErrorName(CUresult error, const char **text)
{
    static const struct {
        CUresult code;
        const char *name;
    } names[] = {
#define CUDA_VALUE(name, value) {name, #name},
#include "devices/gpu/cuda_values.def"
#undef CUDA_VALUE
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].code == error &&
            (strncmp(names[i].name, "CUDA_ERROR", 10) == 0 || error == CUDA_SUCCESS)) {
            *text = names[i].name;
            return CUDA_SUCCESS;
        }
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetCount(int *count)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS && !initialised)
        result = CUDA_ERROR_NOT_INITIALIZED;
    if (result == CUDA_SUCCESS)
        *count = (int)(fake_script()->count ? fake_script()->count : fake_script()->devices);
    return fake_leave(result);
}

CUresult cuDeviceGet(CUdevice *device, int number)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = device_result(number);
    if (result == CUDA_SUCCESS)
        *device = number;
    return fake_leave(result);
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = device_result(device);
    if (result == CUDA_SUCCESS)
        snprintf(name, (size_t)size, "%s", fake_devices[device].name);
    return fake_leave(result);
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = device_result(device);
    if (result != CUDA_SUCCESS)
        return fake_leave(result);
    const struct fake_device *const found = &fake_devices[device];
    const bool hopper = found->major == 9;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
        *value = hopper ? 1980000 : 1590000;
        break;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = (int)found->multiprocessors;
        break;
    case CU_DEVICE_ATTRIBUTE_ECC_ENABLED:
        *value = hopper;
        break;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
        *value = hopper ? 3201000 : 5001000;
        break;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
        *value = hopper ? 6144 : 256;
        break;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
        *value = hopper ? 60 << 20 : 4 << 20;
        break;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
        *value = hopper ? 5 : 3;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = (int)found->major;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = (int)found->minor;
        break;
    case CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID:
        *value = hopper ? device / 2 : -1;
        break;
    default:
        result = CUDA_ERROR_INVALID_VALUE;
    }
    return fake_leave(result);
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = device_result(device);
    if (result == CUDA_SUCCESS)
        *bytes = (size_t)memory_of(&fake_devices[device]);
    return fake_leave(result);
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = device_result(device);
    for (int i = 0; result == CUDA_SUCCESS && i < 16; i++)
        uuid->bytes[i] = (char)(device << 4 | i);
    return fake_leave(result);
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    return cuDeviceGetUuid_v2(uuid, device);
}

CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice device)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = device_result(device);
    if (result == CUDA_SUCCESS)
        snprintf(id, (size_t)size, "0000:%X:00.0", 0x19 + 0x32 * (unsigned)device);
    return fake_leave(result);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = device_result(device);
    if (result == CUDA_SUCCESS) {
        fake_devices[device].retained++;
        *context = (CUcontext)(void *)&fake_devices[device];
    }
    return fake_leave(result);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = device_result(device);
    if (result == CUDA_SUCCESS && fake_devices[device].retained == 0)
        result = CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS && --fake_devices[device].retained == 0) {
        fake_streams_discard(&fake_devices[device]);
        fake_memory_discard(&fake_devices[device]);
        fake_modules_discard(&fake_devices[device]);
        fake_devices[device].fault = CUDA_SUCCESS;
    }
    return fake_leave(result);
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    CUresult result = fake_enter(__func__);
    struct fake_device *const device = (struct fake_device *)(void *)context;
    if (result == CUDA_SUCCESS && device && device->retained == 0)
        result = CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS)
        set_current(device);
    return fake_leave(result);
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
    CUresult result = fake_enter(__func__);
    if (result == CUDA_SUCCESS)
        result = fake_context_result();
    if (result == CUDA_SUCCESS) {
        *total_bytes = (size_t)memory_of(fake_current());
        *free_bytes = *total_bytes - (size_t)fake_current()->used_bytes;
    }
    return fake_leave(result);
}

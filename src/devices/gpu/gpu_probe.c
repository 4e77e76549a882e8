/* SPDX-License-Identifier: MIT
 *
 * Lists the CUDA devices without creating a context, which takes time and device memory.
 *
 * Queries NVML. What it does not report stays unknown. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/gpu/cuda_driver.h"
#include "devices/gpu/gpu.h"
#include "devices/gpu/gpu_parts.h"
#include "devices/gpu/nvml.h"
#include "util/checked.h"
#include "util/run/allocate.h"
#include "util/run/library.h"

enum { SUCCESS = 0, CLOCK_SM = 1, CLOCK_MEMORY = 2 };

struct nvml {
#define NVML_SYMBOL(need, name, parameters) int(*name) parameters;
#include "devices/gpu/nvml_symbols.def"
#undef NVML_SYMBOL
};

static const struct dti_library_function functions[] = {
#define REQUIRED                             true
#define OPTIONAL                             false
#define NVML_SYMBOL(need, field, parameters) {#field, offsetof(struct nvml, field), need},
#include "devices/gpu/nvml_symbols.def"
#undef NVML_SYMBOL
#undef REQUIRED
#undef OPTIONAL
};

static bool load(struct nvml *nvml)
{
    static const char *const names[] = {"libnvidia-ml.so.1", NULL};
    struct dti_library *library;
    if (dti_library_open(&library, names, "DTINFO_LIBNVML", NULL) != DTI_OK)
        return false;
    const char *const missing =
        dti_library_find(library, functions, sizeof functions / sizeof *functions, nvml);
    dti_library_close(library);
    return !missing;
}

typedef int question(nvmlDevice_t device, unsigned *answer);

static void ask(question *function, nvmlDevice_t device, uint64_t unit, uint64_t *ret)
{
    unsigned answer;
    if (*ret == DTI_UNKNOWN && function && function(device, &answer) == SUCCESS)
        *ret = answer * unit;
}

static void ask_clock(const struct nvml *nvml, nvmlDevice_t device, int clock, uint64_t *ret)
{
    unsigned megahertz;
    if (*ret == DTI_UNKNOWN && nvml->nvmlDeviceGetMaxClockInfo &&
        nvml->nvmlDeviceGetMaxClockInfo(device, clock, &megahertz) == SUCCESS)
        *ret = megahertz * UINT64_C(1000000);
}

static void ask_device(const struct nvml *nvml, struct dti_gpu_facts *gpu)
{
    nvmlDevice_t device;
    nvmlMemory_t memory;
    int current, pending;
    if (gpu->pci_id[0] == '\0' ||
        nvml->nvmlDeviceGetHandleByPciBusId_v2(gpu->pci_id, &device) != SUCCESS)
        return;
    if (nvml->nvmlDeviceGetMemoryInfo &&
        nvml->nvmlDeviceGetMemoryInfo(device, &memory) == SUCCESS && gpu->free_bytes == DTI_UNKNOWN)
        gpu->free_bytes = memory.free;
    if (gpu->ecc == DTI_UNKNOWN && nvml->nvmlDeviceGetEccMode &&
        nvml->nvmlDeviceGetEccMode(device, &current, &pending) == SUCCESS)
        gpu->ecc = current != 0;
    ask(nvml->nvmlDeviceGetPowerManagementLimit, device, 1, &gpu->power_limit_milliwatts);
    ask(nvml->nvmlDeviceGetCurrPcieLinkGeneration, device, 1, &gpu->pci_generation);
    ask(nvml->nvmlDeviceGetCurrPcieLinkWidth, device, 1, &gpu->pci_width);
    ask(nvml->nvmlDeviceGetMaxPcieLinkGeneration, device, 1, &gpu->pci_generation_max);
    ask(nvml->nvmlDeviceGetMaxPcieLinkWidth, device, 1, &gpu->pci_width_max);
    ask(nvml->nvmlDeviceGetNumaNodeId, device, 1, &gpu->numa_node);
    ask_clock(nvml, device, CLOCK_SM, &gpu->clock_hz);
    ask_clock(nvml, device, CLOCK_MEMORY, &gpu->memory_clock_hz);
}

/* Fills in unknown facts of `count` devices, matched by PCI id, and the driver version. Does
 * nothing without the library. May hang, like the driver. */
static void nvml_ask(struct dti_gpu_facts *gpus, size_t count, char driver_version[32])
{
    struct nvml nvml;
    char version[96]; /* at most 80 bytes according to the header */
    memset(&nvml, 0, sizeof nvml);
    if (!load(&nvml) || nvml.nvmlInit_v2() != SUCCESS)
        return;
    if (nvml.nvmlSystemGetDriverVersion(version, sizeof version) == SUCCESS) {
        version[sizeof version - 1] = '\0';
        const size_t length = strlen(version);
        if (length < 32)
            memcpy(driver_version, version, length + 1);
    }
    for (size_t i = 0; i < count; i++)
        ask_device(&nvml, &gpus[i]);
    (void)nvml.nvmlShutdown();
}

static uint64_t attribute(const struct dti_cuda *cuda, CUdevice device, CUdevice_attribute which,
                          uint64_t unit)
{
    int value;
    if (cuda->cuDeviceGetAttribute(&value, which, device) != CUDA_SUCCESS || value < 0)
        return DTI_UNKNOWN;
    return (uint64_t)value * unit;
}

static uint64_t attribute_above_0(const struct dti_cuda *cuda, CUdevice device,
                                  CUdevice_attribute which, uint64_t unit)
{
    const uint64_t value = attribute(cuda, device, which, unit);
    return value == 0 ? DTI_UNKNOWN : value;
}

static void find_uuid(const struct dti_cuda *cuda, CUdevice device, char ret[48])
{
    static const char digits[] = "0123456789abcdef";
    CUuuid uuid;
    ret[0] = '\0';
    /* the newer function distinguishes the instances of a partitioned device (MIG) */
    if (!(cuda->cuDeviceGetUuid_v2 && cuda->cuDeviceGetUuid_v2(&uuid, device) == CUDA_SUCCESS) &&
        !(cuda->cuDeviceGetUuid && cuda->cuDeviceGetUuid(&uuid, device) == CUDA_SUCCESS))
        return;
    char *to = ret;
    memcpy(to, "GPU-", 4);
    to += 4;
    for (size_t i = 0; i < sizeof uuid.bytes; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        const unsigned byte = (unsigned char)uuid.bytes[i];
        *to++ = digits[byte >> 4];
        *to++ = digits[byte & 15];
    }
    *to = '\0';
}

static void find_pci_id(const struct dti_cuda *cuda, CUdevice device, char ret[24])
{
    char id[24] = "";
    ret[0] = '\0';
    if (!cuda->cuDeviceGetPCIBusId ||
        cuda->cuDeviceGetPCIBusId(id, (int)sizeof id, device) != CUDA_SUCCESS)
        return;
    size_t i = 0;
    for (; i < sizeof id - 1 && id[i] != '\0'; i++) {
        const char c = id[i];
        if (c >= 'A' && c <= 'F')
            ret[i] = (char)(c - 'A' + 'a'); /* as in lspci and sysfs */
        else if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || c == ':' || c == '.')
            ret[i] = c;
        else
            break;
    }
    ret[id[i] == '\0' ? i : 0] = '\0'; /* other characters are invalid */
}

static void find_peak(struct dti_gpu_facts *gpu)
{
    uint64_t peak;
    gpu->peak_bytes_per_second = DTI_UNKNOWN;
    if (gpu->memory_clock_hz != DTI_UNKNOWN && gpu->memory_bus_bits != DTI_UNKNOWN &&
        dti_mul_u64(gpu->memory_clock_hz, 2 * gpu->memory_bus_bits, &peak))
        gpu->peak_bytes_per_second = peak / 8;
}

void dti_cuda_facts(const struct dti_cuda *cuda, CUdevice device, unsigned number,
                    struct dti_gpu_facts *ret)
{
    size_t bytes;
    memset(ret, 0, sizeof *ret);
    ret->number = number;
    snprintf(ret->id, sizeof ret->id, "cuda:%u", number % 1000000);
    if (cuda->cuDeviceGetName(ret->name, (int)sizeof ret->name, device) != CUDA_SUCCESS)
        ret->name[0] = '\0';
    ret->name[sizeof ret->name - 1] = '\0';
    const uint64_t major = attribute(cuda, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1);
    const uint64_t minor = attribute(cuda, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 1);
    const bool is_known = major != DTI_UNKNOWN && minor != DTI_UNKNOWN;
    ret->major = is_known ? (unsigned)major : 0;
    ret->minor = is_known ? (unsigned)minor : 0;
    ret->multiprocessors =
        attribute_above_0(cuda, device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 1);
    ret->memory_bytes =
        cuda->cuDeviceTotalMem_v2(&bytes, device) == CUDA_SUCCESS ? bytes : DTI_UNKNOWN;
    ret->free_bytes = DTI_UNKNOWN;
    ret->l2_bytes = attribute_above_0(cuda, device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 1);
    ret->clock_hz = attribute_above_0(cuda, device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000);
    ret->memory_clock_hz =
        attribute_above_0(cuda, device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000);
    ret->memory_bus_bits =
        attribute_above_0(cuda, device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 1);
    find_pci_id(cuda, device, ret->pci_id);
    ret->pci_generation = ret->pci_width = DTI_UNKNOWN;
    ret->pci_generation_max = ret->pci_width_max = DTI_UNKNOWN;
    ret->numa_node = attribute(cuda, device, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 1);
    ret->ecc = attribute(cuda, device, CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 1);
    ret->power_limit_milliwatts = DTI_UNKNOWN;
    ret->copy_engines = attribute(cuda, device, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 1);
    find_uuid(cuda, device, ret->uuid);
    find_peak(ret);
}

struct probe_args {
    struct dti_gpu_facts *gpus;
    size_t count;
    unsigned version;
    char driver_version[32];
    enum dti_status status;
    struct dti_error error;
};

/* Runs in the service's thread. Skips a device that has disappeared since it was counted. */
static void probe(void *args)
{
    struct probe_args *const probe = args;
    const struct dti_cuda *cuda;
    probe->status = dti_cuda_load(&cuda, &probe->version, &probe->error);
    if (probe->status != DTI_OK)
        return;
    probe->gpus = dti_calloc(cuda->devices, sizeof *probe->gpus);
    if (!probe->gpus) {
        probe->status = dti_fail(&probe->error, DTI_NO_MEMORY, "out of memory");
        return;
    }
    for (unsigned i = 0; i < cuda->devices; i++) {
        CUdevice device;
        if (cuda->cuDeviceGet(&device, (int)i) == CUDA_SUCCESS)
            dti_cuda_facts(cuda, device, i, &probe->gpus[probe->count++]);
    }
    nvml_ask(probe->gpus, probe->count, probe->driver_version);
    for (size_t i = 0; i < probe->count; i++)
        find_peak(&probe->gpus[i]);
}

enum dti_status dti_gpu_probe(struct dti_gpu_list *ret, struct dti_error *reterr)
{
    struct probe_args args;
    struct dti_gpu_service *service;
    struct dti_gpu_list list;
    memset(&args, 0, sizeof args);
    memset(&list, 0, sizeof list);
    args.status = dti_gpu_service_new(&service, dti_gpu_timeout(), &args.error);
    if (args.status == DTI_OK) {
        switch (dti_gpu_service_call(service, probe, &args, sizeof args)) {
        case DTI_SERVICE_DONE:
            break;
        case DTI_SERVICE_HANGS:
            args.status =
                dti_gpu_late("the CUDA driver", "did not answer", dti_gpu_timeout(), &args.error);
            break;
        case DTI_SERVICE_NO_MEMORY:
            args.status = dti_fail(&args.error, DTI_NO_MEMORY, "out of memory");
            break;
        }
        dti_gpu_service_free(service);
    }
    if (args.status == DTI_NO_MEMORY)
        return dti_fail(reterr, DTI_NO_MEMORY, "%s", args.error.text);
    list.cuda_version = args.version;
    if (args.status != DTI_OK) {
        memcpy(list.why_not, args.error.text, sizeof list.why_not);
    } else {
        list.gpus = args.gpus;
        list.count = args.count;
        memcpy(list.driver_version, args.driver_version, sizeof list.driver_version);
        if (list.count == 0)
            snprintf(list.why_not, sizeof list.why_not, "the CUDA devices are no longer available");
    }
    *ret = list;
    return DTI_OK;
}

void dti_gpu_list_free(struct dti_gpu_list *list)
{
    dti_free(list->gpus);
    list->gpus = NULL;
    list->count = 0;
}

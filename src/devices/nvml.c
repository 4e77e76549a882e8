/* SPDX-License-Identifier: MIT
 *
 * Queries NVML. Whatever it does not report stays unknown. */
#include "devices/nvml.h"

#include <stdbool.h>
#include <string.h>

#include "dtinfo/library.h"

enum { SUCCESS = 0, CLOCK_SM = 1, CLOCK_MEMORY = 2 };

struct nvml {
#define NVML_SYMBOL(need, name, parameters) int(*name) parameters;
#include "devices/nvml_symbols.def"
#undef NVML_SYMBOL
};

static const struct dti_library_function functions[] = {
#define REQUIRED                             true
#define OPTIONAL                             false
#define NVML_SYMBOL(need, field, parameters) {#field, offsetof(struct nvml, field), need},
#include "devices/nvml_symbols.def"
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

void dti_nvml_ask(struct dti_gpu_facts *gpus, size_t count, char driver_version[32])
{
    struct nvml nvml;
    char version[96]; /* of 80 bytes at most, the header says */
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

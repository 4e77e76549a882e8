/* SPDX-License-Identifier: MIT
 *
 * A fake NVML that matches the fake CUDA driver: the same devices, found by PCI id. FAKE_NVML in
 * the environment: "absent" makes initialization fail, "silent" finds the devices but answers "not
 * supported" to every query about them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devices/gpu/nvml.h"

#define NVML_SYMBOL(need, name, parameters) int name parameters;
#include "devices/gpu/nvml_symbols.def"
#undef NVML_SYMBOL

enum { SUCCESS = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, DRIVER_NOT_LOADED = 9 };

struct nvmlDevice_st {
    const char *pci_id;
    unsigned long long total, free;
    unsigned milliwatts, generation, generation_max, width, width_max;
    int ecc;
};

static struct nvmlDevice_st devices[] = {
    {"0000:19:00.0", 150323855360, 149786984448, 700000, 5, 5, 16, 16, 1},
    {"0000:4b:00.0", 16106127360, 16000000000, 70000, 1, 3, 8, 16, 0},
};

static int is(const char *word)
{
    const char *const text = getenv("FAKE_NVML");
    return text && strcmp(text, word) == 0;
}

int nvmlInit_v2(void)
{
    return is("absent") ? DRIVER_NOT_LOADED : SUCCESS;
}

int nvmlShutdown(void)
{
    return SUCCESS;
}

int nvmlSystemGetDriverVersion(char *version, unsigned size)
{
    if (is("silent"))
        return NOT_SUPPORTED;
    snprintf(version, size, "580.159.03");
    return SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *pci_id, nvmlDevice_t *device)
{
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        if (strcmp(devices[i].pci_id, pci_id) == 0) {
            *device = &devices[i];
            return SUCCESS;
        }
    }
    return NOT_FOUND;
}

int nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    memory->total = device->total;
    memory->free = device->free;
    memory->used = device->total - device->free;
    return is("silent") ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetEccMode(nvmlDevice_t device, int *current, int *pending)
{
    *current = *pending = device->ecc;
    return is("silent") ? NOT_SUPPORTED : SUCCESS;
}

static int answer(unsigned value, unsigned *ret)
{
    if (is("silent"))
        return NOT_SUPPORTED;
    *ret = value;
    return SUCCESS;
}

int nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned *milliwatts)
{
    return answer(device->milliwatts, milliwatts);
}

int nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned *generation)
{
    return answer(device->generation, generation);
}

int nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned *lanes)
{
    return answer(device->width, lanes);
}

int nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned *generation)
{
    return answer(device->generation_max, generation);
}

int nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned *lanes)
{
    return answer(device->width_max, lanes);
}

int nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, int clock, unsigned *megahertz)
{
    (void)device;
    return answer(clock == 1 ? 1980 : 3201, megahertz);
}

int nvmlDeviceGetNumaNodeId(nvmlDevice_t device, unsigned *node)
{
    return answer(device == &devices[0] ? 0 : 1, node);
}

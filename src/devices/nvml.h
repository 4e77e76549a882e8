/* SPDX-License-Identifier: MIT
 *
 * NVIDIA's management library, where it is there: what the CUDA driver does not report. */
#ifndef DTINFO_DEVICES_NVML_H
#define DTINFO_DEVICES_NVML_H

#include <stddef.h>

#include "dtinfo/device.h"

typedef struct nvmlDevice_st *nvmlDevice_t;
typedef struct {
    unsigned long long total, free, used;
} nvmlMemory_t;

/* Fills in what is unknown in the facts of `count` devices, which are found by their PCI ids, and
 * the version of the driver. Without the library nothing changes. May hang, as the driver. */
void dti_nvml_ask(struct dti_gpu_facts *gpus, size_t count, char driver_version[32]);

#endif

/* SPDX-License-Identifier: MIT
 *
 * NVIDIA's management library, if installed: reports what the CUDA driver does not. */
#ifndef DEVICES_GPU_NVML_H
#define DEVICES_GPU_NVML_H

#include <stddef.h>

#include "devices/device.h"

typedef struct nvmlDevice_st *nvmlDevice_t;
typedef struct {
    unsigned long long total, free, used;
} nvmlMemory_t;

#endif

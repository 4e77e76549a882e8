/* SPDX-License-Identifier: MIT
 *
 * Devices by name, and facts about existing ones. Loads a driver only if a CUDA device is
 * requested. A missing device is not an error here. */
#ifndef DEVICES_DEVICE_H
#define DEVICES_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

enum dti_device_kind {
    DTI_DEVICE_CPU,
    DTI_DEVICE_CUDA,
    DTI_DEVICE_AUTO, /* cuda if one works, else cpu */
    DTI_DEVICE_ALL,  /* every existing device: for measurements and lists */
};

/* The argument of --device: "cpu", "cuda" (the first), "cuda:1", "auto", "all". */
struct dti_device_choice {
    enum dti_device_kind kind;
    unsigned number; /* of a CUDA device */
};
/* Parses a device name; NULL is the CPU. Fails with DTI_USAGE, listing the valid names; for
 * "mps" with DTI_UNAVAILABLE, because Metal exists only on macOS. */
enum dti_status dti_device_choice_parse(struct dti_device_choice *ret, const char *text,
                                        struct dti_error *reterr);

#define DTI_UNKNOWN UINT64_MAX
enum { DTI_DEVICE_ID_SIZE = 16 };

/* What the driver, and NVML if installed, report about a CUDA device. Unreported numbers are
 * DTI_UNKNOWN, unreported texts empty. */
struct dti_gpu_facts {
    unsigned number;
    char id[DTI_DEVICE_ID_SIZE]; /* "cuda:0" */
    char name[128];              /* as the driver reports it: escape before display */
    unsigned major, minor;       /* compute capability */
    uint64_t multiprocessors;
    uint64_t memory_bytes, free_bytes, l2_bytes;
    uint64_t clock_hz, memory_clock_hz; /* maximum */
    uint64_t memory_bus_bits;
    uint64_t peak_bytes_per_second;             /* memory bandwidth: 2 x memory clock x bus width */
    char pci_id[24];                            /* "0000:19:00.0" */
    uint64_t pci_generation, pci_width;         /* current state of the link */
    uint64_t pci_generation_max, pci_width_max; /* maximum of the link */
    uint64_t numa_node;
    uint64_t ecc; /* 0 off, 1 on */
    uint64_t power_limit_milliwatts;
    uint64_t copy_engines;
    char uuid[48]; /* "GPU-..." */
};

struct dti_gpu_list {
    struct dti_gpu_facts *gpus;
    size_t count;
    unsigned cuda_version;   /* supported by the driver: 13020 is 13.2; 0 without a driver */
    char driver_version[32]; /* "580.159"; empty when unreported */
    char why_not[512];       /* why there are no devices: "libcuda.so.1: not found"; else empty */
};

/* Loads the driver and lists devices. Fails only with DTI_NO_MEMORY. */
enum dti_status dti_gpu_probe(struct dti_gpu_list *ret, struct dti_error *reterr);
void dti_gpu_list_free(struct dti_gpu_list *list);

#endif

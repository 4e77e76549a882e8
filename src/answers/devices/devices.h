/* SPDX-License-Identifier: MIT
 *
 * The processors and CUDA devices of a machine, and their support of each dtype. */
#ifndef ANSWERS_DEVICES_DEVICES_H
#define ANSWERS_DEVICES_DEVICES_H

#include "devices/device.h"
#include "devices/machine/capability.h"
#include "devices/machine/machine.h"
#include "kernels/cpu.h"
#include "report/json.h"

struct dti_devices_request {
    const char *device;  /* "cpu", "cuda:1", "auto", "all"; NULL: all, or the CPU of a recording */
    const char *sysroot; /* the folder of a recorded machine, or NULL */
    const char *level_limit; /* the highest CPU level that kernels may use; NULL: any */
    bool ids;                /* show UUIDs */
};

struct dti_devices_answer {
    const struct dti_devices_request *request;
    const char *choice;      /* "all", after parsing */
    bool recorded;           /* the processors come from a recording */
    const char *level_limit; /* level limit on this machine, or NULL */
    bool shows_cpu, shows_cuda, shows_mps;
    bool looked_for_cuda;
    struct dti_machine machine;
    enum dti_level level;      /* CPU level of array kernels; only for this machine */
    const char *level_trouble; /* why the CPU's next higher level is unused, or NULL */
    struct dti_gpu_list list;
    size_t first_gpu, gpu_end;         /* range of the shown devices in the list */
    const char *best;                  /* NULL if CUDA devices were not probed */
    const struct dti_gpu_list *driver; /* the GPU list if there is a driver; else NULL */
};
/* Fails with DTI_USAGE for an invalid name of a device, DTI_UNAVAILABLE for a missing device,
 * DTI_BAD_INPUT for an invalid recording. */
enum dti_status dti_devices_find(struct dti_devices_answer **ret,
                                 const struct dti_devices_request *request,
                                 struct dti_error *reterr);
void dti_devices_free(struct dti_devices_answer *answer);
void dti_document_devices(struct dti_json *json, const struct dti_devices_answer *answer);

/* Why there is no Metal device. */
const char *dti_devices_no_metal(void);
/* Why the kernels do not run on a device; NULL if they do. */
const char *dti_devices_gpu_trouble(const struct dti_gpu_list *list,
                                    const struct dti_gpu_facts *gpu);

/* A device's support of a dtype, and its source ("" for software); unknown for processors of other
 * architectures. */
struct dti_devices_cell {
    bool known;
    enum dti_capability capability;
    const char *source;
};
struct dti_devices_cell dti_devices_cpu_cell(const struct dti_machine *machine,
                                             enum dti_dtype dtype);
struct dti_devices_cell dti_devices_gpu_cell(const struct dti_gpu_facts *gpu, enum dti_dtype dtype);

#endif

/* SPDX-License-Identifier: MIT
 *
 * What there is to compute with: processors, CUDA devices, and what each does with each dtype. */
#ifndef DTINFO_ANSWERS_DEVICES_H
#define DTINFO_ANSWERS_DEVICES_H

#include "dtinfo/capability.h"
#include "dtinfo/cpu.h"
#include "dtinfo/device.h"
#include "dtinfo/json.h"
#include "dtinfo/machine.h"

struct dti_devices_request {
    const char *device;      /* "cpu", "cuda:1", "auto", "all"; NULL: all, of a recording the CPU */
    const char *sysroot;     /* the folder of a recorded machine, or NULL */
    const char *level_limit; /* the highest CPU level that kernels may use; NULL: any */
    bool ids;                /* show UUIDs */
};

struct dti_devices_answer {
    const struct dti_devices_request *request;
    const char *wish; /* "all", as it was understood */
    bool shows_cpu, shows_cuda, shows_mps;
    bool looked_for_cuda;
    struct dti_machine machine;
    enum dti_level level; /* that array kernels use; only of this machine */
    struct dti_gpu_list list;
    size_t first_gpu, gpu_end; /* those of the list that are shown */
    const char *best;          /* NULL when nobody looked for CUDA devices */
};
/* Fails with DTI_USAGE where no device has such a name, DTI_UNAVAILABLE where there is none of that
 * name, DTI_BAD_INPUT where a recording is none. */
enum dti_status dti_devices_find(struct dti_devices_answer **ret,
                                 const struct dti_devices_request *request,
                                 struct dti_error *reterr);
void dti_devices_free(struct dti_devices_answer *answer);
void dti_document_devices(struct dti_json *json, const struct dti_devices_answer *answer);

/* Why there is no Metal device. */
const char *dti_devices_no_metal(void);
/* Why the kernels do not run on a device; NULL when they do. */
const char *dti_devices_gpu_trouble(const struct dti_gpu_list *list,
                                    const struct dti_gpu_facts *gpu);

/* What a device does with a dtype, and where that is from ("" for software); of processors of other
 * architectures nothing is known. */
struct dti_devices_cell {
    bool known;
    enum dti_capability capability;
    const char *source;
};
struct dti_devices_cell dti_devices_cpu_cell(const struct dti_machine *machine,
                                             enum dti_dtype dtype);
struct dti_devices_cell dti_devices_gpu_cell(const struct dti_gpu_facts *gpu, enum dti_dtype dtype);

#endif

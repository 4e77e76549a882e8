/* SPDX-License-Identifier: MIT
 *
 * The parts of `devices`: what was found, and the two forms of the answer. */
#ifndef DTINFO_CLI_DEVICES_H
#define DTINFO_CLI_DEVICES_H

#include "cli/shell/command.h"
#include "dtinfo/buffer.h"
#include "dtinfo/capability.h"
#include "dtinfo/cpu.h"
#include "dtinfo/device.h"
#include "dtinfo/machine.h"
#include "dtinfo/spell.h"

struct devices_args {
    const char *device, *sysroot;
    bool ids;
};

struct devices_report {
    const struct devices_args *args;
    const char *wish; /* "all", as it was understood */
    bool shows_cpu, shows_cuda, shows_mps;
    bool looked_for_cuda;
    struct dti_machine machine;
    enum dti_level level;    /* that array kernels use; only of this machine */
    const char *level_limit; /* DTINFO_CPU, NULL without one */
    struct dti_gpu_list list;
    size_t first_gpu, gpu_end; /* those of the list that are shown */
    const char *best;          /* NULL when nobody looked for CUDA devices */
};

/* Why there is no Metal device. */
const char *dti_devices_no_metal(void);
/* Why the kernels do not run on a device; NULL when they do. */
const char *dti_devices_gpu_trouble(const struct dti_gpu_list *list,
                                    const struct dti_gpu_facts *gpu);

enum dti_status dti_devices_human(const struct devices_report *report, const struct dti_context *cx,
                                  struct dti_error *reterr);
enum dti_status dti_devices_json(const struct devices_report *report, const struct dti_context *cx,
                                 struct dti_error *reterr);

/* What a device does with a dtype, and where that is from ("" for software); of processors of other
 * architectures nothing is known. */
struct devices_cell {
    bool known;
    enum dti_capability capability;
    const char *source;
};
struct devices_cell dti_devices_cpu_cell(const struct dti_machine *machine, enum dti_dtype dtype);
struct devices_cell dti_devices_gpu_cell(const struct dti_gpu_facts *gpu, enum dti_dtype dtype);

/* devices_details.c: with -v, rows of two columns: what, and what of it. */
struct dti_table;
void dti_devices_cpu_details(struct dti_table *table, const struct devices_report *report);
void dti_devices_gpu_details(struct dti_table *table, const struct dti_gpu_facts *gpu);

/* devices_words.c: texts, at the end of a buffer. */
void dti_devices_number(struct dti_buffer *text, uint64_t number);
void dti_devices_count(struct dti_buffer *text, uint64_t number, const char *one, const char *many);
void dti_devices_bytes(struct dti_buffer *text, uint64_t bytes);     /* "48 KiB", "23.54 GiB" */
void dti_devices_hertz(struct dti_buffer *text, uint64_t hertz);     /* "2.60 GHz" */
void dti_devices_safe(struct dti_buffer *text, const char *foreign); /* escaped */
void dti_devices_model(struct dti_buffer *text, const struct dti_machine *machine);
/* "L1d", "L2" */
void dti_devices_cache(struct dti_buffer *text, const struct dti_cache_facts *cache);

#endif

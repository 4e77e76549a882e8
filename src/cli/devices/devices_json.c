/* SPDX-License-Identifier: MIT
 *
 * dtinfo.devices/1: every device with all that is known of it, and the matrix device x dtype. */
#include <stdio.h>
#include <string.h>

#include "cli/devices/devices.h"

static void put_number(struct dti_json *json, const char *key, uint64_t number)
{
    if (number == DTI_UNKNOWN)
        dti_json_null(json, key);
    else
        dti_json_uint(json, key, number);
}

static void put_text(struct dti_json *json, const char *key, const char *text)
{
    dti_json_string(json, key, text[0] != '\0' ? text : NULL);
}

static void put_caches(struct dti_json *json, const struct dti_machine *machine)
{
    dti_json_array(json, "caches");
    for (size_t i = 0; i < machine->cache_count; i++) {
        const struct dti_cache_facts *const cache = &machine->caches[i];
        dti_json_object(json, NULL);
        dti_json_uint(json, "level", cache->level);
        dti_json_string(json, "type",
                        cache->type == 'd'   ? "data"
                        : cache->type == 'i' ? "instruction"
                                             : "unified");
        put_number(json, "size_bytes", cache->bytes);
        put_number(json, "count", cache->count);
        put_number(json, "shared_cpus", cache->shared_cpus);
        put_number(json, "line_bytes", cache->line_bytes);
        dti_json_end(json);
    }
    dti_json_end(json);
}

static void put_nodes(struct dti_json *json, const struct dti_machine *machine)
{
    dti_json_array(json, "numa_nodes");
    for (size_t i = 0; i < machine->node_count; i++) {
        const struct dti_node_facts *const node = &machine->nodes[i];
        dti_json_object(json, NULL);
        dti_json_uint(json, "number", node->number);
        put_text(json, "cpus", node->cpus);
        put_number(json, "memory_bytes", node->memory_bytes);
        put_number(json, "free_bytes", node->free_bytes);
        dti_json_end(json);
    }
    dti_json_end(json);
}

static void put_cpu(struct dti_json *json, const struct devices_report *report)
{
    const struct dti_machine *const machine = &report->machine;
    const bool here = !report->args->sysroot;
    dti_json_object(json, "cpu");
    put_text(json, "architecture", machine->architecture);
    put_text(json, "vendor", machine->vendor);
    put_number(json, "family", machine->family);
    put_number(json, "model", machine->model_number);
    put_number(json, "stepping", machine->stepping);
    put_text(json, "hypervisor", machine->hypervisor);
    put_number(json, "sockets", machine->sockets);
    put_number(json, "cores", machine->cores);
    put_number(json, "threads", machine->threads);
    put_number(json, "performance_threads", machine->performance_cpus);
    put_number(json, "efficiency_threads", machine->efficiency_cpus);
    put_number(json, "allowed_threads", machine->allowed_cpus);
    put_number(json, "base_hz", machine->base_hz);
    put_number(json, "max_hz", machine->max_hz);
    put_text(json, "governor", machine->governor);
    put_number(json, "memory_bytes", machine->memory_bytes);
    put_number(json, "available_bytes", machine->available_bytes);
    put_number(json, "memory_limit_bytes", machine->memory_limit_bytes);
    put_caches(json, machine);
    put_nodes(json, machine);
    dti_json_array(json, "instructions");
    for (unsigned i = 0; i < DTI_INSTRUCTION_COUNT; i++) {
        if (machine->has[i])
            dti_json_string(json, NULL, dti_instruction_name((enum dti_instruction)i));
    }
    dti_json_end(json);
    dti_json_string(json, "level", here ? dti_level_name(report->level) : NULL);
    dti_json_string(json, "level_limit", here ? report->level_limit : NULL);
    dti_json_end(json);
}

/* Thousandths as a decimal fraction: "700", "350.5". */
static void put_thousandths(struct dti_json *json, const char *key, uint64_t number)
{
    char token[DTI_TEXT_SIZE];
    if (number == DTI_UNKNOWN) {
        dti_json_null(json, key);
        return;
    }
    (void)snprintf(token, sizeof token, "%llu.%03u", (unsigned long long)(number / 1000),
                   (unsigned)(number % 1000));
    size_t length = strlen(token);
    while (token[length - 1] == '0')
        length--;
    length -= token[length - 1] == '.';
    dti_json_number(json, key, token, length);
}

static void put_gpu(struct dti_json *json, const struct devices_report *report,
                    const struct dti_gpu_facts *gpu)
{
    char text[DTI_TEXT_SIZE];
    dti_json_object(json, "cuda");
    (void)snprintf(text, sizeof text, "%u.%u", gpu->major, gpu->minor);
    dti_json_string(json, "compute_capability", gpu->major != 0 ? text : NULL);
    const char *const trouble = dti_devices_gpu_trouble(&report->list, gpu);
    dti_json_bool(json, "supported", trouble == NULL);
    dti_json_string(json, "unsupported_reason", trouble);
    put_number(json, "multiprocessors", gpu->multiprocessors);
    put_number(json, "memory_bytes", gpu->memory_bytes);
    put_number(json, "free_bytes", gpu->free_bytes);
    put_number(json, "l2_bytes", gpu->l2_bytes);
    put_number(json, "max_hz", gpu->clock_hz);
    put_number(json, "memory_max_hz", gpu->memory_clock_hz);
    put_number(json, "memory_bus_bits", gpu->memory_bus_bits);
    put_number(json, "peak_bytes_per_second", gpu->peak_bytes_per_second);
    put_text(json, "pci_id", gpu->pci_id);
    put_number(json, "pci_generation", gpu->pci_generation);
    put_number(json, "pci_width", gpu->pci_width);
    put_number(json, "pci_generation_max", gpu->pci_generation_max);
    put_number(json, "pci_width_max", gpu->pci_width_max);
    put_number(json, "numa_node", gpu->numa_node);
    if (gpu->ecc == DTI_UNKNOWN)
        dti_json_null(json, "ecc");
    else
        dti_json_bool(json, "ecc", gpu->ecc != 0);
    put_thousandths(json, "power_limit_watts", gpu->power_limit_milliwatts);
    put_number(json, "copy_engines", gpu->copy_engines);
    put_text(json, "uuid", report->args->ids ? gpu->uuid : "");
    dti_json_end(json);
}

static void begin_device(struct dti_json *json, const char *id, const char *kind,
                         const char *why_not, const char *name)
{
    dti_json_object(json, NULL);
    dti_json_string(json, "id", id);
    dti_json_string(json, "kind", kind);
    dti_json_bool(json, "available", why_not == NULL);
    dti_json_string(json, "reason", why_not);
    dti_json_string(json, "name", name && name[0] != '\0' ? name : NULL);
}

static void put_devices(struct dti_json *json, const struct devices_report *report)
{
    dti_json_array(json, "devices");
    if (report->shows_cpu) {
        begin_device(json, "cpu", "cpu", NULL, report->machine.model);
        put_cpu(json, report);
        dti_json_null(json, "cuda");
        dti_json_end(json);
    }
    for (size_t i = report->first_gpu; i < report->gpu_end; i++) {
        const struct dti_gpu_facts *const gpu = &report->list.gpus[i];
        begin_device(json, gpu->id, "cuda", NULL, gpu->name);
        dti_json_null(json, "cpu");
        put_gpu(json, report, gpu);
        dti_json_end(json);
    }
    if (report->shows_cuda && report->list.count == 0) {
        begin_device(json, "cuda", "cuda", report->list.why_not, NULL);
        dti_json_null(json, "cpu");
        dti_json_null(json, "cuda");
        dti_json_end(json);
    }
    if (report->shows_mps) {
        begin_device(json, "mps", "mps", dti_devices_no_metal(), NULL);
        dti_json_null(json, "cpu");
        dti_json_null(json, "cuda");
        dti_json_end(json);
    }
    dti_json_end(json);
}

static void put_driver(struct dti_json *json, const struct dti_gpu_list *list)
{
    char text[DTI_TEXT_SIZE];
    if (list->cuda_version == 0 && list->driver_version[0] == '\0') {
        dti_json_null(json, "cuda_driver");
        return;
    }
    (void)snprintf(text, sizeof text, "%u.%u", list->cuda_version / 1000,
                   list->cuda_version % 1000 / 10);
    dti_json_object(json, "cuda_driver");
    dti_json_string(json, "cuda_version", list->cuda_version > 0 ? text : NULL);
    put_text(json, "driver_version", list->driver_version);
    dti_json_end(json);
}

static void put_cell(struct dti_json *json, const char *device, enum dti_dtype dtype,
                     struct devices_cell cell)
{
    dti_json_object(json, NULL);
    dti_json_string(json, "device", device);
    dti_json_string(json, "dtype", dti_format_get(dtype)->name);
    dti_json_string(json, "capability", cell.known ? dti_capability_name(cell.capability) : NULL);
    put_text(json, "source", cell.source);
    dti_json_end(json);
}

static void put_matrix(struct dti_json *json, const struct devices_report *report)
{
    dti_json_array(json, "matrix");
    for (size_t i = 0; i < dti_capability_dtype_count && report->shows_cpu; i++) {
        const enum dti_dtype dtype = dti_capability_dtypes[i];
        put_cell(json, "cpu", dtype, dti_devices_cpu_cell(&report->machine, dtype));
    }
    for (size_t g = report->first_gpu; g < report->gpu_end; g++) {
        const struct dti_gpu_facts *const gpu = &report->list.gpus[g];
        for (size_t i = 0; i < dti_capability_dtype_count; i++) {
            const enum dti_dtype dtype = dti_capability_dtypes[i];
            put_cell(json, gpu->id, dtype, dti_devices_gpu_cell(gpu, dtype));
        }
    }
    dti_json_end(json);
}

enum dti_status dti_devices_json(const struct devices_report *report, const struct dti_context *cx,
                                 struct dti_error *reterr)
{
    struct dti_json *const json = dti_json_new();
    if (!json)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    dti_json_begin(json, "dtinfo.devices/1");
    dti_json_object(json, "options");
    dti_json_string(json, "device", report->wish);
    dti_json_bool(json, "ids", report->args->ids);
    dti_json_bool(json, "recording", report->args->sysroot != NULL);
    dti_json_end(json);
    put_devices(json, report);
    put_driver(json, &report->list);
    dti_json_string(json, "best_device", report->best);
    put_matrix(json, report);
    const enum dti_status status = dti_json_write(json, cx->out, reterr);
    dti_json_free(json);
    return status;
}

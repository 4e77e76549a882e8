/* SPDX-License-Identifier: MIT
 *
 * `devices -v`: everything that is known of a device, a line each; what is not known has none. */
#include <stdio.h>
#include <string.h>

#include "cli/devices/devices_page.h"
#include "dtinfo/table.h"

/* A row that is written once it has a text. */
struct detail {
    struct dti_table *table;
    struct dti_buffer text;
    char label[48];
};

static void begin(struct detail *detail, struct dti_table *table, const char *label)
{
    detail->table = table;
    (void)snprintf(detail->label, sizeof detail->label, "%s", label);
    dti_buffer_init(&detail->text);
}

static void end(struct detail *detail)
{
    if (detail->text.length > 0) {
        dti_table_cell(detail->table, DTI_STYLE_DIM, detail->label);
        dti_table_cell(detail->table, DTI_STYLE_PLAIN, detail->text.data);
    }
    dti_buffer_free(&detail->text);
}

/* A comma where something stands before. */
static struct dti_buffer *next(struct detail *detail)
{
    if (detail->text.length > 0)
        dti_buffer_puts(&detail->text, ", ");
    return &detail->text;
}

static void put_text(struct detail *detail, const char *before, const char *foreign)
{
    if (foreign[0] == '\0')
        return;
    dti_buffer_puts(next(detail), before);
    dti_devices_safe(&detail->text, foreign);
}

static void put_number(struct detail *detail, const char *before, uint64_t number)
{
    if (number == DTI_UNKNOWN)
        return;
    dti_buffer_puts(next(detail), before);
    dti_devices_number(&detail->text, number);
}

static void put_bytes(struct detail *detail, const char *before, uint64_t bytes, const char *after)
{
    if (bytes == DTI_UNKNOWN)
        return;
    dti_buffer_puts(next(detail), before);
    dti_devices_bytes(&detail->text, bytes);
    dti_buffer_puts(&detail->text, after);
}

static void put_hertz(struct detail *detail, const char *before, uint64_t hertz)
{
    if (hertz == DTI_UNKNOWN)
        return;
    dti_buffer_puts(next(detail), before);
    dti_devices_hertz(&detail->text, hertz);
}

static void put_count(struct detail *detail, uint64_t number, const char *one, const char *many)
{
    if (number != DTI_UNKNOWN)
        dti_devices_count(next(detail), number, one, many);
}

static void processor(struct dti_table *table, const struct dti_machine *machine)
{
    struct detail detail;
    begin(&detail, table, "architecture");
    put_text(&detail, "", machine->architecture);
    put_text(&detail, "", machine->vendor);
    put_number(&detail, "family ", machine->family);
    put_number(&detail, "model ", machine->model_number);
    put_number(&detail, "stepping ", machine->stepping);
    end(&detail);
    begin(&detail, table, "CPUs");
    put_count(&detail, machine->sockets, "socket", "sockets");
    put_count(&detail, machine->cores, "core", "cores");
    put_count(&detail, machine->threads, "thread", "threads");
    put_count(&detail, machine->performance_cpus, "on a performance core", "on performance cores");
    put_count(&detail, machine->efficiency_cpus, "on an efficiency core", "on efficiency cores");
    if (machine->allowed_cpus != DTI_UNKNOWN) {
        put_number(&detail, "", machine->allowed_cpus);
        dti_buffer_puts(&detail.text, " that this program may use");
    }
    end(&detail);
    begin(&detail, table, "hypervisor");
    put_text(&detail, "", machine->hypervisor);
    end(&detail);
    begin(&detail, table, "clock");
    put_hertz(&detail, "base ", machine->base_hz);
    put_hertz(&detail, "highest ", machine->max_hz);
    put_text(&detail, "governor ", machine->governor);
    end(&detail);
    begin(&detail, table, "memory");
    put_bytes(&detail, "", machine->memory_bytes, "");
    put_bytes(&detail, "", machine->available_bytes, " available");
    put_bytes(&detail, "", machine->memory_limit_bytes, " allowed by the control group");
    end(&detail);
}

static void caches(struct dti_table *table, const struct dti_machine *machine)
{
    for (size_t i = 0; i < machine->cache_count; i++) {
        const struct dti_cache_facts *const cache = &machine->caches[i];
        struct detail detail;
        struct dti_buffer label;
        dti_buffer_init(&label);
        dti_buffer_puts(&label, "cache ");
        dti_devices_cache(&label, cache);
        begin(&detail, table, label.data);
        dti_buffer_free(&label);
        put_bytes(&detail, "", cache->bytes, "");
        if (cache->count != 1)
            put_count(&detail, cache->count, "of them", "of them");
        if (cache->shared_cpus != 1 && cache->shared_cpus != DTI_UNKNOWN) {
            dti_buffer_puts(next(&detail), "each shared by ");
            dti_devices_count(&detail.text, cache->shared_cpus, "CPU", "CPUs");
        }
        if (cache->line_bytes != DTI_UNKNOWN) {
            dti_buffer_puts(next(&detail), "lines of ");
            dti_devices_count(&detail.text, cache->line_bytes, "byte", "bytes");
        }
        end(&detail);
    }
}

static void nodes(struct dti_table *table, const struct dti_machine *machine)
{
    for (size_t i = 0; i < machine->node_count; i++) {
        const struct dti_node_facts *const node = &machine->nodes[i];
        struct detail detail;
        char label[48];
        (void)snprintf(label, sizeof label, "NUMA node %u", node->number);
        begin(&detail, table, label);
        put_text(&detail, "CPUs ", node->cpus);
        put_bytes(&detail, "", node->memory_bytes, "");
        put_bytes(&detail, "", node->free_bytes, " free");
        end(&detail);
    }
}

static void instructions(struct dti_table *table, const struct dti_machine *machine)
{
    const char *label = "instructions";
    for (unsigned i = 0; i < DTI_INSTRUCTION_COUNT; i++) {
        struct detail detail;
        char name[24];
        if (!machine->has[i])
            continue;
        (void)snprintf(name, sizeof name, "%-16s", dti_instruction_name((enum dti_instruction)i));
        begin(&detail, table, label);
        dti_buffer_puts(&detail.text, name);
        dti_buffer_puts(&detail.text, dti_instruction_meaning((enum dti_instruction)i));
        end(&detail);
        label = "";
    }
}

static void level(struct dti_table *table, const struct dti_devices_answer *answer)
{
    struct detail detail;
    if (answer->request->sysroot)
        return;
    begin(&detail, table, "kernels");
    dti_buffer_puts(&detail.text, dti_level_name(answer->level));
    dti_buffer_puts(&detail.text, " (");
    dti_buffer_puts(&detail.text, dti_level_meaning(answer->level));
    dti_buffer_puts(&detail.text, ")");
    if (answer->request->level_limit)
        put_text(&detail, "DTINFO_CPU is ", answer->request->level_limit);
    else
        dti_buffer_puts(next(&detail), "the highest level here");
    end(&detail);
}

void dti_devices_cpu_details(struct dti_table *table, const struct dti_devices_answer *answer)
{
    processor(table, &answer->machine);
    caches(table, &answer->machine);
    nodes(table, &answer->machine);
    instructions(table, &answer->machine);
    level(table, answer);
}

/* "generation 4 x16 of 5 x16" */
static void link_of(struct detail *detail, const struct dti_gpu_facts *gpu)
{
    if (gpu->pci_generation == DTI_UNKNOWN || gpu->pci_width == DTI_UNKNOWN)
        return;
    put_number(detail, "generation ", gpu->pci_generation);
    dti_buffer_puts(&detail->text, " x");
    dti_devices_number(&detail->text, gpu->pci_width);
    if (gpu->pci_generation_max == DTI_UNKNOWN || gpu->pci_width_max == DTI_UNKNOWN)
        return;
    dti_buffer_puts(&detail->text, " of at most ");
    dti_devices_number(&detail->text, gpu->pci_generation_max);
    dti_buffer_puts(&detail->text, " x");
    dti_devices_number(&detail->text, gpu->pci_width_max);
}

static void gpu_memory(struct dti_table *table, const struct dti_gpu_facts *gpu)
{
    struct detail detail;
    begin(&detail, table, "memory");
    put_bytes(&detail, "", gpu->memory_bytes, "");
    put_bytes(&detail, "", gpu->free_bytes, " free");
    if (gpu->ecc != DTI_UNKNOWN)
        dti_buffer_puts(next(&detail), gpu->ecc ? "ECC on" : "ECC off");
    end(&detail);
    begin(&detail, table, "memory bus");
    put_number(&detail, "", gpu->memory_bus_bits);
    if (gpu->memory_bus_bits != DTI_UNKNOWN)
        dti_buffer_puts(&detail.text, " bits");
    put_hertz(&detail, "", gpu->memory_clock_hz);
    if (gpu->peak_bytes_per_second != DTI_UNKNOWN) {
        put_number(&detail, "peak ", gpu->peak_bytes_per_second / 1000000000);
        dti_buffer_puts(&detail.text, " GB/s");
    }
    end(&detail);
    begin(&detail, table, "cache L2");
    put_bytes(&detail, "", gpu->l2_bytes, "");
    end(&detail);
}

void dti_devices_gpu_details(struct dti_table *table, const struct dti_gpu_facts *gpu)
{
    struct detail detail;
    gpu_memory(table, gpu);
    begin(&detail, table, "clock");
    put_hertz(&detail, "highest ", gpu->clock_hz);
    end(&detail);
    begin(&detail, table, "PCI link");
    link_of(&detail, gpu);
    end(&detail);
    begin(&detail, table, "NUMA node");
    put_number(&detail, "", gpu->numa_node);
    end(&detail);
    begin(&detail, table, "copy engines");
    put_number(&detail, "", gpu->copy_engines);
    end(&detail);
    begin(&detail, table, "power limit");
    if (gpu->power_limit_milliwatts != DTI_UNKNOWN) {
        put_number(&detail, "", gpu->power_limit_milliwatts / 1000);
        dti_buffer_puts(&detail.text, " W");
    }
    end(&detail);
}

/* SPDX-License-Identifier: MIT
 *
 * Figures of devices as people read them; and `devices -v`: all known facts about a device, one per
 * line; unknown facts have no line. */
#include <stdio.h>
#include <string.h>

#include "cli/devices/devices_page.h"
#include "cli/shared/human.h"
#include "dtinfo/escape.h"
#include "dtinfo/table.h"

/* Where the next fact begins. */
static void begin(struct dti_buffer *text, const char *before)
{
    if (text->length > 0 && text->data[text->length - 1] != '(')
        dti_buffer_puts(text, ", ");
    dti_buffer_puts(text, before);
}

void dti_devices_count(struct dti_buffer *text, const char *before, uint64_t number,
                       const char *one, const char *many)
{
    char digits[DTI_TEXT_SIZE];
    const char *const what = number == 1 ? one : many;
    if (number == DTI_UNKNOWN)
        return;
    begin(text, before);
    dti_buffer_append(text, digits, dti_spell_u64(digits, number));
    dti_buffer_puts(text, what[0] != '\0' ? " " : "");
    dti_buffer_puts(text, what);
}

const char *dti_devices_size(char buffer[DTI_TEXT_SIZE], uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    for (size_t i = 4; i-- > 0;) {
        const unsigned shift = 10 * (unsigned)(i + 1);
        const uint64_t whole = bytes >> shift;
        if (whole > 0 && whole < 1024 && whole << shift == bytes) {
            (void)snprintf(buffer, DTI_TEXT_SIZE, "%u %s", (unsigned)whole, units[i]);
            return buffer;
        }
    }
    return dti_human_bytes(buffer, bytes);
}

void dti_devices_bytes(struct dti_buffer *text, const char *before, uint64_t bytes,
                       const char *after)
{
    char words[DTI_TEXT_SIZE];
    if (bytes == DTI_UNKNOWN)
        return;
    begin(text, before);
    dti_buffer_puts(text, dti_devices_size(words, bytes));
    dti_buffer_puts(text, after);
}

static void hertz_of(struct dti_buffer *text, const char *before, uint64_t hertz)
{
    const uint64_t giga = 1000000000, mega = 1000000;
    char words[DTI_TEXT_SIZE];
    if (hertz == DTI_UNKNOWN)
        return;
    if (hertz >= giga) {
        const uint64_t hundredths = hertz / (giga / 100) + (hertz % (giga / 100) >= giga / 200);
        (void)snprintf(words, sizeof words, "%llu.%02u GHz", (unsigned long long)(hundredths / 100),
                       (unsigned)(hundredths % 100));
    } else {
        (void)snprintf(words, sizeof words, "%llu MHz",
                       (unsigned long long)((hertz + mega / 2) / mega));
    }
    begin(text, before);
    dti_buffer_puts(text, words);
}

void dti_devices_words(struct dti_buffer *text, const char *before, const char *foreign)
{
    if (foreign[0] == '\0')
        return;
    begin(text, before);
    dti_escape(text, foreign, strlen(foreign));
}

const char *dti_devices_cache(char buffer[DEVICES_CACHE_SIZE], const struct dti_cache_facts *cache)
{
    const char type[] = {cache->type == 'u' ? '\0' : cache->type, '\0'};
    (void)snprintf(buffer, DEVICES_CACHE_SIZE, "L%u%s", (unsigned)cache->level, type);
    return buffer;
}

/* A row, unless the text is empty. */
static void put_row(struct dti_table *table, const char *label, struct dti_buffer *text)
{
    if (text->length > 0) {
        dti_table_cell(table, DTI_STYLE_DIM, label);
        dti_table_cell(table, DTI_STYLE_PLAIN, text->data);
    }
    dti_buffer_clear(text);
}

static void processor(struct dti_table *table, struct dti_buffer *text,
                      const struct dti_machine *machine)
{
    dti_devices_words(text, "", machine->architecture);
    dti_devices_words(text, "", machine->vendor);
    dti_devices_count(text, "family ", machine->family, "", "");
    dti_devices_count(text, "model ", machine->model_number, "", "");
    dti_devices_count(text, "stepping ", machine->stepping, "", "");
    put_row(table, "architecture", text);
    dti_devices_count(text, "", machine->sockets, "socket", "sockets");
    dti_devices_count(text, "", machine->cores, "core", "cores");
    dti_devices_count(text, "", machine->threads, "thread", "threads");
    dti_devices_count(text, "", machine->performance_cpus, "on a performance core",
                      "on performance cores");
    dti_devices_count(text, "", machine->efficiency_cpus, "on an efficiency core",
                      "on efficiency cores");
    dti_devices_count(text, "", machine->allowed_cpus, "available to this program",
                      "available to this program");
    put_row(table, "CPUs", text);
    dti_devices_words(text, "", machine->hypervisor);
    put_row(table, "hypervisor", text);
    hertz_of(text, "base ", machine->base_hz);
    hertz_of(text, "highest ", machine->max_hz);
    dti_devices_words(text, "governor ", machine->governor);
    put_row(table, "clock", text);
    dti_devices_bytes(text, "", machine->memory_bytes, "");
    dti_devices_bytes(text, "", machine->available_bytes, " available");
    dti_devices_bytes(text, "", machine->memory_limit_bytes, " allowed by the control group");
    put_row(table, "memory", text);
}

static void caches(struct dti_table *table, struct dti_buffer *text,
                   const struct dti_machine *machine)
{
    for (size_t i = 0; i < machine->cache_count; i++) {
        const struct dti_cache_facts *const cache = &machine->caches[i];
        char name[DEVICES_CACHE_SIZE], label[sizeof "cache " + DEVICES_CACHE_SIZE];
        (void)snprintf(label, sizeof label, "cache %s", dti_devices_cache(name, cache));
        dti_devices_bytes(text, "", cache->bytes, "");
        if (cache->count != 1)
            dti_devices_count(text, "", cache->count, "of them", "of them");
        if (cache->shared_cpus != 1)
            dti_devices_count(text, "each shared by ", cache->shared_cpus, "CPU", "CPUs");
        dti_devices_count(text, "lines of ", cache->line_bytes, "byte", "bytes");
        put_row(table, label, text);
    }
}

static void nodes(struct dti_table *table, struct dti_buffer *text,
                  const struct dti_machine *machine)
{
    for (size_t i = 0; i < machine->node_count; i++) {
        const struct dti_node_facts *const node = &machine->nodes[i];
        char label[48];
        (void)snprintf(label, sizeof label, "NUMA node %u", node->number);
        dti_devices_words(text, "CPUs ", node->cpus);
        dti_devices_bytes(text, "", node->memory_bytes, "");
        dti_devices_bytes(text, "", node->free_bytes, " free");
        put_row(table, label, text);
    }
}

static void instructions(struct dti_table *table, const struct dti_machine *machine)
{
    const char *label = "instructions";
    for (unsigned i = 0; i < DTI_INSTRUCTION_COUNT; i++) {
        const enum dti_instruction instruction = (enum dti_instruction)i;
        if (!machine->has[i])
            continue;
        dti_table_cell(table, DTI_STYLE_DIM, label);
        dti_table_print(table, DTI_STYLE_PLAIN, "%-16s%s", dti_instruction_name(instruction),
                        dti_instruction_meaning(instruction));
        label = "";
    }
}

static void level(struct dti_table *table, struct dti_buffer *text,
                  const struct dti_devices_answer *answer)
{
    const char *const limit = answer->request->level_limit;
    if (answer->request->sysroot)
        return;
    dti_buffer_puts(text, dti_level_name(answer->level));
    dti_buffer_puts(text, " (");
    dti_buffer_puts(text, dti_level_meaning(answer->level));
    dti_buffer_puts(text, ")");
    if (answer->level_trouble)
        dti_devices_words(text, "", answer->level_trouble);
    else
        dti_devices_words(text, limit ? "DTINFO_CPU is " : "",
                          limit ? limit : "the highest level here");
    put_row(table, "kernels", text);
}

void dti_devices_cpu_details(struct dti_table *table, const struct dti_devices_answer *answer)
{
    struct dti_buffer text;
    dti_buffer_init(&text);
    processor(table, &text, &answer->machine);
    caches(table, &text, &answer->machine);
    nodes(table, &text, &answer->machine);
    instructions(table, &answer->machine);
    level(table, &text, answer);
    dti_buffer_free(&text);
}

/* "generation 4 x16 of at most 5 x16" */
static void link_of(struct dti_buffer *text, const struct dti_gpu_facts *gpu)
{
    if (gpu->pci_generation == DTI_UNKNOWN || gpu->pci_width == DTI_UNKNOWN)
        return;
    char words[96];
    (void)snprintf(words, sizeof words, "generation %llu x%llu",
                   (unsigned long long)gpu->pci_generation, (unsigned long long)gpu->pci_width);
    dti_buffer_puts(text, words);
    if (gpu->pci_generation_max == DTI_UNKNOWN || gpu->pci_width_max == DTI_UNKNOWN)
        return;
    (void)snprintf(words, sizeof words, " of at most %llu x%llu",
                   (unsigned long long)gpu->pci_generation_max,
                   (unsigned long long)gpu->pci_width_max);
    dti_buffer_puts(text, words);
}

/* Known quantities, in larger units. */
static uint64_t in_units(uint64_t number, uint64_t unit)
{
    return number == DTI_UNKNOWN ? DTI_UNKNOWN : number / unit;
}

void dti_devices_gpu_details(struct dti_table *table, const struct dti_gpu_facts *gpu)
{
    struct dti_buffer text;
    dti_buffer_init(&text);
    dti_devices_bytes(&text, "", gpu->memory_bytes, "");
    dti_devices_bytes(&text, "", gpu->free_bytes, " free");
    dti_devices_words(&text, "", gpu->ecc == DTI_UNKNOWN ? "" : gpu->ecc ? "ECC on" : "ECC off");
    put_row(table, "memory", &text);
    dti_devices_count(&text, "", gpu->memory_bus_bits, "bits", "bits");
    hertz_of(&text, "", gpu->memory_clock_hz);
    dti_devices_count(&text, "peak ", in_units(gpu->peak_bytes_per_second, 1000000000), "GB/s",
                      "GB/s");
    put_row(table, "memory bus", &text);
    dti_devices_bytes(&text, "", gpu->l2_bytes, "");
    put_row(table, "cache L2", &text);
    hertz_of(&text, "highest ", gpu->clock_hz);
    put_row(table, "clock", &text);
    link_of(&text, gpu);
    put_row(table, "PCI link", &text);
    dti_devices_count(&text, "", gpu->numa_node, "", "");
    put_row(table, "NUMA node", &text);
    dti_devices_count(&text, "", gpu->copy_engines, "", "");
    put_row(table, "copy engines", &text);
    dti_devices_count(&text, "", in_units(gpu->power_limit_milliwatts, 1000), "W", "W");
    put_row(table, "power limit", &text);
    dti_buffer_free(&text);
}

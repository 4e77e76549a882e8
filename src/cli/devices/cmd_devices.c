/* SPDX-License-Identifier: MIT
 *
 * dtinfo devices: the processors and CUDA devices here, a line or two for each (with -v all known
 * facts), the best of them, and what each does with each dtype; and the table of architectures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/devices/devices_page.h"
#include "cli/shared/human.h"
#include "cli/shared/operand_kinds.h"
#include "report/table.h"
#include "util/run/allocate.h"
#include "util/text/escape.h"

/* Facts are appended to a text, separated by commas, except after '('. Unknown facts add
 * nothing. */

/* Starts the next fact. */
static void begin(struct dti_buffer *text, const char *before)
{
    if (text->length > 0 && text->data[text->length - 1] != '(')
        dti_buffer_puts(text, ", ");
    dti_buffer_puts(text, before);
}

/* "family 6", "2 cores" */
static void add_count(struct dti_buffer *text, const char *before, uint64_t number, const char *one,
                      const char *many)
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

/* "48 KiB" */
static const char *size_words(char buffer[DTI_TEXT_SIZE], uint64_t bytes)
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

/* "23.54 GiB free" */
static void add_bytes(struct dti_buffer *text, const char *before, uint64_t bytes,
                      const char *after)
{
    char words[DTI_TEXT_SIZE];
    if (bytes == DTI_UNKNOWN)
        return;
    begin(text, before);
    dti_buffer_puts(text, size_words(words, bytes));
    dti_buffer_puts(text, after);
}

static void add_hertz(struct dti_buffer *text, const char *before, uint64_t hertz)
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

static void add_words(struct dti_buffer *text, const char *before, const char *foreign)
{
    if (foreign[0] == '\0')
        return;
    begin(text, before);
    dti_escape(text, foreign, strlen(foreign));
}

/* "L1d", "L2" */
enum { CACHE_NAME = 16 };
static const char *cache_name(char buffer[CACHE_NAME], const struct dti_cache_facts *cache)
{
    const char type[] = {cache->type == 'u' ? '\0' : cache->type, '\0'};
    (void)snprintf(buffer, CACHE_NAME, "L%u%s", (unsigned)cache->level, type);
    return buffer;
}

/* -v: rows of two columns, name and value, for all known facts about a device. */

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
    add_words(text, "", machine->architecture);
    add_words(text, "", machine->vendor);
    add_count(text, "family ", machine->family, "", "");
    add_count(text, "model ", machine->model_number, "", "");
    add_count(text, "stepping ", machine->stepping, "", "");
    put_row(table, "architecture", text);
    add_count(text, "", machine->sockets, "socket", "sockets");
    add_count(text, "", machine->cores, "core", "cores");
    add_count(text, "", machine->threads, "thread", "threads");
    add_count(text, "", machine->performance_cpus, "on a performance core", "on performance cores");
    add_count(text, "", machine->efficiency_cpus, "on an efficiency core", "on efficiency cores");
    add_count(text, "", machine->allowed_cpus, "available to this program",
              "available to this program");
    put_row(table, "CPUs", text);
    add_words(text, "", machine->hypervisor);
    put_row(table, "hypervisor", text);
    add_hertz(text, "base ", machine->base_hz);
    add_hertz(text, "highest ", machine->max_hz);
    add_words(text, "governor ", machine->governor);
    put_row(table, "clock", text);
    add_bytes(text, "", machine->memory_bytes, "");
    add_bytes(text, "", machine->available_bytes, " available");
    add_bytes(text, "", machine->memory_limit_bytes, " allowed by the control group");
    put_row(table, "memory", text);
}

static void caches(struct dti_table *table, struct dti_buffer *text,
                   const struct dti_machine *machine)
{
    for (size_t i = 0; i < machine->cache_count; i++) {
        const struct dti_cache_facts *const cache = &machine->caches[i];
        char name[CACHE_NAME], label[sizeof "cache " + CACHE_NAME];
        (void)snprintf(label, sizeof label, "cache %s", cache_name(name, cache));
        add_bytes(text, "", cache->bytes, "");
        if (cache->count != 1)
            add_count(text, "", cache->count, "of them", "of them");
        if (cache->shared_cpus != 1)
            add_count(text, "each shared by ", cache->shared_cpus, "CPU", "CPUs");
        add_count(text, "lines of ", cache->line_bytes, "byte", "bytes");
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
        add_words(text, "CPUs ", node->cpus);
        add_bytes(text, "", node->memory_bytes, "");
        add_bytes(text, "", node->free_bytes, " free");
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
        add_words(text, "", answer->level_trouble);
    else
        add_words(text, limit ? "DTINFO_CPU is " : "", limit ? limit : "the highest level here");
    put_row(table, "kernels", text);
}

static void cpu_details(struct dti_table *table, const struct dti_devices_answer *answer)
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
static void add_link(struct dti_buffer *text, const struct dti_gpu_facts *gpu)
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

static void gpu_details(struct dti_table *table, const struct dti_gpu_facts *gpu)
{
    struct dti_buffer text;
    dti_buffer_init(&text);
    add_bytes(&text, "", gpu->memory_bytes, "");
    add_bytes(&text, "", gpu->free_bytes, " free");
    add_words(&text, "", gpu->ecc == DTI_UNKNOWN ? "" : gpu->ecc ? "ECC on" : "ECC off");
    put_row(table, "memory", &text);
    add_count(&text, "", gpu->memory_bus_bits, "bits", "bits");
    add_hertz(&text, "", gpu->memory_clock_hz);
    add_count(&text, "peak ", in_units(gpu->peak_bytes_per_second, 1000000000), "GB/s", "GB/s");
    put_row(table, "memory bus", &text);
    add_bytes(&text, "", gpu->l2_bytes, "");
    put_row(table, "cache L2", &text);
    add_hertz(&text, "highest ", gpu->clock_hz);
    put_row(table, "clock", &text);
    add_link(&text, gpu);
    put_row(table, "PCI link", &text);
    add_count(&text, "", gpu->numa_node, "", "");
    put_row(table, "NUMA node", &text);
    add_count(&text, "", gpu->copy_engines, "", "");
    put_row(table, "copy engines", &text);
    add_count(&text, "", in_units(gpu->power_limit_milliwatts, 1000), "W", "W");
    put_row(table, "power limit", &text);
    dti_buffer_free(&text);
}

enum { INDENT = 8, WIDTH_LEAST = 40 };

static void put_device(const struct dti_command_context *cx, const char *id, const char *what,
                       const char *text)
{
    struct dti_line line = dti_command_context_line(cx);
    dti_line_put(&line, DTI_STYLE_BOLD, id);
    dti_line_to(&line, INDENT);
    dti_line_text(&line, what);
    dti_line_print(&line, DTI_STYLE_PLAIN, "%s\n", text);
}

static void cpu_facts(struct dti_buffer *text, const struct dti_machine *machine)
{
    const char *const name = machine->model[0] != '\0'    ? machine->model
                             : machine->vendor[0] != '\0' ? machine->vendor
                                                          : machine->architecture;
    add_words(text, "", name[0] != '\0' ? name : "unknown processor");
    if (machine->sockets > 1)
        add_count(text, "", machine->sockets, "socket", "sockets");
    add_count(text, "", machine->cores, "core", "cores");
    add_count(text, "", machine->threads, "thread", "threads");
    if (machine->allowed_cpus < machine->threads && machine->threads != DTI_UNKNOWN) {
        dti_buffer_puts(text, " (");
        add_count(text, "", machine->allowed_cpus, "to be used here)", "to be used here)");
    }
    add_bytes(text, "", machine->memory_bytes, "");
    if (machine->memory_limit_bytes < machine->memory_bytes &&
        machine->memory_bytes != DTI_UNKNOWN) {
        dti_buffer_puts(text, " (");
        add_bytes(text, "", machine->memory_limit_bytes, " to be used here)");
    }
}

/* Data caches; of hybrid processors the first kind of a level. */
static void cache_facts(struct dti_buffer *text, const struct dti_machine *machine)
{
    for (size_t i = 0; i < machine->cache_count; i++) {
        const struct dti_cache_facts *const cache = &machine->caches[i];
        char name[CACHE_NAME], size[DTI_TEXT_SIZE];
        const bool again = i > 0 && machine->caches[i - 1].level == cache->level &&
                           machine->caches[i - 1].type == cache->type;
        if (cache->type == 'i' || again || cache->bytes == DTI_UNKNOWN)
            continue;
        dti_buffer_puts(text, text->length > 0 ? "  " : "");
        dti_buffer_puts(text, cache_name(name, cache));
        dti_buffer_puts(text, " ");
        dti_buffer_puts(text, size_words(size, cache->bytes));
    }
}

/* The instruction sets that determine the support of dtypes, as many per line as fit. */
static void put_instructions(const struct dti_devices_answer *answer,
                             const struct dti_command_context *cx)
{
    const size_t width = cx->width > WIDTH_LEAST ? (size_t)cx->width : WIDTH_LEAST;
    struct dti_line line = dti_command_context_line(cx);
    bool any = false;
    for (unsigned i = 0; i < DTI_INSTRUCTION_COUNT; i++) {
        const enum dti_instruction instruction = (enum dti_instruction)i;
        const char *const name = dti_instruction_name(instruction);
        if (!answer->machine.has[i] || !dti_instruction_is_main(instruction))
            continue;
        if (any && line.column + 1 + strlen(name) > width) {
            dti_line_end(&line);
            line = dti_command_context_line(cx);
            any = false;
        }
        if (any)
            dti_line_text(&line, " ");
        else
            dti_line_to(&line, INDENT);
        dti_line_text(&line, name);
        any = true;
    }
    if (any)
        dti_line_end(&line);
}

static enum dti_status put_cpu(const struct dti_devices_answer *answer,
                               const struct dti_command_context *cx, struct dti_error *reterr)
{
    struct dti_buffer text, caches;
    dti_buffer_init(&text);
    dti_buffer_init(&caches);
    cpu_facts(&text, &answer->machine);
    cache_facts(&caches, &answer->machine);
    const bool fits = INDENT + text.length + 3 + caches.length <= (size_t)cx->width;
    if (fits && caches.length > 0) {
        dti_buffer_puts(&text, "   ");
        dti_buffer_puts(&text, caches.data);
    }
    put_device(cx, "cpu", "", text.data);
    if (!fits && caches.length > 0)
        put_device(cx, "", "", caches.data);
    dti_buffer_free(&text);
    dti_buffer_free(&caches);
    if (!cx->verbose) {
        put_instructions(answer, cx);
        return DTI_OK;
    }
    struct dti_table *const table = dti_table_new(2);
    if (table)
        cpu_details(table, answer);
    return dti_put_table(cx, table, INDENT, reterr);
}

static void gpu_facts(struct dti_buffer *text, const struct dti_devices_answer *answer,
                      const struct dti_gpu_facts *gpu)
{
    char capability[DTI_TEXT_SIZE] = "";
    if (gpu->major != 0)
        (void)snprintf(capability, sizeof capability, "%u.%u", gpu->major, gpu->minor);
    add_words(text, "", gpu->name[0] != '\0' ? gpu->name : "unnamed");
    add_words(text, "compute ", capability);
    add_count(text, "", gpu->multiprocessors, "SM", "SM");
    add_bytes(text, "", gpu->memory_bytes, "");
    add_words(text, "driver ", answer->list.driver_version);
    add_words(text, "PCI ", gpu->pci_id);
    add_words(text, "", answer->request->ids ? gpu->uuid : "");
}

static enum dti_status put_gpus(const struct dti_devices_answer *answer,
                                const struct dti_command_context *cx, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    struct dti_buffer text;
    dti_buffer_init(&text);
    if (answer->list.count == 0)
        put_device(cx, "cuda", "not available: ", answer->list.why_not);
    for (size_t i = answer->first_gpu; i < answer->gpu_end && status == DTI_OK; i++) {
        const struct dti_gpu_facts *const gpu = &answer->list.gpus[i];
        dti_buffer_clear(&text);
        gpu_facts(&text, answer, gpu);
        put_device(cx, gpu->id, "", text.data);
        const char *const trouble = dti_devices_gpu_trouble(&answer->list, gpu);
        if (trouble)
            put_device(cx, "", "not used: ", trouble);
        if (!cx->verbose)
            continue;
        struct dti_table *const table = dti_table_new(2);
        if (table)
            gpu_details(table, gpu);
        status = dti_put_table(cx, table, INDENT, reterr);
    }
    dti_buffer_free(&text);
    return status;
}

static void put_letter(struct dti_table *table, struct dti_devices_cell cell)
{
    const char letter[] = {cell.known ? dti_capability_letter(cell.capability) : '?', '\0'};
    dti_table_cell(table,
                   cell.capability == DTI_CAPABLE_ARITHMETIC ? DTI_STYLE_GOOD
                   : cell.capability == DTI_CAPABLE_SOFTWARE ? DTI_STYLE_DIM
                                                             : DTI_STYLE_PLAIN,
                   letter);
}

static enum dti_status put_matrix(const struct dti_devices_answer *answer,
                                  const struct dti_command_context *cx, struct dti_error *reterr)
{
    struct dti_table *const table = dti_table_new(1 + dti_capability_dtype_count);
    dti_table_heads(table, "");
    dti_table_cell(table, DTI_STYLE_DIM, "");
    for (size_t i = 0; i < dti_capability_dtype_count; i++)
        dti_table_cell(table, DTI_STYLE_DIM, dti_devices_column(dti_capability_dtypes[i]));
    if (answer->shows_cpu) {
        dti_table_cell(table, DTI_STYLE_BOLD, "cpu");
        for (size_t i = 0; i < dti_capability_dtype_count; i++)
            put_letter(table, dti_devices_cpu_cell(&answer->machine, dti_capability_dtypes[i]));
    }
    for (size_t g = answer->first_gpu; g < answer->gpu_end; g++) {
        const struct dti_gpu_facts *const gpu = &answer->list.gpus[g];
        dti_table_cell(table, DTI_STYLE_BOLD, gpu->id);
        for (size_t i = 0; i < dti_capability_dtype_count; i++)
            put_letter(table, dti_devices_gpu_cell(gpu, dti_capability_dtypes[i]));
    }
    return dti_put_table(cx, table, 0, reterr);
}

static enum dti_status put_page(const struct dti_devices_answer *answer,
                                const struct dti_command_context *cx, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    struct dti_line line = dti_command_context_line(cx);
    bool is_known = !answer->shows_cpu || dti_devices_cpu_cell(&answer->machine, DTI_FP64).known;
    for (size_t i = answer->first_gpu; i < answer->gpu_end; i++)
        is_known = is_known && dti_devices_gpu_cell(&answer->list.gpus[i], DTI_FP64).known;
    if (answer->shows_cpu)
        status = put_cpu(answer, cx, reterr);
    if (answer->shows_cuda && status == DTI_OK)
        status = put_gpus(answer, cx, reterr);
    if (status != DTI_OK)
        return status;
    if (answer->shows_mps)
        put_device(cx, "mps", "not available: ", dti_devices_no_metal());
    if (answer->best) {
        dti_line_text(&line, "best device: ");
        dti_line_print(&line, DTI_STYLE_BOLD, "%s\n", answer->best);
    }
    dti_put_line(cx, DTI_STYLE_PLAIN, 0, "%s", "");
    status = put_matrix(answer, cx, reterr);
    if (status == DTI_OK)
        dti_put_line(cx, DTI_STYLE_DIM, 0, "%s%s",
                     "N arithmetic   n matrix or dot product units only   c conversion only   "
                     "- software",
                     is_known ? "" : "   ? unknown");
    return status;
}

static const struct dti_choice some_devices[] = {
    {.name = "cpu", .help = "the CPU; no driver is loaded"},
    {.name = "cuda", .help = "the first CUDA device; cuda:N selects another one"},
    {.name = "auto", .help = "the device that --device auto selects in other commands"},
    {.name = "all", .help = "all devices"},
    {.name = NULL},
};

struct devices_args {
    struct dti_devices_request devices;
    bool arch;
    const char *supports;
};

static const struct dti_option options[] = {
    OPT_LIST(0, "device", struct devices_args, devices.device, "DEVICE", some_devices,
             "cpu, cuda, cuda:N, auto or all (default all)"),
    OPT_FLAG(0, "ids", struct devices_args, devices.ids, "also show the UUIDs of CUDA devices"),
    OPT_FILE(0, "sysroot", struct devices_args, devices.sysroot, "FOLDER",
             "show the CPU of a recorded machine; CUDA devices only if --device asks for them"),
    OPT_FLAG(0, "arch", struct devices_args, arch,
             "the table of architectures and dtypes, or those named; no device is touched",
             .matters = true),
    OPT_DTYPE(0, "supports", struct devices_args, supports, "DTYPE,...",
              "which architectures compute natively with these dtypes", .matters = true),
    OPT_END,
};

/* -q: the best device alone, for scripts. */
static enum dti_status show(const struct dti_devices_answer *answer, struct dti_command_context *cx,
                            struct dti_error *reterr)
{
    if (cx->output != DTI_OUTPUT_HUMAN)
        return DTI_ANSWER(cx, devices, answer, reterr);
    if (!cx->quiet)
        return put_page(answer, cx, reterr);
    const bool one_gpu = answer->gpu_end == answer->first_gpu + 1 && !answer->shows_cpu;
    (void)fprintf(cx->out, "%s\n",
                  one_gpu        ? answer->list.gpus[answer->first_gpu].id
                  : answer->best ? answer->best
                                 : "cpu");
    return DTI_OK;
}

static enum dti_status find_devices(const struct dti_devices_request *args,
                                    struct dti_command_context *cx, struct dti_error *reterr)
{
    struct dti_devices_request request = *args;
    struct dti_devices_answer *answer;
    const char *const limit = getenv("DTINFO_CPU");
    request.level_limit = limit && limit[0] != '\0' ? limit : NULL;
    enum dti_status status = dti_devices_find(&answer, &request, reterr);
    if (status != DTI_OK)
        return status;
    status = show(answer, cx, reterr);
    dti_devices_free(answer);
    return status;
}

/* dtypes, dtype_count: of --supports. */
static enum dti_status find_architectures(char **operands, int operand_count,
                                          const struct dti_dtype_operand *dtypes,
                                          size_t dtype_count, struct dti_command_context *cx,
                                          struct dti_error *reterr)
{
    struct dti_arch_answer answer = {.names = operands,
                                     .name_count = (size_t)operand_count,
                                     .dtypes = dtypes,
                                     .dtype_count = dtype_count};
    enum dti_status status = dti_arch_find(&answer, reterr);
    if (status == DTI_OK)
        status = cx->output == DTI_OUTPUT_HUMAN ? dti_arch_human(cx, &answer, reterr)
                                                : DTI_ANSWER(cx, arch, &answer, reterr);
    dti_arch_free(&answer);
    return status;
}

/* Rejects options that do not apply to architectures, and a device in place of an architecture. */
static enum dti_status check_architectures(const struct devices_args *args, char **operands,
                                           int operand_count, struct dti_error *reterr)
{
    const char *const given = dti_option_given(options, args, "device ids sysroot");
    const bool table = args->arch || args->supports; /* "all" means all architectures here */
    struct dti_device_choice choice;
    struct dti_error ignored;
    if (given)
        return dti_fail(reterr, DTI_USAGE,
                        "--%s is about the devices of a machine, not about architectures; leave it "
                        "out",
                        given);
    for (int i = 0; i < operand_count; i++) {
        const char *const word = operands[i], *const quoted = DTI_QUOTED(word, strlen(word));
        if (dti_device_choice_parse(&choice, word, &ignored) == DTI_OK &&
            (choice.kind != DTI_DEVICE_ALL || !table))
            return dti_fail_word(reterr, DTI_USAGE, word, strlen(word),
                                 "%s is a device, not an architecture; use --device %.32s", quoted,
                                 quoted);
    }
    return DTI_OK;
}

static enum dti_status run_devices(const void *args, char **operands, int operand_count,
                                   struct dti_command_context *cx, struct dti_error *reterr)
{
    const struct devices_args *const own = args;
    char *words[] = {(char *)(uintptr_t)own->supports};
    struct dti_dtype_operand *dtypes = NULL;
    size_t dtype_count = 0;
    if (!own->arch && !own->supports && operand_count == 0)
        return find_devices(&own->devices, cx, reterr);
    enum dti_status status = check_architectures(own, operands, operand_count, reterr);
    if (status == DTI_OK && own->supports)
        status = dti_dtype_operands_read(words, 1, NULL, cx, &dtypes, &dtype_count, reterr);
    if (status == DTI_OK)
        status = find_architectures(operands, operand_count, dtypes, dtype_count, cx, reterr);
    dti_free(dtypes);
    return status;
}

const struct dti_command dti_command_devices = {
    .name = "devices",
    .group = "machine",
    .summary = "CPU and GPUs, and what each does natively with each dtype",
    .synopsis = "[--arch NAME...]",
    .details = "Having no GPU is not an error, unless --device asks for one.\n"
               "-v shows all known facts, -q only the best device.\n"
               "NAME is a generation, an instruction set or a product: ampere, sm_80, a100,\n"
               "gfx942, avx512, 'sapphire rapids', m4. Each fact has a public source.",
    .examples = "dtinfo devices\n"
                "dtinfo devices --device cpu -v\n"
                "dtinfo devices --arch ampere\n"
                "dtinfo devices --supports bf16\n"
                "dtinfo devices -q\n"
                "dtinfo devices --json",
    .schema = "dtinfo.devices/1",
    .other_schemas = {"dtinfo.arch/1"},
    .operands = DTI_OPERANDS_ARCHITECTURES,
    .options = options,
    .args_size = sizeof(struct devices_args),
    .run = run_devices,
};

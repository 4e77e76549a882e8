/* SPDX-License-Identifier: MIT
 *
 * What /proc reports: the first processor of cpuinfo, memory, and the control group's limit.
 */
#include <stdio.h>
#include <string.h>

#include "devices/machine/machine_parts.h"
#include "util/checked.h"

enum {
    CPUINFO_MOST = 4 << 20,
    MEMINFO_MOST = 1 << 16,
    GROUP_MOST = 4096,
    PATH_SIZE = 512,
};

/* The value of "key : value" in lines up to a blank one; NULL if there is none. */
static const char *field(const char *text, const char *key, size_t *ret_length)
{
    const size_t length = strlen(key);
    while (*text != '\0' && *text != '\n') {
        const char *at = text;
        const size_t line = strcspn(text, "\n");
        if (strncmp(at, key, length) == 0) {
            at += length;
            at += strspn(at, " \t");
            if (*at == ':') {
                at++;
                at += strspn(at, " \t");
                *ret_length = strcspn(at, "\n");
                return at;
            }
        }
        text += line + (text[line] == '\n');
    }
    return NULL;
}

static void text_field(const char *cpuinfo, const char *key, char *buffer, size_t size)
{
    size_t length;
    const char *const text = field(cpuinfo, key, &length);
    if (text && buffer[0] == '\0')
        dti_text_copy(buffer, size, text, length);
}

static uint64_t number_field(const char *cpuinfo, const char *key)
{
    size_t length;
    uint64_t number = 0;
    const char *text = field(cpuinfo, key, &length);
    if (!text)
        return DTI_UNKNOWN;
    if (strncmp(text, "0x", 2) != 0)
        return dti_text_digits(&text, &number) ? number : DTI_UNKNOWN;
    size_t digits = 0;
    for (text += 2; digits < 8; text++, digits++) {
        const char c = *text;
        if (c >= '0' && c <= '9')
            number = number * 16 + (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            number = number * 16 + (uint64_t)(c - 'a' + 10);
        else
            break;
    }
    return digits > 0 ? number : DTI_UNKNOWN;
}

static void if_unknown(uint64_t *number, uint64_t reported)
{
    if (*number == DTI_UNKNOWN)
        *number = reported;
}

static void arm_names(struct dti_machine *machine, const char *cpuinfo)
{
    const uint64_t implementer = number_field(cpuinfo, "CPU implementer");
    const uint64_t part = number_field(cpuinfo, "CPU part");
    if (implementer == DTI_UNKNOWN)
        return;
    const char *const vendor = dti_arm_vendor(implementer);
    const char *const model = dti_arm_model(implementer, part);
    if (vendor)
        dti_text_copy(machine->vendor, sizeof machine->vendor, vendor, strlen(vendor));
    if (model)
        dti_text_copy(machine->model, sizeof machine->model, model, strlen(model));
    if_unknown(&machine->model_number, part);
    if_unknown(&machine->stepping, number_field(cpuinfo, "CPU revision"));
}

/* Counts the CPUs in cpuinfo, if /sys does not report them. */
static uint64_t count_processors(const char *cpuinfo)
{
    uint64_t count = 0;
    for (const char *at = cpuinfo; at; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, "processor", 9) == 0 && strcspn(at + 9, ":") == strspn(at + 9, " \t"))
            count++;
        if (*at == '\0')
            break;
    }
    return count > 0 ? count : DTI_UNKNOWN;
}

static void copy_flags(struct dti_buffer *flags, const char *text, size_t length)
{
    dti_buffer_puts(flags, " ");
    dti_buffer_append(flags, text, length);
    dti_buffer_puts(flags, " ");
}

void dti_machine_proc(struct dti_machine *machine, const struct dti_root *root,
                      struct dti_buffer *flags)
{
    struct dti_buffer text;
    size_t length;
    dti_buffer_init(&text);
    if (dti_root_read(root, "proc/cpuinfo", &text, CPUINFO_MOST)) {
        const char *const cpuinfo = text.data;
        const char *const x86 = field(cpuinfo, "flags", &length);
        if (x86)
            copy_flags(flags, x86, length);
        const char *const arm = x86 ? NULL : field(cpuinfo, "Features", &length);
        if (arm)
            copy_flags(flags, arm, length);
        if (machine->isa == DTI_ISA_NONE)
            machine->isa = x86 && dti_flags_have(flags, "lm")      ? DTI_ISA_X86_64
                           : arm && dti_flags_have(flags, "asimd") ? DTI_ISA_AARCH64
                                                                   : DTI_ISA_OTHER;
        if (machine->isa == DTI_ISA_AARCH64)
            arm_names(machine, cpuinfo);
        /* under emulation, the file may be that of another architecture */
        if (machine->isa != DTI_ISA_AARCH64 || arm) {
            text_field(cpuinfo, "vendor_id", machine->vendor, sizeof machine->vendor);
            text_field(cpuinfo, "model name", machine->model, sizeof machine->model);
        }
        if (machine->isa == DTI_ISA_X86_64) {
            if_unknown(&machine->family, number_field(cpuinfo, "cpu family"));
            if_unknown(&machine->model_number, number_field(cpuinfo, "model"));
            if_unknown(&machine->stepping, number_field(cpuinfo, "stepping"));
        }
        if (text.length < CPUINFO_MOST)
            machine->threads = count_processors(cpuinfo);
    }
    dti_buffer_free(&text);
}

/* "MemTotal:       24684084 kB", with a prefix in files of NUMA nodes */
static uint64_t kilobytes(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    uint64_t number;
    if (!at)
        return DTI_UNKNOWN;
    at += strlen(key);
    at += strspn(at, " \t");
    if (!dti_text_digits(&at, &number) || strncmp(at, " kB", 3) != 0 ||
        !dti_mul_u64(number, 1024, &number))
        return DTI_UNKNOWN;
    return number;
}

static void nodes(struct dti_machine *machine, const struct dti_root *root)
{
    for (size_t i = 0; i < machine->node_count; i++) {
        struct dti_node_facts *const node = &machine->nodes[i];
        struct dti_buffer text;
        char path[PATH_SIZE];
        dti_buffer_init(&text);
        (void)snprintf(path, sizeof path, "sys/devices/system/node/node%u/meminfo", node->number);
        if (dti_root_read(root, path, &text, MEMINFO_MOST)) {
            node->memory_bytes = kilobytes(text.data, "MemTotal:");
            node->free_bytes = kilobytes(text.data, "MemFree:");
        }
        dti_buffer_free(&text);
    }
}

/* The smallest limit of a control group and its ancestors; path starts with '/'. */
static void group_limit(struct dti_machine *machine, const struct dti_root *root, const char *mount,
                        const char *path, size_t length, const char *file)
{
    enum { NO_LIMIT_BITS = 60 }; /* version 1 writes a huge number for no limit */
    for (;;) {
        char name[PATH_SIZE];
        const int needed = snprintf(name, sizeof name, "%s%.*s/%s", mount, (int)length, path, file);
        if (needed > 0 && (size_t)needed < sizeof name) {
            const uint64_t limit = dti_root_number(root, name);
            if (limit >> NO_LIMIT_BITS == 0 && limit < machine->memory_limit_bytes)
                machine->memory_limit_bytes = limit;
        }
        if (length == 0)
            return;
        do
            length--;
        while (length > 0 && path[length] != '/');
    }
}

static bool is_plain_path(const char *path, size_t length)
{
    if (length == 0 || length >= PATH_SIZE || path[0] != '/')
        return false;
    for (size_t i = 0; i + 1 < length; i++) {
        if (path[i] == '.' && path[i + 1] == '.')
            return false;
    }
    return true;
}

/* Lines "0::/path" (version 2) and "4:memory:/path" (version 1). */
static void group(struct dti_machine *machine, const struct dti_root *root)
{
    struct dti_buffer text;
    dti_buffer_init(&text);
    if (!dti_root_read(root, "proc/self/cgroup", &text, GROUP_MOST))
        dti_buffer_clear(&text);
    for (const char *at = text.data; *at != '\0';) {
        const size_t line = strcspn(at, "\n");
        const char *const names = memchr(at, ':', line);
        const char *const path =
            names ? memchr(names + 1, ':', line - (size_t)(names + 1 - at)) : NULL;
        if (path && is_plain_path(path + 1, line - (size_t)(path + 1 - at))) {
            const size_t length = line - (size_t)(path + 1 - at);
            if (path == names + 1)
                group_limit(machine, root, "sys/fs/cgroup", path + 1, length, "memory.max");
            else if (path - names == 7 && memcmp(names, ":memory", 7) == 0)
                group_limit(machine, root, "sys/fs/cgroup/memory", path + 1, length,
                            "memory.limit_in_bytes");
        }
        at += line + (at[line] == '\n');
    }
    dti_buffer_free(&text);
}

void dti_machine_memory(struct dti_machine *machine, const struct dti_root *root)
{
    struct dti_buffer text;
    dti_buffer_init(&text);
    if (dti_root_read(root, "proc/meminfo", &text, MEMINFO_MOST)) {
        machine->memory_bytes = kilobytes(text.data, "MemTotal:");
        machine->available_bytes = kilobytes(text.data, "MemAvailable:");
    }
    dti_buffer_free(&text);
    nodes(machine, root);
    group(machine, root);
}

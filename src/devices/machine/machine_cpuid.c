/* SPDX-License-Identifier: MIT
 *
 * CPUID of this processor or of a recording, and what it reports about a machine apart from
 * instruction sets: Intel SDM vol. 2A and AMD APM vol. 3, appendix E. */
#include <string.h>

#include "devices/machine/machine_parts.h"

enum {
    LEAF_IDENTITY = 1,
    LEAF_EXTENDED_FEATURES = 7,
    LEAF_FREQUENCIES = 0x16,
    LEAF_MATRICES = 0x1e,
    RECORDING_MOST = 1 << 20,
    OSXSAVE_ECX = 1 << 27,
};
#define LEAF_HYPERVISOR UINT32_C(0x40000000)
#define LEAF_EXTENDED   UINT32_C(0x80000000)
#define LEAF_BRAND      UINT32_C(0x80000002)
#define HYPERVISOR_ECX  (UINT32_C(1) << 31)
#define MEGAHERTZ       UINT64_C(1000000)

/* Finds "0x" and hexadecimal digits after *text; advances past them. */
static bool hexadecimal(const char **text, const char *end, const char *name, uint64_t *ret)
{
    const size_t length = strlen(name);
    for (const char *at = *text; at + length + 2 < end; at++) {
        if (memcmp(at, name, length) != 0 || memcmp(at + length, "0x", 2) != 0)
            continue;
        uint64_t number = 0;
        size_t digits = 0;
        for (at += length + 2; at < end; at++, digits++) {
            const char c = *at;
            const int digit = c >= '0' && c <= '9'   ? c - '0'
                              : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                                     : -1;
            if (digit < 0)
                break;
            number = number << 4 | (uint64_t)digit;
        }
        if (digits == 0 || digits > 16)
            return false;
        *text = at;
        *ret = number;
        return true;
    }
    return false;
}

/* "   0x00000007 0x01: eax=0x00000010 ebx=0x00000000 ecx=0x00000000 edx=0x00000000" */
static void parse_row(struct dti_cpuid_reader *reader, const char *line, const char *end)
{
    static const char *const names[] = {"", "", "eax=", "ebx=", "ecx=", "edx="};
    uint64_t number[6];
    for (size_t i = 0; i < 6; i++) {
        if (!hexadecimal(&line, end, names[i], &number[i]) || number[i] > UINT32_MAX)
            return;
    }
    if (reader->count == DTI_CPUID_ROWS_MAX)
        return;
    reader->rows[reader->count++] = (struct dti_cpuid_row){
        .leaf = (uint32_t)number[0],
        .subleaf = (uint32_t)number[1],
        .registers = {(uint32_t)number[2], (uint32_t)number[3], (uint32_t)number[4],
                      (uint32_t)number[5]},
    };
}

/* Reads the lines of the first CPU. */
static bool parse_recording(struct dti_cpuid_reader *reader, const char *text)
{
    unsigned cpus = 0;
    while (*text != '\0') {
        const char *const end = text + strcspn(text, "\n");
        const char *at = text + strspn(text, " \t");
        if (strncmp(at, "CPU ", 4) == 0 && ++cpus > 1)
            break;
        if (strncmp(at, "xcr0=", 5) == 0)
            reader->kept_known = hexadecimal(&at, end, "xcr0=", &reader->kept);
        else
            parse_row(reader, at, end);
        text = *end == '\0' ? end : end + 1;
    }
    return reader->count > 0;
}

bool dti_cpuid_open(struct dti_cpuid_reader *ret, const struct dti_root *root)
{
    *ret = (struct dti_cpuid_reader){.source = root->recorded ? NULL : dti_cpuid_source};
    if (root->recorded) {
        struct dti_buffer text;
        dti_buffer_init(&text);
        const bool good =
            dti_root_read(root, "cpuid", &text, RECORDING_MOST) && parse_recording(ret, text.data);
        dti_buffer_free(&text);
        return good;
    }
    if (!ret->source)
        return false;
    ret->kept_known = true;
    if ((dti_cpuid_ask(ret, LEAF_IDENTITY, 0).ecx & OSXSAVE_ECX) != 0)
        ret->kept = ret->source->xgetbv();
    return true;
}

static struct dti_cpuid ask(const struct dti_cpuid_reader *reader, uint32_t leaf, uint32_t subleaf)
{
    if (reader->source)
        return reader->source->cpuid(leaf, subleaf);
    for (size_t i = 0; i < reader->count; i++) {
        if (reader->rows[i].leaf == leaf && reader->rows[i].subleaf == subleaf)
            return reader->rows[i].registers;
    }
    return (struct dti_cpuid){0, 0, 0, 0};
}

/* Some processors return the data of the last leaf for leaves beyond it. */
struct dti_cpuid dti_cpuid_ask(const struct dti_cpuid_reader *reader, uint32_t leaf,
                               uint32_t subleaf)
{
    const uint32_t base = leaf & UINT32_C(0xf0000000);
    const bool counts_subleaves = leaf == LEAF_EXTENDED_FEATURES || leaf == LEAF_MATRICES;
    if (leaf > ask(reader, base, 0).eax)
        return (struct dti_cpuid){0, 0, 0, 0};
    if (counts_subleaves && subleaf > 0 && subleaf > ask(reader, leaf, 0).eax)
        return (struct dti_cpuid){0, 0, 0, 0};
    return ask(reader, leaf, subleaf);
}

static void put_word(char *text, uint32_t word)
{
    for (unsigned i = 0; i < 4; i++)
        text[i] = (char)(word >> 8 * i & 0xff);
}

static void brand(struct dti_machine *machine, const struct dti_cpuid_reader *reader)
{
    char text[48];
    for (uint32_t i = 0; i < 3; i++) {
        const struct dti_cpuid r = dti_cpuid_ask(reader, LEAF_BRAND + i, 0);
        char *const part = text + (size_t)16 * i;
        put_word(part, r.eax);
        put_word(part + 4, r.ebx);
        put_word(part + 8, r.ecx);
        put_word(part + 12, r.edx);
    }
    dti_text_copy(machine->model, sizeof machine->model, text, sizeof text);
}

static void hypervisor(struct dti_machine *machine, const struct dti_cpuid_reader *reader)
{
    static const struct {
        char signature[13];
        const char *name;
    } known[] = {
        {"KVMKVMKVM", "KVM"},       {"Linux KVM Hv", "KVM"},        {"Microsoft Hv", "Hyper-V"},
        {"VMwareVMware", "VMware"}, {"XenVMMXenVMM", "Xen"},        {"TCGTCGTCGTCG", "QEMU TCG"},
        {"bhyve bhyve ", "bhyve"},  {"VBoxVBoxVBox", "VirtualBox"}, {" lrpepyh vr", "Parallels"},
        {"ACRNACRNACRN", "ACRN"},
    };
    char text[13] = "";
    if ((dti_cpuid_ask(reader, LEAF_IDENTITY, 0).ecx & HYPERVISOR_ECX) == 0)
        return;
    const struct dti_cpuid r = dti_cpuid_ask(reader, LEAF_HYPERVISOR, 0);
    put_word(text, r.ebx);
    put_word(text + 4, r.ecx);
    put_word(text + 8, r.edx);
    const char *name = text;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(text, known[i].signature) == 0)
            name = known[i].name;
    }
    dti_text_copy(machine->hypervisor, sizeof machine->hypervisor, name, strlen(name));
    if (machine->hypervisor[0] == '\0')
        memcpy(machine->hypervisor, "unnamed", sizeof "unnamed");
}

void dti_machine_cpuid(struct dti_machine *machine, struct dti_cpuid_reader *reader)
{
    const struct dti_cpuid vendor = dti_cpuid_ask(reader, 0, 0);
    char text[13] = "";
    put_word(text, vendor.ebx);
    put_word(text + 4, vendor.edx);
    put_word(text + 8, vendor.ecx);
    dti_text_copy(machine->vendor, sizeof machine->vendor, text, sizeof text);
    brand(machine, reader);
    hypervisor(machine, reader);

    const uint32_t signature = dti_cpuid_ask(reader, LEAF_IDENTITY, 0).eax;
    const uint32_t family = signature >> 8 & 15, model = signature >> 4 & 15;
    const bool extended = family == 15 || family == 6;
    machine->family = family + (family == 15 ? signature >> 20 & 0xff : 0);
    machine->model_number = model + (extended ? (signature >> 16 & 15) << 4 : 0);
    machine->stepping = signature & 15;

    const struct dti_cpuid clocks = dti_cpuid_ask(reader, LEAF_FREQUENCIES, 0);
    if ((clocks.eax & 0xffff) != 0)
        machine->base_hz = (clocks.eax & 0xffff) * MEGAHERTZ;
    if ((clocks.ebx & 0xffff) != 0)
        machine->max_hz = (clocks.ebx & 0xffff) * MEGAHERTZ;
}

/* SPDX-License-Identifier: MIT
 *
 * Instruction sets: rows of instructions.def, and which of them the processor has and the OS
 * enables. */
#include <stdio.h>
#include <string.h>

#include "devices/machine/machine_parts.h"

enum feature_source { EAX, EBX, ECX, EDX, VERSION, HWCAP, HWCAP2 };
enum kept { NOTHING, YMM, ZMM, TILES };

static const struct {
    char name[16], meaning[48];
    enum dti_isa isa;
    bool main;
    enum feature_source place;
    enum kept kept;
    uint32_t leaf, subleaf;
    unsigned bit;
} rows[DTI_INSTRUCTION_COUNT] = {
#define INSTRUCTION(id, nm, arch, is_main, what, lf, sub, where, number, state) \
    [DTI_HAS_##id] = {.name = nm,                                               \
                      .meaning = what,                                          \
                      .isa = DTI_ISA_##arch,                                    \
                      .main = is_main,                                          \
                      .place = where,                                           \
                      .kept = state,                                            \
                      .leaf = lf,                                               \
                      .subleaf = sub,                                           \
                      .bit = number},
#include "devices/machine/instructions.def"
#undef INSTRUCTION
};

const char *dti_instruction_name(enum dti_instruction instruction)
{
    return rows[instruction].name;
}

const char *dti_instruction_meaning(enum dti_instruction instruction)
{
    return rows[instruction].meaning;
}

bool dti_instruction_is_main(enum dti_instruction instruction)
{
    return rows[instruction].main;
}

bool dti_flags_have(const struct dti_buffer *flags, const char *name)
{
    char word[64];
    (void)snprintf(word, sizeof word, " %.*s ", (int)sizeof word - 3, name);
    return strstr(flags->data, word) != NULL;
}

/* Bits of XCR0 (Intel SDM vol. 1, 13.3): the state that the OS must save for each kind of
 * register. */
static const uint64_t kept_bits[] = {
    [NOTHING] = 0,
    [YMM] = 0x06,      /* SSE and AVX state */
    [ZMM] = 0xe6,      /* also masks, upper halves, upper registers */
    [TILES] = 0x60000, /* configuration and data */
};

/* The state that the OS saves, if XCR0 was not recorded: Linux hides the flags of state it does
 * not save. */
static uint64_t kept_by_flags(const struct dti_buffer *flags)
{
    uint64_t kept = 0;
    if (dti_flags_have(flags, "avx"))
        kept |= kept_bits[YMM];
    if (dti_flags_have(flags, "avx512f"))
        kept |= kept_bits[ZMM];
    if (dti_flags_have(flags, "amx_tile"))
        kept |= kept_bits[TILES];
    return kept;
}

static bool in_cpuid(const struct dti_cpuid_reader *reader, size_t i)
{
    enum { AVX10_EDX = 1 << 19, LEAF_FEATURES = 7, VERSION_MASK = 0xff };
    const struct dti_cpuid r = dti_cpuid_ask(reader, rows[i].leaf, rows[i].subleaf);
    switch (rows[i].place) {
    case EAX:
        return (r.eax >> rows[i].bit & 1) != 0;
    case EBX:
        return (r.ebx >> rows[i].bit & 1) != 0;
    case ECX:
        return (r.ecx >> rows[i].bit & 1) != 0;
    case EDX:
        return (r.edx >> rows[i].bit & 1) != 0;
    case VERSION:
        return (dti_cpuid_ask(reader, LEAF_FEATURES, 1).edx & AVX10_EDX) != 0 &&
               (r.ebx & VERSION_MASK) >= rows[i].bit;
    case HWCAP:
    case HWCAP2:
        break;
    }
    return false;
}

void dti_instructions_x86(struct dti_machine *machine, const struct dti_cpuid_reader *reader,
                          const struct dti_buffer *flags)
{
    const uint64_t kept = reader && reader->kept_known ? reader->kept : kept_by_flags(flags);
    for (size_t i = 0; i < DTI_INSTRUCTION_COUNT; i++) {
        if (rows[i].isa != DTI_ISA_X86_64)
            continue;
        const uint64_t needed = kept_bits[rows[i].kept];
        if (reader)
            machine->has[i] = in_cpuid(reader, i) && (kept & needed) == needed;
        else
            machine->has[i] = dti_flags_have(flags, rows[i].name);
    }
    machine->has[DTI_HAS_SSE2] = true; /* part of the architecture */
}

void dti_instructions_arm(struct dti_machine *machine, const uint64_t *words,
                          const struct dti_buffer *flags)
{
    for (size_t i = 0; i < DTI_INSTRUCTION_COUNT; i++) {
        if (rows[i].isa != DTI_ISA_AARCH64)
            continue;
        if (words)
            machine->has[i] = (words[rows[i].place == HWCAP ? 0 : 1] >> rows[i].bit & 1) != 0;
        else
            machine->has[i] = dti_flags_have(flags, rows[i].name);
    }
    machine->has[DTI_HAS_ASIMD] = true; /* part of the architecture that Linux requires */
}

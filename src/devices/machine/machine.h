/* SPDX-License-Identifier: MIT
 *
 * What this machine's processors are: from CPUID and the files of the kernel, or from a recording
 * of another machine: a folder with `proc` and `sys` (as lscpu --sysroot takes it) and, of an
 * x86-64 machine, `cpuid`: lines of `cpuid -r` and one more, "xcr0=0x...", with what XGETBV
 * answers, the registers that the system keeps. Without that line the flags of proc/cpuinfo decide
 * which it keeps; without `cpuid` they also give the instruction sets. Files are untrusted: what
 * makes no sense is unknown. */
#ifndef DEVICES_MACHINE_MACHINE_H
#define DEVICES_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "devices/device.h"
#include "dtinfo/error.h"

enum dti_isa { DTI_ISA_NONE, DTI_ISA_X86_64, DTI_ISA_AARCH64, DTI_ISA_OTHER };

/* Instruction sets that matter to dtypes: rows of instructions.def. */
enum dti_instruction {
#define INSTRUCTION(id, ...) DTI_HAS_##id,
#include "devices/machine/instructions.def"
#undef INSTRUCTION
    DTI_INSTRUCTION_COUNT
};
const char *dti_instruction_name(enum dti_instruction instruction);    /* "avx512_bf16" */
const char *dti_instruction_meaning(enum dti_instruction instruction); /* for people */
/* Whether it belongs in one line about a CPU: those that decide what a dtype gets. */
bool dti_instruction_is_main(enum dti_instruction instruction);

enum { DTI_CACHES_MAX = 8, DTI_NODES_MAX = 64 };

struct dti_cache_facts {
    unsigned level;
    char type;            /* 'd' data, 'i' instructions, 'u' both */
    uint64_t bytes;       /* of one */
    uint64_t count;       /* how many there are */
    uint64_t shared_cpus; /* logical CPUs that share one */
    uint64_t line_bytes;
};

struct dti_node_facts {
    unsigned number;
    uint64_t memory_bytes, free_bytes;
    char cpus[128]; /* "0-15,32-47", as the kernel writes it */
};

/* Unreported numbers are DTI_UNKNOWN, texts are empty. */
struct dti_machine {
    char architecture[16]; /* "x86_64" */
    enum dti_isa isa;
    char vendor[32], model[96]; /* escape before showing */
    uint64_t family, model_number, stepping;
    uint64_t sockets, cores, threads;           /* of the machine, those that are online */
    uint64_t performance_cpus, efficiency_cpus; /* logical CPUs of either kind, of hybrid ones */
    uint64_t allowed_cpus;                      /* that this process may run on */
    uint64_t base_hz, max_hz;
    uint64_t memory_bytes, available_bytes;
    uint64_t memory_limit_bytes; /* of the control group that this process is in, if there is one */
    char governor[32];           /* frequency governor of the first CPU: "performance" */
    char hypervisor[32];         /* "KVM"; empty on the bare machine or when unknown */
    struct dti_cache_facts caches[DTI_CACHES_MAX];
    size_t cache_count;
    struct dti_node_facts nodes[DTI_NODES_MAX];
    size_t node_count;
    bool has[DTI_INSTRUCTION_COUNT]; /* the CPU has it and the system lets programs use it */
};

/* root: NULL for this machine, or the folder of a recording. Fails with DTI_BAD_INPUT when that is
 * none, naming what is missing. */
enum dti_status dti_machine_read(struct dti_machine *ret, const char *root,
                                 struct dti_error *reterr);

#endif

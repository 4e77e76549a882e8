/* SPDX-License-Identifier: MIT
 *
 * Describes this machine's processors: from CPUID and the kernel's files, or from a recording of
 * another machine: a folder with `proc` and `sys` (as for lscpu --sysroot) and, for an x86-64
 * machine, `cpuid`: the lines of `cpuid -r` plus "xcr0=0x...", the result of XGETBV: the
 * registers whose state the OS saves. Without that line the flags in proc/cpuinfo determine the
 * saved state; without `cpuid` they also give the instruction sets. Files are untrusted: values
 * that make no sense are unknown. */
#ifndef DEVICES_MACHINE_MACHINE_H
#define DEVICES_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "devices/device.h"
#include "util/error.h"

enum dti_isa { DTI_ISA_NONE, DTI_ISA_X86_64, DTI_ISA_AARCH64, DTI_ISA_OTHER };

/* Instruction sets that matter to dtypes: rows of instructions.def. */
enum dti_instruction {
#define INSTRUCTION(id, ...) DTI_HAS_##id,
#include "devices/machine/instructions.def"
#undef INSTRUCTION
    DTI_INSTRUCTION_COUNT
};
const char *dti_instruction_name(enum dti_instruction instruction);    /* "avx512_bf16" */
const char *dti_instruction_meaning(enum dti_instruction instruction); /* human-readable */
/* Whether to show it in a one-line summary of a CPU: those that determine dtype support. */
bool dti_instruction_is_main(enum dti_instruction instruction);

enum { DTI_CACHES_MAX = 8, DTI_NODES_MAX = 64 };

struct dti_cache_facts {
    unsigned level;
    char type;            /* 'd' data, 'i' instructions, 'u' both */
    uint64_t bytes;       /* of one cache */
    uint64_t count;       /* number of such caches */
    uint64_t shared_cpus; /* logical CPUs that share one cache */
    uint64_t line_bytes;
};

struct dti_node_facts {
    unsigned number;
    uint64_t memory_bytes, free_bytes;
    char cpus[128]; /* "0-15,32-47", in the kernel's format */
};

/* Unreported numbers are DTI_UNKNOWN, unreported texts empty. */
struct dti_machine {
    char architecture[16]; /* "x86_64" */
    enum dti_isa isa;
    char vendor[32], model[96]; /* escape before showing */
    uint64_t family, model_number, stepping;
    uint64_t sockets, cores, threads;           /* of the machine; online ones only */
    uint64_t performance_cpus, efficiency_cpus; /* logical CPUs of each kind, if hybrid */
    uint64_t allowed_cpus;                      /* that this process may run on */
    uint64_t base_hz, max_hz;
    uint64_t memory_bytes, available_bytes;
    uint64_t memory_limit_bytes; /* limit of this process's control group, if any */
    char governor[32];           /* frequency governor of the first CPU: "performance" */
    char hypervisor[32];         /* "KVM"; empty on bare metal or if unknown */
    struct dti_cache_facts caches[DTI_CACHES_MAX];
    size_t cache_count;
    struct dti_node_facts nodes[DTI_NODES_MAX];
    size_t node_count;
    bool has[DTI_INSTRUCTION_COUNT]; /* the CPU has it and the OS enables it */
};

/* root: NULL for this machine, or the folder of a recording. Fails with DTI_BAD_INPUT if that is
 * not a recording, naming what is missing. */
enum dti_status dti_machine_read(struct dti_machine *ret, const char *root,
                                 struct dti_error *reterr);

#endif

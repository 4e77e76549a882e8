/* SPDX-License-Identifier: MIT
 *
 * Internals of machine.c: small files below a root, CPUID from the processor or a recording, and
 * which file fills what. Nothing here fails: unreported facts stay unknown. */
#ifndef DEVICES_MACHINE_MACHINE_PARTS_H
#define DEVICES_MACHINE_MACHINE_PARTS_H

#include "devices/machine/machine.h"
#include "kernels/cpuid.h"
#include "util/buffer.h"

/* machine_files.c: paths are relative to the root, "proc/cpuinfo". */
struct dti_root {
    int fd;        /* the folder's descriptor; -1: none */
    bool recorded; /* a recording: do not follow symbolic links */
};

/* Reads up to `most` bytes of a regular file; false if there is none. */
bool dti_root_read(const struct dti_root *root, const char *path, struct dti_buffer *buffer,
                   size_t most);
/* Reads the first line, trimmed and truncated to fit; "" if there is none. */
void dti_root_line(const struct dti_root *root, const char *path, char *buffer, size_t size);
/* A number that fills the first line. */
uint64_t dti_root_number(const struct dti_root *root, const char *path);
/* Copies text, trimmed and with runs of blanks collapsed. */
void dti_text_copy(char *buffer, size_t size, const char *text, size_t length);
/* Parses decimal digits at the start of text and advances past them; false if there are none or
 * the number does not fit. */
bool dti_text_digits(const char **text, uint64_t *ret);

/* A set of CPUs from the kernel's list format, "0-3,8"; numbers up to CPUS_MAX - 1. */
enum { DTI_CPUS_MAX = 16384 };
struct dti_cpus {
    uint64_t bits[DTI_CPUS_MAX / 64];
};
bool dti_cpus_read(struct dti_cpus *ret, const struct dti_root *root, const char *path);
uint64_t dti_cpus_count(const struct dti_cpus *cpus);
bool dti_cpus_has(const struct dti_cpus *cpus, unsigned cpu);
/* The smallest CPU in both sets; DTI_CPUS_MAX if there is none. */
unsigned dti_cpus_first(const struct dti_cpus *cpus, const struct dti_cpus *within);

/* machine_cpuid.c */
struct dti_cpuid_row {
    uint32_t leaf, subleaf;
    struct dti_cpuid registers;
};
enum { DTI_CPUID_ROWS_MAX = 512 };
struct dti_cpuid_reader {
    const struct dti_cpuid_source *source; /* of this processor; NULL: use recorded rows */
    struct dti_cpuid_row rows[DTI_CPUID_ROWS_MAX];
    size_t count;
    uint64_t kept; /* XCR0: registers whose state the OS saves */
    bool kept_known;
};
/* Returns false if there is no CPUID. */
bool dti_cpuid_open(struct dti_cpuid_reader *ret, const struct dti_root *root);
/* Returns zeros for leaves that the processor lacks. */
struct dti_cpuid dti_cpuid_ask(const struct dti_cpuid_reader *reader, uint32_t leaf,
                               uint32_t subleaf);
void dti_machine_cpuid(struct dti_machine *machine, struct dti_cpuid_reader *reader);

/* machine_proc.c: what /proc reports. flags: the CPU's, with a blank at both ends. */
void dti_machine_proc(struct dti_machine *machine, const struct dti_root *root,
                      struct dti_buffer *flags);
void dti_machine_memory(struct dti_machine *machine, const struct dti_root *root);

/* machine_topology.c: what /sys reports about CPUs, caches and NUMA nodes. */
void dti_machine_topology(struct dti_machine *machine, const struct dti_root *root);

/* instructions.c: fills has[]. */
bool dti_flags_have(const struct dti_buffer *flags, const char *name);
/* reader: NULL without CPUID. */
void dti_instructions_x86(struct dti_machine *machine, const struct dti_cpuid_reader *reader,
                          const struct dti_buffer *flags);
/* words: AT_HWCAP and AT_HWCAP2; NULL if only flags are known. */
void dti_instructions_arm(struct dti_machine *machine, const uint64_t *words,
                          const struct dti_buffer *flags);

/* arm_parts.c: the names of an implementer and of its part; NULL if unknown. */
const char *dti_arm_vendor(uint64_t implementer);
const char *dti_arm_model(uint64_t implementer, uint64_t part);

#endif

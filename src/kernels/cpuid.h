/* SPDX-License-Identifier: MIT
 *
 * Where cpu.c learns about an x86 processor: two instructions and a request to the system, behind a
 * pointer, so that tests can imitate other machines. */
#ifndef KERNELS_CPUID_H
#define KERNELS_CPUID_H

#include <stdint.h>

struct dti_cpuid {
    uint32_t eax, ebx, ecx, edx;
};

struct dti_cpuid_source {
    struct dti_cpuid (*cpuid)(uint32_t leaf, uint32_t subleaf);
    uint64_t (*xgetbv)(void); /* XCR0; asked only when CPUID says that it can be */
    /* Asks the system for a state component of XCR0 that it does not hand out unasked: 0, or the
     * error number of the refusal. */
    int (*permit)(unsigned component);
};

/* This processor; NULL where there is no such instruction. */
extern const struct dti_cpuid_source *dti_cpuid_source;

#endif

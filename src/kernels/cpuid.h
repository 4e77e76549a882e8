/* SPDX-License-Identifier: MIT
 *
 * How cpu.c queries an x86 processor: two instructions and a system call, behind function
 * pointers, so that tests can simulate other machines. */
#ifndef KERNELS_CPUID_H
#define KERNELS_CPUID_H

#include <stdint.h>

struct dti_cpuid {
    uint32_t eax, ebx, ecx, edx;
};

struct dti_cpuid_source {
    struct dti_cpuid (*cpuid)(uint32_t leaf, uint32_t subleaf);
    uint64_t (*xgetbv)(void); /* reads XCR0; called only if CPUID allows it */
    /* Requests permission for an XCR0 state component that the system grants only on request.
     * Returns 0, or errno if refused. */
    int (*permit)(unsigned component);
};

/* This processor; NULL if it does not have these instructions. */
extern const struct dti_cpuid_source *dti_cpuid_source;

#endif

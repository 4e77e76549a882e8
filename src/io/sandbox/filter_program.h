/* SPDX-License-Identifier: MIT
 *
 * The filter of system calls as a program for the kernel's packet filter. Any machine can make that
 * of any other, so that one machine's tests judge all of them. */
#ifndef IO_SANDBOX_FILTER_PROGRAM_H
#define IO_SANDBOX_FILTER_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

enum dti_filter_machine {
    DTI_FILTER_X86_64,
    DTI_FILTER_AARCH64,
    DTI_FILTER_RISCV64,
    DTI_FILTER_MACHINES
};

/* As struct sock_filter of <linux/filter.h>. */
struct dti_filter_instruction {
    uint16_t code;
    uint8_t yes, no; /* instructions to skip */
    uint32_t value;
};

enum { DTI_FILTER_MOST = 128 };

/* For the process with this number. Returns the number of instructions. */
unsigned dti_filter_program(struct dti_filter_instruction ret[DTI_FILTER_MOST],
                            enum dti_filter_machine machine, bool network, uint32_t process);

#endif

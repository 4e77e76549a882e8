/* SPDX-License-Identifier: MIT
 *
 * The filter of system calls goes to the kernel. Separate from sandbox.c, because it depends on the
 * architecture. */
#define _GNU_SOURCE /* syscall() */
#include "io/sandbox/filter.h"

#include <errno.h>
#include <stdint.h>

#ifdef DTI_SANDBOX
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "io/sandbox/filter_program.h"

#if defined __x86_64__ && defined __LP64__
#define MACHINE DTI_FILTER_X86_64
#elif defined __AARCH64EL__
#define MACHINE DTI_FILTER_AARCH64
#elif defined __riscv && __riscv_xlen == 64
#define MACHINE DTI_FILTER_RISCV64
#endif

#if !defined DTI_SANDBOX || !defined SYS_seccomp || !defined MACHINE
const char *dti_filter_lacks(void)
{
#ifdef DTI_SANDBOX
    return "a filter of system calls for this architecture";
#else
    return "a build for it";
#endif
}

int dti_filter_install(bool network)
{
    (void)network;
    return ENOSYS;
}
#else
/* Of seccomp(2): all threads; and without SPEC_ALLOW, kernels before 5.16 slow the process down. */
enum { SET_FILTER = 1, ACTION_AVAILABLE = 2, ALL_THREADS = 1, SPEC_ALLOW = 4 };

/* struct sock_fprog of <linux/filter.h> */
struct filter {
    unsigned short count;
    const struct dti_filter_instruction *code;
};

const char *dti_filter_lacks(void)
{
    const uint32_t end_process = 0x80000000;
    return syscall(SYS_seccomp, ACTION_AVAILABLE, 0, &end_process) == 0
               ? NULL
               : "filters of system calls (seccomp)";
}

int dti_filter_install(bool network)
{
    struct dti_filter_instruction code[DTI_FILTER_MOST];
    const struct filter filter = {
        .count = (unsigned short)dti_filter_program(code, MACHINE, network, (uint32_t)getpid()),
        .code = code,
    };
    const long failed = syscall(SYS_seccomp, SET_FILTER, ALL_THREADS | SPEC_ALLOW, &filter);
    return failed == 0 ? 0 : failed < 0 ? errno : EBUSY; /* > 0: a thread has another filter */
}
#endif

/* SPDX-License-Identifier: MIT
 *
 * The filter of system calls of every machine, judged by an interpreter of the packet filter's
 * language written for this test: no machine is needed but this one. Numbers and constants are
 * those of Linux's headers, written again. That numbers belong to the names of calls.def is the
 * business of check_call_numbers.py. */
#include "io/sandbox/filter_program.h"

#include <string.h>

#include "unit.h"

enum { STUCK = 1 }; /* no answer of the kernel's */
#define KILL    0x80000000u
#define PASS    0x7fff0000u
#define EPERM_  0x00050001u
#define ENOSYS_ 0x00050026u
#define PROCESS 4711u

struct machine {
    const char *name;
    uint32_t architecture; /* AUDIT_ARCH_... */
};
static const struct machine machines[] = {
    [DTI_FILTER_X86_64] = {"x86_64", 62 | 0xc0000000u},
    [DTI_FILTER_AARCH64] = {"aarch64", 183 | 0xc0000000u},
    [DTI_FILTER_RISCV64] = {"riscv64", 243 | 0xc0000000u},
    {"i386", 3 | 0x40000000u},
    {"arm", 40 | 0x40000000u},
    {"riscv32", 243 | 0x40000000u},
    {"s390x", 22 | 0x80000000u},
    {"aarch64, big-endian", 183 | 0x80000000u},
};
enum { MACHINES = sizeof machines / sizeof *machines };

struct call {
    uint32_t number, architecture;
    uint64_t arguments[6];
};

/* As a little-endian kernel lays it out: number, architecture, address of the instruction,
 * arguments. */
static uint32_t load(const struct call *call, uint32_t at)
{
    if (at == 0)
        return call->number;
    if (at == 4)
        return call->architecture;
    const uint64_t argument = call->arguments[(at - 16) / 8];
    return (uint32_t)(at % 8 ? argument >> 32 : argument);
}

/* The program's answer. STUCK: an instruction that the kernel would refuse. */
static uint32_t run(const struct dti_filter_instruction *code, unsigned count,
                    const struct call *call)
{
    uint32_t a = 0, x = 0;
    for (unsigned at = 0; at < count; at++) {
        const struct dti_filter_instruction *const step = &code[at];
        switch (step->code) {
        case 0x20: /* ld [k] */
            if (step->value % 4 != 0 || step->value >= 64 || (step->value > 4 && step->value < 16))
                return STUCK;
            a = load(call, step->value);
            break;
        case 0x00: /* ld #k */
            a = step->value;
            break;
        case 0x07: /* tax */
            x = a;
            break;
        case 0x54: /* and #k */
            a &= step->value;
            break;
        case 0x7c: /* rsh x */
            a = x < 32 ? a >> x : 0;
            break;
        case 0x05: /* ja k */
            at += step->value;
            break;
        case 0x15: /* jeq */
            at += a == step->value ? step->yes : step->no;
            break;
        case 0x35: /* jge */
            at += a >= step->value ? step->yes : step->no;
            break;
        case 0x45: /* jset */
            at += (a & step->value) != 0 ? step->yes : step->no;
            break;
        case 0x06: /* ret #k */
            return step->value;
        default:
            return STUCK;
        }
    }
    return STUCK; /* beyond the end */
}

static uint32_t answer(enum dti_filter_machine machine, bool network, const struct call *call)
{
    struct dti_filter_instruction code[DTI_FILTER_MOST];
    const unsigned count = dti_filter_program(code, machine, network, PROCESS);
    return count <= DTI_FILTER_MOST ? run(code, count, call) : STUCK;
}

enum { NO = 0xffff };
static const struct row {
    const char *name;
    uint16_t x86, common;
    uint64_t arguments[3];
    uint32_t alone, connected; /* answers without and with connections */
} rows[] = {
    {"read", 0, 63, {0}, PASS, PASS},
    {"write", 1, 64, {0}, PASS, PASS},
    {"open", 2, NO, {0}, PASS, PASS},
    {"openat", 257, 56, {0}, PASS, PASS},
    {"openat2", 437, 437, {0}, EPERM_, EPERM_},
    {"lseek", 8, 62, {0}, PASS, PASS},
    {"mmap, data", 9, 222, {0, 4096, 3}, PASS, PASS},
    {"mmap, code", 9, 222, {0, 4096, 5}, EPERM_, PASS},
    {"mmap, code, upper half", 9, 222, {0, 4096, UINT64_C(0xffffffff00000005)}, EPERM_, PASS},
    {"mprotect, data", 10, 226, {4096, 4096, 3}, PASS, PASS},
    {"mprotect, code", 10, 226, {4096, 4096, 7}, EPERM_, PASS},
    {"pkey_mprotect", 329, 288, {4096, 4096, 7}, EPERM_, EPERM_},
    {"munmap", 11, 215, {0}, PASS, PASS},
    {"mincore", 27, 232, {0}, PASS, PASS},
    {"brk", 12, 214, {0}, PASS, PASS},
    {"rt_sigreturn", 15, 139, {0}, PASS, PASS},
    {"ioctl, TCGETS", 16, 29, {1, 0x5401}, PASS, PASS},
    {"ioctl, TCGETS2", 16, 29, {1, 0x802c542a}, PASS, PASS},
    {"ioctl, TIOCGWINSZ", 16, 29, {1, 0x5413}, PASS, PASS},
    {"ioctl, TIOCSTI", 16, 29, {0, 0x5412}, EPERM_, EPERM_},
    {"ioctl, TIOCLINUX", 16, 29, {0, 0x541c}, EPERM_, EPERM_},
    {"ioctl, TIOCSTI, upper half", 16, 29, {0, UINT64_C(0x540100005412)}, EPERM_, EPERM_},
    {"pipe", 22, NO, {0}, EPERM_, PASS},
    {"pipe2", 293, 59, {0}, EPERM_, PASS},
    {"shmget", 29, 194, {0}, EPERM_, EPERM_},
    {"dup2", 33, NO, {0}, PASS, PASS},
    {"getpid", 39, 172, {0}, PASS, PASS},
    {"sendfile", 40, 71, {0}, EPERM_, EPERM_},
    {"socket, AF_UNIX", 41, 198, {1}, EPERM_, PASS},
    {"socket, AF_INET", 41, 198, {2}, EPERM_, PASS},
    {"socket, AF_INET6", 41, 198, {10}, EPERM_, PASS},
    {"socket, AF_NETLINK", 41, 198, {16}, EPERM_, PASS},
    {"socket, AF_PACKET", 41, 198, {17}, EPERM_, EPERM_},
    {"socket, AF_ALG", 41, 198, {38}, EPERM_, EPERM_},
    {"connect", 42, 203, {0}, EPERM_, PASS},
    {"accept", 43, 202, {0}, EPERM_, EPERM_},
    {"bind", 49, 200, {0}, EPERM_, PASS},
    {"listen", 50, 201, {0}, EPERM_, EPERM_},
    {"socketpair", 53, 199, {0}, EPERM_, PASS},
    {"clone, thread", 56, 220, {0x3d0f00}, PASS, PASS},
    {"clone, process", 56, 220, {17}, EPERM_, EPERM_},
    {"clone, CLONE_VM", 56, 220, {0x100}, EPERM_, EPERM_},
    {"clone, CLONE_THREAD", 56, 220, {0x10000}, EPERM_, EPERM_},
    {"fork", 57, NO, {0}, EPERM_, EPERM_},
    {"vfork", 58, NO, {0}, EPERM_, EPERM_},
    {"execve", 59, 221, {0}, EPERM_, EPERM_},
    {"execveat", 322, 281, {0}, EPERM_, EPERM_},
    {"exit", 60, 93, {0}, PASS, PASS},
    {"exit_group", 231, 94, {0}, PASS, PASS},
    {"kill", 62, 129, {PROCESS}, EPERM_, EPERM_},
    {"tkill, own", 200, 130, {PROCESS}, PASS, PASS},
    {"tkill, other", 200, 130, {1}, EPERM_, EPERM_},
    {"tgkill, own", 234, 131, {PROCESS}, PASS, PASS},
    {"tgkill, other", 234, 131, {PROCESS + 1}, EPERM_, EPERM_},
    {"tgkill, 0, which Linux refuses", 234, 131, {0}, PASS, PASS},
    {"ptrace", 101, 117, {0}, EPERM_, EPERM_},
    {"setuid", 105, 146, {0}, EPERM_, EPERM_},
    {"prctl, PR_SET_NAME", 157, 167, {15}, PASS, PASS},
    {"prctl, PR_SET_VMA", 157, 167, {0x53564d41}, PASS, PASS},
    {"prctl, PR_SET_DUMPABLE", 157, 167, {4}, EPERM_, EPERM_},
    {"prctl, PR_SET_SECCOMP", 157, 167, {22}, EPERM_, EPERM_},
    {"chroot", 161, 51, {0}, EPERM_, EPERM_},
    {"mount", 165, 40, {0}, EPERM_, EPERM_},
    {"futex", 202, 98, {0}, PASS, PASS},
    {"io_setup", 206, 0, {0}, EPERM_, EPERM_},
    {"keyctl", 250, 219, {0}, EPERM_, EPERM_},
    {"prlimit64, own", 302, 261, {PROCESS}, PASS, PASS},
    {"prlimit64, 0", 302, 261, {0}, PASS, PASS},
    {"prlimit64, other", 302, 261, {1}, EPERM_, EPERM_},
    {"process_vm_readv", 310, 270, {0}, EPERM_, EPERM_},
    {"seccomp", 317, 277, {0}, EPERM_, EPERM_},
    {"memfd_create", 319, 279, {0}, EPERM_, EPERM_},
    {"bpf", 321, 280, {0}, EPERM_, EPERM_},
    {"userfaultfd", 323, 282, {0}, EPERM_, EPERM_},
    {"io_uring_setup", 425, 425, {0}, EPERM_, EPERM_},
    {"pidfd_open", 434, 434, {0}, EPERM_, EPERM_},
    {"clone3", 435, 435, {0}, ENOSYS_, ENOSYS_},
    {"faccessat2", 439, 439, {0}, PASS, PASS},
    {"landlock_restrict_self", 446, 446, {0}, EPERM_, EPERM_},
    {"file_setattr, the newest", 469, 469, {0}, EPERM_, EPERM_},
    {"470", 470, 470, {0}, ENOSYS_, ENOSYS_},
    {"511", 511, 511, {0}, ENOSYS_, ENOSYS_},
};

static void calls_are_answered_as_they_should_be(void)
{
    for (unsigned machine = 0; machine < DTI_FILTER_MACHINES; machine++) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const uint16_t number = machine == DTI_FILTER_X86_64 ? rows[i].x86 : rows[i].common;
            struct call call = {number, machines[machine].architecture, {0}};
            memcpy(call.arguments, rows[i].arguments, sizeof rows[i].arguments);
            if (number == NO)
                continue;
            if (!CHECK(answer((enum dti_filter_machine)machine, false, &call) == rows[i].alone) ||
                !CHECK(answer((enum dti_filter_machine)machine, true, &call) == rows[i].connected))
                printf("  %s: %s\n", machines[machine].name, rows[i].name);
        }
    }
}

/* Every number of the table, and all others, against its rows. */
enum verdict { REFUSE, ALLOW, ABSENT, NETWORK, NO_CODE, THREAD, IOCTL, PRCTL, OWN, SOCKET };
static enum verdict verdict_of(bool x86, uint32_t number)
{
    enum { NONE = 0xffff };
#define CALL(name, x86_number, common, verdict, reason) \
    if (number == (x86 ? (x86_number) : (common)))      \
        return verdict;
#include "io/sandbox/calls.def"
#undef CALL
    return REFUSE;
}

static void every_number_has_its_rows_answer(void)
{
    for (unsigned machine = 0; machine < DTI_FILTER_MACHINES; machine++) {
        for (uint32_t number = 0; number < 470; number++) {
            const enum verdict verdict = verdict_of(machine == DTI_FILTER_X86_64, number);
            struct call call = {number, machines[machine].architecture, {0}};
            memset(call.arguments, 0xaa,
                   sizeof call.arguments); /* fails every check of ours but PROT_EXEC */
            const uint32_t alone = answer((enum dti_filter_machine)machine, false, &call);
            const uint32_t connected = answer((enum dti_filter_machine)machine, true, &call);
            const bool passes = verdict == ALLOW || verdict == NO_CODE;
            const uint32_t refused = verdict == ABSENT ? ENOSYS_ : EPERM_;
            if (!CHECK(alone == (passes ? PASS : refused)) ||
                !CHECK(connected == (passes || verdict == NETWORK ? PASS : refused)))
                printf("  %s: number %u\n", machines[machine].name, (unsigned)number);
        }
    }
}

/* Numbers of another architecture mean other calls. */
static void another_architecture_ends_the_process(void)
{
    static const uint32_t numbers[] = {0, 1, 11, 56, 63, 64, 222, 0x40000000, UINT32_MAX};
    for (unsigned machine = 0; machine < DTI_FILTER_MACHINES; machine++) {
        for (unsigned other = 0; other < MACHINES; other++) {
            for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
                const struct call call = {numbers[i], machines[other].architecture, {0}};
                const uint32_t got = answer((enum dti_filter_machine)machine, i % 2 == 1, &call);
                if (!CHECK((got == KILL) == (other != machine) && got != STUCK))
                    printf("  %s on %s\n", machines[other].name, machines[machine].name);
            }
        }
    }
}

/* x32 shares x86-64's name, and has its own numbers; and numbers that no kernel has yet. */
static void numbers_beyond_the_table_do_not_exist(void)
{
    for (unsigned machine = 0; machine < DTI_FILTER_MACHINES; machine++) {
        for (uint32_t bit = 9; bit < 32; bit++) {
            const struct call low = {UINT32_C(1) << bit, machines[machine].architecture, {0}};
            const struct call high = {low.number - 1 + low.number, low.architecture, {0}};
            CHECK(answer((enum dti_filter_machine)machine, bit % 2 == 1, &low) == ENOSYS_);
            CHECK(answer((enum dti_filter_machine)machine, bit % 2 == 0, &high) == ENOSYS_);
        }
    }
}

/* What a start pays: the kernel works on every instruction. */
static void the_program_is_short(void)
{
    struct dti_filter_instruction code[DTI_FILTER_MOST];
    for (unsigned machine = 0; machine < DTI_FILTER_MACHINES; machine++) {
        CHECK(dti_filter_program(code, (enum dti_filter_machine)machine, false, PROCESS) <= 90);
        CHECK(dti_filter_program(code, (enum dti_filter_machine)machine, true, PROCESS) <= 96);
    }
}

UNIT_MAIN(calls_are_answered_as_they_should_be, every_number_has_its_rows_answer,
          another_architecture_ends_the_process, numbers_beyond_the_table_do_not_exist,
          the_program_is_short)

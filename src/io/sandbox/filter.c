/* SPDX-License-Identifier: MIT
 *
 * The rows of calls.def as a program for the kernel's packet filter, which sees the number and the
 * arguments of a system call. Separate from sandbox.c, because it depends on the architecture.
 *
 * The kernel runs the program for every number when it is installed, to remember those that are
 * always allowed. A list of comparisons would take longer than the rest of a start, so the program
 * is a search tree over ranges of numbers with the same verdict:
 *
 *     architecture, number      another architecture ends the process
 *     number >= 231 ? ...       the tree
 *     argument 2 & PROT_EXEC    checks of arguments
 *     refuse, allow, absent     the answers, to which all jump */
#define _GNU_SOURCE /* syscall() */
#include "io/sandbox/filter.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#ifdef DTI_SANDBOX
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if !defined DTI_SANDBOX
const char *dti_filter_lacks(void)
{
    return "a build for it";
}

int dti_filter_install(bool network)
{
    (void)network;
    return ENOSYS;
}
#elif !defined SYS_seccomp || !(defined __x86_64__ && defined __LP64__) && !defined __AARCH64EL__
const char *dti_filter_lacks(void)
{
    return "a filter of system calls for this architecture";
}

int dti_filter_install(bool network)
{
    (void)network;
    return ENOSYS;
}
#else
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#ifdef __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif
#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS 0x80000000u
#endif
/* Of headers that are older than these calls and flags; the numbers are the same everywhere. */
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_rseq
#ifdef __x86_64__
#define SYS_rseq 334
#else
#define SYS_rseq 293
#endif
#endif
#ifndef SYS_statx
#ifdef __x86_64__
#define SYS_statx 332
#else
#define SYS_statx 291
#endif
#endif

enum {
    KNOWN = 470, /* calls that the table decides about: Linux 6.17. To newer ones the C library has
                  * an alternative, which it takes if they do not exist */
    FOREIGN = 0x40000000 /* calls of x32, which share the architecture's name */
};
/* Of seccomp(2): all threads; and without SPEC_ALLOW, kernels before 5.16 slow the process down. */
enum { SET_FILTER = 1, ALL_THREADS = 1, SPEC_ALLOW = 4 };

enum verdict {
    REFUSE,
    ALLOW,
    ABSENT,
    NETWORK,
    FIRST_CHECK,
    NO_CODE = FIRST_CHECK,
    THREAD,
    IOCTL,
    PRCTL,
    OWN,
    OWN_OR_0,
    SOCKET,
    END_CHECKS
};

/* A check: an argument is one of some values, or has some bits set or clear. */
enum how { ONE_OF, HAS_ALL, HAS_NONE };
enum { VALUES_MOST = 5 };
struct argument_check {
    unsigned char argument, how, count;
    uint32_t values[VALUES_MOST];
};

enum {
    EXECUTABLE = 4, /* PROT_EXEC */
    SAME_MEMORY = 0x100,
    SAME_PROCESS = 0x10000, /* CLONE_VM, CLONE_THREAD */
    TERMINAL_SETTINGS = 0x5401,
    TERMINAL_SIZE = 0x5413,
    READABLE = 0x541b,
    BLOCKING = 0x5421,
    SET_NAME = 15,
    GET_NAME = 16,
    GET_SECCOMP = 21,
    GET_NO_NEW_PRIVILEGES = 39,
    NAME_MEMORY = 0x53564d41,
    FAMILY_LOCAL = 1,
    FAMILY_IPV4 = 2,
    FAMILY_IPV6 = 10,
    FAMILY_NETLINK = 16,
};
static const struct argument_check checks[END_CHECKS - FIRST_CHECK] = {
    [NO_CODE - FIRST_CHECK] = {2, HAS_NONE, 1, {EXECUTABLE}},
    [THREAD - FIRST_CHECK] = {0, HAS_ALL, 2, {SAME_MEMORY, SAME_PROCESS}},
    [IOCTL - FIRST_CHECK] = {1,
                             ONE_OF,
                             5,
                             {TERMINAL_SETTINGS, 0x802c542a /* the same, newer */, TERMINAL_SIZE,
                              READABLE, BLOCKING}},
    [PRCTL - FIRST_CHECK] = {0,
                             ONE_OF,
                             5,
                             {SET_NAME, GET_NAME, GET_SECCOMP, GET_NO_NEW_PRIVILEGES, NAME_MEMORY}},
    [OWN - FIRST_CHECK] = {0, ONE_OF, 1, {0}},
    [OWN_OR_0 - FIRST_CHECK] = {0, ONE_OF, 2, {0, 0}},
    [SOCKET -
        FIRST_CHECK] = {0, ONE_OF, 4, {FAMILY_LOCAL, FAMILY_IPV4, FAMILY_IPV6, FAMILY_NETLINK}},
};

struct call_verdict {
    uint16_t number;
    unsigned char verdict;
};
static const struct call_verdict rows[] = {
#define CALL(name, verdict, reason) {SYS_##name, verdict},
#ifdef __x86_64__
#define X86 CALL
#else
#define X86(name, verdict, reason)
#endif
#include "io/sandbox/calls.def"
#undef X86
#undef CALL
};

/* Jumps reach 255 instructions far, so that is the limit of all, and a target has 16 bits: an
 * instruction, or LABELS and a verdict, which is known when the rest is there. */
enum { INSTRUCTIONS_MOST = 255, LABELS = 1000 };
struct program {
    struct sock_filter code[INSTRUCTIONS_MOST];
    uint16_t yes[INSTRUCTIONS_MOST], no[INSTRUCTIONS_MOST]; /* targets, or 0 */
    unsigned count;
    uint16_t places[END_CHECKS];       /* of each verdict's answer or check */
    unsigned char verdicts[KNOWN + 1]; /* of each number; the last one is that of all newer ones */
};

static unsigned put(struct program *program, unsigned code, uint32_t value)
{
    if (program->count < INSTRUCTIONS_MOST) {
        program->code[program->count] = (struct sock_filter){.code = (uint16_t)code, .k = value};
        program->yes[program->count] = program->no[program->count] = 0;
    }
    return program->count++;
}

static unsigned put_jump(struct program *program, unsigned condition, uint32_t value, unsigned yes,
                         unsigned no)
{
    const unsigned at = put(program, BPF_JMP | BPF_K | condition, value);
    if (at < INSTRUCTIONS_MOST) {
        program->yes[at] = (uint16_t)yes;
        program->no[at] = (uint16_t)no;
    }
    return at;
}

static void put_load(struct program *program, size_t offset)
{
    (void)put(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

/* Where the range of numbers with the verdict of `at` ends. */
static unsigned range_end(const struct program *program, unsigned at)
{
    unsigned end = at;
    while (end <= KNOWN && program->verdicts[end] == program->verdicts[at])
        end++;
    return end;
}

/* The tree of `count` ranges from number *first on, which becomes their end. Returns the target. */
static unsigned put_tree(struct program *program, unsigned *first, unsigned count)
{
    if (count == 1) {
        const unsigned verdict = program->verdicts[*first];
        *first = range_end(program, *first);
        return LABELS + verdict;
    }
    const unsigned branch = put_jump(program, BPF_JGE, 0, 0, 0);
    const unsigned below = put_tree(program, first, count / 2), middle = *first;
    const unsigned above = put_tree(program, first, count - count / 2);
    if (branch < INSTRUCTIONS_MOST) {
        program->code[branch].k = middle;
        program->yes[branch] = (uint16_t)above;
        program->no[branch] = (uint16_t)below;
    }
    return branch;
}

/* Arguments are those that the kernel takes as 32 bits, or whose upper half has no meaning. */
static void put_check(struct program *program, const struct argument_check *check)
{
    put_load(program, offsetof(struct seccomp_data, args) + sizeof(uint64_t) * check->argument);
    for (unsigned i = 0; i < check->count; i++) {
        const bool last = i + 1U == check->count;
        const unsigned next = program->count + 1;
        if (check->how == ONE_OF)
            (void)put_jump(program, BPF_JEQ, check->values[i], LABELS + ALLOW,
                           last ? LABELS + REFUSE : next);
        else if (check->how == HAS_ALL)
            (void)put_jump(program, BPF_JSET, check->values[i], last ? LABELS + ALLOW : next,
                           LABELS + REFUSE);
        else
            (void)put_jump(program, BPF_JSET, check->values[i], LABELS + REFUSE,
                           last ? LABELS + ALLOW : next);
    }
}

/* What the labels stand for. */
static void put_places(struct program *program, bool network)
{
    static const uint32_t answers[] = {[REFUSE] = SECCOMP_RET_ERRNO | EPERM,
                                       [ALLOW] = SECCOMP_RET_ALLOW,
                                       [ABSENT] = SECCOMP_RET_ERRNO | ENOSYS};
    for (unsigned verdict = FIRST_CHECK; verdict < END_CHECKS; verdict++) {
        struct argument_check check = checks[verdict - FIRST_CHECK];
        program->places[verdict] = (uint16_t)program->count;
        if (verdict == OWN || verdict == OWN_OR_0)
            check.values[0] = (uint32_t)getpid();
        if (verdict != (network ? NO_CODE : SOCKET))
            put_check(program, &check);
    }
    for (unsigned verdict = REFUSE; verdict <= ABSENT; verdict++)
        program->places[verdict] = (uint16_t)put(program, BPF_RET | BPF_K, answers[verdict]);
}

static uint8_t distance(const struct program *program, unsigned at, unsigned target)
{
    const unsigned place = target >= LABELS ? program->places[target - LABELS] : target;
    return (uint8_t)(target == 0 ? 0 : place - at - 1);
}

static void judge(struct program *program, bool network)
{
    for (unsigned i = 0; i < KNOWN; i++)
        program->verdicts[i] = REFUSE;
    program->verdicts[KNOWN] = ABSENT;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum verdict verdict = (enum verdict)rows[i].verdict;
        if (verdict == NETWORK || (verdict == NO_CODE && network))
            verdict = network ? ALLOW : REFUSE;
        else if (verdict == SOCKET && !network)
            verdict = REFUSE;
        program->verdicts[rows[i].number] = (unsigned char)verdict;
    }
}

/* Whether it fits. */
static bool make(struct program *program, bool network)
{
    unsigned ranges = 0, first = 0;
    program->count = 0;
    judge(program, network);
    for (unsigned at = 0; at <= KNOWN; at = range_end(program, at))
        ranges++;
    put_load(program, offsetof(struct seccomp_data, arch));
    (void)put_jump(program, BPF_JEQ, ARCHITECTURE, 3, 2);
    (void)put(program, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    put_load(program, offsetof(struct seccomp_data, nr));
#ifdef __x86_64__
    (void)put_jump(program, BPF_JGE, FOREIGN, LABELS + REFUSE, program->count + 1);
#endif
    (void)put_tree(program, &first, ranges);
    put_places(program, network);
    if (program->count > INSTRUCTIONS_MOST)
        return false;
    for (unsigned i = 0; i < program->count; i++) {
        program->code[i].jt = distance(program, i, program->yes[i]);
        program->code[i].jf = distance(program, i, program->no[i]);
    }
    return true;
}

const char *dti_filter_lacks(void)
{
    const uint32_t wanted = SECCOMP_RET_KILL_PROCESS;
    /* SECCOMP_GET_ACTION_AVAIL */
    return syscall(SYS_seccomp, 2, 0, &wanted) == 0 ? NULL : "filters of system calls (seccomp)";
}

int dti_filter_install(bool network)
{
    struct program program;
    if (!make(&program, network))
        return E2BIG;
    const struct sock_fprog wanted = {(unsigned short)program.count, program.code};
    const long failed = syscall(SYS_seccomp, SET_FILTER, ALL_THREADS | SPEC_ALLOW, &wanted);
    return failed == 0 ? 0 : failed < 0 ? errno : EBUSY; /* > 0: a thread has another filter */
}
#endif

/* SPDX-License-Identifier: MIT
 *
 * The rows of calls.def as a program for the kernel's packet filter, which sees the number and the
 * arguments of a system call. Separate from filter.c, since it is the same on every machine.
 *
 * A start pays for the kernel's work on each instruction, which it checks and compiles, so the
 * program is short: 32 numbers are the bits of a word, and a comparison finds the word.
 *
 *     X = A                     for the kernel, see dti_filter_program()
 *     architecture, number      another architecture ends the process
 *     X = number & 31
 *     number >= 352 ? ...       few are so high
 *     number >= 32 ? ...        A = the word with the number's bit
 *     A >> X & 1                allowed
 *     number == 9 ? ...         the others, one by one, with checks of arguments
 *     refuse, allow, absent     the answers, to which all jump */
#include "io/sandbox/filter_program.h"

#include <assert.h>
#include <stddef.h>

/* What the kernel gives to the program: struct seccomp_data of a little-endian machine. */
enum { NUMBER = 0, ARCHITECTURE = 4, ARGUMENTS = 16, ARGUMENT_SIZE = 8 };

/* Instructions: those of <linux/bpf_common.h>, put together. */
enum {
    LOAD = 0x20,  /* A = 32 bits of the call */
    SET = 0x00,   /* A = value */
    MASK = 0x54,  /* A &= value */
    SHIFT = 0x7c, /* A >>= X */
    KEEP = 0x07,  /* X = A */
    JUMP = 0x05,
    IF_EQUAL = 0x15,
    IF_LEAST = 0x35, /* A >= value */
    IF_ANY = 0x45,   /* A & value */
    ANSWER = 0x06,
};
/* Answers: <linux/seccomp.h>, with EPERM and ENOSYS. */
#define END_PROCESS 0x80000000u
#define LET_PASS    0x7fff0000u
#define FAIL_EPERM  0x00050001u
#define FAIL_ENOSYS 0x00050026u

enum {
    WORD_BITS = 32,
    WORDS = 11,
    HIGH = WORDS * WORD_BITS,
    KNOWN = 470, /* calls that the table decides about: Linux 6.17. To newer ones the C library has
                  * an alternative, which it takes if they do not exist */
    NONE = UINT16_MAX
};

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
    SOCKET,
    END_CHECKS,
    OTHERS = END_CHECKS, /* a place only */
    PLACES
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
    [OWN - FIRST_CHECK] = {0, ONE_OF, 2, {0 /* the process's number */, 0}},
    [SOCKET -
        FIRST_CHECK] = {0, ONE_OF, 4, {FAMILY_LOCAL, FAMILY_IPV4, FAMILY_IPV6, FAMILY_NETLINK}},
};

enum { X86, COMMON, LISTS };
struct call {
    uint16_t numbers[LISTS];
    unsigned char verdict;
};
static const struct call calls[] = {
#define CALL(name, x86, common, verdict, reason) {{x86, common}, verdict},
#include "io/sandbox/calls.def"
#undef CALL
};
#define CALL(name, x86, common, verdict, reason)                                               \
    _Static_assert(((x86) < KNOWN || (x86) == NONE) && ((common) < KNOWN || (common) == NONE), \
                   #name ": beyond what the table decides about");
#include "io/sandbox/calls.def"
#undef CALL

static const struct {
    uint32_t architecture; /* AUDIT_ARCH_... of <linux/audit.h> */
    unsigned char list;
} machines[] = {
    [DTI_FILTER_X86_64] = {0xc000003e, X86},
    [DTI_FILTER_AARCH64] = {0xc00000b7, COMMON},
    [DTI_FILTER_RISCV64] = {0xc00000f3, COMMON},
};

/* While it is made, yes and no are targets: the next instruction, the place of another, or LABELS
 * and a verdict, whose place is known when the rest is there. */
enum { NEXT = 0, LABELS = 200 };
_Static_assert((int)DTI_FILTER_MOST <= (int)LABELS && (int)LABELS + (int)PLACES <= UINT8_MAX,
               "targets have 8 bits");
struct program {
    struct dti_filter_instruction *code;
    unsigned count;
    unsigned char list;
    bool network;
    unsigned char places[PLACES]; /* of each verdict's answer or check */
};

static void put_jump(struct program *program, uint16_t code, uint32_t value, unsigned yes,
                     unsigned no)
{
    assert(program->count < DTI_FILTER_MOST);
    program->code[program->count++] =
        (struct dti_filter_instruction){code, (uint8_t)yes, (uint8_t)no, value};
}

static void put(struct program *program, uint16_t code, uint32_t value)
{
    put_jump(program, code, value, NEXT, NEXT);
}

static enum verdict verdict_of(const struct program *program, const struct call *call)
{
    const enum verdict verdict = (enum verdict)call->verdict;
    if (verdict == NETWORK || (verdict == NO_CODE && program->network))
        return program->network ? ALLOW : REFUSE;
    return verdict == SOCKET && !program->network ? REFUSE : verdict;
}

/* Numbers that are always allowed, by the bits of words. */
static void put_words(struct program *program)
{
    uint32_t words[WORDS] = {0};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const unsigned number = calls[i].numbers[program->list];
        if (number < HIGH && verdict_of(program, &calls[i]) == ALLOW)
            words[number / WORD_BITS] |= UINT32_C(1) << number % WORD_BITS;
    }
    const unsigned found = program->count + 3 * WORDS - 2; /* the last one is without jumps */
    for (unsigned i = 0; i < WORDS; i++) {
        if (i + 1 < WORDS)
            put_jump(program, IF_LEAST, (i + 1) * WORD_BITS, program->count + 3, NEXT);
        put(program, SET, words[i]);
        if (i + 1 < WORDS)
            put(program, JUMP, found - program->count - 1);
    }
    put(program, SHIFT, 0);
    put_jump(program, IF_ANY, 1, LABELS + ALLOW, NEXT);
}

/* The other numbers of the table. */
static void put_numbers(struct program *program)
{
    put(program, LOAD, NUMBER);
    program->places[OTHERS] = (unsigned char)program->count;
    put_jump(program, IF_LEAST, KNOWN, LABELS + ABSENT, NEXT);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const unsigned number = calls[i].numbers[program->list];
        const enum verdict verdict = verdict_of(program, &calls[i]);
        if (number != NONE && verdict != REFUSE && (verdict != ALLOW || number >= HIGH))
            put_jump(program, IF_EQUAL, number, LABELS + verdict, NEXT);
    }
    put(program, ANSWER, FAIL_EPERM);
}

/* Arguments are those that the kernel takes as 32 bits, or whose upper half has no meaning. */
static void put_check(struct program *program, const struct argument_check *check)
{
    put(program, LOAD, (uint32_t)(ARGUMENTS + ARGUMENT_SIZE * check->argument));
    for (unsigned i = 0; i < check->count; i++) {
        const bool last = i + 1U == check->count;
        if (check->how == ONE_OF)
            put_jump(program, IF_EQUAL, check->values[i], LABELS + ALLOW,
                     last ? LABELS + REFUSE : NEXT);
        else if (check->how == HAS_ALL)
            put_jump(program, IF_ANY, check->values[i], last ? LABELS + ALLOW : NEXT,
                     LABELS + REFUSE);
        else
            put_jump(program, IF_ANY, check->values[i], LABELS + REFUSE,
                     last ? LABELS + ALLOW : NEXT);
    }
}

/* What the labels stand for. */
static void put_places(struct program *program, uint32_t process)
{
    static const uint32_t answers[] = {
        [REFUSE] = FAIL_EPERM, [ALLOW] = LET_PASS, [ABSENT] = FAIL_ENOSYS};
    for (unsigned verdict = FIRST_CHECK; verdict < END_CHECKS; verdict++) {
        struct argument_check check = checks[verdict - FIRST_CHECK];
        program->places[verdict] = (unsigned char)program->count;
        if (verdict == OWN)
            check.values[0] = process;
        if (verdict != (program->network ? NO_CODE : SOCKET))
            put_check(program, &check);
    }
    for (unsigned verdict = REFUSE; verdict <= ABSENT; verdict++) {
        program->places[verdict] = (unsigned char)program->count;
        put(program, ANSWER, answers[verdict]);
    }
}

static uint8_t distance(const struct program *program, unsigned at, unsigned target)
{
    const unsigned place = target >= LABELS ? program->places[target - LABELS] : target;
    return (uint8_t)(target == NEXT ? 0 : place - at - 1);
}

unsigned dti_filter_program(struct dti_filter_instruction ret[DTI_FILTER_MOST],
                            enum dti_filter_machine machine, bool network, uint32_t process)
{
    struct program program = {.code = ret, .list = machines[machine].list, .network = network};
    /* The kernel follows the program for every number, to remember which are always allowed, until
     * it meets an instruction that it does not follow. That takes longer than all that it saves in
     * the calls of a short run, so this is the first instruction. */
    put(&program, KEEP, 0);
    put(&program, LOAD, ARCHITECTURE);
    put_jump(&program, IF_EQUAL, machines[machine].architecture, program.count + 2, NEXT);
    put(&program, ANSWER, END_PROCESS);
    put(&program, LOAD, NUMBER);
    put(&program, MASK, WORD_BITS - 1);
    put(&program, KEEP, 0);
    put(&program, LOAD, NUMBER);
    put_jump(&program, IF_LEAST, HIGH, LABELS + OTHERS, NEXT);
    put_words(&program);
    put_numbers(&program);
    put_places(&program, process);
    for (unsigned i = 0; i < program.count; i++) {
        ret[i].yes = distance(&program, i, ret[i].yes);
        ret[i].no = distance(&program, i, ret[i].no);
    }
    return program.count;
}

/* SPDX-License-Identifier: MIT
 *
 * Runs slices of a trial so that every wrong byte is detected: the result is between guard bytes,
 * and source and result alternate between the beginning and the end of mapped memory. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

enum { GUARD = 256, ALIGNMENTS = 64, LENGTHS = 258, ARENA_BYTES = TRIAL_BYTES_MAX + 4 * GUARD };

/* Writable memory between two inaccessible pages. */
struct arena {
    uint8_t *begin, *end;
};

static struct arena arena_new(size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t whole = (bytes + page - 1) / page * page;
    uint8_t *at = mmap(NULL, whole + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at + page, whole, PROT_READ | PROT_WRITE) != 0) {
        puts("out of memory");
        exit(1);
    }
    return (struct arena){at + page, at + page + whole};
}

static sigjmp_buf escape;

static void on_fault(int signal)
{
    (void)signal;
    siglongjmp(escape, 1);
}

bool touches_foreign_memory(void (*call)(void *context), void *context)
{
    struct sigaction catcher = {.sa_handler = on_fault}, before_segv, before_bus;
    volatile bool faulted = true;
    sigemptyset(&catcher.sa_mask);
    sigaction(SIGSEGV, &catcher, &before_segv);
    sigaction(SIGBUS, &catcher, &before_bus);
    if (sigsetjmp(escape, 1) == 0) {
        call(context);
        faulted = false;
    }
    sigaction(SIGSEGV, &before_segv, NULL);
    sigaction(SIGBUS, &before_bus, NULL);
    return faulted;
}

void *edge_buffer(size_t which, size_t bytes)
{
    static struct arena arenas[EDGE_BUFFERS];
    if (!arenas[which].begin)
        arenas[which] = arena_new(EDGE_BYTES_MAX);
    return arenas[which].end - bytes;
}

/* The placement of a slice in memory. */
struct place {
    bool src_ends, dst_ends; /* at the end, against the inaccessible page; else at the beginning
                                plus the offset */
    size_t src_offset, dst_offset;
    const struct dti_streaming *stream;
};

struct call {
    const struct trial *trial;
    struct dti_kernel_args args;
    uint8_t *dst;
    const uint8_t *src;
    size_t n;
};

static void run_call(void *context)
{
    const struct call *call = context;
    call->trial->run(&call->args, call->dst, call->src, call->n);
}

static size_t bytes_of(size_t n, unsigned bits)
{
    return (n * bits + 7) / 8;
}

static void tell_byte(struct check *check, const struct trial *trial, const struct call *call,
                      const struct place *place, size_t at, unsigned got, unsigned want)
{
    const size_t element = at * 8 / trial->dst_bits;
    const size_t first = (size_t)(call->args.index - trial->args.index);
    uint64_t source = 0, got_element = got, want_element = want;
    if (trial->src_bits >= 8)
        source = get_container(trial->source, trial->src_bits / 8, first + element);
    if (trial->dst_bits >= 8) {
        got_element = get_container(call->dst, trial->dst_bits / 8, element);
        want_element = get_container(trial->wanted, trial->dst_bits / 8, first + element);
    }
    check_fail(
        check,
        "%s %s: n %zu, index %llu, source %s%zu, result %s%zu, %s: element %zu, of 0x%llx, is "
        "0x%llx, not 0x%llx",
        trial->name, trial->what, call->n, (unsigned long long)call->args.index,
        place->src_ends ? "at the end " : "+", place->src_offset,
        place->dst_ends ? "at the end " : "+", place->dst_offset,
        place->stream ? place->stream->words : "cached", element, (unsigned long long)source,
        (unsigned long long)got_element, (unsigned long long)want_element);
}

/* The expected byte. In the last byte of packed codes, unused bits must be zero. */
static uint8_t wanted_byte(const struct trial *trial, size_t first, size_t n, size_t at)
{
    const uint8_t byte = trial->wanted[first * trial->dst_bits / 8 + at];
    const unsigned used = (unsigned)(n * trial->dst_bits % 8);
    if (trial->dst_bits >= 8 || used == 0 || at + 1 < bytes_of(n, trial->dst_bits))
        return byte;
    return (uint8_t)(trial->args.high_first ? byte & (0xff00 >> used) : byte & ((1 << used) - 1));
}

static bool judge(struct check *check, const struct trial *trial, const struct call *call,
                  const struct place *place, size_t first, uint8_t poison, const uint8_t *begin,
                  const uint8_t *end)
{
    const size_t bytes = bytes_of(call->n, trial->dst_bits);
    const uint8_t *wanted = trial->wanted + first * trial->dst_bits / 8;
    const size_t sure = bytes > 0 ? bytes - 1 : 0; /* the last byte can hold padding */
    if (memcmp(call->dst, wanted, sure) != 0 ||
        (bytes > 0 && call->dst[sure] != wanted_byte(trial, first, call->n, sure))) {
        size_t at = 0;
        while (call->dst[at] == wanted_byte(trial, first, call->n, at))
            at++;
        tell_byte(check, trial, call, place, at, call->dst[at],
                  wanted_byte(trial, first, call->n, at));
        return false;
    }
    for (const uint8_t *guard = begin; guard < end; guard++) {
        if (guard == call->dst)
            guard += bytes;
        if (guard < end && *guard != poison) {
            check_fail(check,
                       "%s %s: n %zu: writes %lld bytes from its result's start, which has %zu",
                       trial->name, trial->what, call->n, (long long)(guard - call->dst), bytes);
            return false;
        }
    }
    return true;
}

static bool run_slice(struct check *check, const struct trial *trial, size_t first, size_t n,
                      const struct place *place)
{
    static struct arena from, to;
    if (!from.begin) {
        from = arena_new(ARENA_BYTES);
        to = arena_new(ARENA_BYTES);
    }
    const size_t src_bytes = bytes_of(n, trial->src_bits), dst_bytes = bytes_of(n, trial->dst_bits);
    const uint8_t *source = trial->source + first * trial->src_bits / 8;
    uint8_t *src = place->src_ends ? from.end - src_bytes : from.begin + place->src_offset;
    uint8_t *dst = place->dst_ends ? to.end - dst_bytes : to.begin + place->dst_offset;
    uint8_t *guard_begin = dst - to.begin > GUARD ? dst - GUARD : to.begin;
    uint8_t *guard_end = to.end - (dst + dst_bytes) > GUARD ? dst + dst_bytes + GUARD : to.end;
    const uint8_t poison = (uint8_t)(0x5a + 37 * (check->arrays % 7));
    memcpy(src, source, src_bytes);
    memset(guard_begin, poison, (size_t)(guard_end - guard_begin));

    struct call call = {.trial = trial, .args = trial->args, .dst = dst, .src = src, .n = n};
    call.args.index += first;
    call.args.stream = place->stream;
    check->arrays++;
    if (touches_foreign_memory(run_call, &call)) {
        check_fail(check, "%s %s: n %zu: touches memory outside its arrays", trial->name,
                   trial->what, n);
        return false;
    }
    if (memcmp(src, source, src_bytes) != 0) {
        check_fail(check, "%s %s: n %zu: writes to its source", trial->name, trial->what, n);
        return false;
    }
    return judge(check, trial, &call, place, first, poison, guard_begin, guard_end);
}

static struct place random_place(struct check *check)
{
    const uint64_t bits = check_random(check);
    return (struct place){.src_ends = bits & 1,
                          .dst_ends = bits >> 1 & 1,
                          .stream = check_streaming(check),
                          .src_offset = bits >> 3 & (ALIGNMENTS - 1),
                          .dst_offset = bits >> 9 & (ALIGNMENTS - 1)};
}

/* A slice begins at a byte boundary of both arrays. */
static size_t random_first(struct check *check, const struct trial *trial, size_t n)
{
    const size_t grain = trial->src_bits < 8 || trial->dst_bits < 8 ? 8 : 1;
    return check_below(check, (trial->count - n) / grain + 1) * grain;
}

static bool run_random(struct check *check, const struct trial *trial, size_t n)
{
    const struct place place = random_place(check);
    return run_slice(check, trial, random_first(check, trial, n), n, &place);
}

static bool run_alignments(struct check *check, const struct trial *trial)
{
    for (size_t i = 0; i < ALIGNMENTS * ALIGNMENTS; i++) {
        const struct place place = {.src_offset = i % ALIGNMENTS,
                                    .dst_offset = i / ALIGNMENTS,
                                    .stream = check_streaming(check)};
        const size_t n = check_below(check, LENGTHS);
        if (!run_slice(check, trial, random_first(check, trial, n), n, &place))
            return false;
    }
    return true;
}

bool trial_run(struct check *check, const struct trial *trial, bool all_lengths)
{
    static const size_t tiles[] = {DTI_TILE - 1, DTI_TILE, DTI_TILE + 1};
    for (unsigned turn = 0; turn < 2; turn++) { /* the whole array: aligned, then unaligned */
        const struct place place = {
            .src_offset = turn ? 1 + check_below(check, 63) : 0,
            .dst_offset = turn ? 1 + check_below(check, 63) : 0,
            .stream = turn ? &dti_streamings[check_below(check, DTI_STREAMING_COUNT)] : NULL};
        if (!run_slice(check, trial, 0, trial->count, &place))
            return false;
        if (check->effort == EFFORT_QUICK && !all_lengths)
            break;
    }
    for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++)
        if ((all_lengths || check_below(check, 3) == 0) && tiles[i] <= trial->count &&
            !run_random(check, trial, tiles[i]))
            return false;
    for (size_t n = 0; n < LENGTHS; n++)
        if ((all_lengths || check_below(check, 16) == 0) && !run_random(check, trial, n))
            return false;
    return check->effort != EFFORT_LONG || !all_lengths || run_alignments(check, trial);
}

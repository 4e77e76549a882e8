/* SPDX-License-Identifier: MIT
 *
 * Guarded memory for the quantization kernel checks, and numbers that are hard to quantize. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check_quant.h"

enum { GUARD = 192, OFFSETS = 128 };

struct guarded {
    uint8_t *begin, *end; /* between two inaccessible pages */
    uint8_t *at;
    size_t bytes;
    uint8_t poison;
};

static struct guarded all_guarded[GUARDED_ARRAYS];

static void guarded_make(struct guarded *guarded)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t whole = (GUARDED_BYTES_MAX + 2 * GUARD + OFFSETS + page - 1) / page * page;
    uint8_t *at = mmap(NULL, whole + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at + page, whole, PROT_READ | PROT_WRITE) != 0) {
        puts("out of memory");
        exit(1);
    }
    guarded->begin = at + page;
    guarded->end = at + page + whole;
}

static uint8_t *guard_begin(const struct guarded *guarded)
{
    return guarded->at - guarded->begin > GUARD ? guarded->at - GUARD : guarded->begin;
}

static uint8_t *guard_end(const struct guarded *guarded)
{
    uint8_t *after = guarded->at + guarded->bytes;
    return guarded->end - after > GUARD ? after + GUARD : guarded->end;
}

uint8_t *guarded_new(struct check *check, size_t which, size_t bytes)
{
    struct guarded *guarded = &all_guarded[which];
    const uint64_t bits = check_random(check);
    if (!guarded->begin)
        guarded_make(guarded);
    if (bytes > GUARDED_BYTES_MAX) {
        printf("an array of %zu bytes is too large\n", bytes);
        exit(1);
    }
    guarded->at = bits & 1 ? guarded->end - bytes
                           : guarded->begin + (bits & 2 ? bits >> 2 & (OFFSETS - 1) : 0);
    guarded->bytes = bytes;
    guarded->poison = (uint8_t)(0x5a + 37 * (check->arrays % 7));
    memset(guard_begin(guarded), guarded->poison,
           (size_t)(guard_end(guarded) - guard_begin(guarded)));
    return guarded->at;
}

void *guarded_copy(struct check *check, size_t which, const void *array, size_t bytes)
{
    uint8_t *at = guarded_new(check, which, bytes);
    if (bytes > 0)
        memcpy(at, array, bytes);
    return at;
}

float *guarded_copy_floats(struct check *check, size_t which, const float *array, size_t n)
{
    uint8_t *at = guarded_new(check, which, n * sizeof *array);
    while ((uintptr_t)at % sizeof *array != 0)
        at = guarded_new(check, which, n * sizeof *array);
    if (n > 0)
        memcpy(at, array, n * sizeof *array);
    return (float *)(void *)at;
}

bool guarded_is_whole(size_t which)
{
    const struct guarded *guarded = &all_guarded[which];
    const uint8_t *at = guard_begin(guarded), *end = guard_end(guarded);
    for (; at < end; at++) {
        if (at == guarded->at && guarded->bytes > 0)
            at += guarded->bytes;
        if (at < end && *at != guarded->poison)
            return false;
    }
    return true;
}

uint8_t guarded_poison(size_t which)
{
    return all_guarded[which].poison;
}

bool quant_is_finite(uint32_t bits)
{
    return (bits & 0x7f800000) != 0x7f800000;
}

uint32_t quant_scale(struct check *check)
{
    static const uint32_t fixed[] = {
        0x3f800000, 0x3dcccccd, 0x3c010204, 0x3f7fffff, 0x40000000, 0x3eaaaaab, /* 1, 0.1, 1/127 */
        0x00800000, 0x00800001, 0x00400000, 0x00000001, 0x7f7fffff, 0x7f000000, /* limits */
        0x3fffffff, 0x00ffffff, 0x34000000, 0x4b000000, 0x01000000, 0x7e800001};
    const uint64_t bits = check_random(check);
    const uint32_t mantissa = (uint32_t)(bits >> 40) & 0x7fffff;
    switch (bits % 4) {
    case 0:
        return fixed[check_below(check, sizeof fixed / sizeof fixed[0])];
    case 1: /* any magnitude */
        return ((uint32_t)check_below(check, 255) << 23 | mantissa) + (mantissa == 0);
    default: /* from 2^-20 to 2^20 */
        return (107 + (uint32_t)check_below(check, 40)) << 23 | mantissa;
    }
}

uint32_t quant_between(struct check *check, uint32_t a, uint32_t b)
{
    const float middle = (float)((double)float_of(a) / 2 + (double)float_of(b) / 2);
    const uint32_t bits = bits_of(middle), steps = (uint32_t)check_below(check, 5);
    if (!quant_is_finite(bits) || (bits & 0x7fffffff) < 2)
        return (uint32_t)check_random(check);
    return bits + steps - 2;
}

uint32_t quant_special(struct check *check)
{
    static const uint32_t special[] = {0x00000000, 0x00000001, 0x00000002, 0x007fffff, 0x00800000,
                                       0x00800001, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000,
                                       0x7fffffff, 0x7f000000, 0x5f000000, 0x5effffff, 0x4f000000,
                                       0x4effffff, 0x4b800000, 0x3f800000, 0x7fc12345, 0x7fa54321};
    const uint32_t sign = (uint32_t)check_below(check, 2) << 31;
    return special[check_below(check, sizeof special / sizeof special[0])] | sign;
}

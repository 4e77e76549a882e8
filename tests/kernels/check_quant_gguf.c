/* SPDX-License-Identifier: MIT
 *
 * Compares the decoders of GGUF blocks at each level with those of the portable level, which unit
 * and oracle tests compare with ggml. Uses random blocks, and blocks with all kinds of scales, in
 * guarded memory. Also measures the decoding speed compared with memcpy() of the decoded numbers.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check_quant.h"
#include "kernels/gguf/gguf_kernel.h"

struct gguf_call {
    dti_gguf_decode_fn *decode;
    float *x, tensor_scale;
    const uint8_t *blocks;
    size_t count;
};

static void run_gguf(void *context)
{
    const struct gguf_call *const call = context;
    call->decode(call->x, call->blocks, call->count, call->tensor_scale);
}

static bool same_number(uint32_t got, uint32_t want)
{
    return got == want || (got << 1 > 0xff000000u && want << 1 > 0xff000000u);
}

/* Random blocks, each with one fp16 that is likely to be special at a random place. */
static bool check_some(struct check *check, const struct dti_gguf_kernels *row,
                       const struct dti_gguf_type *type, size_t count)
{
    static const uint16_t halves[] = {0, 0x8000, 1, 0x83ff, 0x0400, 0x7bff, 0x7c00, 0xfc00, 0x7e00};
    static float wanted[GUARDED_BYTES_MAX / 4];
    const size_t bytes = count * type->bytes, n = count * type->elements;
    uint8_t *const blocks = guarded_new(check, 0, bytes);
    struct gguf_call call = {.count = count, .blocks = blocks};
    for (size_t i = 0; i < bytes; i++)
        blocks[i] = (uint8_t)check_random(check);
    for (size_t i = 0; i + 1 < bytes; i += type->bytes) {
        const uint16_t half = halves[check_below(check, sizeof halves / sizeof halves[0])];
        const size_t at = i + check_below(check, type->bytes - 1);
        blocks[at] = (uint8_t)half;
        blocks[at + 1] = (uint8_t)(half >> 8);
    }
    call.x = (float *)(void *)guarded_new(check, 1, n * 4);
    call.decode = row->decode[type->blocks];
    call.tensor_scale = check_below(check, 2) == 0 ? 1 : 0.037F;
    dti_gguf_find(type->blocks, DTI_LEVEL_SCALAR)(wanted, blocks, count, call.tensor_scale);
    check->arrays++;
    if (touches_foreign_memory(run_gguf, &call) || !guarded_is_whole(0) || !guarded_is_whole(1)) {
        check_fail(check, "%s %s: %zu blocks: touches memory outside its arrays", row->name,
                   type->name, count);
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t want;
        memcpy(&want, &wanted[i], sizeof want);
        const uint32_t got = (uint32_t)get_container(call.x, 4, i);
        if (!same_number(got, want)) {
            check_fail(check, "%s %s: element %zu of %zu: %08x, not %08x", row->name, type->name, i,
                       n, (unsigned)got, (unsigned)want);
            return false;
        }
    }
    return true;
}

bool check_gguf_row(struct check *check, const struct dti_gguf_kernels *row)
{
    const size_t times = check->effort == EFFORT_LONG   ? 2000
                         : check->effort == EFFORT_PUSH ? 60
                                                        : 8;
    for (unsigned i = 0; i < DTI_GGUF_BLOCKS_COUNT; i++) {
        const struct dti_gguf_type *const type = dti_gguf_type_of((enum dti_gguf_blocks)i);
        const size_t most = GUARDED_BYTES_MAX / 4 / type->elements;
        for (size_t k = 0; k < times; k++) {
            if (!check_some(check, row, type,
                            k < 8 ? k : check_below(check, most < 64 ? most : 64)))
                return false;
        }
    }
    return true;
}

enum { SPEED_ROUNDS = 40, SPEED_SIZES = 2 };
static const size_t speed_bytes[SPEED_SIZES] = {256 << 10, 32 << 20}; /* bytes of decoded numbers */
static void *(*volatile copy)(void *, const void *, size_t) = memcpy;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* The minimum time of a call and of a copy of its numbers; both are measured in turn. */
static void least_seconds(const struct gguf_call *call, const void *source, size_t bytes,
                          double *ret_call, double *ret_copy)
{
    const size_t times = bytes < 1 << 20 ? 16 : 1;
    *ret_call = *ret_copy = 1e9;
    for (int round = 0; round < SPEED_ROUNDS / (times > 1 ? 1 : 4); round++) {
        const double start = now();
        for (size_t i = 0; i < times; i++)
            copy(call->x, source, bytes);
        const double between = now();
        for (size_t i = 0; i < times; i++)
            call->decode(call->x, call->blocks, call->count, call->tensor_scale);
        const double end = now();
        *ret_copy = (between - start) / (double)times < *ret_copy
                        ? (between - start) / (double)times
                        : *ret_copy;
        *ret_call = (end - between) / (double)times < *ret_call ? (end - between) / (double)times
                                                                : *ret_call;
    }
}

bool tell_gguf_speed(const char *only)
{
    const size_t most = speed_bytes[SPEED_SIZES - 1];
    unsigned char *const blocks = calloc(2, most);
    float *const x = malloc(most);
    for (size_t i = 0; blocks && i < 2 * most; i++)
        blocks[i] = (unsigned char)((uint32_t)i * UINT32_C(2654435761) >> 24);
    printf("GB/s of fp32, and of the copy: in the L2 cache, in memory\n");
    for (unsigned i = 0; i < DTI_GGUF_BLOCKS_COUNT && blocks && x; i++) {
        const struct dti_gguf_type *const type = dti_gguf_type_of((enum dti_gguf_blocks)i);
        if (only && !strstr(type->name, only))
            continue;
        for (unsigned level = 0; level < DTI_LEVEL_COUNT; level++) {
            dti_gguf_decode_fn *const decode = dti_gguf_find(type->blocks, (enum dti_level)level);
            if (!dti_level_present((enum dti_level)level) ||
                (level > 0 && decode == dti_gguf_find(type->blocks, (enum dti_level)(level - 1))))
                continue;
            printf("%-8s %-7s", type->name, dti_level_name((enum dti_level)level));
            for (unsigned size = 0; size < SPEED_SIZES; size++) {
                const size_t count = speed_bytes[size] / 4 / type->elements;
                const struct gguf_call call = {decode, x, 1, blocks, count};
                double seconds, copied;
                least_seconds(&call, blocks, speed_bytes[size], &seconds, &copied);
                printf("  %6.1f %.2f", (double)speed_bytes[size] / seconds * 1e-9,
                       copied / seconds);
            }
            printf("\n");
        }
    }
    free(x);
    free(blocks);
    return blocks && x;
}

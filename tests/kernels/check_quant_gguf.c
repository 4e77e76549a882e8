/* SPDX-License-Identifier: MIT
 *
 * Decoders of GGUF's blocks: those of a level against those of the portable level, which unit and
 * oracle tests hold against ggml; random blocks, and blocks with all kinds of scales, between
 * guards. */
#include <string.h>

#include "check_quant.h"
#include "dtinfo/gguf_kernel.h"

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

/* Some blocks; an fp16 that is likely to be special stands at any place in half of them. */
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
    call.decode = dti_gguf_row(row, type->blocks);
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
        for (size_t k = 0; k < times && dti_gguf_row(row, type->blocks); k++) {
            if (!check_some(check, row, type,
                            k < 8 ? k : check_below(check, most < 64 ? most : 64)))
                return false;
        }
    }
    return true;
}

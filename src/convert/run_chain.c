/* SPDX-License-Identifier: MIT
 *
 * Runs the steps of a chain over a tile: each by its kernel, or element by element where there is
 * none. */
#include <string.h>

#include "convert/plan_parts.h"

enum dti_status dti_fail_unknown(const struct dti_stack_rule *rule, const struct dti_format *src,
                                 uint64_t code, const struct dti_format *dst, uint64_t index,
                                 struct dti_error *reterr)
{
    char text[DTI_TEXT_SIZE];
    struct dti_value value;
    dti_decode(src, code, &value);
    (void)dti_spell_stored(text, src, code, &value);
    dti_fail(reterr, DTI_NOT_REPRESENTABLE, "element %llu, %s: what %s stores in %s is unknown%s%s",
             (unsigned long long)index, text, dti_stack_name(rule->stack), dst->name,
             rule->why_unknown ? "; " : "", rule->why_unknown ? rule->why_unknown : "");
    dti_error_argument(reterr, text, strlen(text));
    return DTI_NOT_REPRESENTABLE;
}

static enum dti_status run_elements(const struct dti_step *step, void *dst, const void *src,
                                    size_t n, uint64_t index, struct dti_error *reterr)
{
    static const struct dti_layout bare = {.packing = DTI_PACKING_BYTES, .swapped = false};
    for (size_t i = 0; i < n; i++) {
        uint64_t code = dti_storage_get(&step->src, &bare, src, i);
        struct dti_outcome outcome = {.code = code, .flags = 0};
        struct dti_value value;
        if (!step->keep)
            dti_decode(&step->src, code, &value);
        if (step->rule) {
            struct dti_cast stages;
            struct dti_scalar scalar;
            if (!dti_stack_cast(step->rule, &step->dst, dti_format_is_integer(&step->src), &value,
                                &stages, &scalar))
                return dti_fail_unknown(step->rule, &step->src, code, &step->dst, index + i,
                                        reterr);
            outcome.code = scalar.code;
        } else if (!step->keep) {
            dti_encode(&step->dst, &value, &step->policy, index + i, &outcome);
        }
        dti_storage_put(&step->dst, &bare, dst, i, outcome.code);
    }
    return DTI_OK;
}

/* Every NaN of a format of 8 or 16 bits becomes the rule's. */
static void run_nan(const struct dti_step *step, void *dst, const void *src, size_t n)
{
    const struct dti_format *const format = &step->dst;
    const unsigned sign = (unsigned)dti_format_sign_bit(format), ones = (1U << format->width) - 1;
    const unsigned magnitude = ones & ~sign,
                   inf = magnitude >> format->man_bits << format->man_bits;
    const unsigned kept = step->rule->quirk == DTI_STACK_QUIRK_NAN_ALL_ONES ? sign : 0;
    const unsigned char *const from = src;
    unsigned char *const to = dst;
    if (format->width == 8) {
        for (size_t i = 0; i < n; i++) {
            const unsigned code = from[i];
            to[i] = (unsigned char)((code & magnitude) > inf ? magnitude | (code & kept) : code);
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint16_t code;
        memcpy(&code, from + 2 * i, sizeof code);
        code = (uint16_t)((code & magnitude) > inf ? magnitude | (code & kept) : code);
        memcpy(to + 2 * i, &code, sizeof code);
    }
}

/* Packed elements as bytes; the last byte's padding is zero whatever it was. */
static void copy_packed(const struct dti_step *step, const struct dti_kernel_args *args, void *dst,
                        const void *src, size_t n)
{
    const size_t bytes = n / 8 * step->src_bits + (n % 8 * step->src_bits + 7) / 8;
    const unsigned used = (unsigned)(n % 8) * step->src_bits % 8;
    step->kernel->run(args, dst, src, bytes);
    if (used > 0) {
        unsigned char *const last = (unsigned char *)dst + bytes - 1;
        *last &= (unsigned char)(args->high_first ? 0xff << (8 - used) : 0xff >> (8 - used));
    }
}

enum dti_status dti_step_run(const struct dti_step *step, void *dst, const void *src, size_t n,
                             uint64_t index, bool stream, struct dti_error *reterr)
{
    if (step->only_nan) {
        run_nan(step, dst, src, n);
        return DTI_OK;
    }
    if (!step->kernel)
        return run_elements(step, dst, src, n, index, reterr);
    struct dti_kernel_args args = step->args;
    args.stream =
        stream ? dti_streaming_for(dti_tile_bytes(n, step->src_bits + step->dst_bits)) : NULL;
    args.index = index;
    if (step->kernel->op == DTI_OP_COPY && step->src_bits < 8)
        copy_packed(step, &args, dst, src, n);
    else
        step->kernel->run(&args, dst, src, n);
    return DTI_OK;
}

enum dti_status dti_chain_run(const struct dti_chain *chain, size_t from, size_t to, void *dst,
                              const void *src, size_t n, uint64_t index, bool stream,
                              struct dti_error *reterr)
{
    _Alignas(64) uint64_t between[2][DTI_TILE];
    for (size_t at = from; at < to; at++) {
        void *const result = at + 1 == to ? dst : between[at % 2];
        const enum dti_status status =
            dti_step_run(&chain->step[at], result, src, n, index, stream && at + 1 == to, reterr);
        if (status != DTI_OK)
            return status;
        src = result;
    }
    return DTI_OK;
}

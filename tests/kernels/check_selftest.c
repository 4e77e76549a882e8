/* SPDX-License-Identifier: MIT
 *
 * Self-test of checkkern: deliberately wrong kernels, built on the definition, must all be caught
 * even by the reduced run, and correct ones must pass. */
#include <stdio.h>
#include <string.h>

#include "check.h"

enum fault {
    RIGHT,
    NAN_DROPPED,
    NAN_PAYLOAD_DROPPED,
    INFINITY_CLAMPED,
    OVERFLOW_CLAMPED,
    OVERFLOW_LATE,
    TIES_AWAY,
    TIES_TO_ODD,
    MODE_IGNORED,
    SOURCE_SUBNORMALS_FLUSHED,
    RESULT_SUBNORMALS_FLUSHED,
    MINUS_ZERO_LOST,
    INDEX_ONE_OFF,
    INDEX_OF_BLOCK,
    SEED_HALVED,
    LAST_ELEMENT_FORGOTTEN,
    TAIL_FROM_WRONG_PLACE,
    STREAMED_HEAD_FORGOTTEN,
    WRITES_BEYOND,
    WRITES_BEFORE,
    TOUCHES_BEYOND,
    READS_BEYOND,
    WRITES_SOURCE,
    PADDING_LEFT,
    ORDER_IGNORED,
    MAX_INDEX_ONE_OFF,
    MAX_OF_LAST_TILE,
    SUM_OF_FIRST_HALF,
    NAN_IS_INEXACT,
    LOSS_READS_BEYOND,
};

static enum fault fault; /* injected into the kernels below */

static uint64_t element(const struct dti_kernel_args *args, uint32_t source, uint64_t index)
{
    const struct dti_format *dst = &args->encoder->format;
    struct dti_policy policy = args->encoder->policy;
    struct dti_value value, stored;
    struct dti_outcome outcome;
    uint64_t max = 0;
    dti_decode(dti_format_get(DTI_FP32), source, &value);
    if (fault == NAN_DROPPED && value.kind == DTI_CLASS_NAN)
        value.kind = DTI_CLASS_INF;
    else if (fault == NAN_PAYLOAD_DROPPED)
        policy.nan = DTI_NAN_CANONICAL;
    else if (fault == INFINITY_CLAMPED && policy.overflow == DTI_OVERFLOW_SATURATE_FINITE)
        policy.overflow = DTI_OVERFLOW_SATURATE;
    else if (fault == OVERFLOW_CLAMPED)
        policy.overflow = DTI_OVERFLOW_SATURATE;
    else if (fault == TIES_AWAY && policy.round == DTI_ROUND_NEAREST_EVEN)
        policy.round = DTI_ROUND_NEAREST_AWAY;
    else if (fault == MODE_IGNORED && policy.round == DTI_ROUND_UP)
        policy.round = DTI_ROUND_ZERO;
    else if (fault == SOURCE_SUBNORMALS_FLUSHED && (source & 0x7f800000) == 0)
        dti_value_set(&value, value.negative, 0, 0);
    else if (fault == INDEX_ONE_OFF)
        index++;
    else if (fault == SEED_HALVED)
        policy.seed = (uint32_t)policy.seed;
    dti_encode(dst, &value, &policy, index, &outcome);
    dti_decode(dst, outcome.code, &stored);
    if (fault == RESULT_SUBNORMALS_FLUSHED && (outcome.flags & DTI_FLAG_UNDERFLOW))
        outcome.code &= dti_format_sign_bit(dst);
    else if (fault == MINUS_ZERO_LOST && stored.kind == DTI_CLASS_ZERO)
        outcome.code = 0;
    else if (fault == OVERFLOW_LATE && (outcome.flags & DTI_FLAG_OVERFLOW) &&
             stored.kind == DTI_CLASS_INF && dti_code_max(dst, &max) && !value.negative &&
             (source & 0xff) == 0)
        outcome.code = max;
    else if (fault == TIES_TO_ODD && policy.round == DTI_ROUND_NEAREST_EVEN) {
        struct dti_outcome other;
        policy.round = DTI_ROUND_NEAREST_AWAY;
        dti_encode(dst, &value, &policy, index, &other);
        if (other.code == outcome.code) { /* the tie was already rounded away */
            policy.round = DTI_ROUND_ZERO;
            dti_encode(dst, &value, &policy, index, &other);
        }
        if ((source & 0xffff) == 0x8000)
            outcome.code = other.code;
    }
    return outcome.code << dti_format_code_shift(dst);
}

static void encode(const struct dti_kernel_args *args, void *restrict dst, const void *restrict src,
                   size_t n)
{
    const size_t bytes = dti_format_container(&args->encoder->format);
    volatile uint8_t *raw = dst;
    volatile const uint8_t *source = src;
    uint64_t last = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t from = fault == TAIL_FROM_WRONG_PLACE && n % 16 == 3 && i + 1 == n ? 0 : i;
        const uint64_t index = args->index + (fault == INDEX_OF_BLOCK ? i % 1024 : i);
        last = element(args, (uint32_t)get_container(src, 4, from), index);
        if ((fault == LAST_ELEMENT_FORGOTTEN && n % 16 == 15 && i + 1 == n) ||
            (fault == STREAMED_HEAD_FORGOTTEN && args->stream && n > 64 && i == 0))
            continue;
        put_container(dst, bytes, i, last);
    }
    if (n == 0 || n % 32 != 17)
        return;
    if (fault == WRITES_BEYOND)
        put_container(dst, bytes, n, last);
    if (fault == WRITES_BEFORE)
        raw[-1] = 0;
    if (fault == TOUCHES_BEYOND)
        raw[n * bytes] = raw[n * bytes];
    if (fault == READS_BEYOND)
        (void)source[n * 4];
    if (fault == WRITES_SOURCE)
        memset((void *)(uintptr_t)src, 1, 1);
}

static void pack(const struct dti_kernel_args *args, void *restrict dst, const void *restrict src,
                 size_t n)
{
    struct dti_layout layout = {.packing = args->high_first ? DTI_PACKING_HIGH : DTI_PACKING_LOW};
    const struct dti_format wide = {.kind = DTI_KIND_UINT, .width = (uint8_t)args->bits};
    uint8_t *to = dst;

    if (fault == ORDER_IGNORED)
        layout.packing = DTI_PACKING_LOW;
    if (n > 0)
        memset(to, fault == PADDING_LEFT ? 0xff : 0, (n * args->bits + 7) / 8);
    for (size_t i = 0; i < n; i++)
        dti_storage_put(&wide, &layout, to, i, ((const uint8_t *)src)[i]);
}

static uint64_t value_code(const void *array, const struct dti_loss_rule *rule, size_t i)
{
    const struct dti_policy policy = {.round = DTI_ROUND_ZERO};
    struct dti_value value;
    struct dti_outcome outcome;
    dti_decode(dti_format_get(DTI_FP32), get_container(array, 4, i), &value);
    dti_encode(&rule->dst, &value, &policy, 0, &outcome);
    return outcome.code;
}

static void loss(const struct dti_loss_rule *rule, const void *source, const void *stored, size_t n,
                 uint64_t index, struct dti_loss *total)
{
    static struct dti_value values[DTI_TILE];
    static uint64_t codes[DTI_TILE];
    const uint64_t before = total->max_index;
    for (size_t i = 0; i < n; i++) {
        dti_decode(dti_format_get(DTI_FP32), get_container(source, 4, i), &values[i]);
        codes[i] = value_code(stored, rule, i);
        if (fault == NAN_IS_INEXACT && values[i].kind == DTI_CLASS_NAN)
            total->inexact++;
    }
    if (fault == LOSS_READS_BEYOND && n % 2 == 1)
        (void)((const volatile uint8_t *)stored)[n * 4];
    if (fault == MAX_OF_LAST_TILE)
        total->max_absolute = 0;
    dti_loss_add_values(rule, values, codes, fault == SUM_OF_FIRST_HALF ? n / 2 : n, index, total);
    if (fault == MAX_INDEX_ONE_OFF && total->max_index != before)
        total->max_index++;
}

enum { ALL_ROUNDS = (1 << ROUND_COUNT) - 1, ALL_OVERFLOWS = (1 << OVERFLOW_COUNT) - 1 };

static const struct dti_kernel encode_row = {.name = "encode",
                                             .run = encode,
                                             .op = DTI_OP_ENCODE_HUB32,
                                             .domain = DTI_DOMAIN_ANY,
                                             .rounds = ALL_ROUNDS,
                                             .overflows = ALL_OVERFLOWS};
static const struct dti_kernel pack_row = {
    .name = "pack", .run = pack, .op = DTI_OP_PACK, .domain = DTI_DOMAIN_ANY};
static const struct dti_loss_kernel loss_row = {.name = "loss", .run = loss, .hub = DTI_LOSS_HUB32};

static const struct {
    enum fault fault;
    const char *name;
    const struct dti_kernel *row; /* NULL: use loss_row */
} faults[] = {
    {NAN_DROPPED, "NaN becomes infinity", &encode_row},
    {NAN_PAYLOAD_DROPPED, "NaN without its payload", &encode_row},
    {INFINITY_CLAMPED, "saturate-finite clamps infinity", &encode_row},
    {OVERFLOW_CLAMPED, "every overflow clamps", &encode_row},
    {OVERFLOW_LATE, "overflow to infinity comes late", &encode_row},
    {TIES_AWAY, "ties go away", &encode_row},
    {TIES_TO_ODD, "ties go to odd", &encode_row},
    {MODE_IGNORED, "up truncates", &encode_row},
    {SOURCE_SUBNORMALS_FLUSHED, "subnormal sources flushed", &encode_row},
    {RESULT_SUBNORMALS_FLUSHED, "subnormal results flushed", &encode_row},
    {MINUS_ZERO_LOST, "minus zero loses its sign", &encode_row},
    {INDEX_ONE_OFF, "random bits of the next element", &encode_row},
    {INDEX_OF_BLOCK, "random bits start again", &encode_row},
    {SEED_HALVED, "seed cut to 32 bits", &encode_row},
    {LAST_ELEMENT_FORGOTTEN, "tail one too short", &encode_row},
    {TAIL_FROM_WRONG_PLACE, "tail read from the beginning", &encode_row},
    {STREAMED_HEAD_FORGOTTEN, "first element not streamed", &encode_row},
    {WRITES_BEYOND, "writes past the end", &encode_row},
    {WRITES_BEFORE, "writes before the beginning", &encode_row},
    {TOUCHES_BEYOND, "rewrites what stands past the end", &encode_row},
    {READS_BEYOND, "reads past the end", &encode_row},
    {WRITES_SOURCE, "writes to its source", &encode_row},
    {PADDING_LEFT, "padding is not zero", &pack_row},
    {ORDER_IGNORED, "high-first order ignored", &pack_row},
    {MAX_INDEX_ONE_OFF, "index of the largest error one off", NULL},
    {MAX_OF_LAST_TILE, "largest error of the last tile only", NULL},
    {SUM_OF_FIRST_HALF, "sums of half a tile", NULL},
    {NAN_IS_INEXACT, "NaN to NaN counted as inexact", NULL},
    {LOSS_READS_BEYOND, "loss reads past the end", NULL},
};

static bool passes(const struct check *check, enum fault planted, const struct dti_kernel *row)
{
    struct check trial = *check;
    trial.silent = planted != RIGHT;
    trial.effort = EFFORT_QUICK;
    fault = planted;
    return row ? check_row(&trial, row) : check_loss_row(&trial, &loss_row);
}

bool check_selftest(struct check *check)
{
    static const struct dti_kernel *const right[] = {&encode_row, &pack_row, NULL};
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        check->arrays++;
        if (!passes(check, RIGHT, right[i]))
            check_fail(check, "the right kernel %s does not pass",
                       right[i] ? right[i]->name : loss_row.name);
    }
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const bool caught = !passes(check, faults[i].fault, faults[i].row);
        check->arrays++;
        check->told = 0;
        printf("%s %s\n", caught ? "caught  " : "SURVIVED", faults[i].name);
        if (!caught)
            check_fail(check, "not caught: %s", faults[i].name);
    }
    return check->failures == 0;
}

/* SPDX-License-Identifier: MIT
 *
 * Elementwise operations on lists in tiles: codes to fp32, one operation in fp64, and back to codes
 * with the one rounding of the cast kernels, which is the operation's (arith_kernel.h says why).
 * Only NaNs go through the exact core, since processors differ in signs and payloads. */
#include "calc/bulk_parts.h"

#include <stdlib.h>
#include <string.h>

#include "dtinfo/arith.h"
#include "kernels/fp64.h"

/* The events of the counts of kernels; DTI_CALC_EVENT_COUNT: none. */
static const enum dti_calc_event_kind kind_of[DTI_ARITH_COUNTS] = {
    [DTI_ARITH_COUNT_INEXACT] = DTI_CALC_EVENT_COUNT,
    [DTI_ARITH_COUNT_NAN_RESULT] = DTI_CALC_EVENT_COUNT,
    [DTI_ARITH_COUNT_NAN] = DTI_CALC_NAN,
    [DTI_ARITH_COUNT_OVERFLOW] = DTI_CALC_OVERFLOW,
    [DTI_ARITH_COUNT_DIVIDE_BY_ZERO] = DTI_CALC_DIVIDE_BY_ZERO,
    [DTI_ARITH_COUNT_TO_ZERO] = DTI_CALC_TO_ZERO,
    [DTI_ARITH_COUNT_SUBNORMAL] = DTI_CALC_SUBNORMAL,
    [DTI_ARITH_COUNT_ABSORBED] = DTI_CALC_ABSORBED,
};

static const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};

static unsigned char *bytes_at(void *codes, const struct dti_bulk *bulk, size_t i)
{
    return (unsigned char *)codes + i * bulk->code_bytes;
}

static void put_code(const struct dti_bulk *bulk, void *codes, size_t i, uint64_t code)
{
    const struct dti_layout layout = {.swapped = false};
    dti_storage_put(bulk->format, &layout, codes, i, code);
}

/* Plans without a stack's rule never fail. */
void dti_bulk_load(const struct dti_bulk *bulk, float *ret, const void *codes, size_t n)
{
    (void)dti_plan_run(bulk->to_fp32, ret, codes, n, 0, DTI_STORES_CACHED, NULL, NULL);
}

static void value_of(float number, struct dti_value *ret)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    dti_decode(dti_format_get(DTI_FP32), bits, ret);
}

static uint64_t code_of(const struct dti_bulk *bulk, const struct dti_value *value)
{
    const struct dti_policy policy = {.round = nearest.round, .nan = bulk->options->policy.nan};
    struct dti_outcome outcome;
    dti_encode(bulk->format, value, &policy, 0, &outcome);
    return outcome.code;
}

void dti_bulk_store(const struct dti_bulk *bulk, void *ret_code, float number)
{
    struct dti_value value;
    value_of(number, &value);
    put_code(bulk, ret_code, 0, code_of(bulk, &value));
}

static uint64_t exact_code(const struct dti_bulk *bulk, const struct dti_arith_tile *tile, size_t i)
{
    struct dti_value x, y, z;
    value_of(tile->x[i], &x);
    switch (tile->op) {
    case DTI_ARITH_SQRT:
        (void)dti_value_sqrt(&x, &x);
        return code_of(bulk, &x);
    case DTI_ARITH_FMA:
        value_of(tile->y[i], &y);
        value_of(tile->z[i], &z);
        (void)dti_value_fma(&x, &x, &y, &z, nearest.round);
        return code_of(bulk, &x);
    case DTI_ARITH_ADD:
    case DTI_ARITH_SUBTRACT:
    case DTI_ARITH_MULTIPLY:
    case DTI_ARITH_DIVIDE:
        break;
    }
    value_of(tile->y[i], &y);
    if (tile->op == DTI_ARITH_ADD)
        (void)dti_value_add(&x, &x, &y, nearest.round);
    else if (tile->op == DTI_ARITH_SUBTRACT)
        (void)dti_value_subtract(&x, &x, &y, nearest.round);
    else if (tile->op == DTI_ARITH_MULTIPLY)
        (void)dti_value_multiply(&x, &x, &y);
    else
        (void)dti_value_divide(&x, &x, &y);
    return code_of(bulk, &x);
}

float dti_bulk_exact_number(const struct dti_bulk *bulk, const struct dti_arith_tile *tile,
                            size_t i)
{
    unsigned char code[8];
    float number;
    put_code(bulk, code, 0, exact_code(bulk, tile, i));
    dti_bulk_load(bulk, &number, code, 1);
    return number;
}

/* The part of a tile from element `from` on. */
static struct dti_arith_tile part_of(const struct dti_arith_tile *tile, size_t from, size_t n)
{
    return (struct dti_arith_tile){
        .op = tile->op,
        .x = tile->x + from,
        .y = tile->y ? tile->y + from : NULL,
        .z = tile->z ? tile->z + from : NULL,
        .n = n,
    };
}

/* The first element of a kind; there is one. */
static size_t first_of(const struct dti_bulk *bulk, const struct dti_arith_tile *tile,
                       const double *exact, const float *results, enum dti_arith_count kind)
{
    size_t from = 0;
    for (size_t n = tile->n; n > 1;) {
        const struct dti_arith_tile part = part_of(tile, from, n / 2);
        uint64_t found[DTI_ARITH_COUNTS];
        bulk->kernel->count(&part, exact + from, results + from, bulk->smallest_normal, found);
        from += found[kind] == 0 ? n / 2 : 0;
        n = found[kind] == 0 ? n - n / 2 : n / 2;
    }
    return from;
}

static uint64_t count(const struct dti_bulk *bulk, const struct dti_arith_tile *tile,
                      const double *exact, size_t first, size_t step, const float *results)
{
    struct dti_calc_bulk_counts *const counts = bulk->counts;
    uint64_t found[DTI_ARITH_COUNTS];
    bulk->kernel->count(tile, exact, results, bulk->smallest_normal, found);
    counts->inexact += found[DTI_ARITH_COUNT_INEXACT];
    for (unsigned i = 0; i < DTI_ARITH_COUNTS; i++) {
        const enum dti_calc_event_kind kind = kind_of[i];
        if (kind == DTI_CALC_EVENT_COUNT || found[i] == 0)
            continue;
        if (counts->events[kind] == 0 || first < counts->first[kind]) {
            const size_t at = first_of(bulk, tile, exact, results, (enum dti_arith_count)i);
            const size_t place = first + step * at;
            if (counts->events[kind] == 0 || place < counts->first[kind])
                counts->first[kind] = place;
        }
        counts->events[kind] += found[i];
    }
    return found[DTI_ARITH_COUNT_NAN_RESULT];
}

uint64_t dti_bulk_count(const struct dti_bulk *bulk, const struct dti_arith_tile *tile,
                        size_t first, size_t step, const float *results)
{
    double exact[DTI_BULK_TILE];
    bulk->kernel->exact(tile, exact);
    return count(bulk, tile, exact, first, step, results);
}

void dti_bulk_tile(const struct dti_bulk *bulk, const struct dti_arith_tile *tile, size_t first,
                   size_t step, void *ret_codes, float *ret_numbers)
{
    double exact[DTI_BULK_TILE];
    bulk->kernel->exact(tile, exact);
    (void)dti_plan_run(bulk->from_fp64, ret_codes, exact, tile->n, 0, DTI_STORES_CACHED, NULL,
                       NULL);
    dti_bulk_load(bulk, ret_numbers, ret_codes, tile->n);
    if (count(bulk, tile, exact, first, step, ret_numbers) == 0)
        return;
    for (size_t i = 0; i < tile->n; i++) {
        if (ret_numbers[i] != ret_numbers[i])
            put_code(bulk, ret_codes, i, exact_code(bulk, tile, i));
    }
    dti_bulk_load(bulk, ret_numbers, ret_codes, tile->n);
}

static void elementwise(const struct dti_bulk *bulk, enum dti_arith_op op, unsigned operand_count,
                        void *ret, const void *const operands[], const bool scalar[], size_t count)
{
    float numbers[3][DTI_BULK_TILE], results[DTI_BULK_TILE];
    for (unsigned k = 0; k < operand_count; k++) {
        if (!scalar[k])
            continue;
        dti_bulk_load(bulk, &numbers[k][0], operands[k], 1);
        for (size_t i = 1; i < DTI_BULK_TILE; i++)
            numbers[k][i] = numbers[k][0];
    }
    for (size_t at = 0; at < count; at += DTI_BULK_TILE) {
        const size_t n = count - at < DTI_BULK_TILE ? count - at : DTI_BULK_TILE;
        const struct dti_arith_tile tile = {op, numbers[0], numbers[1], numbers[2], n};
        for (unsigned k = 0; k < operand_count; k++) {
            if (!scalar[k])
                dti_bulk_load(bulk, numbers[k],
                              (const unsigned char *)operands[k] + at * bulk->code_bytes, n);
        }
        dti_bulk_tile(bulk, &tile, at, 1, bytes_at(ret, bulk, at), results);
    }
}

static bool new_plan(struct dti_plan **ret, const struct dti_format *src,
                     const struct dti_format *dst, enum dti_level level)
{
    struct dti_request request = {.src = *src, .cast = {.dst = *dst, .policy = nearest}};
    return dti_plan_new(ret, &request, level, NULL) == DTI_OK;
}

/* Which operation of the kernels; false for what they do not have. */
static bool operation_of(enum dti_calc_op op, enum dti_arith_op *ret, unsigned *ret_operands)
{
    static const struct {
        enum dti_calc_op op;
        enum dti_arith_op arith;
        unsigned operands;
    } rows[] = {
        {DTI_CALC_ADD, DTI_ARITH_ADD, 2},           {DTI_CALC_SUBTRACT, DTI_ARITH_SUBTRACT, 2},
        {DTI_CALC_MULTIPLY, DTI_ARITH_MULTIPLY, 2}, {DTI_CALC_DIVIDE, DTI_ARITH_DIVIDE, 2},
        {DTI_CALC_SQRT, DTI_ARITH_SQRT, 1},         {DTI_CALC_FMA, DTI_ARITH_FMA, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].op == op) {
            *ret = rows[i].arith;
            *ret_operands = rows[i].operands;
            return true;
        }
    }
    return false;
}

/* What the plans are made for. Wrapping floats overflow as the native policy does. */
static bool policy_fits(const struct dti_calc_options *options)
{
    const enum dti_overflow overflow = options->policy.overflow;
    return !options->flush && options->policy.round == DTI_ROUND_NEAREST_EVEN &&
           (overflow == DTI_OVERFLOW_NATIVE || overflow == DTI_OVERFLOW_WRAP);
}

void dti_bulk_close(struct dti_bulk *bulk)
{
    if (!bulk)
        return;
    dti_plan_free(bulk->to_fp32);
    dti_plan_free(bulk->from_fp64);
    free(bulk);
}

struct dti_bulk *dti_bulk_open(const struct dti_format *format,
                               const struct dti_calc_options *options)
{
    const bool known = format->id == DTI_FP32 || format->id == DTI_FP16 || format->id == DTI_BF16;
    enum dti_level level;
    if (!known || !policy_fits(options) ||
        dti_level_choose(getenv("DTINFO_CPU"), &level, NULL) != DTI_OK)
        return NULL;
    struct dti_bulk *const bulk = calloc(1, sizeof *bulk);
    if (!bulk)
        return NULL;
    bulk->format = format;
    bulk->options = options;
    bulk->code_bytes = format->id == DTI_FP32 ? 4 : 2;
    bulk->kernel = dti_arith_kernel_find(level);
    bulk->smallest_normal = (float)dti_fp64_smallest_normal(format);
    if (bulk->kernel && new_plan(&bulk->to_fp32, format, dti_format_get(DTI_FP32), level) &&
        new_plan(&bulk->from_fp64, dti_format_get(DTI_FP64), format, level))
        return bulk;
    dti_bulk_close(bulk);
    return NULL;
}

bool dti_bulk_compute(struct dti_bulk *bulk, enum dti_calc_op op, void *ret,
                      const void *const operands[], const bool scalar[], size_t count,
                      struct dti_calc_bulk_counts *counts)
{
    const bool reduces = op == DTI_CALC_SUM || op == DTI_CALC_DOT;
    struct dti_calc_bulk_counts found = {.inexact = 0};
    enum dti_arith_op arith = DTI_ARITH_ADD;
    unsigned operand_count = 0;
    bool done = true;
    if (count == 0 || (!reduces && !operation_of(op, &arith, &operand_count)))
        return false;
    bulk->counts = &found;
    if (reduces)
        done = dti_bulk_reduce(bulk, op == DTI_CALC_DOT, operands[0],
                               op == DTI_CALC_DOT ? operands[1] : NULL, count, ret);
    else
        elementwise(bulk, arith, operand_count, ret, operands, scalar, count);
    if (done)
        *counts = found;
    return done;
}

bool dti_calc_bulk(enum dti_calc_op op, const struct dti_format *format,
                   const struct dti_calc_options *options, void *ret, const void *const operands[],
                   const bool scalar[], size_t count, struct dti_calc_bulk_counts *counts)
{
    struct dti_bulk *const bulk = dti_bulk_open(format, options);
    const bool done = bulk && dti_bulk_compute(bulk, op, ret, operands, scalar, count, counts);
    dti_bulk_close(bulk);
    return done;
}

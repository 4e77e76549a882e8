/* SPDX-License-Identifier: MIT
 *
 * Elementwise operations on lists in tiles: codes to fp32, one operation in fp64, and back to codes
 * with the one rounding of the cast kernels, which is the operation's (arith_kernel.h says why).
 */
#include "calc/bulk_parts.h"

#include <stdlib.h>

#include "kernels/fp64.h"

static unsigned char *bytes_at(void *codes, const struct dti_bulk *bulk, size_t i)
{
    return (unsigned char *)codes + i * bulk->code_bytes;
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
    const struct dti_request request = {
        .src = *src, .cast = {.dst = *dst, .policy = {.round = DTI_ROUND_NEAREST_EVEN}}};
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

/* SPDX-License-Identifier: MIT
 *
 * A tile of an operation on lists: computed, rounded and counted, by kernels but for NaNs, which
 * go through the exact core, since processors differ in signs and payloads. */
#include "calc/bulk_parts.h"

#include <string.h>

#include "dtinfo/arith.h"

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
    const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN,
                                      .nan = bulk->options->policy.nan};
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
        (void)dti_value_fma(&x, &x, &y, &z, DTI_ROUND_NEAREST_EVEN);
        return code_of(bulk, &x);
    case DTI_ARITH_ADD:
    case DTI_ARITH_SUBTRACT:
    case DTI_ARITH_MULTIPLY:
    case DTI_ARITH_DIVIDE:
        break;
    }
    value_of(tile->y[i], &y);
    if (tile->op == DTI_ARITH_ADD)
        (void)dti_value_add(&x, &x, &y, DTI_ROUND_NEAREST_EVEN);
    else if (tile->op == DTI_ARITH_SUBTRACT)
        (void)dti_value_subtract(&x, &x, &y, DTI_ROUND_NEAREST_EVEN);
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

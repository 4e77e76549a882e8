/* SPDX-License-Identifier: MIT
 *
 * Range kernels: the minimum and maximum finite number of arrays of every length, with and without
 * NaNs and infinities, merged into an existing range. */
#include <math.h>
#include <stdio.h>

#include "check_quant.h"

enum { NUMBERS = 20000, LENGTHS = 300 };

enum mixture {
    FINITE,
    ONE_NAN,
    ONE_INFINITY,
    FEW_ODD,
    ALL_ODD,
    ALL_NAN,
    ZEROS,
    ANY_BITS,
    MIXTURES
};

static uint32_t number_of(struct check *check, enum mixture mixture)
{
    const uint32_t bits = (uint32_t)check_random(check), sign = bits & 0x80000000;
    const uint32_t infinity = 0x7f800000 | sign, nan = infinity | 1 | (bits & 0x3fffff);
    const uint32_t finite = (bits & 0x7fffffff) % 0x7f800000 | sign;
    switch (mixture) {
    case FEW_ODD:
        return check_below(check, 50) ? finite : quant_special(check);
    case ALL_ODD:
        return check_below(check, 2) ? nan : infinity;
    case ALL_NAN:
        return nan;
    case ZEROS:
        return sign;
    case ANY_BITS:
        return bits;
    default:
        return finite;
    }
}

struct range_call {
    const struct dti_quant_kernel *row;
    const float *x;
    size_t n;
    float *min, *max;
    struct dti_range *range;
};

static void run_range(void *context)
{
    const struct range_call *call = context;
    if (call->row->work == DTI_QUANT_RANGE)
        call->row->run.range(call->x, call->n, call->range);
    else
        call->row->run.range_columns(call->x, call->n, call->min, call->max, call->range);
}

static void add_number(uint32_t bits, float *min, float *max, struct dti_range *range)
{
    const float x = float_of(bits);
    if ((bits & 0x7fffffff) > 0x7f800000)
        range->nan++;
    else if (!quant_is_finite(bits))
        range->inf++;
    else {
        *min = x < *min ? x : *min;
        *max = x > *max ? x : *max;
    }
}

static bool same_number(float a, float b)
{
    return a <= b && a >= b;
}

/* The range before the call: empty, narrow, or random. */
static void start_range(struct check *check, float *min, float *max)
{
    const uint32_t bits = (uint32_t)check_random(check) & 0x7fffffff;
    const size_t sort = check_below(check, 3);
    *min = sort == 0 ? INFINITY : sort == 1 ? -1e-30f : -float_of(bits % 0x7f800000);
    *max = sort == 0 ? -INFINITY : sort == 1 ? 1e-30f : float_of(bits % 0x7f800000);
}

static bool check_slice(struct check *check, const struct dti_quant_kernel *row,
                        const uint32_t *numbers, size_t n, enum mixture mixture)
{
    static float min[NUMBERS], max[NUMBERS];
    const bool columns = row->work == DTI_QUANT_RANGE_COLUMNS;
    struct dti_range got = {.min = INFINITY, .max = -INFINITY, .nan = 5, .inf = 7};
    struct dti_range want;
    struct range_call call = {.row = row, .n = n, .range = &got};
    if (!columns)
        start_range(check, &got.min, &got.max);
    want = got;
    for (size_t i = 0; i < n && columns; i++)
        start_range(check, &min[i], &max[i]);
    call.x = guarded_copy(check, 0, numbers, n * sizeof *call.x);
    call.min = guarded_copy_floats(check, 1, min, columns ? n : 0);
    call.max = guarded_copy_floats(check, 2, max, columns ? n : 0);
    for (size_t i = 0; i < n; i++)
        add_number(numbers[i], columns ? &min[i] : &want.min, columns ? &max[i] : &want.max, &want);
    check->arrays++;
    if (touches_foreign_memory(run_range, &call) || !guarded_is_whole(1) || !guarded_is_whole(2)) {
        check_fail(check, "%s: n %zu: touches memory outside its arrays", row->name, n);
        return false;
    }
    if (!same_number(got.min, want.min) || !same_number(got.max, want.max) || got.nan != want.nan ||
        got.inf != want.inf) {
        check_fail(check,
                   "%s: n %zu, mixture %d: is %a to %a, %llu NaN, %llu inf, not %a to %a, %llu, "
                   "%llu",
                   row->name, n, (int)mixture, (double)got.min, (double)got.max,
                   (unsigned long long)got.nan, (unsigned long long)got.inf, (double)want.min,
                   (double)want.max, (unsigned long long)want.nan, (unsigned long long)want.inf);
        return false;
    }
    for (size_t i = 0; i < n && columns; i++) {
        if (!same_number(call.min[i], min[i]) || !same_number(call.max[i], max[i])) {
            check_fail(check, "%s: n %zu: place %zu, of 0x%08x, is %a to %a, not %a to %a",
                       row->name, n, i, (unsigned)numbers[i], (double)call.min[i],
                       (double)call.max[i], (double)min[i], (double)max[i]);
            return false;
        }
    }
    return true;
}

bool check_range_row(struct check *check, const struct dti_quant_kernel *row)
{
    static uint32_t numbers[NUMBERS];
    const unsigned rounds = check->effort == EFFORT_LONG ? 40 : 1;
    const size_t step = check->effort == EFFORT_QUICK ? 7 : 1;
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned m = 0; m < MIXTURES; m++) {
            const enum mixture mixture = (enum mixture)m;
            for (size_t i = 0; i < NUMBERS; i++)
                numbers[i] = number_of(check, mixture);
            for (size_t n = 0; n <= LENGTHS; n += step) {
                uint32_t *slice = numbers + check_below(check, NUMBERS - LENGTHS);
                if (n > 0 && mixture == ONE_NAN)
                    slice[check_below(check, n)] = 0x7fc00000;
                if (n > 0 && mixture == ONE_INFINITY)
                    slice[check_below(check, n)] = check_below(check, 2) ? 0x7f800000 : 0xff800000;
                if (!check_slice(check, row, slice, n, mixture))
                    return false;
            }
            if (!check_slice(check, row, numbers, NUMBERS, mixture) ||
                !check_slice(check, row, numbers + 1, NUMBERS - 7, mixture))
                return false;
        }
    }
    return true;
}

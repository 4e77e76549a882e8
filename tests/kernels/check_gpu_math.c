/* SPDX-License-Identifier: MIT
 *
 * Device kernels of exp(sin x), sums and dot products, run on the host. Compares them with libm and
 * with exact integer sums, and checks that the result does not depend on the grid. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "check_gpu.h"

enum { COUNT = 5003, PARTS_MAX = 300 };

static const enum dti_dtype dtypes[] = {DTI_FP64, DTI_FP32, DTI_FP16, DTI_BF16};

static double number_of(enum dti_dtype dtype, uint64_t code)
{
    const struct dti_policy exact = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value value;
    struct dti_outcome outcome;
    double number;
    dti_decode(dti_format_get(dtype), code, &value);
    dti_encode(dti_format_get(DTI_FP64), &value, &exact, 0, &outcome);
    memcpy(&number, &outcome.code, sizeof number);
    return number;
}

static uint64_t code_of(enum dti_dtype dtype, double number)
{
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value value;
    struct dti_outcome outcome;
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    dti_decode(dti_format_get(DTI_FP64), bits, &value);
    dti_encode(dti_format_get(dtype), &value, &nearest, 0, &outcome);
    return outcome.code;
}

/* Checks the error in units in the last place; results are between 0.36 and 2.72. */
static bool check_expsin(struct check *check, enum dti_dtype dtype, size_t offset)
{
    static uint64_t source[COUNT + 2], result[COUNT + 2];
    const size_t bytes = dti_format_container(dti_format_get(dtype));
    const double unit = ldexp(1, -(int)dti_format_get(dtype)->man_bits);
    uint8_t *const src = (uint8_t *)source + offset, *const dst = (uint8_t *)result + offset;
    for (size_t i = 0; i < COUNT; i++)
        put_container(src, bytes, i, code_of(dtype, ((double)i - COUNT / 2.0) * 0.0041));
    put_container(src, bytes, 7,
                  dti_format_get(dtype)->width == 64 ? UINT64_C(0x7ff) << 52
                                                     : code_of(dtype, INFINITY));
    memset(result, 0x5a, sizeof result);
    const struct dti_gpu_math_args args = {
        .a = (uintptr_t)src, .dst = (uintptr_t)dst, .n = COUNT, .dtype = (uint32_t)dtype};
    dti_gpu_host_run(DTI_GPU_EXPSIN, &args, 1 + check_below(check, 300));
    check->arrays++;
    if (offset > 0 && ((uint8_t *)result)[offset - 1] != 0x5a)
        check_fail(check, "expsin: writes before its array");
    if (dst[COUNT * bytes] != 0x5a)
        check_fail(check, "expsin: writes past its array");
    for (size_t i = 0; i < COUNT; i++) {
        const double x = number_of(dtype, get_container(src, bytes, i));
        const double got = number_of(dtype, get_container(dst, bytes, i)), want = exp(sin(x));
        const double step = want < 0.5 ? unit / 4
                            : want < 1 ? unit / 2
                            : want < 2 ? unit
                                       : 2 * unit;
        if (isinf(x) ? !isnan(got) : !(fabs(got - want) <= 4 * step)) {
            check_fail(check, "expsin of %s: element %zu is %a, not %a",
                       dti_format_get(dtype)->name, i, got, want);
            return false;
        }
    }
    return true;
}

/* Integers of -8 to 7: every sum and product is exact in fp32. */
static bool check_sums(struct check *check, enum dti_dtype dtype, size_t offset, size_t n)
{
    static uint64_t a[COUNT + 2], b[COUNT + 2], parts[PARTS_MAX];
    const size_t bytes = dti_format_container(dti_format_get(dtype));
    uint8_t *const left = (uint8_t *)a + offset, *const right = (uint8_t *)b + offset;
    int sum = 0, product = 0;
    for (size_t i = 0; i < n; i++) {
        const int x = (int)check_below(check, 16) - 8, y = (int)check_below(check, 16) - 8;
        put_container(left, bytes, i, code_of(dtype, x));
        put_container(right, bytes, i, code_of(dtype, y));
        sum += x;
        product += x * y;
    }
    const enum dti_dtype answer = dtype == DTI_FP64 ? DTI_FP64 : DTI_FP32;
    for (unsigned turn = 0; turn < 2; turn++) {
        const struct dti_gpu_math_args args = {
            .a = (uintptr_t)left,
            .b = (uintptr_t)right,
            .dst = (uintptr_t)parts,
            .n = n,
            .dtype = (uint32_t)dtype,
            .parts = (uint32_t)(1 + check_below(check, PARTS_MAX)),
        };
        double got = 0;
        dti_gpu_host_run(turn ? DTI_GPU_DOT : DTI_GPU_SUM, &args, 1 + check_below(check, 400));
        check->arrays++;
        for (unsigned p = 0; p < args.parts; p++)
            got += number_of(answer, get_container(parts, answer == DTI_FP64 ? 8 : 4, p));
        if (!(got >= (turn ? product : sum) && got <= (turn ? product : sum))) {
            check_fail(check, "%s of %zu %s in %u parts: %a, not %d", turn ? "dot" : "sum", n,
                       dti_format_get(dtype)->name, args.parts, got, turn ? product : sum);
            return false;
        }
    }
    return true;
}

bool check_gpu_math(struct check *check)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        const size_t bytes = dti_format_container(dti_format_get(dtypes[i]));
        if (!check_expsin(check, dtypes[i], 0) || !check_expsin(check, dtypes[i], bytes))
            return false;
        for (unsigned turn = 0; turn < 40; turn++)
            if (!check_sums(check, dtypes[i], turn % 2 * bytes, check_below(check, COUNT)))
                return false;
    }
    return true;
}

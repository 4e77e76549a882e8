/* SPDX-License-Identifier: MIT
 *
 * Every row of dot products: exact where sums are exact, close to the exact sum elsewhere, at any
 * length and alignment. The tests name no kernel. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "kernels/math/dot.h"

#include <math.h>
#include <stdlib.h>

#include "core/dtype/storage.h"
#include "guarded.h"
#include "kernels/fp64.h"
#include "unit.h"

enum { LENGTHS = 300, N = 100003, LONG = (1 << 25) + 77 };

static bool may_run(const struct dti_dot_kernel *row)
{
    if (dti_level_present(row->level) && dti_unit_present(row->unit))
        return true;
    printf("skipped: %s\n", row->name);
    return false;
}

/* significand x 2^exponent as an element. */
static void put_number(enum dti_dtype dtype, unsigned char *array, size_t i, int64_t significand,
                       int64_t exponent)
{
    static const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
    static const struct dti_layout layout = {.packing = DTI_PACKING_LOW};
    struct dti_value value;
    struct dti_outcome outcome;
    dti_value_set(&value, significand < 0, (uint64_t)(significand < 0 ? -significand : significand),
                  exponent);
    dti_encode(dti_format_get(dtype), &value, &policy, 0, &outcome);
    dti_storage_put(dti_format_get(dtype), &layout, array, i, outcome.code);
}

static size_t bytes_of(enum dti_dtype dtype)
{
    return dti_format_get(dtype)->width / 8;
}

static double exact_of(enum dti_dtype dtype, const void *a, const void *b, size_t n)
{
    struct dti_exact_sum sum;
    dti_exact_sum_init(&sum);
    dti_dot_exact(&sum, dtype, a, b, n);
    return dti_exact_sum_value(&sum);
}

/* Small integers: every sum is exact in any order. Both arrays end at inaccessible memory. */
static void whole_numbers_are_exact_at_any_length(void)
{
    struct guarded a = guarded_new(8 * LENGTHS + 8), b = guarded_new(8 * LENGTHS + 8);
    if (!CHECK(a.end && b.end))
        return;
    for (size_t i = 0; i < dti_dot_kernel_count; i++) {
        const struct dti_dot_kernel *const row = &dti_dot_kernels[i];
        if (!may_run(row))
            continue;
        for (size_t n = 0; n < LENGTHS; n++) {
            int64_t want = 0;
            unsigned char *const x = a.end - n * bytes_of(row->dtype);
            unsigned char *const y = b.end - n * bytes_of(row->dtype) - n % 2;
            for (size_t k = 0; k < n; k++) {
                const int64_t p = (int64_t)(k * 7 % 23) - 9, q = (int64_t)(k * 5 % 19) - 7;
                put_number(row->dtype, x, k, p, 0);
                put_number(row->dtype, y, k, q, 0);
                want += p * q;
            }
            const double got = row->run(x, y, n);
            if (got != (double)want || exact_of(row->dtype, x, y, n) != (double)want) {
                CHECK_STR("is not exact for whole numbers", row->name);
                printf("  %zu elements: %a, not %lld\n", n, got, (long long)want);
                break;
            }
        }
    }
    guarded_free(&a);
    guarded_free(&b);
}

/* Every element counts exactly once: a single nonzero element at each position. */
static void no_element_is_left_out(void)
{
    unsigned char a[8 * LENGTHS], b[8 * LENGTHS];
    for (size_t i = 0; i < dti_dot_kernel_count; i++) {
        const struct dti_dot_kernel *const row = &dti_dot_kernels[i];
        if (!may_run(row))
            continue;
        for (size_t k = 0; k < LENGTHS; k++) {
            memset(a, 0, sizeof a);
            for (size_t j = 0; j < LENGTHS; j++)
                put_number(row->dtype, b, j, (int64_t)j % 100 + 1, 0);
            put_number(row->dtype, a, k, 3, 0);
            if (row->run(a, b, LENGTHS) != 3 * (double)(k % 100 + 1)) {
                CHECK_STR("leaves an element out", row->name);
                break;
            }
        }
    }
}

static uint64_t random64(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Numbers in +-1/2, whose sums stay below 16: the error of an addition is at most 16 x eps. */
static void random_numbers_are_near_to_the_exact_sum(void)
{
    unsigned char *const a = malloc(8 * N), *const b = malloc(8 * N);
    for (size_t i = 0; i < dti_dot_kernel_count && CHECK(a && b); i++) {
        const struct dti_dot_kernel *const row = &dti_dot_kernels[i];
        uint64_t state = i;
        if (!may_run(row) || row->dtype == DTI_INT8)
            continue;
        for (size_t k = 0; k < N; k++) {
            put_number(row->dtype, a, k, (int64_t)(random64(&state) >> 12) - (INT64_C(1) << 51),
                       -52);
            put_number(row->dtype, b, k, (int64_t)(random64(&state) >> 12) - (INT64_C(1) << 51),
                       -52);
        }
        const double exact = exact_of(row->dtype, a, b, N), got = row->run(a, b, N);
        const double eps = row->dtype == DTI_FP64 ? 0x1p-53 : 0x1p-24;
        if (!(fabs(got - exact) <= N * eps * 16) || got == 0) {
            CHECK_STR("is too far from the exact sum", row->name);
            printf("  got %a, exact %a\n", got, exact);
        }
    }
    free(a);
    free(b);
}

/* Sums of int8 are exact for any length, magnitude and signs. */
static void whole_codes_never_overflow(void)
{
    static const int ends[][2] = {{-128, -128}, {-128, 127}, {127, -128}, {127, 127}};
    unsigned char *const a = malloc(LONG), *const b = malloc(LONG);
    for (size_t i = 0; i < dti_dot_kernel_count && CHECK(a && b); i++) {
        const struct dti_dot_kernel *const row = &dti_dot_kernels[i];
        if (!may_run(row) || row->dtype != DTI_INT8)
            continue;
        for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
            memset(a, ends[e][0], LONG);
            memset(b, ends[e][1], LONG);
            CHECK(row->run(a, b, LONG) == (double)LONG * ends[e][0] * ends[e][1]);
        }
        uint64_t state = i;
        int64_t want = 0;
        for (size_t k = 0; k < N; k++) {
            const uint64_t bits = random64(&state);
            memcpy(a + k, &bits, 1);
            memcpy(b + k, (const unsigned char *)&bits + 1, 1);
            want += (int64_t)(int8_t)a[k] * (int8_t)b[k];
        }
        CHECK(row->run(a, b, N) == (double)want && exact_of(DTI_INT8, a, b, N) == (double)want);
    }
    free(a);
    free(b);
}

static void what_is_no_number_stays_none(void)
{
    unsigned char a[8 * 40], b[8 * 40];
    static const struct dti_layout layout = {.packing = DTI_PACKING_LOW};
    for (size_t i = 0; i < dti_dot_kernel_count; i++) {
        const struct dti_dot_kernel *const row = &dti_dot_kernels[i];
        const struct dti_format *const format = dti_format_get(row->dtype);
        uint64_t inf, nan;
        if (!may_run(row) || row->dtype == DTI_INT8)
            continue;
        CHECK(dti_code_inf(format, true, &inf) && dti_code_nan(format, &nan));
        for (size_t k = 0; k < 40; k++) {
            put_number(row->dtype, a, k, 1, 0);
            put_number(row->dtype, b, k, 1, 0);
        }
        dti_storage_put(format, &layout, a, 17, inf);
        CHECK(row->run(a, b, 40) == -INFINITY);
        CHECK(exact_of(row->dtype, a, b, 40) == -INFINITY);
        dti_storage_put(format, &layout, b, 30, nan);
        CHECK(isnan(row->run(a, b, 40)) && isnan(exact_of(row->dtype, a, b, 40)));
    }
}

/* fp16 subnormals are normal numbers in fp32; they must not be flushed. */
static void subnormal_fp16_counts(void)
{
    unsigned char a[2 * 40], b[2 * 40];
    for (size_t k = 0; k < 40; k++) {
        put_number(DTI_FP16, a, k, (int64_t)k - 20, -24);
        put_number(DTI_FP16, b, k, 1, 3);
    }
    for (size_t i = 0; i < dti_dot_kernel_count; i++) {
        const struct dti_dot_kernel *const row = &dti_dot_kernels[i];
        if (row->dtype == DTI_FP16 && may_run(row))
            CHECK(row->run(a, b, 40) == -20 * 0x1p-21);
    }
    CHECK(exact_of(DTI_FP16, a, b, 40) == -20 * 0x1p-21);
}

/* Products of 106 bits must not be rounded: (1 + 2^-52)^2 - 1 - 2^-51 = 2^-104. */
static void the_exact_sum_keeps_whole_products(void)
{
    const double a[] = {1 + 0x1p-52, -1, 0x1p-51, 0x1p500, 0x1p500};
    const double b[] = {1 + 0x1p-52, 1, -1, 0x1p500, -0x1p500};
    CHECK_U64(dti_fp64_bits(exact_of(DTI_FP64, a, b, 5)), dti_fp64_bits(0x1p-104));
    const float x[] = {0x1.000002p0F, -1, 0x1p-22F, 0x1p-149F},
                y[] = {0x1.000002p0F, 1, -1, 0x1p-149F};
    CHECK_U64(dti_fp64_bits(exact_of(DTI_FP32, x, y, 3)), dti_fp64_bits(0x1p-46));
    CHECK_U64(dti_fp64_bits(exact_of(DTI_FP32, x + 3, y + 3, 1)), dti_fp64_bits(0x1p-298));
}

static void every_dtype_has_a_portable_row(void)
{
    static const enum dti_dtype dtypes[] = {DTI_FP64, DTI_FP32, DTI_FP16, DTI_BF16, DTI_INT8};
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        const struct dti_dot_kernel *const row = dti_dot_find(dtypes[i], DTI_LEVEL_SCALAR);
        CHECK(row->dtype == dtypes[i] && row->level == DTI_LEVEL_SCALAR);
        CHECK(row->accumulation[0] != '\0' && row->operations == 2);
    }
}

UNIT_MAIN(whole_numbers_are_exact_at_any_length, no_element_is_left_out,
          random_numbers_are_near_to_the_exact_sum, whole_codes_never_overflow,
          what_is_no_number_stays_none, subnormal_fp16_counts, the_exact_sum_keeps_whole_products,
          every_dtype_has_a_portable_row)

/* SPDX-License-Identifier: MIT
 *
 * Every row of exp(sin x): the promised error bound, checked with the C library in higher
 * precision; lengths, alignments and in-place results. The tests name no kernel. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "kernels/math/expsin.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "core/dtype/storage.h"
#include "guarded.h"
#include "kernels/fp64.h"
#include "unit.h"

enum { POISON = 0xA5, LENGTHS = 131, PAD = 64 };

static double number_at(enum dti_dtype dtype, const unsigned char *array, size_t i)
{
    const size_t bytes = dti_format_get(dtype)->width / 8;
    uint64_t code = 0;
    if (bytes == 8) {
        memcpy(&code, array + 8 * i, 8);
    } else if (bytes == 4) {
        uint32_t word;
        memcpy(&word, array + 4 * i, 4);
        code = word;
    } else {
        uint16_t half;
        memcpy(&half, array + 2 * i, 2);
        code = half;
    }
    struct dti_value value;
    dti_decode(dti_format_get(dtype), code, &value);
    return dti_fp64_from_value(&value);
}

static void put_code(enum dti_dtype dtype, unsigned char *array, size_t i, uint64_t code)
{
    const size_t bytes = dti_format_get(dtype)->width / 8;
    const uint32_t word = (uint32_t)code;
    const uint16_t half = (uint16_t)code;
    memcpy(array + bytes * i,
           bytes == 8   ? (const void *)&code
           : bytes == 4 ? (const void *)&word
                        : (const void *)&half,
           bytes);
}

/* The error in units in the last place; 0 for NaN if NaN is expected. */
static double error_of(enum dti_dtype dtype, double x, double got)
{
    if (!isfinite(x))
        return isnan(got) ? 0 : INFINITY;
    const long double want = expl(sinl((long double)x));
    int exponent;
    (void)frexpl(want, &exponent);
    const int digits = dtype == DTI_FP64 ? 53 : dtype == DTI_FP32 ? 24 : dtype == DTI_FP16 ? 11 : 8;
    return (double)(fabsl((long double)got - want) / ldexpl(1, exponent - digits));
}

static void check_row(const struct dti_expsin_kernel *row, const unsigned char *src, size_t n)
{
    const size_t bytes = dti_format_get(row->dtype)->width / 8;
    unsigned char *const dst = malloc(n * bytes);
    if (!CHECK(dst != NULL))
        return;
    row->run(dst, src, n);
    for (size_t i = 0; i < n; i++) {
        const double x = number_at(row->dtype, src, i), got = number_at(row->dtype, dst, i);
        const double error = error_of(row->dtype, x, got);
        if (!(error <= row->max_ulp)) {
            CHECK_STR("is not within its error", row->name);
            printf("  element %zu: exp(sin %a) is %a, off by %a ulp\n", i, x, got, error);
            break;
        }
    }
    free(dst);
}

/* Runs a check for each row of a dtype that this CPU supports. */
static void each_row(enum dti_dtype dtype, const unsigned char *src, size_t n)
{
    for (size_t i = 0; i < dti_expsin_kernel_count; i++) {
        if (dti_expsin_kernels[i].dtype == dtype && dti_level_present(dti_expsin_kernels[i].level))
            check_row(&dti_expsin_kernels[i], src, n);
    }
}

static void all_codes_of_16_bits_are_within_the_promise(void)
{
    static const enum dti_dtype dtypes[] = {DTI_FP16, DTI_BF16};
    static unsigned char codes[2 * 65536];
    for (size_t d = 0; d < 2; d++) {
        size_t count = 0;
        for (uint64_t code = 0; code < 65536; code += unit_quick() ? 7 : 1)
            put_code(dtypes[d], codes, count++, code);
        each_row(dtypes[d], codes, count);
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

enum { NUMBERS = 200000 };

/* All magnitudes; near multiples of pi/2; uniform in +-2^20 and in +-10. */
static double some_number(uint64_t *state, bool single)
{
    const uint64_t bits = random64(state);
    const double unit = (double)(random64(state) >> 11) * 0x1p-53;
    switch (bits % 4) {
    case 0: {
        return single ? ldexp(unit - 0.5, (int)(bits >> 8) % 270 - 140)
                      : dti_fp64_from_bits(random64(state));
    }
    case 1:
        return (double)((int64_t)(bits >> 8) % 667544) * 1.5707963267948966 * (1 + unit * 0x1p-40);
    case 2:
        return (unit - 0.5) * 0x1p21;
    default:
        return (unit - 0.5) * 20;
    }
}

static void fp32_is_within_the_promise(void)
{
    unsigned char *const numbers = malloc((size_t)4 * NUMBERS);
    if (!CHECK(numbers != NULL))
        return;
    uint64_t state = 1;
    for (size_t i = 0; i < NUMBERS; i++) {
        const float number = (float)some_number(&state, true);
        memcpy(numbers + 4 * i, &number, 4);
    }
    each_row(DTI_FP32, numbers, unit_quick() ? NUMBERS / 8 : NUMBERS);
    free(numbers);
}

/* Quiet and signalling NaNs, infinities and large numbers next to each other. */
static void any_code_of_fp32_beside_any_other(void)
{
    static unsigned char codes[4 * NUMBERS];
    uint64_t state = 3;
    for (size_t i = 0; i < NUMBERS; i++)
        put_code(DTI_FP32, codes, i, random64(&state) | (i % 5 == 0 ? UINT64_C(0x7f800000) : 0));
    each_row(DTI_FP32, codes, unit_quick() ? NUMBERS / 8 : NUMBERS);
}

/* A large number among small ones must be detected next to a NaN of either kind, at any position.
 */
static void a_nan_hides_no_large_number(void)
{
    enum { COUNT = 64 };
    unsigned char codes[4 * COUNT];
    for (size_t i = 0; i < (size_t)COUNT * COUNT * 2; i += unit_quick() ? 7 : 1) {
        memset(codes, 0, sizeof codes);
        put_code(DTI_FP32, codes, i / 2 % COUNT, i % 2 ? 0x7f800001 : 0x7fc00000);
        put_code(DTI_FP32, codes, i / 2 / COUNT, 0x60000000);
        each_row(DTI_FP32, codes, COUNT);
    }
}

static void fp64_is_within_the_promise(void)
{
    unsigned char *const numbers = malloc((size_t)8 * NUMBERS);
    if (!CHECK(numbers != NULL))
        return;
    uint64_t state = 2;
    for (size_t i = 0; i < NUMBERS; i++) {
        const double number = some_number(&state, false);
        memcpy(numbers + 8 * i, &number, 8);
    }
    if (LDBL_MANT_DIG >= 64) /* long double must be wider than fp64 */
        each_row(DTI_FP64, numbers, unit_quick() ? NUMBERS / 8 : NUMBERS);
    free(numbers);
}

static void numbers_that_are_special(void)
{
    static const double special[] = {0,        -0.0,    INFINITY,  -INFINITY, NAN,
                                     0x1p20,   -0x1p20, 0x1p21,    65536,     65537,
                                     1,        -1,      0x1p-1074, DBL_MAX,   0x1.921fb54442d18p0,
                                     0x1p-149, FLT_MAX};
    enum { COUNT = sizeof special / sizeof special[0] };
    unsigned char numbers[8 * COUNT], results[8 * COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        const float single = (float)special[i];
        memcpy(numbers + 4 * i, &single, 4);
    }
    each_row(DTI_FP32, numbers, COUNT);
    memcpy(numbers, special, sizeof special);
    if (LDBL_MANT_DIG >= 64)
        each_row(DTI_FP64, numbers, COUNT);
    for (size_t i = 0; i < dti_expsin_kernel_count; i++) {
        const struct dti_expsin_kernel *const row = &dti_expsin_kernels[i];
        if (row->dtype != DTI_FP64 || !dti_level_present(row->level))
            continue;
        row->run(results, numbers, COUNT);
        CHECK(number_at(DTI_FP64, results, 0) == 1 && number_at(DTI_FP64, results, 1) == 1);
    }
}

/* Large arrays use streaming stores; the results must equal those of small pieces. */
static void long_arrays_are_as_their_pieces(void)
{
    const size_t piece = 100003;
    for (size_t i = 0; i < dti_expsin_kernel_count; i++) {
        const struct dti_expsin_kernel *const row = &dti_expsin_kernels[i];
        const size_t bytes = dti_format_get(row->dtype)->width / 8;
        const size_t size = (((size_t)17 << 20) + 74) / bytes * bytes;
        if (!dti_level_present(row->level))
            continue;
        unsigned char *const src = aligned_alloc(64, size / 64 * 64 + 64);
        unsigned char *const dst = aligned_alloc(64, size / 64 * 64 + 64);
        unsigned char *const some = malloc(piece * bytes);
        if (CHECK(src && dst && some)) {
            uint64_t state = i; /* numbers below 2 of all magnitudes */
            for (size_t at = 0; at < size / 8 * 8; at += 8) {
                const uint64_t codes = random64(&state) & UINT64_C(0xbfffbfffbfffbfff);
                memcpy(src + at, &codes, 8);
            }
            memset(src + size / 8 * 8, 0, size % 8);
            row->run(dst, src, size / bytes);
            for (size_t at = 0; at < size / bytes; at += piece) {
                const size_t count = size / bytes - at < piece ? size / bytes - at : piece;
                row->run(some, src + at * bytes, count);
                if (memcmp(some, dst + at * bytes, count * bytes) != 0) {
                    CHECK_STR("differs in a long array", row->name);
                    break;
                }
            }
        }
        free(src);
        free(dst);
        free(some);
    }
}

/* Arrays end at inaccessible memory, and bytes before them must not change. A result must not
 * depend on the position of its element. */
static void check_lengths(const struct dti_expsin_kernel *row, const struct guarded *from,
                          const struct guarded *to, const unsigned char *whole_src,
                          const unsigned char *whole_dst)
{
    const size_t bytes = dti_format_get(row->dtype)->width / 8;
    unsigned char poison[PAD];
    memset(poison, POISON, sizeof poison);
    for (size_t n = 0; n < LENGTHS; n++) {
        for (size_t shift = 0; shift < 2; shift++) {
            const size_t size = n * bytes;
            unsigned char *const src = from->end - size - shift, *const dst = to->end - size;
            memcpy(src, whole_src, size);
            memset(dst - PAD, POISON, PAD + size);
            row->run(dst, src, n);
            if (memcmp(dst, whole_dst, size) != 0 || memcmp(dst - PAD, poison, PAD) != 0 ||
                memcmp(src, whole_src, size) != 0) {
                CHECK_STR("is wrong for some length", row->name);
                return;
            }
            row->run(src, src, n);
            if (memcmp(src, whole_dst, size) != 0) {
                CHECK_STR("is wrong in place", row->name);
                return;
            }
        }
    }
}

static void lengths_alignments_and_places_do_not_matter(void)
{
    struct guarded from = guarded_new(8 * LENGTHS + 2 * PAD), to = guarded_new(8 * LENGTHS + PAD);
    if (!CHECK(from.end && to.end))
        return;
    for (size_t i = 0; i < dti_expsin_kernel_count; i++) {
        const struct dti_expsin_kernel *const row = &dti_expsin_kernels[i];
        unsigned char src[8 * LENGTHS], dst[8 * LENGTHS];
        if (!dti_level_present(row->level))
            continue;
        for (size_t k = 0; k < LENGTHS; k++) { /* 1 + k/64, and one far away */
            struct dti_value value;
            struct dti_outcome outcome;
            static const struct dti_policy policy = {.round = DTI_ROUND_NEAREST_EVEN};
            dti_value_set(&value, k % 3 == 0, k == 77 ? UINT64_C(9) << 40 : 64 + k, -6);
            dti_encode(dti_format_get(row->dtype), &value, &policy, 0, &outcome);
            put_code(row->dtype, src, k, outcome.code);
        }
        row->run(dst, src, LENGTHS);
        check_lengths(row, &from, &to, src, dst);
    }
    guarded_free(&from);
    guarded_free(&to);
}

static void every_dtype_has_a_portable_row(void)
{
    static const enum dti_dtype dtypes[] = {DTI_FP64, DTI_FP32, DTI_FP16, DTI_BF16};
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        const struct dti_expsin_kernel *const row = dti_expsin_find(dtypes[i], DTI_LEVEL_SCALAR);
        CHECK(row->dtype == dtypes[i] && row->level == DTI_LEVEL_SCALAR);
        CHECK(row->arithmetic[0] != '\0' && row->operations > 0 && row->max_ulp > 0);
    }
}

UNIT_MAIN(all_codes_of_16_bits_are_within_the_promise, fp32_is_within_the_promise,
          any_code_of_fp32_beside_any_other, a_nan_hides_no_large_number,
          fp64_is_within_the_promise, numbers_that_are_special, long_arrays_are_as_their_pieces,
          lengths_alignments_and_places_do_not_matter, every_dtype_has_a_portable_row)

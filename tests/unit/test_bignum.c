/* SPDX-License-Identifier: MIT
 *
 * Long integers compared with Python's: the literals and hashes were printed by CPython 3.11 (int
 * arithmetic, divmod, fractions), from operands with a fixed seed and from classic hard cases of
 * long division. */
#include <stdlib.h>

#include "core/number/bignum.h"
#include "core/number/number_terms.h"
#include "unit.h"

static void set_hex(struct dti_big *b, const char *hex)
{
    dti_big_set(b, 0);
    for (; *hex; hex++) {
        dti_big_shift_left(b, 4);
        dti_big_mul_add(b, 1, (uint64_t)(*hex <= '9' ? *hex - '0' : *hex - 'a' + 10));
    }
}

static const char *hex_of(const struct dti_big *b)
{
    static char text[2048];
    size_t used = 0;
    if (b->failed)
        return "failed";
    if (b->count == 0)
        return "0";
    for (size_t i = b->count; i-- > 0 && used + 17 < sizeof text;)
        used += (size_t)snprintf(text + used, sizeof text - used, used ? "%016" PRIx64 : "%" PRIx64,
                                 b->limb[i]);
    return text;
}

/* FNV-1a, to compare thousands of digits with Python's output. */
static uint64_t hash_of_digits(const struct dti_big *b)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    size_t count;
    char *const digits = dti_big_to_digits(b, NULL, 0, &count);
    for (size_t i = 0; digits && i < count; i++)
        hash = (hash ^ (uint64_t)(unsigned char)digits[i]) * UINT64_C(0x100000001b3);
    free(digits);
    return hash;
}

static void set_power(struct dti_big *b, uint64_t base, unsigned exponent)
{
    for (dti_big_set(b, 1); exponent > 0; exponent--)
        dti_big_mul_add(b, base, 0);
}

static void divides_as_python_does(void)
{
    static const struct {
        const char *a, *b, *quotient, *remainder;
    } rows[] = {
        {"8c5c7fd0a6a3a4506513270e269e0d37f2a74de452e6b438", "d23f0824128b2f33",
         "aae8213976c78f44d15007df8266e7e9", "ceadc47a264fb9cd"},
        {"81e8e25d940ed904759531985d5d9dc9f81818e811892f902b", "36f03675a1600a35a099950d836f675cc",
         "25d597089bc4e1adcf", "1b6d4b14381fcd388ef25b8c6d1ff7437"},
        {"ffffffffffffffffffffffffffffffffffffffffffffffff", "ffffffffffffffffffffffffffffffff",
         "10000000000000000", "ffffffffffffffff"},
        {"ffffffffffffffffffffffffffffffff00000000000000000000000000000000",
         "10000000000000000ffffffffffffffff", "ffffffffffffffff0000000000000000",
         "ffffffffffffffff0000000000000000"},
        {"c00000000000000000000000000000000000000000000000", "80000000000000000000000000000001",
         "17fffffffffffffff", "7ffffffffffffffe8000000000000001"},
        {"8d116ece1738f7d93d9c172411e20b8f", "90c192cfd3ac94af0f21ddb66cad4a26", "0",
         "8d116ece1738f7d93d9c172411e20b8f"},
        {"5", "2ef28c105d1fb17c23", "0", "5"},
        {"7fffffffffffffff8000000000000002fffffffffffffffc", "80000000000000000000000000000003",
         "fffffffffffffffe", "80000000000000000000000000000002"},
        {"7fffffffffffffffffffffffffffffffffffffffffffffff", "8000000000000000ffffffffffffffff",
         "fffffffffffffffe", "2fffffffffffffffd"},
        {"800000000000000000000000000000000000000000000003",
         "200000000000000000000000000000000000000000000001", "3",
         "200000000000000000000000000000000000000000000000"},
        {"7fffffffffffffff800000000000000000000000000000000000000000000000",
         "800000000000000000000000000000000000000000000001", "fffffffffffffffe",
         "7fffffffffffffffffffffffffffffff0000000000000002"},
        {"8000000000000000fffffffffffffffe0000000000000000", "8000000000000000ffffffffffffffff",
         "ffffffffffffffff", "7fffffffffffffffffffffffffffffff"},
    };
    struct dti_big a, b, quotient, remainder;
    dti_big_init(&a);
    dti_big_init(&b);
    dti_big_init(&quotient);
    dti_big_init(&remainder);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        set_hex(&a, rows[i].a);
        set_hex(&b, rows[i].b);
        dti_big_divide(&quotient, &remainder, &a, &b);
        CHECK_STR(hex_of(&quotient), rows[i].quotient);
        CHECK_STR(hex_of(&remainder), rows[i].remainder);
        dti_big_divide(&a, &b, &a, &b);
        CHECK_STR(hex_of(&a), rows[i].quotient);
        CHECK_STR(hex_of(&b), rows[i].remainder);
    }
    dti_big_free(&a);
    dti_big_free(&b);
    dti_big_free(&quotient);
    dti_big_free(&remainder);
}

static void rounds_ratios_down_to_128_bits_and_marks_the_rest(void)
{
    static const struct {
        const char *num, *den;
        int exponent, top;
        uint64_t hi, lo;
        bool sticky;
    } rows[] = {
        {"1", "3", 0, -2, UINT64_C(0xaaaaaaaaaaaaaaaa), UINT64_C(0xaaaaaaaaaaaaaaaa), true},
        {"2", "3", 5, 4, UINT64_C(0xaaaaaaaaaaaaaaaa), UINT64_C(0xaaaaaaaaaaaaaaaa), true},
        {"1", "a", -3, -7, UINT64_C(0xcccccccccccccccc), UINT64_C(0xcccccccccccccccc), true},
        {"f9e0cb1e29c658cda1495e60af593bd04cf0fd630f1f29d0da9953f48f1a09f76b5a170b338",
         "8becd7b03898d190", 0, 236, UINT64_C(0xe495086ff60a1459), UINT64_C(0xab2c76cf21e5b047),
         true},
        {"dbc496cb8e81973e",
         "d0e8f6d05584ef8aa38922766581e27a1c08a6a63ec24ede6a46b4cb2424a23d5962217bead", 7, -229,
         UINT64_C(0x86a71657dcd21506), UINT64_C(0x360990f02411d08e), true},
        {"194e3bf911a61dbe22e44158bae97ba94", "1", 0, 128, UINT64_C(0xca71dfc88d30edf1),
         UINT64_C(0x17220ac5d74bdd4a), false},
        {"100000000000000000000000000000000000000000000000000", "1", -200, 0,
         UINT64_C(0x8000000000000000), UINT64_C(0x0000000000000000), false},
        {"100000000000000000000000000000000000000000000000001", "1", 0, 200,
         UINT64_C(0x8000000000000000), UINT64_C(0x0000000000000000), true},
        {"ae2e7f15052434b9b5df9e7769b10f4205b4907a70c31012f037b64ce4228c38fb2918f135d25f55720330185"
         "0c5a38fd547",
         "ec95e761d17731af10506bf2efc6f877186d76b07e881ed162", -11, 188,
         UINT64_C(0xbc79a2a46df77ad9), UINT64_C(0x2f035ec1ca21c6a5), true},
        {"3", "3", 0, 0, UINT64_C(0x8000000000000000), UINT64_C(0x0000000000000000), false},
        {"300000000000000000000000000000003", "3", 0, 128, UINT64_C(0x8000000000000000),
         UINT64_C(0x0000000000000000), true},
        {"ffffffffffffffffffffffffffffffff", "ffffffffffffffffffffffffffffffff", 0, 0,
         UINT64_C(0x8000000000000000), UINT64_C(0x0000000000000000), false},
        {"1d6329f1c35ca4bfabb9f5610000000000", "56bc75e2d63100000", 0, 66,
         UINT64_C(0xad78ebc5ac620000), UINT64_C(0x0000000000000000), false},
    };
    struct dti_big num, den;
    struct dti_value value;
    dti_big_init(&num);
    dti_big_init(&den);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        set_hex(&num, rows[i].num);
        set_hex(&den, rows[i].den);
        CHECK(dti_big_ratio(&value, i % 2 == 1, &num, &den, rows[i].exponent));
        CHECK(value.kind == DTI_CLASS_FINITE && value.negative == (i % 2 == 1));
        CHECK_I64(value.exponent, rows[i].top);
        CHECK_U64(value.hi, rows[i].hi);
        CHECK_U64(value.lo, rows[i].lo);
        CHECK(value.sticky == rows[i].sticky);
    }
    dti_big_set(&num, 0);
    CHECK(dti_big_ratio(&value, true, &num, &den, 3));
    CHECK(value.kind == DTI_CLASS_ZERO && value.negative && !value.sticky);
    dti_big_free(&num);
    dti_big_free(&den);
}

static void clamps_exponents_that_no_format_reaches(void)
{
    struct dti_value value;
    dti_value_set_wide(&value, false, 1, 0, false, INT64_C(1) << 40);
    CHECK_I64(value.exponent, DTI_EXPONENT_LIMIT);
    CHECK(value.sticky);
    dti_value_set_wide(&value, false, 0, 1, false, -(INT64_C(1) << 40));
    CHECK_I64(value.exponent, -DTI_EXPONENT_LIMIT);
    CHECK(value.sticky);
    dti_value_set_wide(&value, false, 0, 1, false, DTI_EXPONENT_LIMIT);
    CHECK_I64(value.exponent, DTI_EXPONENT_LIMIT);
    CHECK(!value.sticky);
}

static void shifts_and_tells_what_fell_off(void)
{
    struct dti_big b;
    dti_big_init(&b);
    set_hex(&b, "123456789abcdef0123456789abcdef");
    dti_big_shift_left(&b, 132);
    CHECK_STR(hex_of(&b), "123456789abcdef0123456789abcdef000000000000000000000000000000000");
    CHECK(!dti_big_shift_right(&b, 132));
    CHECK_STR(hex_of(&b), "123456789abcdef0123456789abcdef");
    CHECK(dti_big_shift_right(&b, 68));
    CHECK_STR(hex_of(&b), "123456789abcde");
    CHECK_SIZE(dti_big_bits(&b), 53);
    CHECK(dti_big_shift_right(&b, 2));
    CHECK(!dti_big_shift_right(&b, 0));
    CHECK_STR(hex_of(&b), "48d159e26af37");
    CHECK(dti_big_shift_right(&b, 500));
    CHECK_SIZE(b.count, 0);
    CHECK(!dti_big_shift_right(&b, 1));
    dti_big_free(&b);
}

static void adds_and_subtracts_across_limbs(void)
{
    struct dti_big a, b;
    dti_big_init(&a);
    dti_big_init(&b);
    set_hex(&a, "ffffffffffffffffffffffffffffffffffffffffffffffff");
    dti_big_set(&b, 1);
    dti_big_add(&a, &a, &b);
    CHECK_STR(hex_of(&a), "1000000000000000000000000000000000000000000000000");
    dti_big_sub(&a, &a, &b);
    CHECK_STR(hex_of(&a), "ffffffffffffffffffffffffffffffffffffffffffffffff");
    dti_big_add(&b, &b, &a);
    dti_big_sub(&b, &b, &a);
    CHECK_STR(hex_of(&b), "1");
    dti_big_sub(&a, &a, &a);
    CHECK_SIZE(a.count, 0);
    dti_big_mul_add(&b, 0, 0);
    CHECK_SIZE(b.count, 0);
    dti_big_free(&a);
    dti_big_free(&b);
}

static void spells_powers_as_python_does(void)
{
    struct dti_big b;
    dti_big_init(&b);
    dti_big_set(&b, 1);
    dti_big_mul_pow5(&b, 40);
    CHECK_U64(hash_of_digits(&b), UINT64_C(0x8555fd564b31f66d));
    dti_big_mul_pow5(&b, 660); /* 5^700 by repeated squaring */
    CHECK_U64(hash_of_digits(&b), UINT64_C(0x7a7c57b79afc1c2));
    dti_big_mul_pow5(&b, 8300); /* 5^9000 */
    CHECK_U64(hash_of_digits(&b), UINT64_C(0x6efa2711cf52c9f8));
    set_power(&b, 3, 20000);
    CHECK_U64(hash_of_digits(&b), UINT64_C(0xe1300ae8c43d3bf7));
    dti_big_free(&b);
}

static void multiplies_and_divides_thousands_of_digits_as_python_does(void)
{
    struct dti_big a, b, product;
    dti_big_init(&a);
    dti_big_init(&b);
    dti_big_init(&product);
    set_power(&a, 3, 9000);
    set_power(&b, 7, 5000);
    dti_big_mul(&product, &a, &b);
    CHECK_U64(hash_of_digits(&product), UINT64_C(0x51ec66f6d48b044d));
    dti_big_mul(&b, &a, &b);
    CHECK(dti_big_compare(&b, &product) == 0);
    set_power(&b, 7, 4000);
    dti_big_divide(&a, &b, &a, &b);
    CHECK_U64(hash_of_digits(&a), UINT64_C(0xbf61db43008631a3));
    CHECK_U64(hash_of_digits(&b), UINT64_C(0x47c2844bdd598870));
    dti_big_free(&a);
    dti_big_free(&b);
    dti_big_free(&product);
}

/* (10^n - 1)^2 = 99...9 8 00...0 1, with n - 1 nines and zeros: needs no oracle. */
static void squares_nines(void)
{
    static const size_t lengths[] = {1, 19, 20, 608, 609, 3000, 40000};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const size_t n = lengths[i];
        struct dti_big b;
        char *const want = malloc(2 * n);
        size_t count;
        dti_big_init(&b);
        if (!want)
            return;
        memset(want, '9', n);
        dti_big_from_digits(&b, want, n);
        memset(want + n, '0', n);
        want[n - 1] = '8';
        want[2 * n - 1] = '1';
        dti_big_mul(&b, &b, &b);
        char *const got = dti_big_to_digits(&b, NULL, 0, &count);
        if (CHECK(got != NULL) && CHECK_SIZE(count, 2 * n))
            CHECK(memcmp(got, want, count) == 0);
        free(got);
        free(want);
        dti_big_free(&b);
    }
}

static void writes_powers_of_ten(void)
{
    static const uint32_t exponents[] = {18, 19, 607, 608, 1216, 5000, 9728, 38911, 38912, 40000};
    for (size_t i = 0; i < sizeof exponents / sizeof exponents[0]; i++) {
        struct dti_big b;
        size_t count = 0, zeros = 0;
        dti_big_init(&b);
        dti_big_set(&b, 1);
        dti_big_mul_pow10(&b, exponents[i]);
        char *const digits = dti_big_to_digits(&b, NULL, 0, &count);
        while (digits && zeros + 1 < count && digits[zeros + 1] == '0')
            zeros++;
        CHECK_SIZE(zeros, exponents[i]);
        CHECK(digits && digits[0] == '1' && count == zeros + 1);
        free(digits);
        dti_big_free(&b);
    }
}

static void writes_small_numbers_into_the_callers_array(void)
{
    struct dti_big b;
    char own[64];
    size_t count;
    dti_big_init(&b);
    CHECK(dti_big_to_digits(&b, own, sizeof own, &count) == own);
    CHECK(count == 1 && own[0] == '0');
    dti_big_set(&b, UINT64_MAX);
    CHECK(dti_big_to_digits(&b, own, sizeof own, &count) == own);
    CHECK(count == 20 && memcmp(own, "18446744073709551615", 20) == 0);
    dti_big_free(&b);
}

static void passes_failure_on(void)
{
    struct dti_big bad, good, sum;
    struct dti_value value;
    size_t count;
    dti_big_init(&bad);
    dti_big_init(&good);
    dti_big_init(&sum);
    dti_big_fail(&bad);
    dti_big_set(&good, 7);
    dti_big_add(&sum, &good, &bad);
    CHECK(sum.failed);
    dti_big_set(&sum, 1);
    dti_big_mul(&sum, &bad, &good);
    CHECK(sum.failed);
    dti_big_mul_add(&sum, 10, 1);
    CHECK(sum.failed);
    CHECK(!dti_big_ratio(&value, false, &good, &bad, 0));
    CHECK(dti_big_to_digits(&bad, NULL, 0, &count) == NULL);
    dti_big_free(&bad);
    dti_big_free(&good);
    dti_big_free(&sum);
}

static void the_expansion_of_a_failed_number_is_lost_and_not_missing(void)
{
    struct dti_buffer buffer;
    struct dti_big b;
    dti_buffer_init(&buffer);
    dti_big_init(&b);
    dti_big_set(&b, 1);
    CHECK(!dti_append_product(&buffer, false, &b, -2 * DTI_EXACT_BINARY_MAX, 0));
    CHECK(!buffer.failed);
    dti_big_fail(&b);
    CHECK(!dti_append_product(&buffer, false, &b, 0, 0));
    CHECK(buffer.failed);
    dti_big_free(&b);
    dti_buffer_free(&buffer);
}

static void reducing_a_failed_fraction_fails(void)
{
    struct dti_fraction fraction = {.two = 0, .five = 0};
    dti_big_init(&fraction.num);
    dti_big_init(&fraction.den);
    dti_big_set(&fraction.den, 1);
    dti_big_fail(&fraction.num);
    CHECK(!dti_fraction_reduce(&fraction));
    dti_big_set(&fraction.num, 1);
    dti_big_fail(&fraction.den);
    CHECK(!dti_fraction_reduce(&fraction));
    dti_fraction_free(&fraction);
}

UNIT_MAIN(divides_as_python_does, rounds_ratios_down_to_128_bits_and_marks_the_rest,
          clamps_exponents_that_no_format_reaches, shifts_and_tells_what_fell_off,
          adds_and_subtracts_across_limbs, spells_powers_as_python_does,
          multiplies_and_divides_thousands_of_digits_as_python_does, squares_nines,
          writes_powers_of_ten, writes_small_numbers_into_the_callers_array, passes_failure_on,
          the_expansion_of_a_failed_number_is_lost_and_not_missing,
          reducing_a_failed_fraction_fails)

/* SPDX-License-Identifier: MIT
 *
 * Verifies numbers on a device (the fake one): which numbers can be verified, that the results
 * agree, and that a different result is detected. */
#include <stdlib.h>
#include <string.h>

#include "convert/cross_check.h"
#include "unit.h"

static struct dti_runner *runner;
static struct dti_error error;

static struct dti_cast cast_to(const char *dtype)
{
    struct dti_cast cast = {0};
    CHECK(dti_format_lookup(dtype, &cast.dst, NULL, &error) == DTI_OK);
    return cast;
}

static struct dti_stored_number number_of(const char *text, const struct dti_cast *cast,
                                          uint64_t index)
{
    struct dti_stored_number number = {0};
    struct dti_scalar scalar;
    CHECK(dti_value_parse(&number.value, text, strlen(text), &error) == DTI_OK);
    dti_scalar_store(cast, &number.value, NULL, index, &scalar);
    number.code = scalar.code;
    return number;
}

static enum dti_status ask(const struct dti_cast *cast, const struct dti_stored_number *numbers,
                           size_t n, uint64_t index, size_t *ret_asked, const char **ret_why)
{
    struct dti_cross_check *cross_check;
    CHECK(dti_cross_check_new(&cross_check, cast, NULL, runner, DTI_LEVEL_SCALAR, &error) ==
          DTI_OK);
    const enum dti_status status =
        dti_cross_check_ask(cross_check, numbers, n, index, ret_asked, ret_why, &error);
    dti_cross_check_free(cross_check);
    return status;
}

static bool is_asked(const char *text, const char *dtype)
{
    const struct dti_cast cast = cast_to(dtype);
    const struct dti_stored_number number = number_of(text, &cast, 0);
    size_t asked = 77;
    const char *why = NULL;
    CHECK(ask(&cast, &number, 1, 0, &asked, &why) == DTI_OK);
    CHECK(asked <= 1 && (asked == 1) == (why == NULL));
    return asked == 1;
}

static void any_number_can_be_asked_about_where_a_rounding_to_odd_does_not_show(void)
{
    static const char *const texts[] = {"1",
                                        "0.1",
                                        "-1e-400",
                                        "1e400",
                                        "nan",
                                        "-inf",
                                        "-0",
                                        "1.00048828125000022204",
                                        "18446744073709551615",
                                        "340282366920938463463374607431768211456.0000001"};
    static const char *const dtypes[] = {"fp32", "fp16",     "bf16",  "fp8_e4m3fn", "fp8_e8m0",
                                         "tf32", "fp4_e2m1", "int32", "uint8",      "bool"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (size_t j = 0; j < sizeof dtypes / sizeof *dtypes; j++)
            CHECK(is_asked(texts[i], dtypes[j]));
    }
}

static void numbers_that_would_be_rounded_twice_are_not_asked_about(void)
{
    CHECK(is_asked("0.5", "fp64") && is_asked("-7", "int64"));
    CHECK(is_asked("18446744073709551615", "uint64") && is_asked("9007199254740993", "int64"));
    CHECK(!is_asked("0.1", "fp64"));
    CHECK(!is_asked("9007199254740993.5", "int64"));
    CHECK(!is_asked("1e400", "fp64"));
    CHECK(!is_asked("1", "e15m48")); /* no kernels for it */
}

static void random_bits_follow_the_place_of_the_number(void)
{
    enum { COUNT = DTI_TILE + 300 };
    static struct dti_stored_number numbers[COUNT];
    struct dti_cast cast = cast_to("bf16");
    cast.policy.round = DTI_ROUND_STOCHASTIC;
    cast.policy.seed = 5;
    const uint64_t first = 3 * DTI_TILE + 1900;
    size_t asked = 0, up = 0;
    const char *why = NULL;
    for (size_t i = 0; i < COUNT; i++) {
        numbers[i] = number_of("257", &cast, first + i);
        up += numbers[i].code != numbers[0].code;
    }
    CHECK(up > 0 && up < COUNT);
    CHECK(ask(&cast, numbers, COUNT, first, &asked, &why) == DTI_OK);
    CHECK_SIZE(asked, COUNT);
    /* other indices draw other random bits */
    CHECK(ask(&cast, numbers, COUNT, first + 1, &asked, &why) == DTI_BUG);
}

static void numbers_of_all_sorts_side_by_side(void)
{
    const struct dti_cast cast = cast_to("fp64");
    struct dti_stored_number numbers[4] = {number_of("0.5", &cast, 0), number_of("0.1", &cast, 1),
                                           number_of("9007199254740993", &cast, 2),
                                           number_of("18446744073709551615", &cast, 3)};
    size_t asked = 0;
    const char *why = NULL;
    CHECK(ask(&cast, numbers, 4, 0, &asked, &why) == DTI_OK);
    CHECK_SIZE(asked, 3);
    CHECK(why != NULL);
    numbers[3].code++;
    CHECK(ask(&cast, numbers, 4, 0, &asked, &why) == DTI_BUG);
}

/* -0 written as an integer is the int64 0. */
static void stacks_take_integers_as_int64(void)
{
    static const char *const texts[] = {"-0", "-0.0", "7", "9007199254740993", "1e30", "0.1"};
    static const bool literals[] = {true, false, true, true, true, false};
    static const char *const dtypes[] = {"fp64", "fp32", "bf16", "fp8_e5m2"};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes * 6; i++) {
        struct dti_cast cast = cast_to(dtypes[i / 6]), taken;
        struct dti_stored_number number = number_of(texts[i % 6], &cast, 0);
        struct dti_scalar scalar;
        struct dti_cross_check *cross_check;
        size_t asked = 0;
        const char *why = NULL;
        const struct dti_stack_rule *const rule = dti_stack_find(DTI_STACK_ONNX, &cast.dst);
        number.integer_literal = literals[i % 6];
        CHECK(dti_stack_cast(rule, &cast.dst, number.integer_literal, &number.value, &taken,
                             &scalar));
        number.code = scalar.code;
        cast.round_given = true;
        cast.policy.round = rule->round;
        cast.policy.overflow = rule->overflow;
        CHECK(dti_cross_check_new(&cross_check, &cast, rule, runner, DTI_LEVEL_SCALAR, &error) ==
              DTI_OK);
        CHECK(dti_cross_check_ask(cross_check, &number, 1, 0, &asked, &why, &error) == DTI_OK);
        CHECK_SIZE(asked, 1);
        dti_cross_check_free(cross_check);
    }
}

static void another_answer_is_a_bug_that_names_both(void)
{
    const struct dti_cast cast = cast_to("bf16");
    struct dti_stored_number number = number_of("70000", &cast, 0);
    size_t asked = 0;
    const char *why = NULL;
    number.code ^= 1;
    CHECK(ask(&cast, &number, 1, 0, &asked, &why) == DTI_BUG);
    CHECK(strstr(error.text, "0x4789") && strstr(error.text, "0x4788") &&
          strstr(error.text, "cuda:0"));
}

static void the_device_is_there(void)
{
    const struct dti_device_choice choice = {.kind = DTI_DEVICE_CUDA};
    if (!CHECK(dti_runner_open(&runner, &choice, &error) == DTI_OK)) {
        printf("  %s\n", error.text);
        exit(1);
    }
}

static void the_device_is_given_back(void)
{
    dti_runner_close(runner);
}

UNIT_MAIN(the_device_is_there, any_number_can_be_asked_about_where_a_rounding_to_odd_does_not_show,
          numbers_that_would_be_rounded_twice_are_not_asked_about,
          random_bits_follow_the_place_of_the_number, numbers_of_all_sorts_side_by_side,
          stacks_take_integers_as_int64, another_answer_is_a_bug_that_names_both,
          the_device_is_given_back)

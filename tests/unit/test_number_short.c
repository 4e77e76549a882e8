/* SPDX-License-Identifier: MIT
 *
 * Short decimals, which are read eight characters at a time and divided by multiplying with a
 * reciprocal. Compares them with the same numbers written as quotients, which use long integers.
 * Also compares digits written eight at a time with the C library. All texts end at inaccessible
 * memory. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */

#include "core/number/number.h"
#include "core/number/spell.h"
#include "guarded.h"
#include "unit.h"

enum { DIGITS_MAX = 19, DECIMALS_MAX = 30, ROUNDS = 40, ROOM = 80 };

static uint64_t random_state = 1;

static uint64_t random_word(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return random_state >> 20;
}

/* Random digits; runs of 0 and 9 are frequent. */
static void random_digits(char *text, size_t count)
{
    const uint64_t kind = random_word() % 4;
    for (size_t i = 0; i < count; i++)
        text[i] = kind == 0 ? '9' : kind == 1 && i > 0 ? '0' : (char)('0' + random_word() % 10);
    text[count] = '\0';
}

static bool same_value(const struct dti_value *a, const struct dti_value *b)
{
    return a->kind == b->kind && a->negative == b->negative && a->sticky == b->sticky &&
           a->exponent == b->exponent && a->hi == b->hi && a->lo == b->lo;
}

static bool check_decimal(char *end, const char *digits, size_t decimals, bool negative)
{
    char text[ROOM], quotient[2 * ROOM];
    struct dti_value value, other;
    const size_t count = strlen(digits);
    const size_t whole = count > decimals ? count - decimals : 0;
    const int length = snprintf(text, sizeof text, "%s%.*s.%.*s%s", negative ? "-" : "", (int)whole,
                                digits, (int)(decimals - (count - whole)),
                                "000000000000000000000000000000", digits + whole);
    (void)snprintf(quotient, sizeof quotient, "%s%s/1%.*s", negative ? "-" : "", digits,
                   (int)decimals, "000000000000000000000000000000");
    char *const at = end - length;
    memcpy(at, text, (size_t)length);
    const bool read = dti_value_parse(&value, at, (size_t)length, NULL) == DTI_OK &&
                      dti_value_parse(&other, quotient, strlen(quotient), NULL) == DTI_OK;
    const bool same = read && same_value(&value, &other);
    if (!CHECK(same))
        printf("%s\n", text);
    return same;
}

static void short_decimals_equal_their_quotients(void)
{
    struct guarded memory = guarded_new(ROOM);
    bool fine = CHECK(memory.end != NULL);
    char digits[DIGITS_MAX + 1];
    for (size_t count = 1; count <= DIGITS_MAX && fine; count++) {
        for (size_t decimals = 0; decimals <= DECIMALS_MAX && fine; decimals++) {
            for (int round = 0; round < ROUNDS && fine; round++) {
                random_digits(digits, count);
                fine = check_decimal((char *)memory.end, digits, decimals, round % 2 != 0);
            }
        }
    }
    guarded_free(&memory);
}

static void multiples_of_powers_of_five_are_exact(void)
{
    struct dti_value value;
    uint64_t power = 1;
    char text[ROOM];
    for (unsigned places = 1; places <= 18; places++) {
        power *= 5;
        const int length = snprintf(text, sizeof text, "%" PRIu64 "e-%u", power, places);
        CHECK(dti_value_parse(&value, text, (size_t)length, NULL) == DTI_OK);
        CHECK(value.hi == UINT64_C(1) << 63 && value.lo == 0 && !value.sticky);
        CHECK_I64(value.exponent, -(int64_t)places);
    }
}

/* Characters next to digits in ASCII, or sharing bits with them, at each position within eight
 * bytes. */
static void other_characters_end_a_run_of_digits(void)
{
    static const char others[] = "/:;oO*@pP\x01\x10\x7f\x80\xb0\xb9\xba\xf0\xff";
    struct dti_value value;
    for (size_t length = 1; length <= 20; length++) {
        for (size_t place = 0; place < length; place++) {
            for (size_t i = 0; i < sizeof others; i++) {
                char text[] = "12345678901234567890";
                text[place] = others[i];
                CHECK(dti_value_parse(&value, text, length, NULL) == DTI_BAD_VALUE ||
                      (others[i] == '/' && place > 0 && place + 1 < length));
            }
        }
    }
}

static void check_written(uint64_t number)
{
    char text[DTI_TEXT_SIZE], want[DTI_TEXT_SIZE];
    const int length = snprintf(want, sizeof want, "%" PRIu64, number);
    CHECK_SIZE(dti_spell_u64(text, number), length);
    CHECK_STR(text, want);
}

static void digits_are_written_as_the_library_does(void)
{
    for (uint64_t number = 0; number < 20000; number++)
        check_written(number);
    for (uint64_t power = 10000; power <= UINT64_MAX / 10; power *= 10) {
        check_written(power - 1);
        check_written(power);
        check_written(power + 1);
        check_written(power * 9 + random_word() % power);
    }
    check_written(UINT64_MAX);
    for (int i = 0; i < 20000; i++)
        check_written(random_word() * random_word() >> random_word() % 64);
}

UNIT_MAIN(short_decimals_equal_their_quotients, multiples_of_powers_of_five_are_exact,
          other_characters_end_a_run_of_digits, digits_are_written_as_the_library_does)

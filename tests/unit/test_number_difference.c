/* SPDX-License-Identifier: MIT
 *
 * stored - number. CPython 3.11 printed the vectors from fractions.Fraction: the difference and its
 * ratio to the number as 128 bits by floor division, the text by int division by a power of ten. */
#include <stdlib.h>

#include "core/number/number.h"
#include "unit.h"

static const char digits[] = "0123456789abcdef";

static bool check_value(const char *what, const char *text, const struct dti_value *got,
                        const struct dti_value *want)
{
    const bool same = got->kind == want->kind && got->negative == want->negative &&
                      got->sticky == want->sticky && got->exponent == want->exponent &&
                      got->hi == want->hi && got->lo == want->lo;
    if (!CHECK(same))
        printf("    %s of %s: exponent %d, %016" PRIx64 "%016" PRIx64 "%s\n", what, text,
               (int)got->exponent, got->hi, got->lo, got->sticky ? "..." : "");
    return same;
}

/* "0", "nan", or a sign, the significand in hexadecimal starting at its first bit, "~" if it
 * continues beyond 128 bits, and the binary exponent: "-a8~@3" is slightly beyond -10.5. */
static struct dti_value value_of(const char *text)
{
    struct dti_value value = {.kind = DTI_CLASS_FINITE, .negative = *text == '-'};
    if (strcmp(text, "0") == 0 || strcmp(text, "nan") == 0) {
        value.kind = *text == '0' ? DTI_CLASS_ZERO : DTI_CLASS_NAN;
        value.hi = *text == '0' ? 0 : UINT64_C(1) << 63;
        return value;
    }
    unsigned shift = 128;
    for (text++; *text != '@'; text++) {
        if (*text == '~') {
            value.sticky = true;
            continue;
        }
        shift -= 4;
        const uint64_t digit = (uint64_t)(strchr(digits, *text) - digits);
        *(shift < 64 ? &value.lo : &value.hi) |= digit << shift % 64;
    }
    value.exponent = (int32_t)strtol(text + 1, NULL, 10);
    return value;
}

static void is_exact_in_value_ratio_and_text(void)
{
    static const struct {
        const char *text;
        const char *stored, *absolute, *relative; /* in the syntax of value_of() */
        const char *exact;                        /* NULL: not a finite decimal */
    } rows[] = {
        {"70000", "+89@16", "+9@7", "+86d1214b6cc72ec0befd99d584c4d791~@-9", "144"},
        {"0.1", "+ccccccccccccd@-4", "+cccccccccccccccccccccccccccccccc~@-58", "+8@-54",
         "0.0000000000000000055511151231257827021181583404541015625"},
        {"0.1", "+cd@-4", "+cccccccccccccccccccccccccccccccc~@-14", "+8@-10", "0.00009765625"},
        {"-0.1", "-cd@-4", "-cccccccccccccccccccccccccccccccc~@-14", "-8@-10", "-0.00009765625"},
        {"1/3", "+aaaaaaaaaaaaa8@-2", "-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa~@-56", "-8@-54", NULL},
        {"1", "+8@0", "0", "0", "0"},
        {"-1e-50", "0", "+ef73d256a5c0f77c963e66858f6d444~@-167", "+8@0",
         "0.00000000000000000000000000000000000000000000000001"},
        {"70000", "0", "-88b8@16", "-8@0", "-70000"},
        {"0x1.8p3", "+8@4", "+8@2", "+aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa~@-2", "4"},
        {"1e-45", "+8@-149", "+929fe52c89546e5d853f08d07405e5bb~@-151",
         "+cd76fe086b93ce2f768a00b22a@-2",
         "0."
         "00000000000000000000000000000000000000000000040129846432481707092372958328991613128026194"
         "187651577175706828388979108268586060148663818836212158203125"},
        {"65520", "-ffe@15", "-ffe8@16", "-fff7ff7ff7ff7ff7ff7ff7ff7ff7ff7f~@0", "-131024"},
        {"1/8", "+8@-2", "+8@-3", "+8@0", "0.125"},
        {"22/7", "+c@1", "-92492492492492492492492492492492~@-3",
         "-ba2e8ba2e8ba2e8ba2e8ba2e8ba2e8ba~@-5", NULL},
        {"1e300", "+8@1023", "+ffffffd03786efff14c8b4c7ee3d6706~@1022",
         "+ab70fdf7c79ac6ca6dbd630a48aaf406~@26",
         "89884655743115795386465259539451236680898848947115328636715040578866337902750481566354238"
         "66120376801056005693993569667882939488440720831124642371531973706218888394671243274263815"
         "11098006230470597265414760425028844190753411712314407369565552704136185816752553422931491"
         "19973622969239858152417678164812112068608"},
        {"3."
         "14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482"
         "534211706798214808651",
         "+c9@1", "-fdaa22168c234c4c6628b80dc1cd129~@-11", "-a17ce648c8b6209051c0c26797de393b~@-12",
         "-0."
         "00096765358979323846264338327950288419716939937510582097494459230781640628620899862803482"
         "534211706798214808651"},
        {"6/3", "+8@1", "0", "0", "0"},
        {"-5", "+c@1", "+8@3", "+cccccccccccccccccccccccccccccccc~@0", "8"},
        {"0x1p-20/3", "+8@-21", "+aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa~@-23", "+8@-1", NULL},
        {"5e-400", "+8@-1074", "+ffffffffffffffffffffffffffffffff~@-1075",
         "+aec4ffd3d61994b7a51fa93180964e38~@252",
         "0."
         "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
         "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
         "00000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
         "00000000000000000000000000000000000000000000000000000000494065645841246544176568792868221"
         "37236505980261432476442558568250067550727015875186529983636163599237979656469544571773092"
         "66567103559397963987747960107818781263007131903114045278458171678489821036887186360569987"
         "30723050006387409153564984387312473397273169615140031715385398074126238565591171026658556"
         "68676818703956031062493194527159149245532930545654440112748012970999954193198940908041656"
         "33245247571478690147267801593552386115501348035264934720193790268107107491703332226844753"
         "33572083243193609238289345836806010601150616980975307834227731832924790498252473077637592"
         "72478746560847782037344696995336470179726777175851256605511991315048911014510378627381672"
         "50955837389733598993664809941164205702637090279242767544565229087538682506419718265533447"
         "265625"},
        {"0", "+c@0", "+c@0", "nan", "1.5"},
        {"-1.5", "-c@0", "0", "0", "0"},
        {"-0", "0", "0", "nan", "0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct dti_number number;
        struct dti_difference got;
        struct dti_buffer buffer;
        bool has_exact;
        const struct dti_value stored = value_of(rows[i].stored);
        const struct dti_value absolute = value_of(rows[i].absolute);
        const struct dti_value relative = value_of(rows[i].relative);
        dti_buffer_init(&buffer);
        CHECK(dti_number_parse(&number, rows[i].text, strlen(rows[i].text), NULL) == DTI_OK);
        CHECK(dti_number_difference(&number, &stored, &got, &buffer, &has_exact));
        check_value("absolute", rows[i].text, &got.absolute, &absolute);
        check_value("relative", rows[i].text, &got.relative, &relative);
        CHECK(has_exact == (rows[i].exact != NULL));
        CHECK_STR(buffer.data, rows[i].exact ? rows[i].exact : "");
        dti_number_free(&number);
        dti_buffer_free(&buffer);
    }
}

static struct dti_difference difference(const char *text, size_t length,
                                        const struct dti_value *stored, struct dti_buffer *buffer,
                                        bool *ret_has_exact)
{
    struct dti_difference result = {.absolute = {.kind = DTI_CLASS_NAN}};
    struct dti_number number;
    *ret_has_exact = false;
    if (CHECK(dti_number_parse(&number, text, length, NULL) == DTI_OK)) {
        CHECK(dti_number_difference(&number, stored, &result, buffer, ret_has_exact));
        dti_number_free(&number);
    }
    return result;
}

static void subtracts_a_million_digits(void)
{
    const size_t million = 1000000;
    struct dti_value one;
    struct dti_buffer buffer;
    bool has_exact;
    char *const text = malloc(million);
    if (!CHECK(text != NULL))
        return;
    dti_value_set(&one, false, 1, 0);
    dti_buffer_init(&buffer);

    /* 1 - 0.99...9 = 0.00...01 */
    memset(text, '9', million);
    memcpy(text, "0.", 2);
    struct dti_difference got = difference(text, million, &one, &buffer, &has_exact);
    CHECK(has_exact && !got.absolute.negative && got.absolute.exponent == -3321922);
    CHECK_SIZE(buffer.length, million);
    CHECK(strspn(buffer.data, "0.") == million - 1 && buffer.data[million - 1] == '1');

    /* 1 - 1.00...01 = -0.00...01; its ratio to a number slightly above 1 is slightly smaller */
    dti_buffer_clear(&buffer);
    memset(text, '0', million);
    text[0] = '1';
    text[1] = '.';
    text[million - 1] = '1';
    got = difference(text, million, &one, &buffer, &has_exact);
    CHECK(has_exact && got.absolute.negative && got.relative.negative);
    CHECK(strncmp(buffer.data, "-0.0000", 7) == 0);
    CHECK_SIZE(buffer.length, million + 1);
    CHECK(strspn(buffer.data + 1, "0.") == million - 1 && buffer.data[million] == '1');
    CHECK_U64(got.absolute.hi, got.relative.hi);

    /* exactly zero */
    dti_buffer_clear(&buffer);
    text[million - 1] = '0';
    got = difference(text, million, &one, &buffer, &has_exact);
    CHECK(has_exact && got.absolute.kind == DTI_CLASS_ZERO && !got.absolute.negative);
    CHECK(got.relative.kind == DTI_CLASS_ZERO);
    CHECK_STR(buffer.data, "0");
    dti_buffer_free(&buffer);
    free(text);
}

/* 1/2 - 0.33...3 = 0.166...67, slightly more than half of 0.33...3. */
static void divides_by_long_decimals(void)
{
    char text[402], want[403];
    struct dti_value half;
    struct dti_buffer buffer;
    bool has_exact;
    memset(text, '3', sizeof text);
    memcpy(text, "0.", 2);
    memset(want, '6', sizeof want);
    memcpy(want, "0.1", 3);
    memcpy(want + 401, "7", 2);
    dti_value_set(&half, false, 1, -1);
    dti_buffer_init(&buffer);
    const struct dti_difference got = difference(text, sizeof text, &half, &buffer, &has_exact);
    CHECK(has_exact && !got.absolute.negative && !got.relative.negative);
    CHECK_STR(buffer.data, want);
    CHECK(got.absolute.sticky && got.absolute.exponent == -3);
    CHECK_U64(got.absolute.hi & got.absolute.lo, UINT64_C(0xaaaaaaaaaaaaaaaa));
    CHECK(got.relative.sticky && got.relative.exponent == -1);
    CHECK_U64(got.relative.hi, UINT64_C(1) << 63);
    CHECK_U64(got.relative.lo, 0);
    dti_buffer_free(&buffer);
}

static uint64_t random_state = 1;

static uint64_t random_word(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return random_state >> 11 ^ random_state << 29;
}

static bool same_value(const struct dti_value *a, const struct dti_value *b)
{
    return a->kind == b->kind && a->negative == b->negative && a->sticky == b->sticky &&
           a->exponent == b->exponent && a->hi == b->hi && a->lo == b->lo;
}

/* Compares a decimal and its quotient form, with a stored number of `bits` bits near it or `away`
 * binades from it. */
static bool check_decimal(uint64_t number, int decimals, unsigned bits, int away)
{
    char text[48], quotient[96];
    struct dti_value stored;
    struct dti_buffer one, other;
    bool has_one, has_other;
    const int count = snprintf(quotient, sizeof quotient, "%" PRIu64 "/1%.*s", number, decimals,
                               "00000000000000000000000000000000000000000");
    const int length = snprintf(text, sizeof text, "%" PRIu64 "e-%d", number, decimals);
    CHECK(dti_value_parse(&stored, text, (size_t)length, NULL) == DTI_OK);
    stored.hi &= bits < 64 ? ~(UINT64_MAX >> bits) : UINT64_MAX;
    stored.lo = 0;
    stored.sticky = false;
    stored.exponent += away;
    stored.negative = random_word() % 8 == 0;
    dti_buffer_init(&one);
    dti_buffer_init(&other);
    const struct dti_difference got = difference(text, (size_t)length, &stored, &one, &has_one);
    const struct dti_difference want =
        difference(quotient, (size_t)count, &stored, &other, &has_other);
    const bool same = same_value(&got.absolute, &want.absolute) &&
                      same_value(&got.relative, &want.relative) && has_one == has_other;
    const bool ok = CHECK(same) && CHECK_STR(one.data, other.data);
    if (!ok)
        printf("%s, %u bits, away %d\n", text, bits, away);
    dti_buffer_free(&one);
    dti_buffer_free(&other);
    return ok;
}

/* Decimals use 128-bit integers, quotients use integers of any length. */
static void short_decimals_agree_with_their_quotients(void)
{
    static const unsigned bits[] = {1, 3, 4, 8, 11, 24, 53, 64};
    bool ok = true;
    for (int i = 0; i < 200000 && ok; i++) {
        const uint64_t number =
            random_word() % UINT64_C(10000000000000000000) >> random_word() % 63;
        const int away = i % 5 ? 0 : (int)(random_word() % 60) - 30;
        ok = check_decimal(number ? number : 1, (int)(random_word() % 41), bits[random_word() % 8],
                           away);
    }
}

static void compares_with_numbers_out_of_reach(void)
{
    struct dti_value stored;
    struct dti_buffer buffer;
    bool has_exact;
    dti_buffer_init(&buffer);

    /* all of a huge number is lost, except for the tiny part that was stored */
    dti_value_set(&stored, false, 65504, 0);
    struct dti_difference got = difference("1e99999999999", 13, &stored, &buffer, &has_exact);
    CHECK(!has_exact && got.absolute.negative && got.absolute.sticky);
    CHECK_I64(got.absolute.exponent, DTI_EXPONENT_LIMIT);
    CHECK(got.relative.negative && got.relative.sticky && got.relative.exponent == -1);
    CHECK_U64(got.relative.hi & got.relative.lo, UINT64_MAX);

    /* the opposite sign: slightly more than all of it is lost */
    got = difference("-1e99999999999", 14, &stored, &buffer, &has_exact);
    CHECK(!has_exact && !got.absolute.negative && !got.relative.negative);
    CHECK(got.relative.sticky && got.relative.exponent == 0);
    CHECK_U64(got.relative.hi, UINT64_C(1) << 63);
    CHECK_U64(got.relative.lo, 0);

    /* a tiny number: the difference is slightly less than the stored value */
    got = difference("1e-99999999999", 14, &stored, &buffer, &has_exact);
    CHECK(!has_exact && !got.absolute.negative && got.absolute.sticky);
    CHECK_I64(got.absolute.exponent, 15);
    CHECK_U64(got.absolute.hi, UINT64_C(0xffdfffffffffffff));
    CHECK_U64(got.absolute.lo, UINT64_MAX);
    CHECK_I64(got.relative.exponent, DTI_EXPONENT_LIMIT);

    /* nothing stored: the difference is exactly the negative of the number */
    dti_value_set(&stored, true, 0, 0);
    got = difference("1e-99999999999", 14, &stored, &buffer, &has_exact);
    CHECK(!has_exact && got.absolute.negative);
    CHECK_I64(got.absolute.exponent, -DTI_EXPONENT_LIMIT);
    CHECK(got.relative.negative && !got.relative.sticky && got.relative.exponent == 0);
    CHECK_SIZE(buffer.length, 0);
    dti_buffer_free(&buffer);
}

static void is_unknown_for_what_is_not_finite(void)
{
    struct dti_value stored;
    struct dti_buffer buffer;
    bool has_exact;
    dti_buffer_init(&buffer);
    dti_value_set(&stored, false, 1, 0);
    struct dti_difference got = difference("inf", 3, &stored, &buffer, &has_exact);
    CHECK(!has_exact && got.absolute.kind == DTI_CLASS_NAN);
    stored.kind = DTI_CLASS_INF;
    got = difference("70000", 5, &stored, &buffer, &has_exact);
    CHECK(!has_exact && got.relative.kind == DTI_CLASS_NAN);
    dti_buffer_free(&buffer);
}

UNIT_MAIN(is_exact_in_value_ratio_and_text, subtracts_a_million_digits, divides_by_long_decimals,
          short_decimals_agree_with_their_quotients, compares_with_numbers_out_of_reach,
          is_unknown_for_what_is_not_finite)

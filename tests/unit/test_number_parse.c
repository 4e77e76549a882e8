/* SPDX-License-Identifier: MIT
 *
 * Texts that are not numbers: each is refused as a whole, with a message that gives the reason. */
#include "core/number/number.h"
#include "tally.h"
#include "unit.h"

static void says_what_is_wrong(void)
{
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"7,5", "'7,5' is not a number; the decimal point is '.', as in 7.5"},
        {"1/0", "'1/0' divides by zero"},
        {"0/0.000", "'0/0.000' divides by zero"},
        {"70,000",
         "'70,000' is not a number; write 70000, or 70.000 if the comma is the decimal point"},
        {"70000,", "'70000,' is not a number; leave out the commas, as in 70000"},
        {"70.000,5", "'70.000,5' is not a number; the decimal point is '.', as in 70000.5"},
        {"1,2,3", "'1,2,3' is not a number; separate several numbers with spaces, as in 1 2 3"},
        {"7B", "'7B' is not a number; write 7e9"},
        {"-1.5k", "'-1.5k' is not a number; write -1.5e3"},
        {"50%", "'50%' is not a number; write 50/100"},
        {"1.5f", "'1.5f' is not a number; write 1.5"},
        {"1e5B", "'1e5B' is not a number; unexpected 'B'"},
        {"2^10", "'2^10' is not a number; unexpected '^10'"},
        {"12abc", "'12abc' is not a number; unexpected 'abc'"},
        {"1.2.3", "'1.2.3' is not a number; unexpected '.3'"},
        {"1e5.5", "'1e5.5' is not a number; unexpected '.5'"},
        {"0x", "'0x' is not a number; unexpected 'x'"},
        {"0b102", "'0b102' is not a number; unexpected '2'"},
        {"1,000,000", "'1,000,000' is not a number; leave out the commas, as in 1000000"},
        {"1//2", "'1//2' is not a number; what follows '/' must be a decimal or a hexfloat"},
        {"1/", "'1/' is not a number; what follows '/' must be a decimal or a hexfloat"},
        {"1/inf", "'1/inf' is not a number; what follows '/' must be a decimal or a hexfloat"},
        {"1e", "'1e' is not a number; its exponent has no digits"},
        {"1e+", "'1e+' is not a number; its exponent has no digits"},
        {"0x1p", "'0x1p' is not a number; its exponent has no digits"},
        {"1__0", "'1__0' is not a number; '_' may only stand between two digits"},
        {"_1", "'_1' is not a number; '_' may only stand between two digits"},
        {"1_", "'1_' is not a number; '_' may only stand between two digits"},
        {"1_.5", "'1_.5' is not a number; '_' may only stand between two digits"},
        {"1e_5", "'1e_5' is not a number; '_' may only stand between two digits"},
        {" 1", "' 1' is not a number; remove the white space around it"},
        {"1 ", "'1 ' is not a number; remove the white space around it"},
        {"", "an empty string is not a number"},
        {"+", "'+' is not a number; numbers are written as 70000, 1e-3 or 1/3"},
        {".", "'.' is not a number; numbers are written as 70000, 1e-3 or 1/3"},
        {"0x.p1", "'0x.p1' is not a number; numbers are written as 70000, 1e-3 or 1/3"},
        {"--1", "'--1' is not a number; numbers are written as 70000, 1e-3 or 1/3"},
        {"nan1", "'nan1' is not a number; numbers are written as 70000, 1e-3 or 1/3"},
        {"inf/2", "'inf/2' is not a number; numbers are written as 70000, 1e-3 or 1/3"},
        {"infinit", "'infinit' is not a number; numbers are written as 70000, 1e-3 or 1/3"},
        {"bf16", "'bf16' is not a number; numbers are written as 70000, 1e-3 or 1/3"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct dti_error error;
        struct dti_value value;
        struct dti_number number;
        const size_t length = strlen(rows[i].text);
        CHECK(dti_value_parse(&value, rows[i].text, length, &error) == DTI_BAD_VALUE);
        CHECK_STR(error.text, rows[i].message);
        CHECK_STR(error.argument, rows[i].text);
        CHECK(dti_number_parse(&number, rows[i].text, length, NULL) == DTI_BAD_VALUE);
    }
}

static void does_not_stop_at_a_nul(void)
{
    struct dti_error error;
    struct dti_value value;
    CHECK(dti_value_parse(&value, "1\0", 2, &error) == DTI_BAD_VALUE);
    CHECK_STR(error.text, "'1\\x00' is not a number; unexpected '\\x00'");
    CHECK(dti_value_parse(&value, "15", 1, &error) == DTI_OK);
    CHECK_U64(value.hi, UINT64_C(1) << 63);
}

/* Parses and frees in one of the three ways. */
static enum dti_status parse(int way, const char *text, struct dti_error *reterr)
{
    struct dti_number number;
    struct dti_value value;
    const size_t length = strlen(text);
    if (way == 0)
        return dti_value_parse(&value, text, length, reterr);
    const enum dti_status status =
        way == 1 ? dti_number_parse(&number, text, length, reterr)
                 : dti_number_parse_value(&number, &value, text, length, reterr);
    if (status == DTI_OK)
        dti_number_free(&number);
    return status;
}

/* Digits beyond those kept inside a number, and beyond a small big integer. */
static void memory_that_runs_out_is_no_number(void)
{
    enum { DIGITS = 700 };
    char text[2 * DIGITS + 2];
    memset(text, '7', sizeof text - 1);
    text[DIGITS] = '/';
    text[sizeof text - 1] = '\0';
    for (int way = 0; way < 3; way++) {
        struct tally tally = {0};
        struct dti_caller caller = tally_caller(&tally);
        struct dti_error error = {0};
        struct dti_call call;
        dti_call_begin(&call, &caller);
        CHECK(parse(way, text, &error) == DTI_OK);
        const size_t calls = tally.calls;
        CHECK(way == 1 ? calls == 2 : calls > 2);
        for (size_t at = 1; at <= calls; at++) {
            tally.calls = 0;
            tally.fails_at = at;
            if (!CHECK(parse(way, text, &error) == DTI_NO_MEMORY))
                printf("  way %d, allocation %zu\n", way, at);
        }
        dti_call_end(&call);
        CHECK(tally_is_even(&caller, &tally));
    }
}

UNIT_MAIN(says_what_is_wrong, does_not_stop_at_a_nul, memory_that_runs_out_is_no_number)

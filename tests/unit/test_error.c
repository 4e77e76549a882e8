/* SPDX-License-Identifier: MIT
 *
 * Filling in errors, and the exit codes of statuses. */
#include "unit.h"
#include "util/error.h"

static void fills_text_and_status_and_forgets_the_last_error(void)
{
    struct dti_error error;
    memset(&error, 'x', sizeof error);
    CHECK(dti_fail(&error, DTI_UNKNOWN_DTYPE, "unknown %s %d", "dtype", 7) == DTI_UNKNOWN_DTYPE);
    CHECK(error.status == DTI_UNKNOWN_DTYPE);
    CHECK_STR(error.text, "unknown dtype 7");
    CHECK_STR(error.argument, "");
    for (size_t i = 0; i < DTI_ERROR_SUGGESTIONS; i++)
        CHECK_STR(error.suggestions[i], "");
}

static void a_remedy_stands_beside_the_text_until_the_next_error(void)
{
    struct dti_error error;
    CHECK(dti_fail_remedy(&error, DTI_USAGE, DTI_REMEDY_KEEP, "tensor %s", "'w'") == DTI_USAGE);
    CHECK_STR(error.text, "tensor 'w'");
    CHECK(error.status == DTI_USAGE && error.remedy == DTI_REMEDY_KEEP);
    CHECK_STR(dti_remedy_advice(error.remedy), "keep the tensor as it is");
    CHECK(dti_fail(&error, DTI_USAGE, "x") == DTI_USAGE && error.remedy == DTI_REMEDY_NONE);
}

static void accepts_that_nobody_wants_the_error(void)
{
    CHECK(dti_fail(NULL, DTI_BUG, "%d", 1) == DTI_BUG);
    CHECK(dti_fail_remedy(NULL, DTI_BUG, DTI_REMEDY_KEEP, "%d", 1) == DTI_BUG);
    dti_error_argument(NULL, "x", 1);
    dti_error_suggest(NULL, "x");
}

static void cuts_what_is_too_long_and_no_character_in_two(void)
{
    struct dti_error error;
    char text[1000];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    dti_fail(&error, DTI_USAGE, "%s", text);
    CHECK_SIZE(strlen(error.text), sizeof error.text - 1);

    /* bytes 126 and 127 form one character; only its first half would fit */
    text[126] = '\xC3';
    text[127] = '\xA9';
    dti_error_argument(&error, text, sizeof text - 1);
    CHECK_SIZE(strlen(error.argument), 126);
    dti_error_suggest(&error, text);
    CHECK_SIZE(strlen(error.suggestions[0]), 31);
}

static void keeps_four_suggestions_in_order_and_drops_the_fifth(void)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    struct dti_error error;
    dti_fail(&error, DTI_USAGE, "x");
    for (size_t i = 0; i < 5; i++)
        dti_error_suggest(&error, names[i]);
    for (size_t i = 0; i < DTI_ERROR_SUGGESTIONS; i++)
        CHECK_STR(error.suggestions[i], names[i]);
}

/* The exit codes that scripts rely on, deliberately duplicated here. */
static void exit_codes_are_the_promised_ones(void)
{
    static const struct {
        enum dti_status status;
        int exit_code;
        const char *code;
    } promised[] = {
        {DTI_OK, 0, "ok"},
        {DTI_ANSWER_NO, 1, "answer_no"},
        {DTI_USAGE, 2, "usage"},
        {DTI_UNKNOWN_DTYPE, 2, "unknown_dtype"},
        {DTI_BAD_INPUT, 3, "bad_input"},
        {DTI_UNRECOGNIZED, 3, "unrecognized"},
        {DTI_NOT_REPRESENTABLE, 3, "not_representable"},
        {DTI_WRITE_FAILED, 4, "write_failed"},
        {DTI_UNAVAILABLE, 5, "unavailable"},
        {DTI_BUG, 70, "bug"},
    };
    for (size_t i = 0; i < sizeof promised / sizeof promised[0]; i++) {
        CHECK_I64(dti_status_exit(promised[i].status), promised[i].exit_code);
        CHECK_STR(dti_status_code(promised[i].status), promised[i].code);
        CHECK(strlen(dti_status_meaning(promised[i].status)) > 0);
    }
    CHECK_I64(dti_status_exit((enum dti_status)1000), 70);
}

UNIT_MAIN(fills_text_and_status_and_forgets_the_last_error, accepts_that_nobody_wants_the_error,
          a_remedy_stands_beside_the_text_until_the_next_error,
          cuts_what_is_too_long_and_no_character_in_two,
          keeps_four_suggestions_in_order_and_drops_the_fifth, exit_codes_are_the_promised_ones)

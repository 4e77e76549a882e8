/* SPDX-License-Identifier: MIT
 *
 * Numbers from a text, for any separators and wherever a piece of the text ends. */
#include "cli/rewrite/text_numbers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit.h"

static struct dti_input input;
static struct dti_text_numbers numbers;

/* Opens an unlinked temporary file. */
static void open_text(const char *text, size_t length)
{
    static char path[64]; /* the input keeps a pointer to it */
    memcpy(path, "/tmp/dtinfo-text-XXXXXX", sizeof "/tmp/dtinfo-text-XXXXXX");
    const int fd = mkstemp(path);
    if (!CHECK(fd >= 0) || !CHECK(write(fd, text, length) == (ssize_t)length) ||
        !CHECK(dti_input_open(&input, path, NULL) == DTI_OK))
        exit(1);
    close(fd);
    unlink(path);
    dti_text_numbers_init(&numbers, &input);
}

static void shut(void)
{
    dti_text_numbers_free(&numbers);
    dti_input_close(&input);
}

static void expect(const char *want, uint64_t line)
{
    const char *text;
    size_t length;
    char got[64] = "(end)";
    if (!CHECK(dti_text_numbers_next(&numbers, &text, &length, NULL) == DTI_OK))
        return;
    if (text && CHECK(length < sizeof got)) {
        memcpy(got, text, length);
        got[length] = '\0';
    }
    CHECK_STR(got, want);
    CHECK_U64(numbers.line, line);
}

static void white_space_and_commas_separate(void)
{
    static const char text[] = "\n 1,2 ,3\r\n,\t4\v5\f-6e3,\n";
    open_text(text, sizeof text - 1);
    expect("1", 2);
    expect("2", 2);
    expect("3", 2);
    expect("4", 3);
    expect("5", 3);
    expect("-6e3", 3);
    expect("(end)", 4);
    expect("(end)", 4);
    CHECK_U64(numbers.bytes, sizeof text - 1);
    shut();
}

static void nothing_holds_no_number(void)
{
    open_text("", 0);
    expect("(end)", 1);
    shut();
    open_text(" \n\n", 3);
    expect("(end)", 3);
    shut();
}

static void a_comma_needs_a_number_before_it(void)
{
    static const char *const texts[] = {",1", "1,,2", "1, ,2", " , "};
    static const int good[] = {0, 1, 1, 0};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct dti_error error;
        const char *text;
        size_t length;
        open_text(texts[i], strlen(texts[i]));
        for (int j = 0; j < good[i]; j++)
            expect("1", 1);
        CHECK(dti_text_numbers_next(&numbers, &text, &length, &error) == DTI_BAD_INPUT);
        CHECK(strstr(error.text, "line 1: a comma without a number before it") != NULL);
        shut();
    }
}

/* strspn() and strcspn() for blanks and commas; under sanitizers those would scan to the end of the
 * text. */
static size_t span(const char *text, bool separators)
{
    size_t length = 0;
    while (text[length] != '\0' &&
           (text[length] == ',' || text[length] == ' ' || text[length] == '\n') == separators)
        length++;
    return length;
}

/* Numbers of varying length, so that pieces end at every position inside and between numbers. */
static void pieces_end_anywhere(void)
{
    enum { COUNT = 60000 };
    char *text = malloc(COUNT * 16), want[16];
    size_t length = 0;
    if (!CHECK(text != NULL))
        return;
    for (unsigned i = 0; i < COUNT; i++)
        length +=
            (size_t)snprintf(text + length, 16, "%s%u%s", i % 7 == 0 ? " " : "", i * i % 99991,
                             i % 3 == 0   ? ", "
                             : i % 3 == 1 ? "\n"
                                          : ",");
    for (size_t shift = 0; shift < 20; shift++) {
        const char *number;
        size_t size, i = 0, at = shift * 2049;
        at += span(text + at, true);
        open_text(text + at, length - at);
        unsigned wrong = 0;
        while (dti_text_numbers_next(&numbers, &number, &size, NULL) == DTI_OK && number) {
            at += span(text + at, true);
            const size_t whole = span(text + at, false);
            snprintf(want, sizeof want, "%.*s", (int)whole, text + at);
            wrong += size != whole || memcmp(number, want, whole) != 0;
            at += whole;
            i++;
        }
        CHECK_U64(wrong, 0);
        CHECK(i > 30000);
        CHECK_U64(at + span(text + at, true), length);
        shut();
    }
    free(text);
}

static void a_number_may_be_long_but_not_endless(void)
{
    enum { LONG = 5 << 20, ENDLESS = (16 << 20) + (1 << 20) };
    char *text = malloc(ENDLESS);
    const char *number;
    size_t length;
    struct dti_error error;
    if (!CHECK(text != NULL))
        return;
    memset(text, '7', ENDLESS);
    open_text(text, LONG);
    CHECK(dti_text_numbers_next(&numbers, &number, &length, NULL) == DTI_OK);
    CHECK_U64(length, LONG);
    shut();
    open_text(text, ENDLESS);
    CHECK(dti_text_numbers_next(&numbers, &number, &length, &error) == DTI_BAD_INPUT);
    CHECK(strstr(error.text, "line 1: a number of more than 16 MiB") != NULL);
    shut();
    free(text);
}

static void errors_name_the_line(void)
{
    struct dti_error error, told;
    open_text("1\n2", 3);
    expect("1", 1);
    expect("2", 2);
    dti_fail(&error, DTI_BAD_VALUE, "'2' is not my number");
    CHECK(dti_text_numbers_fail(&numbers, &error, &told) == DTI_BAD_INPUT);
    CHECK(strstr(told.text, "', line 2: '2' is not my number") != NULL);
    dti_fail(&error, DTI_NOT_REPRESENTABLE, "no");
    CHECK(dti_text_numbers_fail(&numbers, &error, &told) == DTI_NOT_REPRESENTABLE);
    dti_fail(&error, DTI_NO_MEMORY, "out of memory");
    CHECK(dti_text_numbers_fail(&numbers, &error, &told) == DTI_NO_MEMORY);
    CHECK_STR(told.text, "out of memory");
    shut();
}

/* Texts of numbers and separators with lengths around eight and all byte values of either kind.
 * Reading piece by piece must give the same numbers as reading one by one. */
static size_t put_text(char *text, size_t count, uint32_t *state)
{
    static const char blanks[] = " \t\n\v\f\r",
                      others[] = "0123456789.-+e/*\b\x0e\x1f!_\x89\xff\xac";
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        for (uint32_t n = 1 + (*state >> 20) % 11; n > 0; n--) {
            *state = *state * 1664525 + 1013904223;
            text[length++] = others[(*state >> 16) % (sizeof others - 1)];
        }
        for (uint32_t n = 1 + (*state >> 24) % 10; n > 0; n--) {
            *state = *state * 1664525 + 1013904223;
            text[length++] = blanks[(*state >> 16) % (sizeof blanks - 1)];
        }
        if (*state >> 30 == 0)
            text[length - 1] = ',';
    }
    return length;
}

static void pieces_have_the_same_numbers(void)
{
    enum { NUMBERS = 1000, MOST = 96, STEP = 48 };
    static char text[NUMBERS * 32];
    uint32_t state = 1;
    for (unsigned round = 0; round < 40; round++) {
        const size_t numbers_there = round % 3 == 0 ? round : NUMBERS - round;
        struct dti_text_piece piece;
        struct dti_text_numbers inside;
        size_t seen = 0;
        open_text(text, put_text(text, numbers_there, &state));
        struct dti_text_numbers plain = numbers;
        for (;;) {
            const char *one, *other;
            size_t one_length, other_length;
            if (!CHECK(dti_text_numbers_piece(&numbers, MOST, STEP, &piece, NULL) == DTI_OK))
                break;
            CHECK(piece.count == MOST || numbers.at_end);
            if (piece.length == 0)
                break;
            dti_text_numbers_of_piece(&inside, &input, &piece);
            for (size_t i = 0; i < piece.count; i++, seen++) {
                CHECK(dti_text_numbers_next(&inside, &one, &one_length, NULL) == DTI_OK);
                if (seen == 0) { /* start again at the beginning */
                    CHECK(lseek(input.fd, 0, SEEK_SET) == 0);
                    plain.bytes = 0;
                }
                CHECK(dti_text_numbers_next(&plain, &other, &other_length, NULL) == DTI_OK);
                if (!CHECK(one && other) || !CHECK_SIZE(one_length, other_length))
                    break;
                CHECK(memcmp(one, other, one_length) == 0);
                CHECK_U64(inside.line, plain.line);
            }
            CHECK(dti_text_numbers_next(&inside, &one, &one_length, NULL) == DTI_OK && !one);
        }
        CHECK_SIZE(seen, numbers_there);
        dti_text_numbers_free(&plain);
        shut();
    }
}

static void numbers_too_long_for_a_piece_are_left(void)
{
    enum { LENGTH = 400000 };
    struct dti_text_piece piece;
    char *const text = malloc(5 * LENGTH);
    const char *one;
    size_t length;
    if (!CHECK(text != NULL))
        return;
    memset(text, '7', 5 * LENGTH);
    for (size_t i = 1; i < 5; i++)
        text[i * LENGTH] = ' ';
    open_text(text, 5 * LENGTH);
    CHECK(dti_text_numbers_piece(&numbers, 4, 4, &piece, NULL) == DTI_OK);
    CHECK_SIZE(piece.length, 0);
    CHECK_SIZE(piece.count, 0);
    CHECK(dti_text_numbers_piece(&numbers, 4, 2, &piece, NULL) == DTI_OK);
    CHECK_SIZE(piece.length, 2 * LENGTH + 1);
    CHECK_SIZE(piece.count, 2);
    CHECK(dti_text_numbers_next(&numbers, &one, &length, NULL) == DTI_OK);
    CHECK_SIZE(length, LENGTH - 1);
    free(text);
    shut();
}

UNIT_MAIN(white_space_and_commas_separate, nothing_holds_no_number,
          a_comma_needs_a_number_before_it, pieces_end_anywhere,
          a_number_may_be_long_but_not_endless, errors_name_the_line, pieces_have_the_same_numbers,
          numbers_too_long_for_a_piece_are_left)

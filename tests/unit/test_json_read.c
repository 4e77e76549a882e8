/* SPDX-License-Identifier: MIT
 *
 * Strict JSON: everything in RFC 8259 is accepted, everything else is refused at its position. */
#include <stdlib.h>
#include <string.h>

#include "unit.h"
#include "util/json/json_read.h"

/* Reads to the end. Returns NULL for valid JSON, else the problem. */
static const char *judge_as(bool comments, const char *text, size_t length, size_t *ret_at)
{
    /* exact size: a read past the end is caught */
    char *const exact = malloc(length > 0 ? length : 1);
    if (!CHECK(exact))
        return "no memory";
    memcpy(exact, text, length);
    struct dti_json_reader reader;
    enum dti_json_token token;
    dti_json_reader_init(&reader, exact, length);
    reader.comments = comments;
    bool ok;
    do
        ok = dti_json_next(&reader, &token);
    while (ok && token != DTI_JSON_END);
    if (!ok)
        CHECK(!dti_json_next(&reader, &token)); /* and still fails */
    *ret_at = (size_t)(reader.at - exact);
    const char *const problem = reader.problem;
    dti_json_reader_free(&reader);
    free(exact);
    return problem;
}

static const char *judge(const char *text, size_t length, size_t *ret_at)
{
    return judge_as(false, text, length, ret_at);
}

static void check_good(const char *text, size_t length)
{
    size_t at;
    if (!unit_check_str(judge(text, length, &at), NULL, text, __FILE__, __LINE__))
        return;
    CHECK_SIZE(at, length);
}

static void check_bad(const char *text, size_t length, size_t place, const char *problem)
{
    size_t at;
    unit_check_str(judge(text, length, &at), problem, text, __FILE__, __LINE__);
    unit_check_u64(at, place, text, __FILE__, __LINE__);
}

#define GOOD(text)                check_good(text, sizeof text - 1)
#define BAD(text, place, problem) check_bad(text, sizeof text - 1, place, problem)

static void reads_every_kind_of_value(void)
{
    GOOD("{}");
    GOOD("[]");
    GOOD("\"\"");
    GOOD("0");
    GOOD("true");
    GOOD("false");
    GOOD("null");
    GOOD("[1,2,[],{},\"a\",null]");
    GOOD("{\"a\":{\"b\":[{\"c\":1}]},\"\":0}");
    GOOD("{\"a\":1,\"a\":2}"); /* duplicate names: the caller must handle them */
}

static void blanks_are_four_characters_and_no_more(void)
{
    GOOD(" \t\r\n{ \t\r\n\"a\" \t\r\n: \t\r\n1 \t\r\n, \"b\" : [ 1 , 2 ] } \t\r\n");
    BAD("\v1", 0, "a value is missing");
    BAD("\f1", 0, "a value is missing");
    BAD("1\f", 1, "unexpected text after the value");
    BAD("[1\0]", 2, "a comma is missing");
    BAD("{\0}", 1, "the name of a member is missing");
    BAD("\0{}", 0, "a value is missing");
    BAD("{}\0", 2, "unexpected text after the value");
    BAD("\xC2\xA0{}", 0, "a value is missing");                     /* no-break space */
    BAD("\xEF\xBB\xBF{}", 0, "a value is missing");                 /* byte order mark */
    BAD("{\0\"\0a\0\"\0:\0", 1, "the name of a member is missing"); /* UTF-16 */
}

static void nothing_but_blanks_follows_the_value(void)
{
    BAD("{}{}", 2, "unexpected text after the value");
    BAD("{} x", 3, "unexpected text after the value");
    BAD("1 2", 2, "unexpected text after the value");
    BAD("[],", 2, "unexpected text after the value");
    BAD("{}}", 2, "unexpected text after the value");
    BAD("{}/**/", 2, "unexpected text after the value");
}

static void numbers_are_those_of_the_rfc(void)
{
    GOOD("-0");
    GOOD("0.0");
    GOOD("10");
    GOOD("-1.5e+10");
    GOOD("1E-400");
    GOOD("1e400");
    GOOD("123456789012345678901234567890");
    BAD("01", 0, "a number has a leading zero");
    BAD("[-01]", 2, "a number has a leading zero");
    BAD("1.", 2, "a digit is missing");
    BAD("[1.]", 3, "a digit is missing");
    BAD("1.e5", 2, "a digit is missing");
    BAD(".5", 0, "a value is missing");
    BAD("-", 1, "a digit is missing");
    BAD("+1", 0, "a value is missing");
    BAD("1e", 2, "a digit is missing");
    BAD("1e+", 3, "a digit is missing");
    BAD("1e5.5", 3, "unexpected text after the value");
    BAD("0x10", 1, "unexpected text after the value");
    BAD("1_000", 1, "unexpected text after the value");
    BAD("1a", 1, "unexpected text after the value");
    BAD("--1", 1, "a digit is missing");
    BAD("NaN", 0, "a value is missing");
    BAD("nan", 0, "a value is missing");
    BAD("Infinity", 0, "a value is missing");
    BAD("-Infinity", 1, "a digit is missing");
}

static void words_are_spelled_in_full_and_in_small_letters(void)
{
    BAD("True", 0, "a value is missing");
    BAD("NULL", 0, "a value is missing");
    BAD("tru", 0, "a value is missing");
    BAD("nul", 0, "a value is missing");
    BAD("truex", 4, "unexpected text after the value");
    BAD("[nulll]", 5, "a comma is missing");
    BAD("undefined", 0, "a value is missing");
    BAD("'a'", 0, "a value is missing");
    BAD("{a:1}", 1, "the name of a member is missing");
    BAD("{'a':1}", 1, "the name of a member is missing");
    BAD("{1:1}", 1, "the name of a member is missing");
}

static void commas_stand_between_and_nowhere_else(void)
{
    BAD("[1,]", 3, "a value is missing");
    BAD("[,1]", 1, "a value is missing");
    BAD("[1,,2]", 3, "a value is missing");
    BAD("[1 2]", 3, "a comma is missing");
    BAD("[1;2]", 2, "a comma is missing");
    BAD("{\"a\":1,}", 7, "the name of a member is missing");
    BAD("{,\"a\":1}", 1, "the name of a member is missing");
    BAD("{\"a\":1 \"b\":2}", 7, "a comma is missing");
    BAD("{\"a\" 1}", 5, "a colon is missing");
    BAD("{\"a\"}", 4, "a colon is missing");
    BAD("{\"a\":}", 5, "a value is missing");
    BAD("{\"a\"::1}", 5, "a value is missing");
    BAD("{\"a\",\"b\"}", 4, "a colon is missing");
    BAD("[1}", 2, "a comma is missing");
    BAD("{\"a\":1]", 6, "a comma is missing");
    BAD("[}", 1, "a value is missing");
    BAD("{]", 1, "the name of a member is missing");
    BAD("]", 0, "a value is missing");
    BAD("[1:2]", 2, "a comma is missing");
}

static void text_that_ends_too_soon_is_told(void)
{
    BAD("", 0, "the text ends where a value is expected");
    BAD("  ", 2, "the text ends where a value is expected");
    BAD("[", 1, "the text ends where a value is expected");
    BAD("[1", 2, "the text ends within an array");
    BAD("[1,", 3, "the text ends where a value is expected");
    BAD("{", 1, "the text ends within an object");
    BAD("{\"a", 3, "the text ends within a string");
    BAD("{\"a\"", 4, "a colon is missing");
    BAD("{\"a\":", 5, "the text ends where a value is expected");
    BAD("{\"a\":1", 6, "the text ends within an object");
    BAD("{\"a\":1,", 7, "the text ends within an object");
    BAD("\"", 1, "the text ends within a string");
}

static void strings_hold_no_raw_control_character(void)
{
    GOOD("\"\x7F\"");
    for (unsigned c = 0; c < 0x20; c++) {
        const char raw[] = {'"', 'a', (char)c, '"'};
        size_t at;
        CHECK_STR(judge(raw, sizeof raw, &at), "a control character in a string is not escaped");
        CHECK_SIZE(at, 2);
    }
}

/* At every position of a string that is longer than the steps in which it is read. */
static void every_byte_of_a_string_is_looked_at(void)
{
    for (size_t length = 1; length <= 40; length++) {
        for (size_t place = 0; place < length; place++) {
            char text[48];
            size_t at;
            memset(text, 'a', sizeof text);
            text[0] = text[length + 1] = '"';
            CHECK_STR(judge(text, length + 2, &at), NULL);
            text[1 + place] = '\x1f';
            CHECK_STR(judge(text, length + 2, &at),
                      "a control character in a string is not escaped");
            CHECK_SIZE(at, 1 + place);
            text[1 + place] = '\x80';
            CHECK_STR(judge(text, length + 2, &at), "not UTF-8");
            CHECK_SIZE(at, 1 + place);
            text[1 + place] = '"';
            CHECK_STR(judge(text, length + 2, &at), "unexpected text after the value");
            CHECK_SIZE(at, 2 + place);
        }
    }
}

static void escapes_are_those_of_the_rfc(void)
{
    GOOD("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\"");
    BAD("\"\\x41\"", 1, "an invalid escape");
    BAD("\"\\a\"", 1, "an invalid escape");
    BAD("\"\\'\"", 1, "an invalid escape");
    BAD("\"\\0\"", 1, "an invalid escape");
    BAD("\"\\U0041\"", 1, "an invalid escape");
    BAD("\"\\u004\"", 1, "an invalid escape");
    BAD("\"\\u00G1\"", 1, "an invalid escape");
    BAD("\"\\u+041\"", 1, "an invalid escape");
    BAD("\"\\", 1, "an invalid escape");
    BAD("\"\\\"", 3, "the text ends within a string");
    BAD("\"\\\n\"", 1, "an invalid escape");
}

static void surrogates_come_in_pairs(void)
{
    GOOD("\"\\ud83d\\ude00\"");
    GOOD("\"\\uD800\\uDC00\\uDBFF\\uDFFF\"");
    BAD("\"\\ud800\"", 1, "an unpaired surrogate");
    BAD("\"\\udc00\"", 1, "an unpaired surrogate");
    BAD("\"\\ud800\\u0041\"", 1, "an unpaired surrogate");
    BAD("\"\\ud800\\ud800\"", 1, "an unpaired surrogate");
    BAD("\"\\ud800\\n\"", 1, "an unpaired surrogate");
    BAD("\"\\ud800x\"", 1, "an unpaired surrogate");
    BAD("\"\\ude00\\ud83d\"", 1, "an unpaired surrogate");
    BAD("\"\\ud83d\\ude0\"", 1, "an unpaired surrogate");
}

static void strings_are_utf8(void)
{
    GOOD("\"\xC2\x80 \xDF\xBF \xE0\xA0\x80 \xEF\xBF\xBF \xF0\x90\x80\x80 \xF4\x8F\xBF\xBF\"");
    BAD("\"\x80\"", 1, "not UTF-8");
    BAD("\"\xC0\xAF\"", 1, "not UTF-8");         /* overlong */
    BAD("\"\xE0\x9F\xBF\"", 1, "not UTF-8");     /* overlong */
    BAD("\"\xED\xA0\x80\"", 1, "not UTF-8");     /* a surrogate, as in CESU-8 */
    BAD("\"\xF4\x90\x80\x80\"", 1, "not UTF-8"); /* above U+10FFFF */
    BAD("\"\xC2\"", 1, "not UTF-8");
    BAD("\"\xC2", 1, "not UTF-8");
    BAD("\"\xE2\x82", 1, "not UTF-8");
    BAD("\"\xFF\"", 1, "not UTF-8");
}

static void nesting_ends_at_127_levels(void)
{
    enum { DEEP = 100000 };
    static char text[2 * DEEP];
    size_t at;
    for (unsigned depth = DTI_JSON_DEPTH; depth <= DTI_JSON_DEPTH + 1; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        CHECK_STR(judge(text, (size_t)2 * depth, &at),
                  depth == DTI_JSON_DEPTH ? NULL : "nested deeper than 127 levels");
    }
    CHECK_SIZE(at, DTI_JSON_DEPTH);
    memset(text, '[', DEEP);
    CHECK_STR(judge(text, DEEP, &at), "nested deeper than 127 levels");
    for (size_t i = 0; i + 5 <= sizeof text; i += 5)
        memcpy(text + i, "{\"\":[", 5);
    CHECK_STR(judge(text, sizeof text, &at), "nested deeper than 127 levels");
    CHECK_SIZE(at, (size_t)5 * (DTI_JSON_DEPTH / 2) + 4);
}

static void tells_the_tokens_one_after_another(void)
{
    static const char text[] = " {\"a\" : [1, true,false , null], \"b\":{ }, \"c\":\"x\" } ";
    static const enum dti_json_token want[] = {
        DTI_JSON_OBJECT, DTI_JSON_KEY,        DTI_JSON_ARRAY,      DTI_JSON_NUMBER,
        DTI_JSON_TRUE,   DTI_JSON_FALSE,      DTI_JSON_NULL,       DTI_JSON_ARRAY_END,
        DTI_JSON_KEY,    DTI_JSON_OBJECT,     DTI_JSON_OBJECT_END, DTI_JSON_KEY,
        DTI_JSON_STRING, DTI_JSON_OBJECT_END, DTI_JSON_END,        DTI_JSON_END,
    };
    struct dti_json_reader reader;
    dti_json_reader_init(&reader, text, sizeof text - 1);
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        enum dti_json_token token;
        if (!CHECK(dti_json_next(&reader, &token)) || !CHECK_I64(token, want[i]))
            break;
    }
    dti_json_reader_free(&reader);
}

static void comments_are_blanks_for_those_who_want_them(void)
{
    static const char *const good[] = {
        "// a\n[1]",     "[1]// a",
        "[1] // a\n",    "/**/[/***/1/* , */]/* */",
        "[/*\n//\n*/1]", "{\"a\"/**/:/**/1/**/,//\n\"b\":2}",
        "[1,]",          "[1, /* */ ]",
        "{\"a\":[1,],}", "[\"// a\",\"/*\"]",
        "/*/ */1",
    };
    static const struct {
        const char *text, *problem;
    } bad[] = {
        {"[,]", "a value is missing"},
        {"[1,,]", "a value is missing"},
        {"{,}", "the name of a member is missing"},
        {"[/* ]", "a value is missing"},
        {"[1 / 2]", "a comma is missing"},
        {"[1 /", "a comma is missing"},
        {"[1,}", "a value is missing"},
        {"{\"a\":,}", "a value is missing"},
        {"[1,", "the text ends where a value is expected"},
        {"1 /*/", "unexpected text after the value"},
        {",", "a value is missing"},
        {"[1],", "unexpected text after the value"},
    };
    size_t at;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CHECK_STR(judge_as(true, good[i], strlen(good[i]), &at), NULL);
        CHECK(good[i][1] == '"' || judge(good[i], strlen(good[i]), &at));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_STR(judge_as(true, bad[i].text, strlen(bad[i].text), &at), bad[i].problem);
}

static void check_string(const char *text, const char *want, size_t want_length)
{
    struct dti_json_reader reader;
    enum dti_json_token token;
    const char *got = NULL;
    size_t length = 0;
    dti_json_reader_init(&reader, text, strlen(text));
    if (CHECK(dti_json_next(&reader, &token)) && CHECK_I64(token, DTI_JSON_STRING)) {
        dti_json_string_value(&reader, &got, &length);
        CHECK_SIZE(length, want_length);
        CHECK(length == want_length && memcmp(got, want, length) == 0);
    }
    dti_json_reader_free(&reader);
}

static void strings_are_told_without_their_escapes(void)
{
    check_string("\"\"", "", 0);
    check_string("\"plain \xC3\xA9\"", "plain \xC3\xA9", 8);
    check_string("\"a\\u0000b\"", "a\0b", 3);
    check_string("\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\"", "A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80",
                 10);
    check_string("\"\\\"\\\\\\/\\b\\f\\n\\r\\t.\"", "\"\\/\b\f\n\r\t.", 9);
    check_string("\"\\uFFFF\\u07ff\\u0800\"", "\xEF\xBF\xBF\xDF\xBF\xE0\xA0\x80", 8);
    check_string("\"\\udbff\\udfff\"", "\xF4\x8F\xBF\xBF", 4);
}

static bool read_u64(const char *text, uint64_t *ret_value)
{
    struct dti_json_reader reader;
    enum dti_json_token token;
    dti_json_reader_init(&reader, text, strlen(text));
    CHECK(dti_json_next(&reader, &token) && token == DTI_JSON_NUMBER);
    const bool is_integer = dti_json_u64(&reader, ret_value);
    dti_json_reader_free(&reader);
    return is_integer;
}

static void integers_are_exact_and_all_others_refused(void)
{
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"0", 0},
                {"7", 7},
                {"9007199254740993", UINT64_C(9007199254740993)},
                {"18446744073709551615", UINT64_MAX}};
    static const char *const bad[] = {"18446744073709551616",
                                      "18446744073709551620",
                                      "99999999999999999999",
                                      "184467440737095516150",
                                      "-1",
                                      "-0",
                                      "1.0",
                                      "1e2",
                                      "0.0",
                                      "1E0"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint64_t value = 1;
        CHECK(read_u64(good[i].text, &value));
        CHECK_U64(value, good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint64_t value = 42;
        unit_check(!read_u64(bad[i], &value), bad[i], __FILE__, __LINE__);
        CHECK_U64(value, 42);
    }
}

static void a_value_is_skipped_to_its_end(void)
{
    static const char text[] = "{\"a\":[1,{\"b\":[]},[[]]],\"c\":{\"d\":1},\"e\":5}";
    struct dti_json_reader reader;
    enum dti_json_token token;
    dti_json_reader_init(&reader, text, sizeof text - 1);
    CHECK(dti_json_next(&reader, &token));
    for (char name = 'a'; name <= 'e'; name += 2) {
        const char *key;
        size_t length;
        CHECK(dti_json_next(&reader, &token) && token == DTI_JSON_KEY);
        dti_json_string_value(&reader, &key, &length);
        CHECK(length == 1 && key[0] == name);
        CHECK(dti_json_next(&reader, &token) && dti_json_skip(&reader, token));
    }
    CHECK(dti_json_next(&reader, &token) && token == DTI_JSON_OBJECT_END);
    CHECK(dti_json_next(&reader, &token) && token == DTI_JSON_END);
    dti_json_reader_free(&reader);

    dti_json_reader_init(&reader, "[[1,x]]", 7);
    CHECK(dti_json_next(&reader, &token) && !dti_json_skip(&reader, token));
    CHECK_STR(reader.problem, "a value is missing");
    dti_json_reader_free(&reader);
}

UNIT_MAIN(reads_every_kind_of_value, blanks_are_four_characters_and_no_more,
          nothing_but_blanks_follows_the_value, numbers_are_those_of_the_rfc,
          words_are_spelled_in_full_and_in_small_letters, commas_stand_between_and_nowhere_else,
          text_that_ends_too_soon_is_told, strings_hold_no_raw_control_character,
          every_byte_of_a_string_is_looked_at, escapes_are_those_of_the_rfc,
          surrogates_come_in_pairs, strings_are_utf8, nesting_ends_at_127_levels,
          tells_the_tokens_one_after_another, strings_are_told_without_their_escapes,
          integers_are_exact_and_all_others_refused, comments_are_blanks_for_those_who_want_them,
          a_value_is_skipped_to_its_end)

/* SPDX-License-Identifier: MIT
 *
 * Patterns for module names: what they match, what is refused, and that hostile patterns terminate.
 */
#include "util/text/regexes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

/* '1' for a match, '0' for none, '!' if the pattern is refused. */
static char answer(enum dti_regex_kind kind, const char *pattern, const char *name)
{
    struct dti_regexes *const set = dti_regexes_new();
    const size_t *matches;
    size_t count;
    char result = '!';
    if (dti_regexes_add(set, kind, pattern, strlen(pattern), NULL) == DTI_OK &&
        dti_regexes_match(set, name, strlen(name), &matches, &count, NULL) == DTI_OK)
        result = count > 0 ? '1' : '0';
    dti_regexes_free(set);
    return result;
}

static bool starts(const char *pattern, const char *name)
{
    return answer(DTI_REGEX_START, pattern, name) == '1';
}

static bool part(const char *pattern, const char *name)
{
    return answer(DTI_REGEX_PART, pattern, name) == '1';
}

static void patterns_begin_at_the_start_only(void)
{
    CHECK(starts("model", "model.layers.0") && !starts("layers", "model.layers.0"));
    CHECK(starts(".*layers", "model.layers.0") && starts("", "") && starts("", "a"));
    CHECK(starts("lm_head$", "lm_head") && !starts("lm_head$", "lm_head.x") &&
          starts("a$", "a\n") && !starts("a$", "a\n\n"));
    CHECK(starts("a|b", "bc") && !starts("^b", "ab") && starts("(?:^|a)b", "ab"));
}

static void repetitions_and_sets(void)
{
    CHECK(starts("layers\\.\\d+\\.mlp", "layers.17.mlp") &&
          !starts("layers\\.\\d\\.mlp", "layers.17"));
    CHECK(starts("[0-9]{2}$", "17") && !starts("[0-9]{2}$", "7") && starts("a{,2}b", "aab") &&
          !starts("a{,2}b", "aaab") && starts("a{2,}b", "aaab"));
    CHECK(starts("(q|k|v)_proj", "k_proj") && !starts("(q|k|v)_proj", "o_proj"));
    CHECK(starts("[^.]*$", "a b") && !starts("[^.]*$", "a.b") && starts("[]a-]+$", "a]-"));
    CHECK(starts("\\w\\W\\s\\S\\D", "_- .x") && starts("a*?b+?", "b"));
    CHECK(starts("a{", "a{") && starts("{b}", "{b}") && starts("a{,b}", "a{,b}"));
}

static void characters_are_of_utf8(void)
{
    CHECK(starts("^.$", "\xc3\xa9") && !starts("^..$", "\xc3\xa9") &&
          starts("^[^a]{2}$", "\xe2\x82\xac\xc3\xa9"));
    CHECK(starts("\xc3\xa9+$", "\xc3\xa9\xc3\xa9") && !starts("\xc3\xa9+$", "\xc3\xa9\xa9") &&
          !starts(".", "\n"));
}

static void parts_end_at_dots(void)
{
    CHECK(part("layers.1", "layers.1.mlp") && !part("layers.1", "layers.11") && part("a", "a") &&
          part("a.", "a.b") && !part("a|b", "ab") && part("layers.*.attn", "layers.0.x.attn"));
    CHECK(answer(DTI_REGEX_WILDCARD, "a.*", "a.b.c") == '1');
    CHECK(answer(DTI_REGEX_WILDCARD, "a.*", "axb") == '0');
    CHECK(answer(DTI_REGEX_WILDCARD, "?b", "ab") == '1');
    CHECK(answer(DTI_REGEX_WILDCARD, "a", "ab") == '0');
    CHECK(answer(DTI_REGEX_END, "c*", "abc*") == '1' && answer(DTI_REGEX_END, "b", "bc") == '0');
}

static void check_refused(const char *pattern, const char *reason)
{
    struct dti_regexes *const set = dti_regexes_new();
    struct dti_error error = {.status = DTI_OK};
    CHECK(dti_regexes_add(set, DTI_REGEX_START, pattern, strlen(pattern), &error) == DTI_BAD_INPUT);
    CHECK_STR(error.text, reason);
    dti_regexes_free(set);
}

static void others_are_refused_by_name(void)
{
    check_refused("(?!a)", "has a lookahead, which is not supported");
    check_refused("a(?=b)", "has a lookahead, which is not supported");
    check_refused("(?<=a)", "has a lookbehind, which is not supported");
    check_refused("(?i)a", "has flags, which is not supported");
    check_refused("(?P<n>a)", "has a named group, which is not supported");
    check_refused("(a)\\1", "has a reference to a group, which is not supported");
    check_refused("a\\b", "has the escape '\\b', which is not supported");
    check_refused("a*+", "has a possessive repetition, which is not supported");
    check_refused("[\xc3\xa9]", "has a set with characters outside ASCII, which is not supported");
    check_refused("a{1001}", "has a repetition of more than 1000 times, which is not supported");
    check_refused("a**", "is not a regular expression: a repetition is repeated");
    check_refused("*", "is not a regular expression: there is nothing to repeat");
    check_refused("^*", "is not a regular expression: there is nothing to repeat");
    check_refused("(a", "is not a regular expression: a group is not closed");
    check_refused("a)", "is not a regular expression: a parenthesis closes nothing");
    check_refused("[a", "is not a regular expression: a set is not closed");
    check_refused("[b-a]", "is not a regular expression: a range in a set has no order");
    check_refused("a{2,1}", "is not a regular expression: a repetition has its limits reversed");
    check_refused("a\\", "is not a regular expression: it ends with a backslash");
    check_refused(
        "((a{1000}){1000}){1000}",
        "makes the patterns too long: more than 65536 states, and 8 for each byte of them");
}

static void all_that_match_are_found(void)
{
    static const char *const patterns[] = {".*b", "a", "x", "a.*c$", "ab", ""};
    static const size_t wanted[] = {0, 1, 3, 4, 5};
    struct dti_regexes *const set = dti_regexes_new();
    const size_t *matches;
    size_t count;
    CHECK(dti_regexes_match(set, "a", 1, &matches, &count, NULL) == DTI_OK && count == 0);
    for (size_t i = 0; i < 6; i++)
        CHECK(dti_regexes_add(set, DTI_REGEX_START, patterns[i], strlen(patterns[i]), NULL) ==
              DTI_OK);
    for (unsigned again = 0; again < 3; again++) {
        CHECK(dti_regexes_match(set, "abbbc", 5, &matches, &count, NULL) == DTI_OK);
        CHECK(count == 5 && memcmp(matches, wanted, sizeof wanted) == 0);
    }
    dti_regexes_free(set);
}

/* Patterns share nodes: 700 patterns with a common beginning and as many names take few steps. */
static void many_patterns_that_begin_alike(void)
{
    enum { COUNT = 700, ROUNDS = 40 };
    struct dti_regexes *const set = dti_regexes_new();
    const size_t *matches;
    size_t count;
    char text[64];
    for (unsigned i = 0; i < COUNT; i++) {
        const int length = snprintf(text, sizeof text, ".*layers.%u.(q|k)_proj", i);
        CHECK(dti_regexes_add(set, DTI_REGEX_START, text, (size_t)length, NULL) == DTI_OK);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < COUNT; i++) {
            const int length = snprintf(text, sizeof text, "model.layers.%u.k_proj", i);
            if (!CHECK(dti_regexes_match(set, text, (size_t)length, &matches, &count, NULL) ==
                       DTI_OK) ||
                !CHECK(count == 1 && matches[0] == i))
                break;
        }
    }
    dti_regexes_free(set);
}

/* A refused pattern's number is reused for the next one. */
static void refused_patterns_match_nothing(void)
{
    static const char *const bad[] = {"a|b)", "a|b(", "a)", "ab**"};
    const size_t *matches;
    size_t count;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct dti_regexes *const set = dti_regexes_new();
        CHECK(dti_regexes_add(set, DTI_REGEX_START, bad[i], strlen(bad[i]), NULL) != DTI_OK);
        CHECK(dti_regexes_add(set, DTI_REGEX_START, "abc", 3, NULL) == DTI_OK);
        CHECK(dti_regexes_match(set, "ab", 2, &matches, &count, NULL) == DTI_OK && count == 0);
        CHECK(dti_regexes_match(set, "abc", 3, &matches, &count, NULL) == DTI_OK && count == 1);
        dti_regexes_free(set);
    }
}

/* More states than the cache holds, and a name for which all of a pattern stays possible. */
static void hostile_patterns_end(void)
{
    enum { LENGTH = 20000 };
    static const char *const patterns[] = {"(a*)*b", "(a|aa)+$b", "(a?){400}a{400}b",
                                           ".*a.{600}x|.*a.{600}y"};
    char *const name = malloc(LENGTH);
    const size_t *matches;
    size_t count;
    memset(name, 'a', LENGTH);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        struct dti_regexes *const set = dti_regexes_new();
        CHECK(dti_regexes_add(set, DTI_REGEX_START, patterns[i], strlen(patterns[i]), NULL) ==
              DTI_OK);
        CHECK(dti_regexes_match(set, name, LENGTH, &matches, &count, NULL) == DTI_OK && count == 0);
        dti_regexes_free(set);
    }
    uint32_t random = 1;
    for (size_t i = 0; i < LENGTH; i++) {
        random = random * 1664525 + 1013904223;
        name[i] = random >> 31 ? 'a' : 'b';
    }
    struct dti_regexes *const set = dti_regexes_new();
    struct dti_error error = {.status = DTI_OK};
    CHECK(dti_regexes_add(set, DTI_REGEX_START, ".*a.{9}b.{9}c", 13, NULL) == DTI_OK);
    CHECK(dti_regexes_match(set, name, LENGTH, &matches, &count, NULL) == DTI_OK && count == 0);
    name[LENGTH - 1] = 'c';
    name[LENGTH - 11] = 'b';
    name[LENGTH - 21] = 'a';
    CHECK(dti_regexes_match(set, name, LENGTH, &matches, &count, NULL) == DTI_OK && count == 1);
    CHECK(dti_regexes_add(set, DTI_REGEX_START, ".*a.{1000}.{1000}.{1000}.{1000}.{1000}c", 39,
                          NULL) == DTI_OK);
    enum dti_status status = DTI_OK;
    for (unsigned i = 0; i < 100 && status == DTI_OK; i++)
        status = dti_regexes_match(set, name, LENGTH - 100, &matches, &count, &error);
    CHECK(status == DTI_BAD_INPUT);
    CHECK_STR(error.text, "matching names with its patterns takes more than 2^27 steps, and 64 for "
                          "each byte of the names");
    dti_regexes_free(set);
    free(name);
}

UNIT_MAIN(patterns_begin_at_the_start_only, repetitions_and_sets, characters_are_of_utf8,
          parts_end_at_dots, others_are_refused_by_name, all_that_match_are_found,
          many_patterns_that_begin_alike, refused_patterns_match_nothing, hostile_patterns_end)

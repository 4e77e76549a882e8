/* SPDX-License-Identifier: MIT
 *
 * Matches patterns and lists of patterns against names. */
#include "util/text/glob.h"

#include <string.h>

#include "unit.h"

static bool fits(const char *pattern, const char *name)
{
    return dti_glob_match(pattern, strlen(pattern), name, strlen(name));
}

static bool listed(const char *list, const char *name)
{
    return dti_glob_list_match(list, name, strlen(name));
}

static void a_pattern_fits_the_whole_name(void)
{
    CHECK(fits("", "") && fits("*", "") && fits("**", "") && fits("a", "a"));
    CHECK(!fits("", "a") && !fits("a", "") && !fits("a", "ab") && !fits("b", "ab"));
    CHECK(fits("*norm*", "model.layers.0.input_layernorm.weight") &&
          fits("*.weight", "a/b.weight"));
    CHECK(!fits("*norm", "model.norm.weight") && fits("a*b*c", "a.b.b.c") && !fits("a*b", "a.c"));
    CHECK(fits("?", "x") && !fits("?", "") && !fits("?", "xy") && fits("a?c", "a.c"));
}

static void sets_and_escapes(void)
{
    CHECK(fits("[abc]", "b") && !fits("[abc]", "d") && fits("[a-c]x", "bx") &&
          !fits("[!a-c]", "b"));
    CHECK(fits("[!a-c]", "d") && fits("[^a]", "b") && fits("[]]", "]") && fits("[a-]", "-"));
    CHECK(fits("[ab", "[ab") && !fits("[ab", "a") && fits("[\\]]", "]"));
    CHECK(fits("\\*", "*") && !fits("\\*", "a") && fits("\\[a]", "[a]") && fits("a\\", "a\\"));
    CHECK(fits("layers.[0-9].*", "layers.3.w") && !fits("layers.[0-9].*", "layers.13.w"));
}

static void names_are_bytes(void)
{
    CHECK(dti_glob_match("a\0b", 3, "a\0b", 3) && !dti_glob_match("a\0b", 3, "a\0c", 3));
    CHECK(dti_glob_match("*", 1, "\xff\0\n", 3) && dti_glob_match("???", 3, "\xff\0\n", 3));
    CHECK(fits("[\x80-\xff]", "\xc3") && !fits("[\x80-\xff]", "a"));
}

static void a_list_has_patterns_between_commas(void)
{
    CHECK(listed("a,b", "a") && listed("a,b", "b") && !listed("a,b", "a,b") &&
          listed("*x,y", "ax"));
    CHECK(listed("a\\,b", "a,b") && !listed("a\\,b", "a") && !listed("a\\,b", "b"));
    CHECK(listed("", "") && listed("a,", "") && !listed("a", ""));
    CHECK_SIZE(dti_glob_list_item("ab,c"), 2);
    CHECK_SIZE(dti_glob_list_item("a\\,b,c"), 4);
    CHECK_SIZE(dti_glob_list_item("\\\\,c"), 2);
    CHECK_SIZE(dti_glob_list_item(""), 0);
    CHECK_SIZE(dti_glob_list_item(",a"), 0);
    CHECK_SIZE(dti_glob_list_item("a\\"), 2);
}

static void many_stars_take_no_longer_than_the_product_of_lengths(void)
{
    char name[5001], pattern[2001];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (size_t i = 0; i < sizeof pattern - 1; i += 2)
        memcpy(pattern + i, "*a", 2);
    pattern[sizeof pattern - 1] = '\0';
    CHECK(fits(pattern, name));
    pattern[sizeof pattern - 2] = 'b';
    CHECK(!fits(pattern, name));
}

UNIT_MAIN(a_pattern_fits_the_whole_name, sets_and_escapes, names_are_bytes,
          a_list_has_patterns_between_commas, many_stars_take_no_longer_than_the_product_of_lengths)

/* SPDX-License-Identifier: MIT
 *
 * Edit distances and suggestions. */
#include "unit.h"
#include "util/text/nearest.h"

static size_t distance(const char *a, const char *b)
{
    return dti_edit_distance(a, strlen(a), b, strlen(b), 100);
}

static void counts_the_mistakes_of_a_typist(void)
{
    CHECK_SIZE(distance("", ""), 0);
    CHECK_SIZE(distance("bf16", "bf16"), 0);
    CHECK_SIZE(distance("BF16", "bf16"), 0);
    CHECK_SIZE(distance("bf1", "bf16"), 1);
    CHECK_SIZE(distance("bf166", "bf16"), 1);
    CHECK_SIZE(distance("bg16", "bf16"), 1);
    CHECK_SIZE(distance("bf61", "bf16"), 1);
    CHECK_SIZE(distance("", "cast"), 4);
    CHECK_SIZE(distance("kitten", "sitting"), 3);
    CHECK_SIZE(distance("ca", "abc"), 3); /* a swapped pair is not edited again */
}

/* Recursive definition, without the table. */
static size_t slow_distance(const char *a, size_t n, const char *b, size_t m)
{
    if (n == 0 || m == 0)
        return n + m;
    size_t best = slow_distance(a, n - 1, b, m - 1) + (a[n - 1] != b[m - 1]);
    const size_t drop = slow_distance(a, n - 1, b, m) + 1,
                 insert = slow_distance(a, n, b, m - 1) + 1;
    best = drop < best ? drop : best;
    best = insert < best ? insert : best;
    if (n > 1 && m > 1 && a[n - 1] == b[m - 2] && a[n - 2] == b[m - 1]) {
        const size_t swap = slow_distance(a, n - 2, b, m - 2) + 1;
        best = swap < best ? swap : best;
    }
    return best;
}

static void agrees_with_the_definition_on_all_short_words(void)
{
    /* all words of up to four letters from an alphabet of three, counted in base 4 with a digit for
     * "no letter" */
    char words[400][5];
    size_t count = 0;
    for (unsigned code = 0; code < 256; code++) {
        char word[5] = "";
        unsigned rest = code;
        size_t length = 0;
        for (; rest % 4 != 0; rest /= 4)
            word[length++] = (char)('a' + rest % 4 - 1);
        if (rest == 0)
            memcpy(words[count++], word, sizeof word);
    }
    CHECK_SIZE(count, 1 + 3 + 9 + 27 + 81);
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            const char *const a = words[i], *const b = words[j];
            if (!CHECK_SIZE(distance(a, b), slow_distance(a, strlen(a), b, strlen(b)))) {
                printf("  between \"%s\" and \"%s\"\n", a, b);
                return;
            }
        }
    }
}

static void stops_at_the_limit_and_at_long_words(void)
{
    char a[65], b[66];
    memset(a, 'x', sizeof a);
    memset(b, 'x', sizeof b);
    CHECK_SIZE(dti_edit_distance(a, 64, b, 63, 9), 1);
    CHECK_SIZE(dti_edit_distance(a, 65, b, 65, 9), 9);
    CHECK_SIZE(dti_edit_distance("abc", 3, "xyz", 3, 2), 2);
}

static void suggest(struct dti_error *error, const char *word, const char *const *names)
{
    struct dti_nearest nearest;
    dti_nearest_init(&nearest, word, strlen(word));
    for (; *names; names++)
        dti_nearest_offer(&nearest, *names);
    dti_fail(error, DTI_USAGE, "unknown '%s'", word);
    dti_nearest_suggest(&nearest, error);
}

static const char *const commands[] = {"list", "finfo", "iinfo", "cast", "bits", "help", NULL};

static void suggests_the_nearest_and_nothing_far_fetched(void)
{
    struct dti_error error;
    suggest(&error, "csat", commands);
    CHECK_STR(error.text, "unknown 'csat'; did you mean 'cast'?");
    CHECK_STR(error.suggestions[0], "cast");
    CHECK_STR(error.suggestions[1], "");
    suggest(&error, "info", commands);
    CHECK_STR(error.text, "unknown 'info'; did you mean 'finfo' or 'iinfo'?");
    suggest(&error, "quantize", commands);
    CHECK_STR(error.text, "unknown 'quantize'");
    CHECK_STR(error.suggestions[0], "");
    suggest(&error, "", commands);
    CHECK_STR(error.text, "unknown ''");
    suggest(&error, "x", commands);
    CHECK_STR(error.text, "unknown 'x'");
}

static void orders_by_distance_and_keeps_table_order_between_equals(void)
{
    static const char *const names[] = {"abxy", "abcx", "abcy", "abcd1", "zzzz", "abcde", NULL};
    struct dti_error error;
    suggest(&error, "abcd", names);
    CHECK_STR(error.suggestions[0], "abcx");
    CHECK_STR(error.suggestions[1], "abcy");
    CHECK_STR(error.suggestions[2], "abcd1");
    CHECK_STR(error.suggestions[3], "abcde");
}

static void takes_the_beginning_of_a_long_name_for_the_name(void)
{
    static const char *const modes[] = {"nearest-even", "nearest-away", "zero", NULL};
    struct dti_error error;
    suggest(&error, "nearest", modes);
    CHECK_STR(error.suggestions[0], "nearest-even");
    CHECK_STR(error.suggestions[1], "nearest-away");
    CHECK_STR(error.suggestions[2], "");
}

UNIT_MAIN(counts_the_mistakes_of_a_typist, agrees_with_the_definition_on_all_short_words,
          stops_at_the_limit_and_at_long_words, suggests_the_nearest_and_nothing_far_fetched,
          orders_by_distance_and_keeps_table_order_between_equals,
          takes_the_beginning_of_a_long_name_for_the_name)

/* SPDX-License-Identifier: MIT
 *
 * Patterns for names of modules. Input lines: a name, then patterns. Any text is refused with one
 * line, or a pattern gives the same answer alone and in a set. The whole input is read as a table
 * of rules, too, which renames its first line. */
#include <stdbool.h>
#include <string.h>

#include "fuzz.h"
#include "util/text/regexes.h"
#include "util/text/renames.h"

enum { PATTERNS = 8 };

const char *const dti_fuzz_words[] = {
    "a",    "b",    "ab",     ".",   ".*",     "aa.b",  "\n",    "\n",   "\n",    "*",
    "+",    "?",    "{",      "}",   "{2}",    ",",     "{1,3}", "{,2}", "{2,}",  "1",
    "0",    "(",    ")",      "(?:", "|",      "[",     "]",     "[^",   "a-b",   "-",
    " -> ", "\t",   "\\2",    "#",   "->",     "(b*)",  "^",     "$",    "\\",    "\\d",
    "\\w",  "\\.",  "\\D",    "(?=", "(?!",    "(a|b)", "(a*)*", "\\1",  "{999}", "\xc3\xa9",
    "\xc3", "\xa9", "[^\\s]", "\\b", "(?P<n>", NULL,
};

static size_t add(struct dti_regexes *set, const char *pattern, size_t length)
{
    struct dti_error error = {.status = DTI_OK};
    const enum dti_regex_kind kind = (enum dti_regex_kind)(length % 5);
    const enum dti_status status = dti_regexes_add(set, kind, pattern, length, &error);
    if (status == DTI_OK)
        return 1;
    REQUIRE(status == DTI_BAD_INPUT && error.status == status && error.text[0] != '\0');
    for (const char *c = error.text; *c; c++)
        REQUIRE((unsigned char)*c >= ' ' && *c != 0x7f);
    return 0;
}

static bool has(const size_t *matches, size_t count, size_t wanted)
{
    for (size_t i = 0; i < count; i++) {
        REQUIRE(i == 0 || matches[i - 1] < matches[i]);
        if (matches[i] == wanted)
            return true;
    }
    return false;
}

static void rename_by(const char *text, size_t size, const char *name, size_t length)
{
    struct dti_error error = {.status = DTI_OK};
    struct dti_renames *renames;
    struct dti_buffer made;
    size_t line;
    enum dti_status status = dti_renames_read(&renames, text, size, "table", &error);
    REQUIRE(status == DTI_OK || (status == DTI_BAD_INPUT && error.text[0] != '\0'));
    if (status != DTI_OK)
        return;
    dti_buffer_init(&made);
    status = dti_renames_apply(renames, name, length, &made, &line, &error);
    REQUIRE(status == DTI_OK || status == DTI_BAD_INPUT);
    if (status == DTI_OK && line == 0)
        REQUIRE(made.length == length && (length == 0 || memcmp(made.data, name, length) == 0));
    dti_buffer_free(&made);
    dti_renames_free(renames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data;
    const char *const end = at + size;
    const char *name = at;
    size_t name_length = 0, lines = 0, added = 0, count, alone;
    size_t numbers[PATTERNS];
    const char *patterns[PATTERNS];
    size_t lengths[PATTERNS];
    const size_t *matches;
    struct dti_regexes *const all = dti_regexes_new();
    if (!all || size > 4096) {
        dti_regexes_free(all);
        return 0;
    }
    for (; at < end && added < PATTERNS; lines++) {
        const char *const next = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((next ? next : end) - at);
        if (lines == 0) {
            name = at;
            name_length = length;
        } else if (add(all, at, length) == 1) {
            numbers[added] = added;
            patterns[added] = at;
            lengths[added++] = length;
        }
        at += length + 1;
        if (!next)
            break;
    }
    rename_by((const char *)data, size, name, name_length);
    if (dti_regexes_match(all, name, name_length, &matches, &count, NULL) == DTI_OK) {
        REQUIRE(count <= added && (count == 0 || matches[count - 1] < added));
        for (size_t i = 0; i < added; i++) {
            const bool found = has(matches, count, numbers[i]);
            struct dti_regexes *const one = dti_regexes_new();
            const size_t *own;
            REQUIRE(one && add(one, patterns[i], lengths[i]) == 1);
            REQUIRE(dti_regexes_match(one, name, name_length, &own, &alone, NULL) == DTI_OK);
            REQUIRE((alone == 1) == found);
            dti_regexes_free(one);
        }
    }
    dti_regexes_free(all);
    return 0;
}

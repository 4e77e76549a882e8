/* SPDX-License-Identifier: MIT
 *
 * Regex probe for the oracle tests: which patterns match a name. Standard input: requests, each
 * a byte with the number of patterns, then the name and the patterns, each preceded by its
 * length in 2 bytes, little-endian, and a pattern also by a byte with its kind. Answers are
 * lines: for each pattern 1, 0 or, if it is refused, the reason and a semicolon. Kind 5 is a
 * pattern for the whole name whose groups are found: where they match, "at 0-3 -1--1", and a
 * semicolon. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text/regex.h"
#include "util/text/regexes.h"

enum { CAPTURES = DTI_REGEX_WHOLE + 1 };

/* Fills the error's text with the places of the groups, or with "no match". */
static void capture(const char *pattern, size_t length, const char *name, size_t name_length,
                    struct dti_error *error)
{
    struct dti_regex_program program;
    struct dti_regex_groups groups;
    bool found = false;
    dti_regex_program_init(&program);
    program.captures = true;
    if (dti_regex_parse(&program, DTI_REGEX_WHOLE, pattern, length, 0, error) == DTI_OK &&
        dti_regex_capture(&program, name, name_length, &groups, &found, error) == DTI_OK) {
        char *at = error->text;
        (void)snprintf(error->text, sizeof error->text, "no match");
        for (unsigned i = 1; i <= program.groups && found; i++)
            at += snprintf(at, 40, "%s%td-%td", i > 1 ? " " : "at ", (ptrdiff_t)groups.begin[i],
                           (ptrdiff_t)groups.end[i]);
        if (found && program.groups == 0)
            (void)snprintf(error->text, sizeof error->text, "no groups");
    }
    dti_regex_program_free(&program);
}

static char *read_text(size_t *ret_length)
{
    const int low = getchar(), high = getchar();
    const size_t length = (size_t)low + ((size_t)high << 8);
    char *const text = malloc(length + 1);
    if (!text || fread(text, 1, length, stdin) != length)
        exit(1);
    *ret_length = length;
    return text;
}

int main(void)
{
    for (int count; (count = getchar()) != EOF;) {
        struct dti_regexes *const set = dti_regexes_new();
        size_t number[256], added = 0, name_length, found_count;
        struct dti_error errors[256], error;
        const size_t *found;
        char *const name = read_text(&name_length);
        for (int i = 0; i < count; i++) {
            const int kind = getchar();
            size_t length;
            char *const pattern = read_text(&length);
            number[i] = SIZE_MAX;
            if (kind == CAPTURES) {
                capture(pattern, length, name, name_length, &errors[i]);
                free(pattern);
                continue;
            }
            number[i] = dti_regexes_add(set, (enum dti_regex_kind)kind, pattern, length,
                                        &errors[i]) == DTI_OK
                            ? added++
                            : SIZE_MAX;
            free(pattern);
        }
        if (dti_regexes_match(set, name, name_length, &found, &found_count, &error) != DTI_OK) {
            puts(error.text);
            found_count = 0;
        }
        for (int i = 0; i < count; i++) {
            bool matches = false;
            for (size_t k = 0; k < found_count; k++)
                matches = matches || found[k] == number[i];
            if (number[i] == SIZE_MAX)
                printf("%s;", errors[i].text);
            else
                printf("%d", matches);
        }
        putchar('\n');
        free(name);
        dti_regexes_free(set);
    }
    return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * Regex probe for the oracle tests: which patterns match a name. Standard input: requests, each
 * a byte with the number of patterns, then the name and the patterns, each preceded by its
 * length in 2 bytes, little-endian, and a pattern also by a byte with its kind. Answers are
 * lines: for each pattern 1, 0 or, if it is refused, the reason and a semicolon. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text/regexes.h"

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

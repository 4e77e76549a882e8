/* SPDX-License-Identifier: MIT
 *
 * A program that reads questions with their answers, one a line of fields between tabs, from
 * standard input, asks the library through its public functions alone, and prints each answer that
 * differs. */
#ifndef TESTS_LIBRARY_LINE_JUDGE_H
#define TESTS_LIBRARY_LINE_JUDGE_H

#include <dtinfo.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 32, VALUE_TEXT = 64 };

static struct dti_context *context;
static char *field[FIELDS];
static size_t field_count;
static uint64_t line_number, checks, differences;

static inline void check(const char *what, const char *got, const char *want)
{
    checks++;
    if (strcmp(got, want) == 0)
        return;
    if (differences++ < 20)
        printf("line %" PRIu64 ", %s %.60s %s: %s is %s, not %s\n", line_number, field[0],
               field_count > 1 ? field[1] : "", field_count > 2 ? field[2] : "", what, got, want);
}

static inline void check_u64(const char *what, uint64_t got, const char *want)
{
    char text[VALUE_TEXT];
    (void)snprintf(text, sizeof text, "%" PRIx64, got);
    check(what, text, want);
}

static inline void check_int(const char *what, int64_t got, const char *want)
{
    char text[VALUE_TEXT];
    (void)snprintf(text, sizeof text, "%" PRId64, got);
    check(what, text, want);
}

static inline const struct dti_format *format_of(const char *name)
{
    const struct dti_format *format = NULL;
    struct dti_error error;
    if (strcmp(name, "-") != 0 && dti_format_find(context, name, &format, NULL, &error) != DTI_OK) {
        printf("line %" PRIu64 ": %s\n", line_number, error.text);
        exit(1);
    }
    return format;
}

/* A kind of question: its first field, the fields that it has at least, and who judges it. */
struct judge_kind {
    const char *name;
    size_t fields;
    void (*judge)(void);
};

static inline void judge_line(const struct judge_kind *kinds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(field[0], kinds[i].name) == 0 && field_count >= kinds[i].fields) {
            kinds[i].judge();
            return;
        }
    }
    check("the line", field[0], "known");
}

/* The exit code: 1 if an answer differs, or if there was no question. */
static inline int judge_lines(const struct judge_kind *kinds, size_t count)
{
    struct dti_error error;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t length;
    if (dti_context_new(&context, NULL, &error) != DTI_OK) {
        printf("%s\n", error.text);
        return 1;
    }
    while ((length = getline(&line, &capacity, stdin)) > 0) {
        char *at = line;
        line[length - 1] = '\0';
        line_number++;
        field_count = 0;
        do {
            field[field_count++] = at;
            at = strchr(at, '\t');
            if (at)
                *at++ = '\0';
        } while (at && field_count < FIELDS);
        judge_line(kinds, count);
    }
    free(line);
    dti_context_free(context);
    printf("%" PRIu64 " lines, %" PRIu64 " checks, %" PRIu64 " differences\n", line_number, checks,
           differences);
    return line_number == 0 || differences > 0;
}

#endif

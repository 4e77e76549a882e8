/* SPDX-License-Identifier: MIT
 *
 * JUnit XML: a suite for each file, a case for each assertion. */
#include <string.h>

#include "cli/check/check_forms.h"
#include "util/text/escape.h"
#include "util/text/utf8.h"

/* Appends text for an attribute or an element. XML 1.0 has no way to write most control characters,
 * so they, and bytes that are not UTF-8, are escaped as for a terminal. So are U+FFFE and U+FFFF,
 * the only others that it does not have. */
static void put(struct dti_buffer *text, const char *bytes, size_t length)
{
    static const char entities[][8] = {
        ['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;"};
    struct dti_buffer safe;
    dti_buffer_init(&safe);
    dti_escape(&safe, bytes, length);
    text->failed = text->failed || safe.failed;
    for (size_t at = 0, size = 1; at < safe.length; at += size) {
        const unsigned char first = (unsigned char)safe.data[at];
        uint32_t point = 0;
        size = dti_utf8_decode(safe.data + at, safe.length - at, &point);
        size = size > 0 ? size : 1;
        if (first < sizeof entities / sizeof *entities && *entities[first])
            dti_buffer_puts(text, entities[first]);
        else if (point == 0xFFFE || point == 0xFFFF)
            dti_buffer_print(text, "\\u{%x}", (unsigned)point);
        else
            dti_buffer_append(text, safe.data + at, size);
    }
    dti_buffer_free(&safe);
}

static void put_attribute(struct dti_buffer *text, const char *name, const char *bytes,
                          size_t length)
{
    dti_buffer_print(text, " %s=\"", name);
    put(text, bytes, length);
    dti_buffer_fill(text, '"', 1);
}

/* Puts the head before the cases of the file at hand, and ends the suite. */
static void end_suite(struct check_form *form)
{
    struct dti_buffer *const text = &form->text, *const cases = &form->held;
    if (!form->path)
        return;
    dti_buffer_puts(text, "<testsuite");
    put_attribute(text, "name", form->path, strlen(form->path));
    dti_buffer_print(text, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\">\n",
                     form->tests, form->failures, form->errors, form->skipped);
    dti_buffer_append(text, cases->data, cases->length);
    dti_buffer_puts(text, "</testsuite>\n");
    text->failed = text->failed || cases->failed;
    dti_buffer_clear(cases);
    form->path = NULL;
}

static void begin_suite(struct check_form *form, const char *path)
{
    if (form->path == path)
        return;
    end_suite(form);
    form->path = path;
    form->tests = form->failures = form->errors = form->skipped = 0;
}

static void begin_case(struct check_form *form, const char *path, const struct dti_buffer *label)
{
    begin_suite(form, path);
    dti_buffer_puts(&form->held, "<testcase");
    put_attribute(&form->held, "classname", path, strlen(path));
    put_attribute(&form->held, "name", label->data, label->length);
    form->held.failed = form->held.failed || label->failed;
    form->tests++;
}

static void put_assertion(struct check_form *form, const struct check_result *result)
{
    static const char *const elements[] = {[DTI_CHECK_FAILED] = "failure",
                                           [DTI_CHECK_UNDECIDED] = "error",
                                           [DTI_CHECK_KNOWN] = "skipped"};
    const enum dti_check_outcome outcome = dti_check_outcome(result->tally);
    struct dti_buffer *const held = &form->held, words;
    dti_buffer_init(&words);
    dti_check_put_label(&words, result);
    begin_case(form, result->report->path, &words);
    form->failures += outcome == DTI_CHECK_FAILED;
    form->errors += outcome == DTI_CHECK_UNDECIDED;
    form->skipped += outcome == DTI_CHECK_KNOWN;
    dti_buffer_puts(held, outcome == DTI_CHECK_OK ? "/>\n" : ">");
    for (size_t i = 0; i < result->tally->failures; i++) {
        const struct dti_check_failure *const failure = &result->failures[i];
        dti_buffer_clear(&words);
        dti_buffer_puts(&words, failure->known ? "known: " : "");
        dti_check_put_sentence(&words, result->report, failure);
        if (i == 0) {
            dti_buffer_print(held, "<%s", elements[outcome]);
            put_attribute(held, "type", dti_check_name(result->of->kind),
                          strlen(dti_check_name(result->of->kind)));
            put_attribute(held, "message", words.data, words.length);
            dti_buffer_puts(held, ">");
        }
        put(held, words.data, words.length);
        dti_buffer_puts(held, "\n");
        held->failed = held->failed || words.failed;
    }
    if (outcome != DTI_CHECK_OK)
        dti_buffer_print(held, "</%s></testcase>\n", elements[outcome]);
    dti_buffer_free(&words);
}

static void begin(struct check_form *form)
{
    dti_buffer_puts(&form->text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                                 "<testsuites name=\"dtinfo check\">\n");
}

static void end(struct check_form *form, const struct dti_error *error)
{
    char words[DTI_ERROR_TEXT];
    if (error) {
        struct dti_buffer label;
        const char *const text = dti_error_words(words, error);
        dti_buffer_init(&label);
        dti_buffer_puts(&label, "not checked");
        begin_case(form, form->files->paths[form->files->next], &label);
        dti_buffer_puts(&form->held, "><error");
        put_attribute(&form->held, "message", text, strlen(text));
        dti_buffer_puts(&form->held, "/></testcase>\n");
        dti_buffer_free(&label);
        form->errors++;
    }
    end_suite(form);
    dti_buffer_puts(&form->text, "</testsuites>\n");
}

const struct check_form_row dti_check_junit = {.begin = begin, .put = put_assertion, .end = end};

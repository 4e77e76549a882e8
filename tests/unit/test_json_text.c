/* SPDX-License-Identifier: MIT
 *
 * Texts, numbers and keys of JSON documents keep their type, whatever they contain. */
#include <cjson/cJSON.h>

#include "json_document.h"

/* Writes one text and compares the document. */
static void check_text(const char *text, size_t length, const char *want)
{
    struct dti_json *const json = dti_json_new();
    char document[256];
    dti_json_begin(json, "dtinfo.test/1");
    /* false if an invalid byte was replaced by U+FFFD, which the texts here do not contain */
    CHECK(dti_json_text(json, "t", text, length) == !strstr(want, "\xEF\xBF\xBD"));
    snprintf(document, sizeof document, "%s,\"t\":\"%s\"}\n", HEAD, want);
    check_document(json, document);
    dti_json_free(json);
}

static void texts_are_escaped_and_repaired(void)
{
    check_text("a\"b\\c/", 6, "a\\\"b\\\\c/");
    check_text("\b\f\n\r\t\x01\x1f\x7f", 8, "\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f");
    check_text("a\0b", 3, "a\\u0000b");
    check_text("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 9, "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    check_text("\xC2\x80\xC2\x9F\xC2\xA0", 6, "\\u0080\\u009f\xC2\xA0");
    check_text("\xE2\x80\xA8\xE2\x80\xA9", 6, "\\u2028\\u2029");
    check_text("\xE2\x80\xAE\xE2\x81\xA6\xD8\x9C\xE2\x80\x8F", 11, "\\u202e\\u2066\\u061c\\u200f");
    check_text("\xFFx\xC3", 3, "\xEF\xBF\xBDx\xEF\xBF\xBD");
    check_text("\xED\xA0\x80", 3, "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

/* A text always stays one string, with a special byte at any position and offset within eight
 * bytes. */
static void no_text_ends_its_string(void)
{
    static const char *const hostile[][2] = {{"\"", "\\\""},
                                             {"\\", "\\\\"},
                                             {"\x1f", "\\u001f"},
                                             {"\x7f", "\\u007f"},
                                             {"\xFF", "\xEF\xBF\xBD"}};
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        for (int before = 0; before < 20; before++) {
            for (int after = 0; after < 20; after++) {
                char text[64], want[64];
                const int length =
                    snprintf(text, sizeof text, "%.*s%s%.*s", before, "abcdefghijklmnopqrst",
                             hostile[i][0], after, "ABCDEFGHIJKLMNOPQRST");
                snprintf(want, sizeof want, "%.*s%s%.*s", before, "abcdefghijklmnopqrst",
                         hostile[i][1], after, "ABCDEFGHIJKLMNOPQRST");
                check_text(text, (size_t)length, want);
            }
        }
    }
}

static void only_numbers_are_written_as_numbers(void)
{
    static const char *const numbers[] = {
        "0", "-0.0", "1e-45", "17", "2.5E+10", "0e0", "1234567890.12345678e12345678"};
    static const char *const texts[] = {
        "",      "-",      "01",  "1.",       "1e",       ".5",       "+1",        "1,2", "nan",
        "inf",   "1}],[{", "1 ",  "0x1",      "1\"",      "--1",      "1e+",       "1.e", "-inf",
        "1_000", "null",   "1\n", "1234567:", "1234567/", "123456 7", "0.1234567?"};
    struct dti_json *const json = dti_json_new();
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        char want[256];
        dti_json_begin(json, "dtinfo.test/1");
        dti_json_number(json, "n", numbers[i], strlen(numbers[i]));
        snprintf(want, sizeof want, "%s,\"n\":%s}\n", HEAD, numbers[i]);
        check_document(json, want);
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        dti_json_begin(json, "dtinfo.test/1");
        dti_json_number(json, "n", texts[i], strlen(texts[i]));
        char *const document = written(json);
        cJSON *const tree = cJSON_Parse(document);
        CHECK_STR(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(tree, "n")), texts[i]);
        cJSON_Delete(tree);
        free(document);
    }
    dti_json_free(json);
}

static void no_key_ends_its_string(void)
{
    struct dti_json *const json = dti_json_new();
    dti_json_begin(json, "dtinfo.test/1");
    dti_json_null(json, "a\":1,\"long enough for eight\\");
    dti_json_null(json, "\n\x7f\xFF");
    dti_json_null(json, "");
    check_document(json, HEAD ",\"a?:1,?long enough for eight?\":null,\"???\":null,\"\":null}\n");
    dti_json_free(json);
}

static void another_parser_reads_every_byte_back(void)
{
    for (unsigned byte = 1; byte < 0x80; byte++) {
        const char text[] = {'<', (char)byte, '>', '\0'};
        struct dti_json *const json = dti_json_new();
        dti_json_begin(json, "dtinfo.test/1");
        dti_json_string(json, "t", text);
        char *const document = written(json);
        cJSON *const tree = cJSON_Parse(document);
        CHECK_STR(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(tree, "t")), text);
        cJSON_Delete(tree);
        free(document);
        dti_json_free(json);
    }
}

UNIT_MAIN(texts_are_escaped_and_repaired, no_text_ends_its_string,
          only_numbers_are_written_as_numbers, no_key_ends_its_string,
          another_parser_reads_every_byte_back)

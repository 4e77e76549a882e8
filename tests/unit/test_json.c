/* SPDX-License-Identifier: MIT
 *
 * JSON documents: what is written, byte for byte, and what cJSON's own parser reads back. */
#include <cjson/cJSON.h>
#include <stdlib.h>

#include "dtinfo/json.h"
#include "unit.h"

#define HEAD "{\"schema\":\"dtinfo.test/1\",\"dtinfo\":\"" DTI_VERSION "\""

/* What dti_json_write() wrote; to be freed. */
static char *written(struct dti_json *json)
{
    char *text = NULL;
    size_t length;
    FILE *const stream = open_memstream(&text, &length);
    CHECK(dti_json_write(json, stream, NULL) == DTI_OK);
    fclose(stream);
    CHECK_SIZE(strlen(text), length);
    return text;
}

static void check_document(struct dti_json *json, const char *want)
{
    char *const text = written(json);
    CHECK_STR(text, want);
    free(text);
}

static void an_empty_document_has_schema_and_version(void)
{
    struct dti_json *const json = dti_json_new();
    dti_json_begin(json, "dtinfo.test/1");
    check_document(json, HEAD "}\n");
    dti_json_free(json);
}

static void scalars_and_containers_nest(void)
{
    struct dti_json *const json = dti_json_new();
    dti_json_begin(json, "dtinfo.test/1");
    dti_json_null(json, "n");
    dti_json_bool(json, "t", true);
    dti_json_bool(json, "f", false);
    dti_json_array(json, "empty");
    dti_json_end(json);
    dti_json_array(json, "list");
    dti_json_uint(json, NULL, 1);
    dti_json_object(json, NULL);
    dti_json_end(json);
    dti_json_object(json, NULL);
    dti_json_ascii(json, "a", "0x4789", 6);
    dti_json_string(json, "b", NULL);
    dti_json_end(json);
    dti_json_end(json);
    dti_json_token(json, "token", "1e-45", 5);
    dti_json_token(json, "none", NULL, 0);
    dti_json_text(json, "empty_text", "", 0);
    check_document(json, HEAD ",\"n\":null,\"t\":true,\"f\":false,\"empty\":[],"
                              "\"list\":[1,{},{\"a\":\"0x4789\",\"b\":null}],"
                              "\"token\":1e-45,\"none\":null,\"empty_text\":\"\"}\n");
    dti_json_free(json);
}

static void integers_are_exact_to_the_last_digit(void)
{
    struct dti_json *const json = dti_json_new();
    dti_json_begin(json, "dtinfo.test/1");
    dti_json_uint(json, "zero", 0);
    dti_json_uint(json, "u", UINT64_MAX);
    dti_json_int(json, "least", INT64_MIN);
    dti_json_int(json, "most", INT64_MAX);
    dti_json_int(json, "minus_one", -1);
    check_document(json,
                   HEAD ",\"zero\":0,\"u\":18446744073709551615,\"least\":-9223372036854775808,"
                        "\"most\":9223372036854775807,\"minus_one\":-1}\n");
    dti_json_free(json);
}

/* One text, as it stands in the document. */
static void check_text(const char *text, size_t length, const char *want)
{
    struct dti_json *const json = dti_json_new();
    char document[256];
    dti_json_begin(json, "dtinfo.test/1");
    dti_json_text(json, "t", text, length);
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

/* cJSON prints what it parsed from our text; without numbers the two texts must be the same. */
static void another_printer_writes_the_same(void)
{
    struct dti_json *const json = dti_json_new();
    dti_json_begin(json, "dtinfo.test/1");
    for (int depth = 0; depth < 10; depth++) {
        dti_json_array(json, "a");
        for (int i = 0; i < depth; i++) {
            dti_json_bool(json, NULL, i % 2 == 0);
            dti_json_string(json, NULL, "quoted \" and \xC3\xA9");
        }
        dti_json_object(json, NULL);
    }
    for (int depth = 0; depth < 10; depth++) {
        dti_json_null(json, "n");
        dti_json_end(json);
        dti_json_end(json);
    }
    char *const document = written(json);
    cJSON *const tree = cJSON_Parse(document);
    char *const other = cJSON_PrintUnformatted(tree);
    document[strlen(document) - 1] = '\0';
    CHECK_STR(document, other);
    free(other);
    cJSON_Delete(tree);
    free(document);
    dti_json_free(json);
}

/* Larger than any first allocation, then small again in the same memory. */
static void documents_of_all_sizes_share_the_memory(void)
{
    struct dti_json *const json = dti_json_new();
    for (unsigned round = 0; round < 3; round++) {
        dti_json_begin(json, "dtinfo.test/1");
        dti_json_array(json, "list");
        for (unsigned i = 0; i < 20000; i++)
            dti_json_uint(json, NULL, i);
        char *const filler = malloc(100000);
        memset(filler, 'x', 100000);
        dti_json_text(json, NULL, filler, 100000);
        dti_json_end(json);
        char *const document = written(json);
        cJSON *const tree = cJSON_Parse(document);
        const cJSON *const list = cJSON_GetObjectItemCaseSensitive(tree, "list");
        CHECK_I64(cJSON_GetArraySize(list), 20001);
        const cJSON *item = list ? list->child : NULL;
        for (unsigned i = 0; i < 20000 && item; i++, item = item->next) {
            if (!CHECK(item->valuedouble == (double)i))
                break;
        }
        CHECK(item && strlen(item->valuestring) == 100000);
        cJSON_Delete(tree);
        free(document);
        free(filler);

        dti_json_begin(json, "dtinfo.test/1");
        check_document(json, HEAD "}\n");
    }
    dti_json_free(json);
}

static void streamed_elements_make_the_same_document(void)
{
    char *streamed = NULL;
    size_t length;
    struct dti_json *const json = dti_json_new();
    for (int pass = 0; pass < 3; pass++) {
        FILE *const out = open_memstream(&streamed, &length);
        dti_json_begin(json, "dtinfo.test/1");
        dti_json_bool(json, "before", true);
        dti_json_array(json, "results");
        if (pass > 0)
            dti_json_stream(json, out);
        for (unsigned i = 0; i < 3; i++) {
            dti_json_object(json, NULL);
            dti_json_uint(json, "i", i);
            dti_json_array(json, "inner");
            dti_json_null(json, NULL);
            dti_json_end(json);
            dti_json_end(json);
        }
        dti_json_end(json);
        dti_json_array(json, "warnings");
        dti_json_end(json);
        CHECK(dti_json_write(json, out, NULL) == DTI_OK);
        fclose(out);
        CHECK_STR(streamed, HEAD ",\"before\":true,\"results\":[{\"i\":0,\"inner\":[null]},"
                                 "{\"i\":1,\"inner\":[null]},{\"i\":2,\"inner\":[null]}],"
                                 "\"warnings\":[]}\n");
        free(streamed);
    }
    dti_json_free(json);
}

static void a_stream_without_elements_is_an_ordinary_document(void)
{
    char *text = NULL;
    size_t length;
    FILE *const out = open_memstream(&text, &length);
    struct dti_json *const json = dti_json_new();
    dti_json_begin(json, "dtinfo.test/1");
    dti_json_array(json, "results");
    dti_json_stream(json, out);
    fflush(out);
    CHECK_SIZE(length, 0);
    dti_json_end(json);
    dti_json_null(json, "after");
    CHECK(dti_json_write(json, out, NULL) == DTI_OK);
    fclose(out);
    CHECK_STR(text, HEAD ",\"results\":[],\"after\":null}\n");
    free(text);
    dti_json_free(json);
}

/* Three files of `tensors` tensors each, streamed or not. */
static char *nested(struct dti_json *json, bool streamed, unsigned tensors, bool first)
{
    char *text = NULL;
    size_t length;
    FILE *const out = open_memstream(&text, &length);
    dti_json_begin(json, "dtinfo.test/1");
    if (first)
        dti_json_bool(json, "before", true);
    dti_json_array(json, "files");
    for (unsigned i = 0; i < 3; i++) {
        dti_json_object(json, NULL);
        if (first)
            dti_json_uint(json, "file", i);
        dti_json_array(json, "tensors");
        if (streamed && i != 1)
            dti_json_stream(json, out);
        for (unsigned k = 0; k < tensors; k++) {
            dti_json_object(json, NULL);
            dti_json_array(json, "shape");
            dti_json_uint(json, NULL, k);
            dti_json_end(json);
            dti_json_end(json);
        }
        dti_json_end(json);
        if (!first) {
            dti_json_array(json, "notes");
            dti_json_end(json);
        }
        dti_json_end(json);
    }
    dti_json_end(json);
    if (!first)
        dti_json_null(json, "after");
    CHECK(dti_json_write(json, out, NULL) == DTI_OK);
    fclose(out);
    return text;
}

static void arrays_inside_elements_are_streamed_likewise(void)
{
    struct dti_json *const json = dti_json_new();
    for (unsigned tensors = 0; tensors < 4; tensors++) {
        for (int first = 0; first < 2; first++) {
            char *const whole = nested(json, false, tensors, first == 1);
            char *const streamed = nested(json, true, tensors, first == 1);
            CHECK_STR(streamed, whole);
            free(whole);
            free(streamed);
        }
    }
    dti_json_free(json);
}

static void running_out_of_memory_is_told_once_at_the_end(void)
{
    struct dti_json *const json = dti_json_new();
    struct dti_error error;
    char *text = NULL;
    size_t length;
    FILE *const stream = open_memstream(&text, &length);
    dti_json_begin(json, "dtinfo.test/1");
    dti_json_array(json, "list");
    dti_json_ascii(json, NULL, "x", SIZE_MAX / 2);
    dti_json_object(json, NULL);
    dti_json_uint(json, "k", 1);
    dti_json_end(json);
    dti_json_end(json);
    CHECK(dti_json_write(json, stream, &error) == DTI_NO_MEMORY);
    fclose(stream);
    CHECK_STR(text, "");
    free(text);

    dti_json_begin(json, "dtinfo.test/1");
    check_document(json, HEAD "}\n");
    dti_json_free(json);
}

static void a_full_disk_is_an_error(void)
{
    FILE *const full = fopen("/dev/full", "w");
    if (!full)
        return; /* no such device here */
    struct dti_json *const json = dti_json_new();
    struct dti_error error;
    setvbuf(full, NULL, _IONBF, 0);
    dti_json_begin(json, "dtinfo.test/1");
    CHECK(dti_json_write(json, full, &error) == DTI_WRITE_FAILED);
    fclose(full);
    dti_json_free(json);
}

static void freeing_nothing_is_allowed(void)
{
    dti_json_free(NULL);
}

UNIT_MAIN(an_empty_document_has_schema_and_version, scalars_and_containers_nest,
          integers_are_exact_to_the_last_digit, texts_are_escaped_and_repaired,
          another_parser_reads_every_byte_back, another_printer_writes_the_same,
          documents_of_all_sizes_share_the_memory, streamed_elements_make_the_same_document,
          a_stream_without_elements_is_an_ordinary_document,
          arrays_inside_elements_are_streamed_likewise,
          running_out_of_memory_is_told_once_at_the_end, a_full_disk_is_an_error,
          freeing_nothing_is_allowed)

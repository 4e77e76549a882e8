/* SPDX-License-Identifier: MIT
 *
 * JSON documents: the written bytes, and what cJSON's parser reads back. */
#include <cjson/cJSON.h>

#include "json_document.h"

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
    dti_json_array(json, "empty");
    dti_json_end(json);
    dti_json_array(json, "list");
    dti_json_uint(json, NULL, 1);
    dti_json_object(json, NULL);
    dti_json_end(json);
    dti_json_object(json, NULL);
    dti_json_text(json, "a", "0x4789", 6);
    dti_json_string(json, "b", NULL);
    dti_json_end(json);
    dti_json_end(json);
    dti_json_number(json, "token", "1e-45", 5);
    dti_json_number(json, "none", NULL, 0);
    dti_json_text(json, "empty_text", "", 0);
    check_document(json, HEAD ",\"n\":null,\"empty\":[],"
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

/* cJSON prints what it parsed from our text. Without numbers the two texts must be equal. */
static void another_printer_writes_the_same(void)
{
    struct dti_json *const json = dti_json_new();
    dti_json_begin(json, "dtinfo.test/1");
    for (int depth = 0; depth < 10; depth++) {
        dti_json_array(json, "a");
        for (int i = 0; i < depth; i++) {
            dti_json_null(json, NULL);
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

/* Larger than any initial allocation, then small again in the same memory. */
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
        const struct dti_sink sink = sink_to(out);
        dti_json_begin(json, "dtinfo.test/1");
        dti_json_null(json, "before");
        dti_json_array(json, "results");
        if (pass > 0)
            dti_json_stream(json, &sink);
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
        CHECK(dti_json_write(json, &sink, NULL) == DTI_OK);
        fclose(out);
        CHECK_STR(streamed, HEAD ",\"before\":null,\"results\":[{\"i\":0,\"inner\":[null]},"
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
    const struct dti_sink sink = sink_to(out);
    struct dti_json *const json = dti_json_new();
    dti_json_begin(json, "dtinfo.test/1");
    dti_json_array(json, "results");
    dti_json_stream(json, &sink);
    fflush(out);
    CHECK_SIZE(length, 0);
    dti_json_end(json);
    dti_json_null(json, "after");
    CHECK(dti_json_write(json, &sink, NULL) == DTI_OK);
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
    const struct dti_sink sink = sink_to(out);
    dti_json_begin(json, "dtinfo.test/1");
    if (first)
        dti_json_null(json, "before");
    dti_json_array(json, "files");
    for (unsigned i = 0; i < 3; i++) {
        dti_json_object(json, NULL);
        if (first)
            dti_json_uint(json, "file", i);
        dti_json_array(json, "tensors");
        if (streamed && i != 1)
            dti_json_stream(json, &sink);
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
    CHECK(dti_json_write(json, &sink, NULL) == DTI_OK);
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
    const struct dti_sink sink = sink_to(stream);
    dti_json_begin(json, "dtinfo.test/1");
    dti_json_array(json, "list");
    dti_json_text(json, NULL, "x", SIZE_MAX / 2);
    dti_json_object(json, NULL);
    dti_json_uint(json, "k", 1);
    dti_json_end(json);
    dti_json_end(json);
    CHECK(dti_json_write(json, &sink, &error) == DTI_NO_MEMORY);
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
        return; /* this system has no such device */
    struct dti_json *const json = dti_json_new();
    struct dti_error error;
    setvbuf(full, NULL, _IONBF, 0);
    dti_json_begin(json, "dtinfo.test/1");
    const struct dti_sink sink = sink_to(full);
    CHECK(dti_json_write(json, &sink, &error) == DTI_WRITE_FAILED);
    fclose(full);
    dti_json_free(json);
}

static void freeing_nothing_is_allowed(void)
{
    dti_json_free(NULL);
}

UNIT_MAIN(an_empty_document_has_schema_and_version, scalars_and_containers_nest,
          integers_are_exact_to_the_last_digit, another_printer_writes_the_same,
          documents_of_all_sizes_share_the_memory, streamed_elements_make_the_same_document,
          a_stream_without_elements_is_an_ordinary_document,
          arrays_inside_elements_are_streamed_likewise,
          running_out_of_memory_is_told_once_at_the_end, a_full_disk_is_an_error,
          freeing_nothing_is_allowed)

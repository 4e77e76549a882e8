/* SPDX-License-Identifier: MIT
 *
 * Any text as the header of a safetensors file. If a file with trailing bytes is accepted, the
 * tensors fill the data in order without a gap, and the file that ends with them is accepted, while
 * one byte more or less is not. The header written for these tensors reads back as the same tensors
 * and is then written as the same bytes. */
#include <string.h>

#include "containers/safetensors/safetensors.h"
#include "fuzz.h"
#include "util/json/json_read.h"

const char *const dti_fuzz_words[] = {
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    " ",
    "\"",
    "\"a\":",
    "\"b\":",
    "{\"a\":{",
    "\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]",
    "\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[8,9]",
    "\"dtype\":\"F4\",\"shape\":[0,3],\"data_offsets\":[0,0]",
    "\"dtype\":\"C64\",",
    "\"shape\":[4,2,1],",
    "\"data_offsets\":[0,64]",
    "}}",
    "},\"b\":{",
    "{\"__metadata__\":{\"a\":\"b\"},",
    "\"__metadata__\":null",
    "\"\\u0061\"",
    "\"\\ud83d\\ude00\"",
    "\\ud800",
    "\xC3\xA9",
    "\xFF",
    "0",
    "1e400",
    "-0",
    "18446744073709551615",
    "18446744073709551616",
    "4294967296",
    "null",
    "true",
    NULL,
};

enum { TEXT_MAX = 65536, PAIRS_MAX = 64 };
static const uint64_t HUGE_FILE = UINT64_C(1) << 62;

static void walk(const char *text, size_t size)
{
    struct dti_json_reader reader;
    enum dti_json_token token = DTI_JSON_NULL;
    size_t steps = 0;
    dti_json_reader_init(&reader, text, size);
    while (token != DTI_JSON_END && dti_json_next(&reader, &token)) {
        REQUIRE(steps++ <= size);
        REQUIRE(reader.at >= text && reader.at <= text + size);
        REQUIRE(reader.depth <= DTI_JSON_DEPTH);
        if (token != DTI_JSON_END)
            REQUIRE(reader.token >= text && reader.token + reader.token_length <= reader.at);
    }
    REQUIRE(token == DTI_JSON_END || (reader.problem && reader.at <= text + size));
    dti_json_reader_free(&reader);
}

/* Reads the header of a file of `file_size` bytes. False: refused, with one printable line. */
static bool accepts(struct dti_pool *pool, const char *text, size_t size, uint64_t file_size,
                    bool lenient, struct dti_container *found)
{
    struct dti_error error = {.status = DTI_OK};
    struct dti_opening opening = {.container = found,
                                  .pool = pool,
                                  .options = {.lenient = lenient},
                                  .label = "'x'",
                                  .error = &error};
    *found = (struct dti_container){.kind = DTI_CONTAINER_SAFETENSORS};
    if (dti_safetensors_parse(&opening, text, size, file_size, 0))
        return true;
    REQUIRE(opening.status == DTI_BAD_INPUT && error.status == opening.status);
    REQUIRE(error.text[0] != '\0');
    for (const char *c = error.text; *c; c++)
        REQUIRE((unsigned char)*c >= ' ' && *c != 0x7f);
    return false;
}

static bool same_text(const char *a, size_t a_length, const char *b, size_t b_length)
{
    return a_length == b_length && memcmp(a, b, a_length) == 0 && a[a_length] == '\0';
}

static void check_tensor(const struct dti_tensor *tensor, uint64_t offset)
{
    uint64_t elements = 1;
    for (unsigned i = 0; i < tensor->rank; i++)
        elements *= tensor->shape[i];
    REQUIRE(tensor->offset == offset && tensor->elements == elements);
    REQUIRE(tensor->bytes ==
            elements / 8 * tensor->format->width + elements % 8 * tensor->format->width / 8);
    REQUIRE(tensor->name[tensor->name_length] == '\0');
}

static void check_found(const struct dti_container *found, uint64_t start, uint64_t *ret_end)
{
    for (size_t i = 0; i < found->tensor_count; i++) {
        check_tensor(&found->tensors[i], start);
        start += found->tensors[i].bytes;
        for (size_t j = 0; j < i && i < PAIRS_MAX; j++)
            REQUIRE(!same_text(found->tensors[i].name, found->tensors[i].name_length,
                               found->tensors[j].name, found->tensors[j].name_length));
    }
    *ret_end = start;
}

/* Writes the head of a file with these tensors. */
static void lay_out(const struct dti_container *found, struct dti_new_head *head)
{
    struct dti_new_tensor *const tensors = calloc(found->tensor_count + 1, sizeof *tensors);
    uint64_t size;
    REQUIRE(tensors);
    for (size_t i = 0; i < found->tensor_count; i++)
        tensors[i] = (struct dti_new_tensor){
            .name = found->tensors[i].name,
            .name_length = found->tensors[i].name_length,
            .format = found->tensors[i].format,
            .layout = found->tensors[i].layout,
            .rank = found->tensors[i].rank,
            .shape = found->tensors[i].shape,
            .source = (unsigned)i,
        };
    REQUIRE(dti_safetensors_layout(tensors, found->tensor_count, found->metadata,
                                   found->metadata_count, head, &size, NULL) == DTI_OK);
    uint64_t offset = head->text.length;
    for (size_t i = 0; i < found->tensor_count; i++) {
        REQUIRE(tensors[i].offset == offset);
        REQUIRE(tensors[i].bytes == found->tensors[tensors[i].source].bytes);
        offset += tensors[i].bytes;
    }
    REQUIRE(size == offset && head->text.length % 8 == 0);
    free(tensors);
}

static void check_same_metadata(const struct dti_container *a, const struct dti_container *b)
{
    REQUIRE(a->metadata_count == b->metadata_count);
    for (size_t i = 0; i < a->metadata_count; i++) {
        const struct dti_metadata *const one = &a->metadata[i], *const other = &b->metadata[i];
        REQUIRE(same_text(one->key, one->key_length, other->key, other->key_length));
        REQUIRE(same_text(one->value, one->value_length, other->value, other->value_length));
    }
}

static const struct dti_tensor *find(const struct dti_container *found,
                                     const struct dti_tensor *tensor)
{
    for (size_t i = 0; i < found->tensor_count; i++) {
        if (same_text(found->tensors[i].name, found->tensors[i].name_length, tensor->name,
                      tensor->name_length))
            return &found->tensors[i];
    }
    return NULL;
}

static void check_written(struct dti_pool *pool, const struct dti_container *found)
{
    struct dti_new_head head, again;
    struct dti_container reread;
    dti_new_head_init(&head);
    dti_new_head_init(&again);
    lay_out(found, &head);
    const size_t size = head.text.length - DTI_SAFETENSORS_PREFIX;
    REQUIRE(accepts(pool, head.text.data + DTI_SAFETENSORS_PREFIX, size, HUGE_FILE, true, &reread));
    REQUIRE(reread.tensor_count == found->tensor_count);
    for (size_t i = 0; i < found->tensor_count && found->tensor_count <= PAIRS_MAX; i++) {
        const struct dti_tensor *const one = &found->tensors[i], *const other = find(&reread, one);
        REQUIRE(other && other->format == one->format && other->rank == one->rank);
        for (unsigned j = 0; j < one->rank; j++)
            REQUIRE(one->shape[j] == other->shape[j]);
    }
    check_same_metadata(found, &reread);
    lay_out(&reread, &again);
    REQUIRE(same_text(head.text.data, head.text.length, again.text.data, again.text.length));
    dti_new_head_free(&head);
    dti_new_head_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dti_pool pool = {.chunks = NULL};
    struct dti_container found, exact;
    uint64_t length, end;
    if (size > TEXT_MAX)
        return 0;
    struct dti_opening opening = {.label = "'x'"};
    if (dti_safetensors_header_length(&opening, data,
                                      size < DTI_SAFETENSORS_PREFIX ? size : DTI_SAFETENSORS_PREFIX,
                                      size, &length))
        REQUIRE(length + DTI_SAFETENSORS_PREFIX <= size);

    char *const text = malloc(size > 0 ? size : 1); /* exact size: a read past the end is caught */
    REQUIRE(text);
    if (size > 0)
        memcpy(text, data, size);
    walk(text, size);
    if (accepts(&pool, text, size, HUGE_FILE, true, &found)) {
        const uint64_t start = DTI_SAFETENSORS_PREFIX + size;
        check_found(&found, start, &end);
        REQUIRE(end <= HUGE_FILE);
        REQUIRE(accepts(&pool, text, size, end, false, &exact));
        REQUIRE(exact.tensor_count == found.tensor_count);
        REQUIRE(!accepts(&pool, text, size, end + 1, false, &exact));
        REQUIRE(end == start || !accepts(&pool, text, size, end - 1, true, &exact));
        check_written(&pool, &found);
    }
    free(text);
    dti_pool_free(&pool);
    return 0;
}

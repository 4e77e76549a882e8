/* SPDX-License-Identifier: MIT
 *
 * GGUF files, or recipes for them. An input that does not begin like a GGUF file is a recipe with
 * one letter per piece, because dictionary words cannot hold NUL bytes. Any file gives a one-line
 * error, or tensors that follow one another in the file and key-values whose tokens are JSON. A
 * file that was read is written as new files, which must survive a second round trip unchanged. */
#include <string.h>

#include "containers/containers.h"
#include "fuzz_gguf_written.h"
#include "util/json/json_read.h"

const char *const dti_fuzz_words[] = {
    "{AA",   "{BA",   "{AB",    "{BB",     "{CB",   "{AC",      "{BC",   "}BB",   "}AB",   "q40",
    "qx",    "q44",   "qu",     "a0!",     "b1!",   "c2!!",     "d40",   "e5y",   "f6y",   "g7!",
    "h8a",   "i98Ca", "j90B!",  "k99B4A",  "aua",   "bvP",      "cr",    "a1E0A", "b1E0K", "c1K2A",
    "d1L8K", "e0sA",  "f2EE0A", "g1EtA",   "h1E0L", "i4AAAA0A", "j1POA", "k5",    "l1N0A", "m2PP0",
    "n1EwK", "o1LzA", ".",      "_",       "__",    "!",        "0",     "A",     "O",     "P",
    "a",     "q",     "y",      "{EB",     "{DC",   "[47",      "[41",   "]42",   "a1I0A", "b1J1K",
    "c1K8L", "d1NvM", "a1I1A",  "b3AQQ0A", NULL,
};

enum { FILE_MAX = 1 << 16, PIECE_MAX = 64 };

static uint8_t made[FILE_MAX];
static size_t made_size;
static bool made_big_endian;

static void put(uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        made[made_size + (made_big_endian ? size - 1 - i : i)] = (uint8_t)(value >> (8 * i));
    made_size += size;
}

static void put_text(const char *text, size_t length)
{
    put(length, 8);
    memcpy(made + made_size, text, length);
    made_size += length;
}

/* '{' and '}' begin a file, little-endian or big-endian. 'a' to 'p' are one-letter strings. 'q',
 * '[' and ']' are known keys. Digits and 'r' to 'z' are 32-bit numbers, 'A' to 'Q' 64-bit. '!' is
 * one zero byte, '.' pads to a multiple of 32 bytes, '_' is 32 bytes. */
static void put_piece(char c)
{
    static const uint32_t small[] = {13, 39, 148, 10, 12, 30, 32, UINT32_C(1) << 31, 40};
    static const uint64_t large[] = {
        32, 64, 128, 256, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 62};
    if (c == '{' || c == '}') {
        made_big_endian = c == '}';
        made_size = 0;
        for (const char *magic = "GGUF"; *magic; magic++)
            made[made_size++] = (uint8_t)*magic;
        put(3, 4);
    } else if (c >= 'a' && c <= 'p') {
        put_text(&c, 1);
    } else if (c == 'q' || c == '[' || c == ']') {
        const char *const key = c == 'q'   ? "general.alignment"
                                : c == '[' ? "general.file_type"
                                           : "general.quantization_version";
        put_text(key, strlen(key));
    } else if (c >= '0' && c <= '9') {
        put((uint64_t)(c - '0'), 4);
    } else if (c >= 'r' && c <= 'z') {
        put(small[c - 'r'], 4);
    } else if (c >= 'A' && c <= 'J') {
        put((uint64_t)(c - 'A'), 8);
    } else if (c >= 'K' && c <= 'Q') {
        put(large[c - 'K'], 8);
    } else if (c == '!') {
        put(0, 1);
    } else if (c == '_') {
        memset(made + made_size, 1, 32);
        made_size += 32;
    } else if (c == '.') {
        while (made_size % 32 != 0)
            made[made_size++] = 0;
    }
}

static bool is_file(const uint8_t *data, size_t size)
{
    return size >= 4 && memcmp(data, "GGUF", 4) == 0;
}

static void check_json(const struct dti_metadata *metadata)
{
    struct dti_json_reader reader;
    enum dti_json_token token, first = DTI_JSON_END;
    uint64_t elements = 0;
    dti_json_reader_init(&reader, metadata->value, metadata->value_length);
    do {
        REQUIRE(dti_json_next(&reader, &token));
        if (first == DTI_JSON_END)
            first = token;
        else if (reader.depth == 1 && token != DTI_JSON_ARRAY)
            elements++; /* a nested array counts when it ends */
    } while (token != DTI_JSON_END);
    dti_json_reader_free(&reader);
    if (metadata->kind == DTI_METADATA_ARRAY)
        REQUIRE(first == DTI_JSON_ARRAY && elements <= metadata->count && elements <= 8);
    else
        REQUIRE(first >= DTI_JSON_STRING && first <= DTI_JSON_FALSE && metadata->count == 1);
}

static void check_metadata(const struct dti_container *container)
{
    for (size_t i = 0; i < container->metadata_count; i++) {
        const struct dti_metadata *const one = &container->metadata[i];
        REQUIRE(one->key_length > 0 && one->key[one->key_length] == '\0');
        REQUIRE(one->value[one->value_length] == '\0' && one->type);
        if (one->kind != DTI_METADATA_STRING)
            check_json(one);
        for (size_t j = 0; j < i; j++)
            REQUIRE(container->metadata[j].key_length != one->key_length ||
                    memcmp(container->metadata[j].key, one->key, one->key_length) != 0);
    }
}

static void check_tensor(const struct dti_tensor *tensor)
{
    uint64_t elements = 1, bytes;
    bool empty = false;
    REQUIRE(tensor->name[tensor->name_length] == '\0' && tensor->rank <= 4 && tensor->stored_as);
    for (unsigned i = 0; i < tensor->rank; i++)
        empty = empty || tensor->shape[i] == 0;
    for (unsigned i = 0; i < tensor->rank && !empty; i++)
        elements *= tensor->shape[i];
    REQUIRE(tensor->elements == (empty ? 0 : elements) && tensor->elements < INT64_MAX);
    REQUIRE((tensor->format == NULL) == (dti_tensor_refusal(tensor) != NULL));
    if (tensor->format)
        REQUIRE(dti_format_bytes(tensor->format, &tensor->layout, tensor->elements, &bytes) &&
                bytes == tensor->bytes);
}

static void check_tensors(const struct dti_container *container, uint64_t size)
{
    uint64_t end = container->files[0].header_bytes;
    REQUIRE(container->tensor_count == 0 || end <= size);
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        check_tensor(tensor);
        REQUIRE(tensor->offset >= end && tensor->file == 0);
        REQUIRE(tensor->offset <= size && tensor->bytes <= size - tensor->offset);
        end = tensor->offset + tensor->bytes;
        for (size_t j = 0; j < i; j++)
            REQUIRE(container->tensors[j].name_length != tensor->name_length ||
                    memcmp(container->tensors[j].name, tensor->name, tensor->name_length) != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!is_file(data, size)) {
        made_size = 0;
        for (size_t i = 0; i < size && made_size < FILE_MAX - PIECE_MAX; i++)
            put_piece((char)data[i]);
        data = made;
        size = made_size;
    }
    struct dti_buffer text;
    dti_buffer_init(&text);
    dti_buffer_append(&text, (const char *)data, size);
    struct dti_pool pool = {.chunks = NULL};
    struct dti_container_file file = {.path = "x", .input = input_in_memory(&text, size)};
    struct dti_container container = {.kind = DTI_CONTAINER_GGUF, .files = &file, .file_count = 1};
    struct dti_error error = {.status = DTI_OK};
    const enum dti_status status = dti_container_read(&container, &pool, NULL, &error);
    if (status == DTI_OK) {
        check_metadata(&container);
        check_tensors(&container, size);
        check_written(&container);
    } else {
        REQUIRE(status == DTI_BAD_INPUT);
        check_message(&error, status);
    }
    dti_pool_free(&pool);
    dti_buffer_free(&text);
    return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * The head that is written before the data of a safetensors file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/safetensors/safetensors.h"
#include "unit.h"

static struct dti_new_tensor tensor(const char *name, enum dti_dtype dtype, unsigned rank,
                                    const uint64_t *shape)
{
    struct dti_new_tensor made = {.name = name,
                                  .name_length = (uint32_t)strlen(name),
                                  .format = dti_format_get(dtype),
                                  .rank = rank,
                                  .shape = shape};
    (void)dti_safetensors_stores(made.format, &made.layout);
    return made;
}

static struct dti_metadata metadata(const char *key, const char *value)
{
    return (struct dti_metadata){.key = key,
                                 .value = value,
                                 .key_length = strlen(key),
                                 .value_length = strlen(value),
                                 .kind = DTI_METADATA_STRING};
}

static enum dti_status take(void *context, const void *data, size_t size, uint64_t offset,
                            struct dti_error *reterr)
{
    (void)reterr;
    struct dti_buffer *const written = context;
    CHECK_U64(offset, written->length);
    dti_buffer_append(written, data, size);
    return DTI_OK;
}

/* A head whose entries are made when they are written must have the bytes of `head`, whose tensors
 * these are. */
static void check_waiting(const struct dti_new_head *head, struct dti_new_tensor *tensors,
                          size_t count, const struct dti_metadata *entries, size_t entry_count,
                          uint64_t size)
{
    struct dti_new_head waiting;
    struct dti_buffer written;
    uint64_t waiting_size = 0;
    struct dti_output_file *const output = dti_output_to(take, &written);
    dti_new_head_init(&waiting);
    dti_buffer_init(&written);
    waiting.waits = true;
    const uint64_t first = count > 0 ? tensors[count - 1].offset : 0;
    if (CHECK(output && dti_safetensors_layout(tensors, count, entries, entry_count, &waiting,
                                               &waiting_size, NULL) == DTI_OK)) {
        CHECK_U64(waiting_size, size);
        CHECK_U64(count > 0 ? tensors[count - 1].offset : 0, first);
        CHECK(dti_new_head_write(&waiting, output, NULL) == DTI_OK);
        CHECK_SIZE(written.length, head->text.length);
        CHECK(waiting.text.length < head->text.length || count == 0);
        CHECK(written.length == head->text.length &&
              memcmp(written.data, head->text.data, written.length) == 0);
    }
    dti_output_discard(output);
    dti_new_head_free(&waiting);
    dti_buffer_free(&written);
}

/* The head must be the length, then the text padded with blanks. */
static void check_head(struct dti_new_tensor *tensors, size_t count,
                       const struct dti_metadata *entries, size_t entry_count, const char *want,
                       uint64_t data_bytes)
{
    struct dti_new_head head;
    uint64_t size = 0;
    dti_new_head_init(&head);
    if (CHECK(dti_safetensors_layout(tensors, count, entries, entry_count, &head, &size, NULL) ==
              DTI_OK)) {
        const size_t padded = (strlen(want) + 7) / 8 * 8;
        check_waiting(&head, tensors, count, entries, entry_count, size);
        CHECK_SIZE(head.text.length, 8 + padded);
        CHECK_U64(size, 8 + padded + data_bytes);
        uint64_t length = 0;
        for (unsigned i = 0; i < 8; i++)
            length |= (uint64_t)(unsigned char)head.text.data[i] << 8 * i;
        CHECK_U64(length, padded);
        CHECK_SIZE(strspn(head.text.data + 8 + strlen(want), " "), padded - strlen(want));
        head.text.data[8 + strlen(want)] = '\0';
        CHECK_STR(head.text.data + 8, want);
    }
    dti_new_head_free(&head);
}

static void check_refusal(struct dti_new_tensor *tensors, size_t count,
                          const struct dti_metadata *entries, size_t entry_count,
                          enum dti_status status, const char *want)
{
    struct dti_new_head head;
    struct dti_error error = {.status = DTI_OK};
    uint64_t size = 42;
    dti_new_head_init(&head);
    CHECK_I64(dti_safetensors_layout(tensors, count, entries, entry_count, &head, &size, &error),
              status);
    CHECK_STR(error.text, want);
    CHECK_U64(size, 42);
    dti_new_head_free(&head);
}

static void an_empty_file_has_sixteen_bytes(void)
{
    check_head(NULL, 0, NULL, 0, "{}", 0);
}

static void tensors_keep_their_order_while_they_are_aligned(void)
{
    const uint64_t shape[] = {2, 3};
    struct dti_new_tensor tensors[] = {
        tensor("w", DTI_FP32, 2, shape),
        tensor("s", DTI_INT64, 0, NULL),
        tensor("n", DTI_BF16, 1, shape),
        tensor("e", DTI_FP64, 1, (const uint64_t[]){0}),
    };
    check_head(tensors, 4, NULL, 0,
               "{\"w\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
               "\"s\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[24,32]},"
               "\"n\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[32,36]},"
               "\"e\":{\"dtype\":\"F64\",\"shape\":[0],\"data_offsets\":[36,36]}}",
               36);
    CHECK_U64(tensors[0].bytes, 24);
    CHECK_U64(tensors[1].offset - tensors[0].offset, 24);
    CHECK_U64(tensors[0].offset % 8, 0);
    CHECK_U64(tensors[3].bytes, 0);
}

static void tensors_are_sorted_when_one_would_not_be_aligned(void)
{
    const uint64_t shape[] = {3, 4};
    struct dti_new_tensor tensors[] = {
        tensor("b1", DTI_UINT8, 1, shape),         tensor("h", DTI_FP16, 1, shape),
        tensor("b2", DTI_INT8, 1, shape),          tensor("c", DTI_COMPLEX64, 0, NULL),
        tensor("q", DTI_FP4_E2M1, 2, shape),       tensor("d", DTI_FP64, 0, NULL),
        tensor("e", DTI_FP8_E4M3FN, 1, shape + 1),
    };
    tensors[3].source = 7;
    check_head(tensors, 7, NULL, 0,
               "{\"c\":{\"dtype\":\"C64\",\"shape\":[],\"data_offsets\":[0,8]},"
               "\"d\":{\"dtype\":\"F64\",\"shape\":[],\"data_offsets\":[8,16]},"
               "\"h\":{\"dtype\":\"F16\",\"shape\":[3],\"data_offsets\":[16,22]},"
               "\"b1\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[22,25]},"
               "\"b2\":{\"dtype\":\"I8\",\"shape\":[3],\"data_offsets\":[25,28]},"
               "\"e\":{\"dtype\":\"F8_E4M3\",\"shape\":[4],\"data_offsets\":[28,32]},"
               "\"q\":{\"dtype\":\"F4\",\"shape\":[3,4],\"data_offsets\":[32,38]}}",
               38);
    CHECK_STR(tensors[0].name, "c");
    CHECK_SIZE(tensors[0].source, 7);
}

static void metadata_comes_first_and_is_escaped(void)
{
    const struct dti_metadata entries[] = {
        metadata("z", "a\"b\\c\n\r\t\b\f\x01\x1f/\x7f"),
        metadata("\xC3\xA9", ""),
        {.key = "", .value = "\0", .value_length = 1, .kind = DTI_METADATA_STRING},
    };
    struct dti_new_tensor one = tensor("a", DTI_BOOL, 0, NULL);
    check_head(&one, 1, entries, 3,
               "{\"__metadata__\":{\"z\":\"a\\\"b\\\\c\\n\\r\\t\\b\\f\\u0001\\u001f/\x7f\","
               "\"\xC3\xA9\":\"\",\"\":\"\\u0000\"},"
               "\"a\":{\"dtype\":\"BOOL\",\"shape\":[],\"data_offsets\":[0,1]}}",
               1);
    check_head(NULL, 0, entries + 1, 1, "{\"__metadata__\":{\"\xC3\xA9\":\"\"}}", 0);
}

static void refuses_names_that_no_reader_takes(void)
{
    struct dti_new_tensor tensors[] = {
        tensor("a", DTI_FP32, 0, NULL),
        tensor("b", DTI_FP32, 0, NULL),
        tensor("a", DTI_FP16, 0, NULL),
    };
    check_refusal(tensors, 3, NULL, 0, DTI_BAD_INPUT, "tensor 'a' would be written twice");
    struct dti_new_tensor reserved = tensor("__metadata__", DTI_FP32, 0, NULL);
    check_refusal(&reserved, 1, NULL, 0, DTI_BAD_INPUT,
                  "tensor '__metadata__' has a name that safetensors reserves for metadata");
    struct dti_new_tensor invalid = tensor("a\xff", DTI_FP32, 0, NULL);
    check_refusal(&invalid, 1, NULL, 0, DTI_BAD_INPUT,
                  "tensor 'a\\xff' has a name that is not UTF-8, as safetensors requires");
}

static void refuses_metadata_that_is_no_string_of_its_own(void)
{
    struct dti_metadata entries[] = {metadata("k", "1"), metadata("k", "1")};
    check_refusal(NULL, 0, entries, 2, DTI_BAD_INPUT, "metadata 'k' would be written twice");
    entries[1] = metadata("l", "\xed\xa0\x80");
    check_refusal(NULL, 0, entries, 2, DTI_BAD_INPUT,
                  "metadata 'l' is not UTF-8, as safetensors requires");
    entries[1] = metadata("\x80", "");
    check_refusal(NULL, 0, entries, 2, DTI_BAD_INPUT,
                  "metadata '\\x80' is not UTF-8, as safetensors requires");
    entries[1] = metadata("n", "1");
    entries[1].kind = DTI_METADATA_TOKEN;
    check_refusal(NULL, 0, entries, 2, DTI_WRONG_KIND,
                  "metadata 'n' is not a string; safetensors holds only strings");
}

static void refuses_what_it_has_no_dtype_or_no_bytes_for(void)
{
    const uint64_t shape[] = {3, 4294967296, 4294967296};
    struct dti_new_tensor one = tensor("a", DTI_INT4, 1, shape);
    check_refusal(&one, 1, NULL, 0, DTI_WRONG_KIND, "safetensors has no dtype int4 (tensor 'a')");
    one = tensor("a", DTI_FP4_E2M1, 1, shape);
    check_refusal(&one, 1, NULL, 0, DTI_BAD_INPUT,
                  "tensor 'a' does not fill whole bytes, as safetensors requires");
    one = tensor("a", DTI_FP8_E4M3FN, 3, shape);
    check_refusal(&one, 1, NULL, 0, DTI_BAD_INPUT,
                  "tensor 'a' is too large: its size in bits exceeds 64 bits");
}

static void sizes_that_add_up_beyond_64_bits_are_refused(void)
{
    enum { MANY = 10 };
    const uint64_t shape[] = {UINT64_C(2305843009213693951)}; /* 2^61 - 1 */
    struct dti_new_tensor tensors[MANY];
    char names[MANY][2];
    for (size_t i = 0; i < MANY; i++) {
        names[i][0] = (char)('a' + i);
        names[i][1] = '\0';
        tensors[i] = tensor(names[i], DTI_UINT8, 1, shape);
    }
    check_refusal(tensors, MANY, NULL, 0, DTI_BAD_INPUT,
                  "tensor 'i' ends at an offset beyond 64 bits");
}

static void a_header_beyond_the_limit_is_refused(void)
{
    const size_t length = 100 * 1000 * 1000;
    char *const text = malloc(length + 1);
    if (!CHECK(text))
        return;
    memset(text, 'x', length);
    text[length] = '\0';
    const size_t around = strlen("{\"__metadata__\":{\"\":\"\"}}");
    const struct dti_metadata entries[] = {
        {.key = "", .value = text, .value_length = length - around},
        {.key = "", .value = text, .value_length = length - around + 1},
    };
    struct dti_new_head head;
    uint64_t size = 0;
    dti_new_head_init(&head);
    CHECK(dti_safetensors_layout(NULL, 0, entries, 1, &head, &size, NULL) == DTI_OK);
    CHECK_U64(size, 100000008);
    dti_new_head_free(&head);
    check_refusal(NULL, 0, entries + 1, 1, DTI_BAD_INPUT,
                  "the header would have 100000008 bytes; safetensors allows 100000000: write a "
                  "folder with a maximum shard size");
    free(text);
}

static void long_heads_are_written_in_pieces(void)
{
    enum { COUNT = 5000, NAME = 24 };
    static char names[COUNT][NAME];
    static struct dti_new_tensor tensors[COUNT];
    const uint64_t shape[] = {16, 3};
    const struct dti_metadata entries[] = {metadata("format", "pt")};
    for (size_t k = 0; k < 2; k++) {
        struct dti_new_head head;
        uint64_t size = 0;
        for (size_t i = 0; i < COUNT; i++) {
            (void)snprintf(names[i], NAME, "layers.%zu.%s", i, i % 3 == 0 ? "w" : "weight");
            tensors[i] = tensor(names[i], i % 2 == 0 ? DTI_BF16 : DTI_FP32, 2, shape);
        }
        dti_new_head_init(&head);
        if (CHECK(dti_safetensors_layout(tensors, COUNT, entries, k, &head, &size, NULL) == DTI_OK))
            check_waiting(&head, tensors, COUNT, entries, k, size);
        dti_new_head_free(&head);
    }
}

UNIT_MAIN(an_empty_file_has_sixteen_bytes, long_heads_are_written_in_pieces,
          tensors_keep_their_order_while_they_are_aligned,
          tensors_are_sorted_when_one_would_not_be_aligned, metadata_comes_first_and_is_escaped,
          refuses_names_that_no_reader_takes, refuses_metadata_that_is_no_string_of_its_own,
          refuses_what_it_has_no_dtype_or_no_bytes_for,
          sizes_that_add_up_beyond_64_bits_are_refused, a_header_beyond_the_limit_is_refused)

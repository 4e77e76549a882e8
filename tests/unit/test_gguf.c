/* SPDX-License-Identifier: MIT
 *
 * GGUF: the content of valid files. */
#include "gguf_make.h"

static const uint64_t two_by_three[] = {3, 2}, four[] = {4}, block[] = {64};

static void pairs_of_all_types_are_spelled(void)
{
    static const struct {
        unsigned type;
        size_t size;
        uint64_t code;
        const char *type_name, *value;
    } cases[] = {
        {0, 1, 200, "uint8", "200"},
        {1, 1, 0xFB, "int8", "-5"},
        {2, 2, 65535, "uint16", "65535"},
        {3, 2, 0x8000, "int16", "-32768"},
        {4, 4, 4000000000, "uint32", "4000000000"},
        {5, 4, 0x80000000, "int32", "-2147483648"},
        {6, 4, 0x3F000000, "float32", "0.5"},
        {6, 4, 0x80000000, "float32", "-0"},
        {6, 4, 0x7FC00000, "float32", "\"nan\""},
        {6, 4, 0xFF800000, "float32", "\"-inf\""},
        {7, 1, 1, "bool", "true"},
        {7, 1, 0, "bool", "false"},
        {10, 8, UINT64_MAX, "uint64", "18446744073709551615"},
        {11, 8, UINT64_C(1) << 63, "int64", "-9223372036854775808"},
        {12, 8, UINT64_C(0x7FEFFFFFFFFFFFFF), "float64", "1.7976931348623157e+308"},
        {12, 8, UINT64_C(0x7FF0000000000000), "float64", "\"inf\""},
    };
    enum { COUNT = sizeof cases / sizeof *cases };
    folder_enter();
    for (unsigned order = 0; order < 2; order++) {
        struct dti_container *container;
        struct dti_error error;
        made_big_endian = order == 1;
        start(3, 0, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            char key[16];
            snprintf(key, sizeof key, "key%zu", i);
            put_pair(key, cases[i].type, cases[i].code, cases[i].size);
        }
        made_big_endian = false;
        if (!CHECK(open_made(&container, &error) == DTI_OK))
            continue;
        CHECK_SIZE(container->metadata_count, COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            const struct dti_metadata *const pair = &container->metadata[i];
            CHECK(pair->kind == DTI_METADATA_TOKEN && pair->count == 1);
            CHECK_STR(pair->value, cases[i].value);
            CHECK_SIZE(pair->value_length, strlen(cases[i].value));
            CHECK_STR(pair->type, cases[i].type_name);
        }
        CHECK_SIZE(container->note_count, order);
        dti_container_free(container);
    }
    folder_leave();
}

static void tensors_are_described(void)
{
    folder_enter();
    for (unsigned order = 0; order < 2; order++) {
        struct dti_container *container;
        struct dti_error error;
        made_big_endian = order == 1;
        start(order == 1 ? 3 : 2, 5, 1);
        put_text("general.name");
        put_number(8, 4);
        put_bytes("a\0b", 3);
        put_tensor("matrix", 2, two_by_three, 0, 0);
        put_tensor("scalar", 0, NULL, 24, 32);
        put_tensor("blocks", 1, block, 8, 64);
        put_tensor("more", 1, (const uint64_t[]){256}, 12, 160);
        put_tensor("empty", 3, (const uint64_t[]){INT64_MAX, INT64_MAX, 0}, 30, 320);
        const size_t header = made_length;
        put_data(320, 32);
        made_big_endian = false;
        if (!CHECK(open_made(&container, &error) == DTI_OK))
            continue;
        CHECK_STR(container->version, order == 1 ? "3" : "2");
        CHECK(container->kind == DTI_CONTAINER_GGUF);
        CHECK_SIZE(container->files[0].header_bytes, (header + 31) / 32 * 32);
        CHECK(container->metadata[0].kind == DTI_METADATA_STRING &&
              container->metadata[0].value_length == 3 &&
              memcmp(container->metadata[0].value, "a\0b", 4) == 0);
        const struct dti_tensor *const t = container->tensors;
        CHECK_SIZE(container->tensor_count, 5);
        CHECK_STR(t[0].name, "matrix");
        CHECK_STR(t[0].stored_as, "F32");
        CHECK(t[0].rank == 2 && t[0].shape[0] == 2 && t[0].shape[1] == 3);
        CHECK(t[0].format->id == DTI_FP32 && t[0].bytes == 24 && t[0].elements == 6);
        CHECK(t[0].offset == container->files[0].header_bytes && !dti_tensor_refusal(&t[0]));
        const unsigned char first = 1;
        unsigned short probe;
        memcpy(&probe, (const unsigned char[]){first, 0}, sizeof probe);
        const bool little_endian = probe == 1;
        CHECK(t[0].layout.swapped == (little_endian == (order == 1)));
        CHECK(t[1].rank == 0 && t[1].elements == 1 && t[1].bytes == 1 && !t[1].layout.swapped);
        CHECK(t[2].format == NULL && t[2].bytes == 68 && t[2].elements == 64);
        CHECK(dti_tensor_block(&t[2]) && strcmp(dti_tensor_block(&t[2])->name, "q8_0") == 0);
        CHECK_STR(dti_tensor_refusal(&t[2]), "is quantized in blocks of Q8_0");
        CHECK(dti_tensor_block(&t[3]) == NULL && t[3].format == NULL && t[3].bytes == 144);
        CHECK_STR(t[3].stored_as, "Q4_K");
        CHECK(t[4].elements == 0 && t[4].bytes == 0 && t[4].rank == 3 && t[4].shape[0] == 0);
        dti_container_free(container);
    }
    folder_leave();
}

static void arrays_show_their_beginning(void)
{
    struct dti_container *container;
    struct dti_error error;
    folder_enter();
    start(3, 0, 5);
    put_text("numbers");
    put_number(9, 4), put_number(0, 4), put_number(10, 8);
    for (unsigned i = 0; i < 10; i++)
        put_number(i, 1);
    put_text("texts");
    put_number(9, 4), put_number(8, 4), put_number(3, 8);
    put_text("a\"\\"), put_bytes("\x1b\0\xff", 3), put_text("\xc3\xa9\n");
    put_text("empty");
    put_number(9, 4), put_number(8, 4), put_number(0, 8);
    put_text("arrays");
    put_number(9, 4), put_number(9, 4), put_number(2, 8);
    put_number(7, 4), put_number(2, 8), put_number(1, 1), put_number(0, 1);
    put_number(9, 4), put_number(1, 8), put_number(12, 4), put_number(0, 8);
    put_text("long texts"); /* texts from the first overlong one on are omitted */
    put_number(9, 4), put_number(8, 4), put_number(3, 8);
    put_text("a");
    memset(made + made_length + 8, 'x', 20000);
    put_number(20000, 8), made_length += 20000;
    put_text("b");
    if (CHECK(open_made(&container, &error) == DTI_OK)) {
        const struct dti_metadata *const m = container->metadata;
        CHECK(m[0].kind == DTI_METADATA_ARRAY && m[0].count == 10);
        CHECK_STR(m[0].value, "[0,1,2,3,4,5,6,7]");
        CHECK_STR(m[0].type, "array of uint8");
        CHECK_STR(m[1].value, "[\"a\\\"\\\\\",\"\\u001b\\u0000\xEF\xBF\xBD\",\"\xc3\xa9\\n\"]");
        CHECK_STR(m[2].value, "[]");
        CHECK_STR(m[2].type, "array of string");
        CHECK_STR(m[3].value, "[[true,false],[[]]]");
        CHECK(m[3].count == 2);
        CHECK_STR(m[4].value, "[\"a\"]");
        CHECK(m[4].count == 3);
        dti_container_free(container);
    }
    folder_leave();
}

static void odd_files_are_taken_with_notes(void)
{
    struct dti_container *container;
    struct dti_error error;
    char name[101] = "";
    folder_enter();
    memset(name, 'n', 100);
    start(3, 3, 0);
    put_tensor(name, 1, four, 0, 0);
    put_tensor("unknown", 1, four, 148, 32);
    put_tensor("after", 1, four, 1, 128);
    put_data(128 + 8, 32);
    if (CHECK(open_made(&container, &error) == DTI_OK)) {
        const struct dti_tensor *const t = container->tensors;
        CHECK_STR(t[1].stored_as, "unknown type 148");
        CHECK_STR(dti_tensor_refusal(&t[1]), "has a type that ggml does not define");
        CHECK(t[1].bytes == 96 && t[1].elements == 4 && !t[1].format && !dti_tensor_block(&t[1]));
        CHECK_SIZE(container->note_count, 2);
        CHECK_STR(container->notes[0].code, "unknown_types");
        CHECK_STR(container->notes[0].text, "1 of 3 tensors have types that ggml does not define; "
                                            "their bytes are counted up to the next tensor");
        CHECK_STR(container->notes[1].code, "long_names");
        CHECK_STR(container->notes[1].text, "1 of 3 names are longer than the 63 bytes of ggml");
        dti_container_free(container);
    }
    start(3, 1, 0);
    put_tensor("last", 1, four, 4, 0);
    put_data(50, 32);
    if (CHECK(open_made(&container, &error) == DTI_OK)) {
        CHECK(container->tensors[0].bytes == 50);
        dti_container_free(container);
    }
    start(3, 1, 0);
    put_tensor("t", 1, four, 0, 0);
    put_data(16, 32);
    put_data(5, 32);
    if (CHECK(open_made(&container, &error) == DTI_OK)) {
        CHECK_SIZE(container->note_count, 1);
        CHECK_STR(container->notes[0].text, "5 bytes follow the data");
        dti_container_free(container);
    }
    folder_leave();
}

static void long_texts_are_cut(void)
{
    enum { LENGTH = (1 << 20) + 1 };
    struct dti_container *container;
    struct dti_error error;
    folder_enter();
    char *const text = malloc(LENGTH + 64);
    if (CHECK(text != NULL)) {
        start(3, 0, 1);
        put_text("k");
        put_number(8, 4), put_number(LENGTH, 8);
        memcpy(text, made, made_length);
        for (size_t i = 0; i < LENGTH; i += 2) /* the cut falls inside a character */
            memcpy(text + made_length + i, "\xc3\xa9", 2);
        file_make("x.gguf", text, made_length + LENGTH);
        if (CHECK(dti_container_open(&container, "x.gguf", NULL, &error) == DTI_OK)) {
            CHECK_SIZE(container->metadata[0].value_length, (1 << 20) - 2);
            CHECK_STR(container->notes[0].text,
                      "the value of key 'k' is truncated: it has 1048577 bytes");
            dti_container_free(container);
        }
    }
    free(text);
    folder_leave();
}

static void sizes_of_new_tensors_must_fit(void)
{
    static const uint64_t half[] = {UINT64_C(1) << 61}, more[] = {UINT64_C(1) << 32, 1 << 30};
    struct dti_container *container;
    struct dti_error error = {.status = DTI_OK};
    folder_enter();
    start(3, 0, 0);
    if (CHECK(open_made(&container, &error) == DTI_OK)) {
        for (unsigned rank = 1; rank <= 2; rank++) { /* together, and alone */
            struct dti_new_tensor tensors[2];
            struct dti_new_head head;
            uint64_t size = 0;
            for (size_t i = 0; i < 2; i++)
                tensors[i] = (struct dti_new_tensor){.name = i == 0 ? "a" : "b",
                                                     .name_length = 1,
                                                     .format = dti_format_get(DTI_FP32),
                                                     .rank = rank,
                                                     .shape = rank == 1 ? half : more};
            dti_new_head_init(&head);
            head.from = container;
            error.text[0] = '\0';
            CHECK_U64(
                dti_container_layout(DTI_CONTAINER_GGUF, tensors, 2, NULL, 0, &head, &size, &error),
                DTI_BAD_INPUT);
            CHECK_STR(error.text, rank == 1 ? "tensor 'b' is too large for a file"
                                            : "tensor 'a' is too large for a file");
            dti_new_head_free(&head);
        }
        dti_container_free(container);
    }
    folder_leave();
}

static void new_tensors_have_at_most_four_dimensions(void)
{
    static const uint64_t shape[] = {2, 1, 1, 1, 2};
    struct dti_container *container;
    struct dti_error error = {.status = DTI_OK};
    folder_enter();
    start(3, 0, 0);
    if (CHECK(open_made(&container, &error) == DTI_OK)) {
        for (unsigned rank = 4; rank <= 5; rank++) {
            struct dti_new_tensor tensor = {.name = "a",
                                            .name_length = 1,
                                            .format = dti_format_get(DTI_FP32),
                                            .rank = rank,
                                            .shape = shape};
            struct dti_new_head head;
            uint64_t size = 0;
            dti_new_head_init(&head);
            head.from = container;
            error.text[0] = '\0';
            CHECK_U64(
                dti_container_layout(DTI_CONTAINER_GGUF, &tensor, 1, NULL, 0, &head, &size, &error),
                rank == 4 ? DTI_OK : DTI_BAD_INPUT);
            CHECK_STR(error.text,
                      rank == 4 ? "" : "tensor 'a' has 5 dimensions; gguf has at most 4");
            dti_new_head_free(&head);
        }
        dti_container_free(container);
    }
    folder_leave();
}

UNIT_MAIN(pairs_of_all_types_are_spelled, tensors_are_described, arrays_show_their_beginning,
          odd_files_are_taken_with_notes, long_texts_are_cut, sizes_of_new_tensors_must_fit,
          new_tensors_have_at_most_four_dimensions)

/* SPDX-License-Identifier: MIT
 *
 * GGUF: every way in which a file can be invalid. */
#include "gguf_make.h"

static void refused(const char *message)
{
    struct dti_container *container;
    struct dti_error error = {.status = DTI_OK};
    const enum dti_status status = open_made(&container, &error);
    if (status == DTI_OK)
        dti_container_free(container);
    CHECK(status == DTI_BAD_INPUT);
    CHECK_STR(error.text, message);
}

static const uint64_t two_by_three[] = {3, 2}, four[] = {4};

static void headers_that_cannot_be(void)
{
    folder_enter();
    start(1, 0, 0);
    refused("'x.gguf' is GGUF version 1; only versions 2 and 3 are supported");
    start(0, 0, 0);
    refused("'x.gguf' is GGUF version 0; only versions 2 and 3 are supported");
    start(4, 0, 0);
    refused("'x.gguf' is GGUF version 4; only versions 2 and 3 are supported");
    start(0x40000, 0, 0);
    refused("'x.gguf' is GGUF version 1024; only versions 2 and 3 are supported");
    start(3, UINT64_MAX, 0);
    refused("'x.gguf': 18446744073709551615 tensors do not fit into the 0 bytes that remain");
    start(3, 0, UINT64_C(1) << 60);
    refused("'x.gguf': 1152921504606846976 key-values do not fit into the 0 bytes that remain");
    start(3, 1, 0);
    put_number(0, 8), put_number(0, 8), put_number(0, 4);
    refused("'x.gguf': 1 tensors do not fit into the 20 bytes that remain");
    memcpy(made, "GGUf", 4);
    refused("'x.gguf' does not begin with \"GGUF\"");
    folder_leave();
}

static void pairs_that_cannot_be(void)
{
    folder_enter();
    start(3, 0, 1);
    put_pair("", 4, 1, 4);
    refused("'x.gguf': the key before byte 32 is empty");
    start(3, 0, 1);
    put_pair("k", 13, 1, 4);
    refused("'x.gguf': key 'k': unknown value type 13");
    start(3, 0, 2);
    put_pair("k\x1b", 4, 1, 4);
    put_pair("k\x1b", 5, 1, 4);
    refused("'x.gguf': the key 'k\\x1b' occurs twice");
    start(3, 0, 5); /* the first repetition is reported */
    put_pair("c", 4, 1, 4), put_pair("b", 4, 1, 4), put_pair("a", 4, 1, 4);
    put_pair("b", 4, 1, 4), put_pair("c", 4, 1, 4);
    refused("'x.gguf': the key 'b' occurs twice");
    start(3, 0, 5);
    put_pair("c", 4, 1, 4), put_pair("b", 4, 1, 4), put_pair("a", 4, 1, 4);
    put_pair("c", 4, 1, 4), put_pair("b", 4, 1, 4);
    refused("'x.gguf': the key 'c' occurs twice");
    start(3, 0, 1);
    put_number(100, 8), put_number(0, 8);
    refused("'x.gguf': a string at byte 24 has 100 bytes, and the rest of the file 8");
    start(3, 0, 1);
    put_number(UINT64_MAX - 7, 8), put_number(0, 8);
    refused("'x.gguf': a string at byte 24 has 18446744073709551608 bytes, and the rest of the "
            "file 8");
    start(3, 0, 1);
    put_pair("k", 10, 1, 4);
    refused("'x.gguf': truncated: the header needs 8 bytes from byte 37 on, the file has 41");
    start(3, 0, 1);
    put_text("k");
    put_number(9, 4), put_number(13, 4), put_number(0, 8);
    refused("'x.gguf': key 'k': unknown value type 13");
    start(3, 0, 1);
    put_text("k");
    put_number(9, 4), put_number(10, 4), put_number(UINT64_C(1) << 30, 8), put_number(0, 8);
    refused("'x.gguf': key 'k': the file is too short for an array of length 1073741824");
    start(3, 0, 1);
    put_text("k");
    put_number(9, 4), put_number(0, 4), put_number(UINT64_MAX, 8), put_number(0, 8);
    refused("'x.gguf': key 'k': array longer than the limit of 1073741824 elements: "
            "18446744073709551615");
    for (unsigned depth = 8; depth <= 9; depth++) {
        start(3, 0, 1);
        put_text("k");
        put_number(9, 4);
        for (unsigned i = 1; i < depth; i++)
            put_number(9, 4), put_number(1, 8);
        put_number(0, 4), put_number(0, 8);
        struct dti_container *container;
        if (depth == 9)
            refused("'x.gguf': key 'k': arrays nested deeper than 8");
        else if (CHECK(open_made(&container, NULL) == DTI_OK))
            dti_container_free(container);
    }
    folder_leave();
}

static void alignments_that_cannot_be(void)
{
    struct dti_container *container;
    folder_enter();
    start(3, 0, 1);
    put_pair("general.alignment", 10, 32, 8);
    refused("'x.gguf': key 'general.alignment': its type must be 4 (uint32), not 10");
    start(3, 0, 1);
    put_pair("general.alignment", 4, 0, 4);
    refused("'x.gguf': key 'general.alignment': it must be a power of two, not 0");
    start(3, 0, 1);
    put_pair("general.alignment", 4, 48, 4);
    refused("'x.gguf': key 'general.alignment': it must be a power of two, not 48");
    start(3, 2, 1);
    put_pair("general.alignment", 4, 128, 4);
    put_tensor("a", 1, four, 0, 0);
    put_tensor("b", 1, four, 0, 128);
    put_data(144, 128);
    if (CHECK(open_made(&container, NULL) == DTI_OK)) {
        CHECK(container->files[0].header_bytes % 128 == 0);
        CHECK(container->tensors[1].offset == container->files[0].header_bytes + 128);
        dti_container_free(container);
    }
    folder_leave();
}

static void tensors_that_cannot_be(void)
{
    folder_enter();
    start(3, 1, 0);
    put_tensor("t", 5, (const uint64_t[]){1, 1, 1, 1, 1}, 0, 0);
    put_data(4, 32);
    refused("'x.gguf': tensor 't': it has 5 dimensions, and the limit is 4");
    start(3, 1, 0);
    put_tensor("t", 2, (const uint64_t[]){0, UINT64_MAX}, 0, 0);
    refused("'x.gguf': tensor 't': its dimensions make 2^63 elements or more");
    start(3, 1, 0);
    put_tensor("t", 3, (const uint64_t[]){UINT64_C(1) << 21, UINT64_C(1) << 21, 1 << 21}, 0, 0);
    refused("'x.gguf': tensor 't': its dimensions make 2^63 elements or more");
    start(3, 1, 0);
    put_tensor("t", 1, (const uint64_t[]){UINT64_C(1) << 62}, 28, 0);
    refused("'x.gguf': tensor 't': its size does not fit in 64 bits");
    start(3, 1, 0);
    put_tensor("t", 1, (const uint64_t[]){UINT64_C(1) << 60}, 28, 0);
    refused("'x.gguf': tensor 't': truncated: it has 9223372036854775808 bytes from byte 0 of the "
            "data on, the whole file 57");
    start(3, 1, 0);
    put_tensor("t", 2, (const uint64_t[]){48, 32}, 2, 0);
    put_data(1000, 32);
    refused("'x.gguf': tensor 't': its rows of 48 elements are not a multiple of the 32 in a block "
            "of Q4_0");
    start(3, 1, 0);
    put_tensor("t", 0, NULL, 39, 0);
    put_data(100, 32);
    refused("'x.gguf': tensor 't': its rows of 1 elements are not a multiple of the 32 in a block "
            "of MXFP4");
    start(3, 2, 0);
    put_tensor("t", 1, four, 0, 0);
    put_tensor("t", 1, four, 0, 32);
    put_data(48, 32);
    refused("'x.gguf': tensor 't' occurs twice");
    start(3, 1, 0);
    put_tensor("t", 1, four, 0, 32);
    put_data(48, 32);
    refused("'x.gguf': tensor 't': its offset is 32, but the tensors before it end at 0");
    start(3, 2, 0);
    put_tensor("a", 1, four, 0, 0);
    put_tensor("b", 1, four, 0, 16); /* not padded */
    put_data(48, 32);
    refused("'x.gguf': tensor 'b': its offset is 16, but the tensors before it end at 32");
    start(3, 2, 0);
    put_tensor("a", 1, four, 148, 0);
    put_tensor("b", 1, four, 0, 33);
    put_data(80, 32);
    refused("'x.gguf': tensor 'b': its offset 33 is below 0, where the previous tensor begins, or "
            "not a multiple of 32");
    start(3, 3, 0);
    put_tensor("a", 1, four, 0, 0);
    put_tensor("u", 1, four, 148, 32);
    put_tensor("b", 1, four, 0, 0);
    put_data(80, 32);
    refused("'x.gguf': tensor 'b': its offset 0 is below 32, where the previous tensor begins, or "
            "not a multiple of 32");
    folder_leave();
}

static void every_prefix_is_refused(void)
{
    folder_enter();
    start(3, 2, 2);
    put_pair("number", 4, 7, 4);
    put_text("array");
    put_number(9, 4), put_number(8, 4), put_number(2, 8);
    put_text("one"), put_text("two");
    put_tensor("a", 2, two_by_three, 0, 0);
    put_tensor("b", 1, four, 1, 32);
    put_data(40, 32);
    const size_t whole = made_length;
    for (size_t length = 0; length < whole; length++) {
        struct dti_container *container;
        struct dti_error error = {.status = DTI_OK};
        file_make("x.gguf", made, length);
        const enum dti_status status = dti_container_open(&container, "x.gguf", NULL, &error);
        if (!CHECK(status == DTI_BAD_INPUT))
            printf("    at length %zu\n", length);
        if (status == DTI_OK)
            dti_container_free(container);
        else
            CHECK(strncmp(error.text, "'x.gguf'", 8) == 0);
    }
    struct dti_container *container;
    if (CHECK(open_made(&container, NULL) == DTI_OK))
        dti_container_free(container);
    made_length = whole - 1;
    refused("'x.gguf': tensor 'b': truncated: its data end at byte 232, the file has 231");
    folder_leave();
}

/* Sizes that only fit in a sparse file. */
static void limits_hold_in_large_files(void)
{
    folder_enter();
    start(3, 0, 1);
    put_number((UINT64_C(1) << 30) + 1, 8);
    file_make("x.gguf", made, made_length);
    if (CHECK(truncate("x.gguf", (off_t)1 << 32) == 0)) {
        struct dti_container *container;
        struct dti_error error = {.status = DTI_OK};
        CHECK(dti_container_open(&container, "x.gguf", NULL, &error) == DTI_BAD_INPUT);
        CHECK_STR(error.text,
                  "'x.gguf': a string at byte 24 has 1073741825 bytes, and the limit is "
                  "1073741824");
        start(3, UINT64_C(1) << 27, 0);
        const int fd = open("x.gguf", O_WRONLY);
        CHECK(fd >= 0 && pwrite(fd, made, made_length, 0) == (ssize_t)made_length);
        CHECK(pwrite(fd, "\0\0\0\0\0\0\0\0", 8, (off_t)made_length) == 8 && close(fd) == 0);
        CHECK(dti_container_open(&container, "x.gguf", NULL, &error) == DTI_BAD_INPUT);
        CHECK_STR(error.text,
                  "'x.gguf': tensor '': its offset is 0, but the tensors before it end at 32");
    }
    folder_leave();
}

UNIT_MAIN(headers_that_cannot_be, pairs_that_cannot_be, alignments_that_cannot_be,
          tensors_that_cannot_be, every_prefix_is_refused, limits_hold_in_large_files)

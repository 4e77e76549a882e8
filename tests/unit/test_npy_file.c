/* SPDX-License-Identifier: MIT
 *
 * Whole .npy files: versions, lengths, truncation, trailing bytes, and writing. */
#include "npy_make.h"

#define HEADER "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"

static void make(const void *data, size_t size)
{
    file_make("x.npy", data, size);
}

static void each_version_has_its_length_field(void)
{
    folder_enter();
    for (unsigned major = 1; major <= 3; major++) {
        const struct bytes npy = npy_make(major, HEADER, strlen(HEADER), 24);
        const char version[] = {(char)('0' + major), '.', '0', '\0'};
        make(npy.data, npy.length);
        if (!container_opens("x.npy", NULL))
            continue;
        CHECK_STR(container->version, version);
        CHECK_U64(container->files[0].header_bytes, (major == 1 ? 10 : 12) + strlen(HEADER));
        CHECK_U64(container->tensors[0].bytes, 24);
        CHECK_U64(container->note_count, 0);
        const struct dti_input *input = NULL;
        uint64_t offset = 0;
        unsigned char first[2] = {0, 0};
        CHECK(dti_container_data(container, 0, &input, &offset, &error) == DTI_OK);
        CHECK(dti_input_read_at(input, first, 2, offset, &error) == DTI_OK);
        CHECK(first[0] == 1 && first[1] == 2);
        dti_container_free(container);
    }
    folder_leave();
}

static void version_3_must_be_utf8(void)
{
    static const char latin1[] = "{'descr': [('\xe9', '<f4')], 'fortran_order': False, "
                                 "'shape': (1,), }";
    folder_enter();
    struct bytes npy = npy_make(1, latin1, strlen(latin1), 4);
    make(npy.data, npy.length);
    if (container_opens("x.npy", NULL)) {
        CHECK_STR(container->tensors[0].name, "data.\xc3\xa9");
        dti_container_free(container);
    }
    npy = npy_make(3, latin1, strlen(latin1), 4);
    make(npy.data, npy.length);
    container_is_refused("x.npy", "'x.npy': bad header: it is not UTF-8");
    folder_leave();
}

static void every_prefix_is_refused(void)
{
    const struct bytes npy = npy_make(1, HEADER, strlen(HEADER), 24);
    folder_enter();
    for (size_t size = 1; size < npy.length; size++) {
        make(npy.data, size);
        const enum dti_status status = dti_container_open(&container, "x.npy", NULL, &error);
        if (!CHECK(status == DTI_BAD_INPUT))
            break;
        if (!CHECK(strncmp(error.text, "'x.npy': truncated: ", 20) == 0))
            printf("    %zu bytes: %s\n", size, error.text);
    }
    make(npy.data, 9);
    container_is_refused("x.npy",
                         "'x.npy': truncated: a .npy file begins with 10 bytes, but there are 9");
    make(npy.data, 40);
    container_is_refused("x.npy",
                         "'x.npy': truncated: the header needs 69 bytes, but there are 40");
    make(npy.data, npy.length - 1);
    container_is_refused(
        "x.npy", "'x.npy': truncated: 6 elements of type <f4 need 24 bytes, but there are 23");
    folder_leave();
}

static void lengths_are_checked_before_anything_is_taken(void)
{
    folder_enter();
    make("\x93NUMPY\2\0\xff\xff\xff\xff", 12);
    container_is_refused("x.npy",
                         "'x.npy': truncated: the header needs 4294967307 bytes, but there are 12");
    make("\x93NUMPY\2\0\1\0\0", 11);
    container_is_refused(
        "x.npy",
        "'x.npy': truncated: a .npy file of version 2.0 begins with 12 bytes, but there are 11");
    make("\x93NUMPY\2\0\1\0\x10\0", 12);
    CHECK(truncate("x.npy", 2000000) == 0);
    container_is_refused("x.npy", "'x.npy': the header has 1048577 bytes, more than 1048576");
    make("\x93NUMPY\2\0\0\0\x10\0", 12);
    CHECK(truncate("x.npy", 2000000) == 0);
    container_is_refused("x.npy", "'x.npy': bad header: it does not begin with '{'");
    folder_leave();
}

static void other_versions_are_refused(void)
{
    folder_enter();
    make("\x93NUMPY\0\0\0\0\0\0", 12);
    container_is_refused("x.npy",
                         "'x.npy': unsupported .npy version 0.0; 1.0, 2.0 and 3.0 are supported");
    make("\x93NUMPY\4\0\0\0\0\0", 12);
    container_is_refused("x.npy",
                         "'x.npy': unsupported .npy version 4.0; 1.0, 2.0 and 3.0 are supported");
    make("\x93NUMPY\1\1\0\0\0\0", 12);
    container_is_refused("x.npy",
                         "'x.npy': unsupported .npy version 1.1; 1.0, 2.0 and 3.0 are supported");
    make("\x93NUMPX\1\0\0\0\0\0", 12);
    container_is_refused("x.npy", "'x.npy': its first bytes are not those of .npy");
    folder_leave();
}

static void notes_tell_what_is_odd(void)
{
    static const char e5m2[] = "{'descr': '<f1', 'fortran_order': False, 'shape': (3,), }";
    folder_enter();
    struct bytes npy = npy_make(1, HEADER, strlen(HEADER), 31);
    make(npy.data, npy.length);
    if (container_opens("x.npy", NULL)) {
        CHECK_U64(container->note_count, 1);
        CHECK_STR(container->notes[0].code, "trailing_bytes");
        CHECK_STR(container->notes[0].text, "7 bytes after the data are ignored");
        dti_container_free(container);
    }
    npy = npy_make(1, e5m2, strlen(e5m2), 3);
    make(npy.data, npy.length);
    if (container_opens("x.npy", NULL)) {
        CHECK_U64(container->note_count, 1);
        CHECK_STR(container->notes[0].code, "guessed_type");
        CHECK(container->notes[0].remedy == DTI_REMEDY_ASSUME_OTHER);
        dti_container_free(container);
    }
    folder_leave();
}

/* The error for a header with `count` nested lists or dimensions. */
static void expect_deep(const char *open, const char *middle, const char *close, size_t count,
                        const char *problem)
{
    static char header[700000];
    char want[DTI_QUOTE_SIZE];
    static struct bytes npy;
    size_t used = (size_t)snprintf(header, sizeof header, "{'fortran_order': False, 'shape': (");
    const char *const tail = "), 'descr': ";
    if (strcmp(open, "1,") == 0) {
        for (size_t i = 0; i < count; i++)
            used += (size_t)snprintf(header + used, sizeof header - used, "%s", open);
        used += (size_t)snprintf(header + used, sizeof header - used, "%s'|u1'}", tail);
    } else {
        used += (size_t)snprintf(header + used, sizeof header - used, "1,%s", tail);
        for (size_t i = 0; i < count; i++)
            used += (size_t)snprintf(header + used, sizeof header - used, "%s", open);
        used += (size_t)snprintf(header + used, sizeof header - used, "%s", middle);
        for (size_t i = 0; i < count; i++)
            used += (size_t)snprintf(header + used, sizeof header - used, "%s", close);
        used += (size_t)snprintf(header + used, sizeof header - used, "}");
    }
    npy.length = 0;
    put(&npy, "\x93NUMPY\2\0", 8);
    put_number(&npy, used, 4);
    FILE *const file = fopen("x.npy", "wb");
    CHECK(file && fwrite(npy.data, 1, npy.length, file) == npy.length &&
          fwrite(header, 1, used, file) == used && fputc(0, file) == 0 && fclose(file) == 0);
    if (problem) {
        snprintf(want, sizeof want, "'x.npy': bad header: %s", problem);
        container_is_refused("x.npy", want);
    } else if (container_opens("x.npy", NULL)) {
        CHECK_U64(container->tensors[0].elements, 1);
        CHECK_U64(container->tensors[0].bytes, 1);
        dti_container_free(container);
    }
}

static void depth_and_rank_have_limits(void)
{
    folder_enter();
    expect_deep("[('a', ", "'|u1'", ")]", 32, NULL);
    expect_deep("[('a', ", "'|u1'", ")]", 33, "types are nested more than 32 deep");
    expect_deep("[('a', ", "'|u1'", ")]", 70000, "types are nested more than 32 deep");
    expect_deep("(", "'|u1'", ", 1)", 32, NULL);
    expect_deep("(", "'|u1'", ", 1)", 70000, "types are nested more than 32 deep");
    expect_deep("1,", "", "", 64, NULL);
    expect_deep("1,", "", "", 65, "there are more than 64 dimensions");
    expect_deep("1,", "", "", 300000, "there are more than 64 dimensions");
    folder_leave();
}

static const uint64_t shape[] = {2, 3};

/* The header written for a tensor, as text; "" if it is refused. */
static const char *head_of(const char *dtype, unsigned rank, const uint64_t *dimensions,
                           bool fortran)
{
    static char text[4096];
    struct dti_format format;
    struct dti_new_tensor tensor = {.name = "w",
                                    .name_length = 1,
                                    .format = &format,
                                    .rank = rank,
                                    .shape = dimensions,
                                    .fortran = fortran};
    struct dti_new_head head;
    uint64_t size = 0;
    text[0] = '\0';
    dti_new_head_init(&head);
    if (CHECK(dti_format_lookup(dtype, &format, NULL, NULL) == DTI_OK)) {
        const bool stores = dti_container_stores(DTI_CONTAINER_NPY, &format, &tensor.layout);
        const enum dti_status status =
            dti_container_layout(DTI_CONTAINER_NPY, &tensor, 1, NULL, 0, &head, &size, &error);
        CHECK(stores || status == DTI_WRONG_KIND);
        if (status == DTI_OK) {
            CHECK(head.text.length % 64 == 0 && tensor.offset == head.text.length);
            CHECK_U64(size, head.text.length + tensor.bytes);
            CHECK(memcmp(head.text.data, "\x93NUMPY\1\0", 8) == 0);
            CHECK((size_t)(unsigned char)head.text.data[8] +
                      256u * (unsigned char)head.text.data[9] ==
                  head.text.length - 10);
            CHECK(head.text.data[head.text.length - 1] == '\n');
            snprintf(text, sizeof text, "%s", head.text.data + 10);
            text[strcspn(text, "}") + 1] = '\0';
        }
    }
    dti_new_head_free(&head);
    return text;
}

static void headers_are_written_as_numpy_writes_them(void)
{
    static const char *const descrs[][2] = {
        {"fp64", "<f8"},        {"fp32", "<f4"},      {"fp16", "<f2"},        {"bf16", "<V2"},
        {"int8", "|i1"},        {"uint8", "|u1"},     {"bool", "|b1"},        {"int16", "<i2"},
        {"uint64", "<u8"},      {"complex64", "<c8"}, {"complex128", "<c16"}, {"fp8_e5m2", "<V1"},
        {"fp8_e4m3fn", "<V1"},  {"fp6_e3m2", "<V1"},  {"fp4_e2m1", "<V1"},    {"int4", "<V1"},
        {"binary8p3se", "<V1"}, {"e2m2", "<V1"},
    };
    for (size_t i = 0; i < sizeof descrs / sizeof *descrs; i++) {
        char want[128];
        snprintf(want, sizeof want, "{'descr': '%s', 'fortran_order': False, 'shape': (2, 3), }",
                 descrs[i][1]);
        CHECK_STR(head_of(descrs[i][0], 2, shape, false), want);
    }
    CHECK_STR(head_of("fp32", 0, shape, false),
              "{'descr': '<f4', 'fortran_order': False, 'shape': (), }");
    CHECK_STR(head_of("fp32", 1, shape, false),
              "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }");
    CHECK_STR(head_of("fp32", 2, shape, true),
              "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }");
}

static void what_npy_cannot_hold_is_refused(void)
{
    uint64_t many[65];
    const uint64_t huge[] = {UINT64_C(1) << 62, 1, 2};
    for (size_t i = 0; i < 65; i++)
        many[i] = 1;
    CHECK_STR(head_of("tf32", 1, shape, false), "");
    CHECK_STR(error.text, "tensor 'w': numpy has no name for tf32");
    CHECK_STR(head_of("e5m6", 1, shape, false), "");
    CHECK_STR(head_of("complex32", 1, shape, false), "");
    CHECK(head_of("uint8", 64, many, false)[0] == '{');
    CHECK_STR(head_of("uint8", 65, many, false), "");
    CHECK_STR(error.text, "tensor 'w' has 65 dimensions; numpy has at most 64");
    CHECK_STR(head_of("uint8", 3, huge, false), "");
    CHECK_STR(error.text, "tensor 'w' is too large for numpy");
    CHECK(head_of("uint8", 1, huge, false)[0] == '{');
    struct dti_new_tensor two[2] = {{.name = "a"}, {.name = "b"}};
    struct dti_new_head head;
    uint64_t size;
    dti_new_head_init(&head);
    CHECK(dti_container_layout(DTI_CONTAINER_NPY, two, 2, NULL, 0, &head, &size, &error) ==
          DTI_BAD_INPUT);
    CHECK_STR(error.text, "a .npy file holds one tensor, not 2");
    dti_new_head_free(&head);
}

static void small_codes_stand_one_in_a_byte(void)
{
    struct dti_layout layout = {.swapped = false};
    CHECK(dti_container_stores(DTI_CONTAINER_NPY, dti_format_get(DTI_FP4_E2M1), &layout));
    CHECK(layout.packing == DTI_PACKING_BYTES && !layout.swapped);
    const uint64_t three[] = {3};
    struct dti_new_tensor tensor = {.name = "w",
                                    .name_length = 1,
                                    .format = dti_format_get(DTI_FP4_E2M1),
                                    .layout = layout,
                                    .rank = 1,
                                    .shape = three};
    struct dti_new_head head;
    uint64_t size = 0;
    dti_new_head_init(&head);
    CHECK(dti_container_layout(DTI_CONTAINER_NPY, &tensor, 1, NULL, 0, &head, &size, &error) ==
          DTI_OK);
    CHECK_U64(tensor.bytes, 3);
    dti_new_head_free(&head);
}

UNIT_MAIN(each_version_has_its_length_field, version_3_must_be_utf8, every_prefix_is_refused,
          lengths_are_checked_before_anything_is_taken, other_versions_are_refused,
          notes_tell_what_is_odd, depth_and_rank_have_limits,
          headers_are_written_as_numpy_writes_them, what_npy_cannot_hold_is_refused,
          small_codes_stand_one_in_a_byte)

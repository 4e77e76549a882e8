/* SPDX-License-Identifier: MIT
 *
 * Reading .npz with stored members: where each array is found, and archives that hold something
 * else, are truncated, or are unusual but valid. */
#include "containers/zip/zip_write.h"
#include "npy_make.h"

#define HEADER "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"

static struct zip zip;

static struct bytes array(size_t data_size)
{
    return npy_make(1, HEADER, strlen(HEADER), data_size);
}

/* Two arrays, "a" and "b/c", of 6 fp32 each; with `text`, a text member between them. */
static void make_two(bool wide, bool text)
{
    const struct bytes a = array(24);
    zip.count = zip.file.length = 0;
    zip_add(&zip, "a.npy", &a);
    if (text) {
        struct bytes words;
        words.length = 0;
        put(&words, "words", 5);
        zip_add(&zip, "read\x1bme.txt", &words);
    }
    zip_add(&zip, "b/../c.npy", &a);
    zip_finish(&zip, wide);
}

static void write_zip(void)
{
    file_make("x.npz", zip.file.data, zip.file.length);
}

static void refused(const char *want)
{
    char text[DTI_QUOTE_SIZE];
    snprintf(text, sizeof text, "'x.npz'%s", want);
    write_zip();
    container_is_refused("x.npz", text);
}

static void expect_two(void)
{
    write_zip();
    if (!container_opens("x.npz", NULL))
        return;
    CHECK(container->kind == DTI_CONTAINER_NPZ);
    CHECK_U64(container->tensor_count, 2);
    const struct dti_tensor *const tensors = container->tensors;
    CHECK_STR(tensors[0].name, "a");
    CHECK_STR(tensors[1].name, "b/../c");
    CHECK(tensors[1].name_length == 6);
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_input *input = NULL;
        uint64_t offset = 0;
        unsigned char first[2] = {0, 0};
        CHECK(tensors[i].format && tensors[i].format->id == DTI_FP32);
        CHECK(tensors[i].rank == 2 && tensors[i].elements == 6 && tensors[i].bytes == 24);
        CHECK(!tensors[i].compressed && !dti_tensor_refusal(&tensors[i]));
        CHECK(dti_container_data(container, i, &input, &offset, &error) == DTI_OK);
        CHECK(offset == tensors[i].offset && input->fd == container->files[0].input.fd);
        CHECK(dti_input_read_at(input, first, 2, offset, &error) == DTI_OK);
        CHECK(first[0] == 1 && first[1] == 2);
    }
    dti_container_free(container);
}

static void arrays_are_found_in_both_kinds_of_archives(void)
{
    folder_enter();
    for (unsigned i = 0; i < 2; i++) {
        make_two(i == 1, false);
        expect_two();
    }
    folder_leave();
}

static void the_order_is_that_of_the_data(void)
{
    folder_enter();
    make_two(false, false);
    const size_t first = zip.members[0].entry, second = zip.members[1].entry;
    const size_t first_size = second - first, second_size = zip.end - second;
    unsigned char entries[512];
    memcpy(entries, zip.file.data + second, second_size);
    memcpy(entries + second_size, zip.file.data + first, first_size);
    memcpy(zip.file.data + first, entries, first_size + second_size);
    expect_two();
    folder_leave();
}

static void a_comment_may_follow(void)
{
    folder_enter();
    make_two(false, false);
    patch(&zip.file, zip.end + 20, 5, 2);
    put(&zip.file, "hello", 5);
    expect_two();
    put(&zip.file, "!", 1);
    refused(": truncated: a zip archive without its end record, or with bytes after it");
    folder_leave();
}

static void other_members_are_noted(void)
{
    folder_enter();
    make_two(false, true);
    write_zip();
    if (container_opens("x.npz", NULL)) {
        CHECK_U64(container->tensor_count, 2);
        CHECK_U64(container->note_count, 1);
        CHECK_STR(container->notes[0].code, "other_members");
        CHECK_STR(container->notes[0].text, "1 member is not a .npy file: 'read\\x1bme.txt'");
        dti_container_free(container);
    }
    folder_leave();
}

static void an_empty_archive_has_no_tensors(void)
{
    folder_enter();
    for (unsigned i = 0; i < 2; i++) {
        zip.count = zip.file.length = 0;
        zip_finish(&zip, i == 1);
        write_zip();
        if (container_opens("x.npz", NULL)) {
            CHECK_U64(container->tensor_count, 0);
            dti_container_free(container);
        }
    }
    folder_leave();
}

static void archives_of_other_things_are_refused(void)
{
    const struct bytes a = array(24);
    folder_enter();
    zip.count = zip.file.length = 0;
    zip_add(&zip, "word/document.xml", &a);
    zip_finish(&zip, false);
    refused(" is a zip archive without .npy members");
    zip.count = zip.file.length = 0;
    zip_add(&zip, "x/version", &a);
    zip_add(&zip, "x/data.pkl", &a);
    zip_finish(&zip, false);
    refused(" is a zip archive that does not begin with data.pkl, as a PyTorch file does; load it "
            "with torch.load(weights_only=True) and save it again");
    folder_leave();
}

static void every_prefix_is_refused(void)
{
    folder_enter();
    make_two(true, true);
    for (size_t size = 1; size < zip.file.length; size++) {
        file_make("x.npz", zip.file.data, size);
        if (!CHECK(dti_container_open(&container, "x.npz", NULL, &error) == DTI_BAD_INPUT) ||
            !CHECK(strncmp(error.text, "'x.npz'", 7) == 0))
            break;
    }
    folder_leave();
}

static void names_that_repeat_are_named(void)
{
    const struct bytes a = array(24);
    folder_enter();
    zip.count = zip.file.length = 0;
    zip_add(&zip, "a.npy", &a);
    zip_add(&zip, "b.npy", &a);
    zip_add(&zip, "a.npy", &a);
    zip_finish(&zip, false);
    refused(": member 'a.npy' occurs twice");
    folder_leave();
}

static void members_must_be_arrays_of_their_size(void)
{
    static const struct {
        size_t data_size;
        const char *want;
    } sizes[] = {
        {23, ": member 'a.npy': truncated: 6 elements of type <f4 need 24 bytes, but there are 23"},
        {25, ": member 'a.npy': 6 elements of type <f4 need 24 bytes, but the member has 25"},
    };
    folder_enter();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct bytes a = array(sizes[i].data_size);
        zip.count = zip.file.length = 0;
        zip_add(&zip, "a.npy", &a);
        zip_finish(&zip, false);
        refused(sizes[i].want);
    }
    struct bytes other = array(24);
    other.length = 6;
    zip.count = zip.file.length = 0;
    zip_add(&zip, "a.npy", &other);
    zip_finish(&zip, false);
    refused(": member 'a.npy': truncated: a .npy file begins with 10 bytes, but there are 6");
    other.length = 0;
    put(&other, "\x80\x04pickle", 8);
    zip.count = zip.file.length = 0;
    zip_add(&zip, "a.npy", &other);
    zip_finish(&zip, false);
    refused(": member 'a.npy': its first bytes are not those of .npy");
    folder_leave();
}

/* Sizes and CRC are 0 in the local header, as written by a writer that cannot seek. */
static void sizes_may_follow_the_data(void)
{
    const struct bytes a = array(24);
    folder_enter();
    zip.count = zip.file.length = 0;
    zip_add(&zip, "a.npy", &a);
    put(&zip.file, "PK\7\10", 4);
    put_number(&zip.file, zip.members[0].crc, 4);
    put_number(&zip.file, a.length, 4);
    put_number(&zip.file, a.length, 4);
    zip_add(&zip, "b/../c.npy", &a);
    zip_finish(&zip, false);
    patch(&zip.file, zip.members[0].local + 6, 8, 2);
    patch(&zip.file, zip.members[0].local + 14, 0, 4);
    patch(&zip.file, zip.members[0].local + 18, 0, 8);
    patch(&zip.file, zip.members[0].entry + 8, 8, 2);
    expect_two();
    folder_leave();
}

/* More members than a 16-bit count can hold; small ones, to keep the test fast. */
static void many_members_need_the_wide_records(void)
{
    enum { MANY = 70000 };
    folder_enter();
    FILE *const file = fopen("x.npz", "wb");
    if (!CHECK(file != NULL))
        return;
    struct bytes a = npy_make(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (), }", 55, 1);
    struct zip *const one = &zip;
    uint64_t at = 0, size = 0;
    for (unsigned pass = 0; pass < 2; pass++) { /* first the members, then the directory */
        for (size_t i = 0; i < MANY; i++) {
            char name[16];
            snprintf(name, sizeof name, "%05zu.npy", i);
            one->count = one->file.length = 0;
            zip_add(one, name, &a);
            const size_t member = one->file.length;
            zip_finish(one, false);
            patch(&one->file, one->members[0].entry + 42, i * member, 4);
            const size_t from = pass == 0 ? 0 : member, to = pass == 0 ? member : one->end;
            CHECK(fwrite(one->file.data + from, 1, to - from, file) == to - from);
            *(pass == 0 ? &at : &size) += to - from;
        }
    }
    one->count = one->file.length = 0;
    zip_finish(one, true);
    patch(&one->file, one->end64 + 24, MANY, 8);
    patch(&one->file, one->end64 + 32, MANY, 8);
    patch(&one->file, one->end64 + 40, size, 8);
    patch(&one->file, one->end64 + 48, at, 8);
    patch(&one->file, one->end64 + 56 + 8, at + size, 8);
    CHECK(fwrite(one->file.data, 1, one->file.length, file) == one->file.length);
    CHECK(fclose(file) == 0);
    if (container_opens("x.npz", NULL)) {
        CHECK_U64(container->tensor_count, MANY);
        CHECK_STR(container->tensors[MANY - 1].name, "69999");
        dti_container_free(container);
    }
    folder_leave();
}

/* With the longest names: 46 + 65535 bytes a member. */
static void a_directory_has_at_most_100_million_bytes(void)
{
    static const char longest[65535] = "x";
    for (size_t count = 1524; count <= 1525; count++) {
        struct dti_zip_writing file;
        struct dti_new_head head;
        uint64_t size = 0;
        dti_new_head_init(&head);
        error.text[0] = '\0';
        if (CHECK(dti_zip_begin(&file, &head, count, &error) == DTI_OK)) {
            for (file.count = 0; file.count < count; file.count++)
                file.members[file.count] =
                    (struct dti_zip_member){.name = longest, .name_length = sizeof longest};
            CHECK_U64(dti_zip_finish(&file, &size, &error), count == 1524 ? DTI_OK : DTI_BAD_INPUT);
            CHECK_STR(error.text, count == 1524
                                      ? ""
                                      : "the directory of the file would have 100011025 bytes, "
                                        "more than 100000000");
            CHECK_U64(size, count == 1524 ? 1524 * (46 + 65535) + 22 : 0);
        }
        dti_zip_writing_free(&file);
        dti_new_head_free(&head);
    }
}

UNIT_MAIN(arrays_are_found_in_both_kinds_of_archives, the_order_is_that_of_the_data,
          a_comment_may_follow, other_members_are_noted, an_empty_archive_has_no_tensors,
          archives_of_other_things_are_refused, every_prefix_is_refused,
          names_that_repeat_are_named, members_must_be_arrays_of_their_size,
          sizes_may_follow_the_data, many_members_need_the_wide_records,
          a_directory_has_at_most_100_million_bytes)

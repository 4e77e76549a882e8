/* SPDX-License-Identifier: MIT
 *
 * PyTorch files in explicit byte order, so that little-endian and big-endian machines read the same
 * numbers: a storage of six fp32 and views of it, in the legacy format, which needs no archive. */
#include <string.h>

#include "containers/containers.h"
#include "folder.h"
#include "unit.h"

static const char start[] = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e"
                            "\x80\x02M\xe9\x03.\x80\x02}U\x0dlittle_endian";
#define STORAGE            "(U\7storagectorch\nFloatStorage\nU\1kU\3cpuK\6NtQ"
#define TENSOR(name, view) "U\1" name "ctorch._utils\n_rebuild_tensor_v2\n(" STORAGE view "\x89NtR"
/* offset, shape, strides */
static const char saved[] = "s.\x80\x02}(" TENSOR("a", "K\0K\2K\3\x86K\3K\1\x86")
    TENSOR("t", "K\0K\3K\2\x86K\1K\3\x86") TENSOR("s", "K\1K\2K\2\x86K\3K\1\x86")
        TENSOR("e", "K\2K\2K\2\x86K\0K\2\x86") "U\1nJ\xff\xff\xff\xffu."
                                               "\x80\x02]U\1ka.";

static size_t make(unsigned char *file, bool big)
{
    size_t at = sizeof start - 1;
    memcpy(file, start, at);
    file[at++] = big ? 0x89 : 0x88;
    memcpy(file + at, saved, sizeof saved - 1);
    at += sizeof saved - 1;
    const unsigned char count[8] = {6};
    memcpy(file + at, count, sizeof count);
    at += sizeof count;
    for (unsigned i = 0; i < 6; i++) { /* 1, 2, 4, 8, 16, 32 */
        const uint32_t code = UINT32_C(0x3f800000) + (i << 23);
        for (unsigned byte = 0; byte < 4; byte++)
            file[at++] = (unsigned char)(code >> (big ? 24 - 8 * byte : 8 * byte));
    }
    return at;
}

static void check_tensor(struct dti_container *container, const char *name, const unsigned *powers)
{
    size_t index = 0;
    while (index < container->tensor_count && strcmp(container->tensors[index].name, name) != 0)
        index++;
    if (!CHECK(index < container->tensor_count))
        return;
    const struct dti_tensor *const tensor = &container->tensors[index];
    const struct dti_input *input;
    unsigned char data[24];
    uint64_t offset;
    CHECK(dti_container_data(container, index, &input, &offset, NULL) == DTI_OK);
    CHECK(tensor->bytes <= sizeof data && tensor->bytes == 4 * tensor->elements);
    CHECK(dti_input_read_at(input, data, (size_t)tensor->bytes, offset, NULL) == DTI_OK);
    for (uint64_t i = 0; i < tensor->elements; i++)
        CHECK_U64(dti_storage_get(tensor->format, &tensor->layout, data, i),
                  UINT32_C(0x3f800000) + (powers[i] << 23));
}

static void views_are_read_in_both_byte_orders(void)
{
    unsigned char file[1024];
    folder_enter();
    for (unsigned big = 0; big < 2; big++) {
        struct dti_container *container;
        struct dti_error error = {.status = DTI_OK};
        file_make("x.pt", file, make(file, big));
        if (!CHECK(dti_container_open(&container, "x.pt", NULL, &error) == DTI_OK)) {
            printf("    %s\n", error.text);
            continue;
        }
        CHECK(container->kind == DTI_CONTAINER_PYTORCH);
        CHECK_U64(container->tensor_count, 4);
        check_tensor(container, "a", (const unsigned[]){0, 1, 2, 3, 4, 5});
        check_tensor(container, "t", (const unsigned[]){0, 1, 2, 3, 4, 5}); /* in Fortran order */
        check_tensor(container, "s", (const unsigned[]){1, 2, 4, 5});
        check_tensor(container, "e", (const unsigned[]){2, 4, 2, 4});
        CHECK(container->tensors[1].fortran && container->tensors[2].strided);
        CHECK_U64(container->note_count, 2);
        dti_container_free(container);
    }
    folder_leave();
}

static void every_prefix_is_refused(void)
{
    unsigned char file[1024];
    const size_t size = make(file, false);
    folder_enter();
    for (size_t length = 1; length < size; length++) {
        struct dti_container *container;
        struct dti_error error = {.status = DTI_OK};
        file_make("x.pt", file, length);
        if (!CHECK(dti_container_open(&container, "x.pt", NULL, &error) == DTI_BAD_INPUT))
            dti_container_free(container);
        CHECK(strstr(error.text, "'x.pt'") == error.text);
    }
    folder_leave();
}

UNIT_MAIN(views_are_read_in_both_byte_orders, every_prefix_is_refused)

/* SPDX-License-Identifier: MIT
 *
 * Any bytes as a .npz file: an error that names the file, or arrays within it, apart from each
 * other; compressed ones unpack to what they announced, or not at all. */
#include <string.h>

#include "containers/containers.h"
#include "fuzz_arrays.h"

const char *const dti_fuzz_words[] = {
    "PK\3\4",
    "PK\1\2",
    "PK\5\6",
    "PK\6\6",
    "PK\6\7",
    "\x14",
    "\1\1\1\1",
    "a.npy",
    ".npy",
    "\x93NUMPY\1",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
    "\xff\xff\xff\xff",
    NULL,
};

enum { UNPACKED_MAX = 1 << 20 };

/* All data in pieces: they are there, and the last piece says whether the CRC is right. */
static void check_data(struct dti_container *container, size_t index)
{
    static unsigned char piece[4096];
    const struct dti_tensor *const tensor = &container->tensors[index];
    const struct dti_input *input;
    struct dti_error error = {.status = DTI_OK};
    uint64_t offset;
    enum dti_status status = dti_container_data(container, index, &input, &offset, &error);
    if (status == DTI_OK)
        REQUIRE(offset <= input->size && tensor->bytes <= input->size - offset);
    for (uint64_t done = 0; status == DTI_OK && done < tensor->bytes;) {
        const uint64_t left = tensor->bytes - done;
        const size_t size = left < sizeof piece ? (size_t)left : sizeof piece;
        status = dti_input_read_at(input, piece, size, offset + done, &error);
        done += size;
    }
    if (status != DTI_OK)
        check_error(status, &error);
}

static void check_arrays(struct dti_container *container)
{
    uint64_t end = 0;
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        check_array(container, tensor);
        REQUIRE(tensor->offset >= end);
        if (!tensor->compressed)
            end = tensor->offset + tensor->bytes;
        if (tensor->bytes <= UNPACKED_MAX)
            check_data(container, i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dti_pool pool = {.chunks = NULL};
    struct dti_container_file file = {.path = "input", .input = fuzz_file(data, size)};
    struct dti_container container = {
        .kind = DTI_CONTAINER_NPZ, .path = "input", .file_count = 1, .files = &file};
    struct dti_error error = {.status = DTI_OK};
    const enum dti_status status = dti_container_read(&container, &pool, NULL, &error);
    if (status == DTI_OK) {
        check_arrays(&container);
        dti_container_ops(container.kind)->free(&container);
    } else {
        check_error(status, &error);
        REQUIRE(!container.own);
    }
    dti_pool_free(&pool);
    return 0;
}

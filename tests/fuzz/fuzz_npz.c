/* SPDX-License-Identifier: MIT
 *
 * Arbitrary bytes as a .npz file: an error that names the file, or arrays inside it that do not
 * overlap. Compressed arrays unpack to exactly the announced size or fail. */
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

static void check_arrays(struct dti_container *container)
{
    uint64_t end = 0;
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        check_array(container, tensor);
        REQUIRE(tensor->offset >= end);
        if (!tensor->compressed)
            end = tensor->offset + (tensor->strided ? 0 : tensor->bytes);
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

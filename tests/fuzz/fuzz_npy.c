/* SPDX-License-Identifier: MIT
 *
 * Arbitrary bytes as a .npy file: an error that names the file, or arrays whose data exists and
 * whose headers read back after we write them. The first byte selects the dtype assumed for lost
 * types, and whether the rest is a file or only the text of a header. */
#include <string.h>

#include "containers/containers.h"
#include "containers/npy/npy.h"
#include "fuzz_arrays.h"

/* clang-format off */
const char *const dti_fuzz_words[] = {
    "\1\x93NUMPY\1", "\3\x93NUMPY\3", "\4", "\5", "\x0c", "\x14",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", "{", "}", "{'descr': ",
    "'fortran_order': ", "'shape': (", "True, ", "False, ", "'<f8', ", "'|V2', ", "'|O', ",
    "'<M8[ns]'", "[('a', '<f4'), ", "('b', '|u1', (2,))]", "(", ")", "[", "]", ",", ", ", "()",
    "3L", "0", "18446744073709551616", "9223372036854775807", "'", "\"", "\\x4", "\\", "\n", " ",
    NULL,
};
/* clang-format on */

/* Writes the array's header, without data, and reads it back. */
static void check_written(const struct dti_tensor *tensor)
{
    struct dti_new_tensor new = {.name = tensor->name,
                                 .name_length = tensor->name_length,
                                 .format = tensor->format,
                                 .rank = tensor->rank,
                                 .shape = tensor->shape,
                                 .fortran = tensor->fortran};
    struct dti_new_head head;
    uint64_t size;
    dti_new_head_init(&head);
    if (dti_npy_stores(new.format, &new.layout)) {
        REQUIRE(dti_npy_layout(&new, 1, NULL, 0, &head, &size, NULL) == DTI_OK);
        REQUIRE(new.bytes == tensor->bytes &&size == head.text.length + new.bytes);
        struct dti_pool pool = {.chunks = NULL};
        struct dti_container_file file = {.path = "input"};
        struct dti_container again = {
            .kind = DTI_CONTAINER_NPY, .path = "input", .file_count = 1, .files = &file};
        const struct dti_container_options options = {.assume = tensor->format};
        file.input = fuzz_file((const uint8_t *)head.text.data, head.text.length);
        file.input.size = size; /* the data is never read */
        REQUIRE(dti_container_read(&again, &pool, &options, NULL) == DTI_OK);
        const struct dti_tensor *const back = &again.tensors[0];
        REQUIRE(back->rank == tensor->rank && back->fortran == tensor->fortran && back->format &&
                strcmp(back->format->name, tensor->format->name) == 0);
        for (unsigned i = 0; i < back->rank; i++)
            REQUIRE(back->shape[i] == tensor->shape[i]);
        dti_pool_free(&pool);
    }
    dti_new_head_free(&head);
}

enum { TEXT_MAX = 4000, ZEROS = 64 };

/* The bytes as a file, or as the text of a header followed by some data. */
static struct dti_input make_file(unsigned choice, const uint8_t *data, size_t size)
{
    static uint8_t made[12 + TEXT_MAX + ZEROS];
    if ((choice & 4) == 0 || size > TEXT_MAX)
        return fuzz_file(data, size);
    const unsigned major = 1 + (choice >> 3) % 3;
    const size_t start = major == 1 ? 10 : 12;
    memset(made, 0, sizeof made);
    memcpy(made, "\x93NUMPY", 6);
    made[6] = (uint8_t)major;
    made[8] = (uint8_t)(size & 0xFF);
    made[9] = (uint8_t)(size >> 8);
    memcpy(made + start, data, size);
    return fuzz_file(made, start + size + ZEROS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum dti_dtype assumed[] = {DTI_BF16, DTI_FP4_E2M1, DTI_COMPLEX64};
    if (size == 0)
        return 0;
    const unsigned assume = data[0] % 4;
    const struct dti_container_options options = {
        .assume = assume < 3 ? dti_format_get(assumed[assume]) : NULL};
    struct dti_pool pool = {.chunks = NULL};
    struct dti_container_file file = {.path = "input",
                                      .input = make_file(data[0], data + 1, size - 1)};
    struct dti_container container = {
        .kind = DTI_CONTAINER_NPY, .path = "input", .file_count = 1, .files = &file};
    struct dti_error error = {.status = DTI_OK};
    const enum dti_status status = dti_container_read(&container, &pool, &options, &error);
    if (status == DTI_OK) {
        REQUIRE(container.tensor_count > 0 && container.tensors[0].offset >= file.header_bytes);
        for (size_t i = 0; i < container.tensor_count; i++) {
            check_array(&container, &container.tensors[i]);
            check_data(&container, i);
        }
        for (size_t i = 0; i < container.tensor_count; i++) { /* this overwrites the file */
            if (container.tensors[i].format)
                check_written(&container.tensors[i]);
        }
        dti_container_ops(container.kind)->free(&container);
    } else {
        check_error(status, &error);
    }
    dti_pool_free(&pool);
    return 0;
}

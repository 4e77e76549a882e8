/* SPDX-License-Identifier: MIT
 *
 * ONNX models. Any file gives a one-line error, or tensors with distinct names whose data is in the
 * file or can be decoded. Decoding never fails for a model that opened. */
#include <string.h>

#include "containers/containers.h"
#include "fuzz_file.h"

const char *const dti_fuzz_words[] = {
    "\x08\x0a",
    "\x12\1x",
    "\x3a\x10",
    "\x3a\x20",
    "\x2a\x0a",
    "\x2a\x0c",
    "\x0a\x10",
    "\x0a\x20",
    "\x08\2",
    "\x08\1",
    "\x10\1",
    "\x10\5",
    "\x10\7",
    "\x10\x0a",
    "\x10\x0b",
    "\x10\x0e",
    "\x10\x16",
    "\x10\x1b",
    "\x10\x08",
    "\x42\1a",
    "\x42\1b",
    "\x4a\x08zzzzzzzz",
    "\x4a\4zzzz",
    "\x22\4zzzz",
    "\x25zzzz",
    "\x2a\1\1",
    "\x2a\2\xff\1",
    "\x28\1",
    "\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\1",
    "\x3a\1\2",
    "\x38\1",
    "\x52\x08zzzzzzzz",
    "\x51zzzzzzzz",
    "\x5a\1\3",
    "\x58\3",
    "\x70\1",
    "\x6a\x0d\x0a\x08location\x12\1x",
    "\x6a\x0b\x0a\6offset\x12\1"
    "4",
    "\x12\1o",
    "\x1a\1n",
    "\x22\x08"
    "Constant",
    "\x2a\x10",
    "\x32\x10",
    "\x0a\5value",
    "\x7a\x10",
    "\xca\1\x10",
    "\xa2\1\x10",
    "\x0a\1x",
    "\x0a\1a",
    "\x0a\1b",
    "\x22\x10"
    "DequantizeLinear",
    "\x22\x0b"
    "MatMulNBits",
    "\x22\x14"
    "GatherBlockQuantized",
    "\x3a\x0d"
    "com.microsoft",
    "\x2a\x08\x0a\4axis\x18\1",
    "\x2a\x0e\x0a\nblock_size\x18\4",
    "\xaa\1\1p",
    "\x5a\3\x0a\1x",
    "\x0b",
    "\x80\x80",
    "\x72\6\x0a\1k\x12\1v",
    "\x42\2\x10\x15",
    NULL,
};

enum { DECODED_MAX = 1 << 20 };

static void check_tensor(const struct dti_container *container, const struct dti_tensor *tensor)
{
    const struct dti_input *const input = &container->files[tensor->file].input;
    uint64_t elements = 1, bytes;
    bool empty = false;
    REQUIRE(tensor->name[tensor->name_length] == '\0' && tensor->rank <= 64 && tensor->stored_as);
    for (unsigned i = 0; i < tensor->rank; i++)
        empty = empty || tensor->shape[i] == 0;
    for (unsigned i = 0; i < tensor->rank && !empty; i++)
        elements *= tensor->shape[i];
    REQUIRE(tensor->elements == (empty ? 0 : elements) && tensor->elements <= INT64_MAX);
    REQUIRE((tensor->format == NULL) == (dti_tensor_refusal(tensor) != NULL));
    REQUIRE(tensor->offset <= input->size);
    REQUIRE(tensor->compressed || dti_tensor_refusal(tensor) ||
            tensor->bytes <= input->size - tensor->offset);
    if (tensor->format && tensor->format->kind != DTI_KIND_COMPLEX)
        REQUIRE(dti_format_bytes(tensor->format, &tensor->layout, tensor->elements, &bytes) &&
                bytes == tensor->bytes);
}

/* The scale and zero point are other tensors of the container; only a weight with a problem may
 * refer to itself. */
static void check_weight(const struct dti_container *container, size_t at)
{
    const struct dti_onnx_weight *const weight = dti_container_weight(container, at);
    if (!weight)
        return;
    REQUIRE(weight->op < DTI_ONNX_OPERATORS);
    REQUIRE(weight->scale < container->tensor_count ||
            (weight->scale == SIZE_MAX && weight->problem));
    REQUIRE(weight->zero < container->tensor_count || weight->zero == SIZE_MAX);
    REQUIRE((weight->scale != at && weight->zero != at) || weight->problem);
    if (weight->scale != SIZE_MAX)
        REQUIRE(container->tensors[weight->scale].part_of_weight);
}

static void check_data(struct dti_container *container, size_t at)
{
    const struct dti_tensor *const tensor = &container->tensors[at];
    const struct dti_input *input;
    uint64_t offset;
    struct dti_error error;
    if (dti_tensor_refusal(tensor) || tensor->bytes > DECODED_MAX)
        return;
    REQUIRE(dti_container_data(container, at, &input, &offset, &error) == DTI_OK);
    REQUIRE(offset <= input->size && tensor->bytes <= input->size - offset);
}

static void check_names(const struct dti_container *container)
{
    for (size_t i = 0; i < container->tensor_count && container->tensor_count < 1000; i++) {
        const struct dti_tensor *const one = &container->tensors[i];
        for (size_t j = 0; j < i; j++)
            REQUIRE(container->tensors[j].name_length != one->name_length ||
                    memcmp(container->tensors[j].name, one->name, one->name_length) != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dti_pool pool = {.chunks = NULL};
    struct dti_container_file file = {.path = "x", .input = fuzz_file(data, size)};
    struct dti_container container = {
        .kind = DTI_CONTAINER_ONNX, .path = "none/x", .files = &file, .file_count = 1};
    struct dti_error error = {.status = DTI_OK};
    const struct dti_foreign *foreign;
    (void)dti_content_of("x", data, size < DTI_HEAD_SIZE ? size : DTI_HEAD_SIZE, size, &foreign);
    const enum dti_status status = dti_container_read(&container, &pool, NULL, &error);
    if (status == DTI_OK) {
        REQUIRE(container.file_count == 1); /* there is no folder with other files */
        check_names(&container);
        for (size_t i = 0; i < container.tensor_count; i++) {
            check_tensor(&container, &container.tensors[i]);
            check_weight(&container, i);
            check_data(&container, i);
        }
        dti_container_ops(DTI_CONTAINER_ONNX)->free(&container);
    } else {
        REQUIRE(status == DTI_BAD_INPUT && error.status == status && error.text[0] != '\0');
        for (const char *c = error.text; *c; c++)
            REQUIRE((unsigned char)*c >= ' ' && *c != 0x7f);
    }
    dti_pool_free(&pool);
    return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * Properties of every array found in a .npy, .npz or PyTorch file, and of every error. */
#ifndef DTINFO_FUZZ_ARRAYS_H
#define DTINFO_FUZZ_ARRAYS_H

#include "containers/container.h"
#include "fuzz_file.h"
#include "util/checked.h"

static inline void check_text_is_safe(const char *text)
{
    for (; *text != '\0'; text++)
        REQUIRE((unsigned char)*text >= ' ' && *text != 0x7f);
}

static inline void check_error(enum dti_status status, const struct dti_error *error)
{
    REQUIRE(status == DTI_BAD_INPUT && error->status == status);
    REQUIRE(error->text[0] == '\'');
    check_text_is_safe(error->text);
}

/* The array lies in its file, its numbers are consistent, and it has a dtype or a reason for
 * refusal. */
static inline void check_array(const struct dti_container *container,
                               const struct dti_tensor *tensor)
{
    const uint64_t size = container->files[0].input.size;
    uint64_t elements = 1;
    for (unsigned i = 0; i < tensor->rank; i++)
        REQUIRE(tensor->shape[i] == 0 || elements == 0 ||
                dti_mul_u64(elements, tensor->shape[i], &elements));
    for (unsigned i = 0; i < tensor->rank; i++)
        elements = tensor->shape[i] == 0 ? 0 : elements;
    REQUIRE(tensor->elements == elements);
    REQUIRE(tensor->offset <= size);
    REQUIRE(tensor->compressed || tensor->strided || dti_tensor_refusal(tensor) ||
            tensor->bytes <= size - tensor->offset);
    REQUIRE(tensor->name[tensor->name_length] == '\0');
    REQUIRE((tensor->format == NULL) == (dti_tensor_refusal(tensor) != NULL));
    check_text_is_safe(tensor->stored_as);
    if (dti_tensor_refusal(tensor))
        check_text_is_safe(dti_tensor_refusal(tensor));
    if (tensor->format && tensor->format->kind != DTI_KIND_COMPLEX) {
        uint64_t bytes = 0;
        REQUIRE(dti_format_bytes(tensor->format, &tensor->layout, elements, &bytes));
        REQUIRE(bytes == tensor->bytes);
    }
    for (size_t i = 0; i < container->note_count; i++)
        check_text_is_safe(container->notes[i].text);
}

/* Reads all data in pieces, up to a size limit. A read may fail only for damaged data that is
 * compressed or has a checksum. */
static inline void check_data(struct dti_container *container, size_t index)
{
    enum { MOST = 1 << 20 };
    static unsigned char piece[4096];
    const struct dti_tensor *const tensor = &container->tensors[index];
    const struct dti_input *input;
    struct dti_error error = {.status = DTI_OK};
    uint64_t offset;
    if (tensor->bytes > MOST)
        return;
    enum dti_status status = dti_container_data(container, index, &input, &offset, &error);
    if (status == DTI_OK)
        REQUIRE(offset <= input->size && tensor->bytes <= input->size - offset);
    for (uint64_t done = 0; status == DTI_OK && done < tensor->bytes;) {
        const uint64_t left = tensor->bytes - done;
        const size_t size = left < sizeof piece ? (size_t)left : sizeof piece;
        status = dti_input_read_at(input, piece, size, offset + done, &error);
        done += size;
    }
    if (status != DTI_OK) {
        check_error(status, &error);
        REQUIRE(tensor->compressed || container->kind == DTI_CONTAINER_NPZ);
    }
}

#endif

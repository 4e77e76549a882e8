/* SPDX-License-Identifier: MIT
 *
 * A file without a header: all of it is one tensor, and the command line says what of. */
#include <string.h>

#include "containers/containers.h"
#include "dtinfo/checked.h"

bool dti_tensor_bytes(const struct dti_format *format, const struct dti_layout *layout,
                      unsigned rank, const uint64_t *shape, uint64_t *ret_bytes)
{
    uint64_t elements = 1;
    for (unsigned i = 0; i < rank; i++) {
        if (!dti_mul_u64(elements, shape[i], &elements))
            return false;
    }
    if (format->kind != DTI_KIND_COMPLEX)
        return dti_format_bytes(format, layout, elements, ret_bytes);
    return dti_mul_u64(elements, 2, &elements) &&
           dti_format_bytes(dti_format_get(format->component), layout, elements, ret_bytes);
}

/* Bits that an element takes in a file. */
static unsigned stored_bits(const struct dti_raw *raw)
{
    if (raw->format.kind != DTI_KIND_COMPLEX)
        return dti_format_stored_bits(&raw->format, &raw->layout);
    return 2 * dti_format_stored_bits(dti_format_get(raw->format.component), &raw->layout);
}

/* Elements are packed: bits of the last byte that are too few for another must be zero. */
static enum dti_status check_padding(const struct dti_input *input, const struct dti_raw *raw,
                                     unsigned padding, const char *label, struct dti_error *reterr)
{
    unsigned char last;
    const enum dti_status status = dti_input_read_at(input, &last, 1, input->size - 1, reterr);
    if (status != DTI_OK)
        return status;
    return dti_storage_check_padding(&raw->format, &raw->layout, last, padding, label, reterr);
}

/* How many elements there are when no shape says. */
static enum dti_status count_elements(const struct dti_input *input, const struct dti_raw *raw,
                                      const char *label, uint64_t *ret_elements,
                                      struct dti_error *reterr)
{
    uint64_t elements;
    unsigned left;
    enum dti_status status = dti_storage_count(&raw->format, stored_bits(raw), input->size, label,
                                               &elements, &left, reterr);
    if (status == DTI_OK && left > 0)
        status = check_padding(input, raw, left, label, reterr);
    if (status != DTI_OK)
        return status;
    *ret_elements = elements;
    return DTI_OK;
}

/* The shape as given must account for every byte. */
static enum dti_status check_shape(const struct dti_input *input, const struct dti_raw *raw,
                                   const char *label, uint64_t *ret_elements,
                                   struct dti_error *reterr)
{
    uint64_t bytes, elements = 1;
    if (!dti_tensor_bytes(&raw->format, &raw->layout, raw->rank, raw->shape, &bytes))
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: the shape has too many elements", label);
    for (unsigned i = 0; i < raw->rank; i++)
        elements *= raw->shape[i];
    if (bytes != input->size)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: the shape has %llu elements, which are %llu bytes of %s; the file has "
                        "%llu",
                        label, (unsigned long long)elements, (unsigned long long)bytes,
                        raw->format.name, (unsigned long long)input->size);
    const unsigned bits = stored_bits(raw);
    const unsigned used = (unsigned)(elements % 8 * bits % 8);
    if (used > 0) {
        const enum dti_status status = check_padding(input, raw, 8 - used, label, reterr);
        if (status != DTI_OK)
            return status;
    }
    *ret_elements = elements;
    return DTI_OK;
}

enum dti_status dti_raw_read(struct dti_pool *pool, struct dti_container_file *file,
                             const struct dti_raw *raw, struct dti_tensor *ret,
                             struct dti_error *reterr)
{
    const struct dti_input *const input = &file->input;
    char label[DTI_QUOTE_SIZE];
    dti_input_label(input, label);
    uint64_t elements = 0;
    const enum dti_status status = raw->shaped
                                       ? check_shape(input, raw, label, &elements, reterr)
                                       : count_elements(input, raw, label, &elements, reterr);
    if (status != DTI_OK)
        return status;

    const unsigned rank = raw->shaped ? raw->rank : 1;
    uint64_t *const shape = dti_pool_array(pool, rank, sizeof *shape);
    struct dti_format *const format = dti_pool_alloc(pool, sizeof *format);
    if (!shape || !format)
        return dti_no_memory(reterr);
    if (!raw->shaped)
        shape[0] = elements;
    else if (rank > 0)
        memcpy(shape, raw->shape, rank * sizeof *shape);
    *format = raw->format;
    file->header_bytes = 0;
    *ret = (struct dti_tensor){
        .name = "data",
        .name_length = strlen("data"),
        .stored_as = format->name,
        .format = format,
        .layout = raw->layout,
        .rank = rank,
        .shape = shape,
        .elements = elements,
        .bytes = input->size,
    };
    return DTI_OK;
}

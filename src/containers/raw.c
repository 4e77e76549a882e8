/* SPDX-License-Identifier: MIT
 *
 * A file without a header: the whole file is one tensor, whose dtype comes from the command line.
 */
#include <inttypes.h>
#include <string.h>

#include "containers/containers.h"
#include "util/checked.h"

/* Bytes and elements of a tensor, complex or not; false: 64-bit overflow. */
static bool measure(const struct dti_format *format, const struct dti_layout *layout, unsigned rank,
                    const uint64_t *shape, uint64_t *ret_elements, uint64_t *ret_bytes)
{
    const bool complex = format->kind == DTI_KIND_COMPLEX;
    uint64_t elements = 1, parts;
    for (unsigned i = 0; i < rank; i++) {
        if (!dti_mul_u64(elements, shape[i], &elements))
            return false;
    }
    *ret_elements = elements;
    return dti_mul_u64(elements, complex ? 2 : 1, &parts) &&
           dti_format_bytes(complex ? dti_format_get(format->component) : format, layout, parts,
                            ret_bytes);
}

/* Bits per element in a file. */
static unsigned stored_bits(const struct dti_raw *raw)
{
    if (raw->format.kind != DTI_KIND_COMPLEX)
        return dti_format_stored_bits(&raw->format, &raw->layout);
    return 2 * dti_format_stored_bits(dti_format_get(raw->format.component), &raw->layout);
}

/* Elements are packed: unused bits of the last byte must be zero. */
static bool check_padding(struct dti_opening *opening, unsigned padding)
{
    const struct dti_raw *const raw = opening->options.raw;
    unsigned char last;
    return padding == 0 ||
           (dti_opening_read(opening, &last, 1, opening->file->input.size - 1) &&
            dti_opening_goes_on(opening,
                                dti_storage_check_padding(&raw->format, &raw->layout, last, padding,
                                                          opening->label, opening->error)));
}

/* The number of elements if no shape is given. */
static bool count_elements(struct dti_opening *opening, uint64_t *ret_elements)
{
    const struct dti_raw *const raw = opening->options.raw;
    unsigned left;
    return dti_opening_goes_on(opening, dti_storage_count(&raw->format, stored_bits(raw),
                                                          opening->file->input.size, opening->label,
                                                          ret_elements, &left, opening->error)) &&
           check_padding(opening, left);
}

/* A given shape must account for every byte. */
static bool check_shape(struct dti_opening *opening, uint64_t *ret_elements)
{
    const struct dti_raw *const raw = opening->options.raw;
    uint64_t bytes, elements;
    if (!measure(&raw->format, &raw->layout, raw->rank, raw->shape, &elements, &bytes))
        return dti_opening_refuse(opening, ": the shape has too many elements");
    if (bytes != opening->file->input.size)
        return dti_opening_refuse(opening,
                                  ": the shape has %" PRIu64 " elements, which are %" PRIu64
                                  " bytes of %s; the file has %" PRIu64,
                                  elements, bytes, raw->format.name, opening->file->input.size);
    const unsigned used = (unsigned)(elements % 8 * stored_bits(raw) % 8);
    *ret_elements = elements;
    return check_padding(opening, used > 0 ? 8 - used : 0);
}

static bool open_raw(struct dti_opening *opening)
{
    const struct dti_raw *const raw = opening->options.raw;
    uint64_t elements;
    if (!(raw->shaped ? check_shape(opening, &elements) : count_elements(opening, &elements)))
        return false;
    struct dti_tensor *const tensor = dti_opening_tensors(opening, 1);
    const struct dti_format *const format =
        dti_opening_copy(opening, &raw->format, 1, sizeof *format);
    const unsigned rank = raw->shaped ? raw->rank : 1;
    const uint64_t *const shape =
        dti_opening_copy(opening, raw->shaped ? raw->shape : &elements, rank, sizeof *shape);
    if (!tensor || !format || !shape)
        return false;
    *tensor = (struct dti_tensor){
        .name = "data",
        .name_length = strlen("data"),
        .stored_as = format->name,
        .format = format,
        .layout = raw->layout,
        .rank = rank,
        .shape = shape,
        .elements = elements,
        .bytes = opening->file->input.size,
    };
    return true;
}

static bool stores(const struct dti_format *format, struct dti_layout *ret_layout)
{
    *ret_layout = dti_file_layout(format, DTI_PACKING_LOW, false);
    return true;
}

static enum dti_status layout(struct dti_new_tensor *tensors, size_t count,
                              const struct dti_metadata *metadata, size_t metadata_count,
                              struct dti_new_head *ret_head, uint64_t *ret_size,
                              struct dti_error *reterr)
{
    (void)metadata, (void)metadata_count, (void)ret_head;
    if (count != 1)
        return dti_fail(reterr, DTI_BAD_INPUT, "a raw file holds one tensor, not %zu", count);
    struct dti_new_tensor *const tensor = &tensors[0];
    char name[DTI_QUOTE_SIZE];
    uint64_t elements, bytes;
    if (!measure(tensor->format, &tensor->layout, tensor->rank, tensor->shape, &elements, &bytes))
        return dti_fail(reterr, DTI_BAD_INPUT, "tensor %s: its shape has too many elements",
                        dti_quote(name, tensor->name, tensor->name_length));
    tensor->bytes = *ret_size = bytes;
    tensor->offset = 0;
    return DTI_OK;
}

const struct dti_container_ops dti_raw_ops = {
    .traits = DTI_TRAIT_BARE,
    .becomes = DTI_CONTAINER_RAW,
    .open = open_raw,
    .stores = stores,
    .layout = layout,
};

/* SPDX-License-Identifier: MIT
 *
 * What a new file of each kind can hold, and how it is laid out: the front of the writers. */
#include <string.h>

#include "containers/containers.h"
#include "containers/npy.h"
#include "containers/safetensors.h"

struct dti_layout dti_file_layout(const struct dti_format *format, enum dti_packing packing,
                                  bool file_is_big_endian)
{
    const struct dti_format *const part =
        format->kind == DTI_KIND_COMPLEX ? dti_format_get(format->component) : format;
    return (struct dti_layout){
        .packing = packing,
        .swapped = dti_format_container(part) > 1 && dti_is_swapped(file_is_big_endian),
    };
}

bool dti_container_stores(enum dti_container_kind kind, const struct dti_format *format,
                          struct dti_layout *ret_layout)
{
    switch (kind) {
    case DTI_CONTAINER_SAFETENSORS:
    case DTI_CONTAINER_SHARDED:
        return dti_safetensors_stores(format, ret_layout);
    case DTI_CONTAINER_NPY:
        return dti_npy_stores(format, ret_layout);
    case DTI_CONTAINER_RAW:
        *ret_layout = dti_file_layout(format, DTI_PACKING_LOW, false);
        return true;
    default:
        return false;
    }
}

static enum dti_status layout_raw(struct dti_new_tensor *tensors, size_t count, uint64_t *ret_size,
                                  struct dti_error *reterr)
{
    if (count != 1)
        return dti_fail(reterr, DTI_BAD_INPUT, "a raw file holds one tensor, not %zu", count);
    struct dti_new_tensor *const tensor = &tensors[0];
    char name[DTI_QUOTE_SIZE];
    uint64_t bytes;
    if (!dti_tensor_bytes(tensor->format, &tensor->layout, tensor->rank, tensor->shape, &bytes))
        return dti_fail(reterr, DTI_BAD_INPUT, "tensor %s: its shape has too many elements",
                        dti_quote(name, tensor->name, tensor->name_length));
    tensor->bytes = bytes;
    tensor->offset = 0;
    *ret_size = bytes;
    return DTI_OK;
}

enum dti_status dti_container_layout(enum dti_container_kind kind, struct dti_new_tensor *tensors,
                                     size_t count, const struct dti_metadata *metadata,
                                     size_t metadata_count, struct dti_buffer *ret_head,
                                     uint64_t *ret_size, struct dti_error *reterr)
{
    switch (kind) {
    case DTI_CONTAINER_SAFETENSORS:
    case DTI_CONTAINER_SHARDED:
        return dti_safetensors_layout(tensors, count, metadata, metadata_count, ret_head, ret_size,
                                      reterr);
    case DTI_CONTAINER_NPY:
        return dti_npy_layout(tensors, count, metadata, metadata_count, ret_head, ret_size, reterr);
    case DTI_CONTAINER_RAW:
        return layout_raw(tensors, count, ret_size, reterr);
    default:
        return dti_fail(reterr, DTI_USAGE, "%s files are read only", dti_container_name(kind));
    }
}

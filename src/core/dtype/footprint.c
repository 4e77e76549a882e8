/* SPDX-License-Identifier: MIT
 *
 * Computes sizes of arrays in bytes; the arrays need not exist. */
#include "core/dtype/footprint.h"

#include "core/dtype/storage.h"
#include "util/checked.h"

enum { TENSOR_SCALE_BYTES = 4 }; /* nvfp4: one fp32 */

const char *dti_stored_name(const struct dti_stored *stored)
{
    return stored->block  ? stored->block->name
           : stored->gguf ? stored->gguf->word
                          : stored->format.name;
}

bool dti_stored_find(const char *name, struct dti_stored *ret)
{
    *ret = (struct dti_stored){.block = dti_block_lookup(name)};
    if (!ret->block)
        ret->gguf = dti_gguf_type_named(name);
    return ret->block || ret->gguf;
}

unsigned dti_stored_elements(const struct dti_stored *stored)
{
    return stored->block ? stored->block->length : stored->gguf ? stored->gguf->elements : 0;
}

unsigned dti_stored_bytes(const struct dti_stored *stored)
{
    return stored->block ? stored->block->bytes : stored->gguf ? stored->gguf->bytes : 0;
}

bool dti_extent_of(const uint64_t *shape, unsigned rank, struct dti_extent *ret)
{
    struct dti_extent extent = {.elements = 1, .row = rank > 0 ? shape[rank - 1] : 1};
    for (unsigned i = 0; i < rank; i++) {
        if (shape[i] == 0) {
            *ret = (struct dti_extent){.elements = 0, .row = extent.row};
            return true;
        }
    }
    for (unsigned i = 0; i < rank; i++) {
        if (!dti_mul_u64(extent.elements, shape[i], &extent.elements))
            return false;
    }
    *ret = extent;
    return true;
}

static bool dtype_footprint(const struct dti_format *format, uint64_t elements,
                            struct dti_footprint *ret)
{
    const struct dti_layout packed = {.packing = DTI_PACKING_LOW};
    struct dti_footprint footprint = {.bytes = 0};
    if (format->kind == DTI_KIND_COMPLEX) {
        format = dti_format_get(format->component);
        if (!dti_mul_u64(elements, 2, &elements))
            return false;
    }
    if (!dti_format_bytes(format, &packed, elements, &footprint.bytes))
        return false;
    *ret = footprint;
    return true;
}

static bool block_footprint(const struct dti_stored *stored, const struct dti_extent *extent,
                            struct dti_footprint *ret)
{
    const struct dti_block_format *const block = stored->block;
    const uint64_t elements = dti_stored_elements(stored);
    const uint64_t rows = extent->elements / extent->row;
    const uint64_t in_row = extent->row / elements + (extent->row % elements != 0);
    const uint64_t scale =
        block ? dti_format_get(block->scale)->width / 8 : stored->gguf->other_bytes;
    const uint64_t tensor = block && block->family == DTI_BLOCKS_NV ? TENSOR_SCALE_BYTES : 0;
    struct dti_footprint footprint = {.bytes = 0};
    uint64_t padded;
    if (!dti_mul_u64(rows, in_row, &footprint.blocks) ||
        !dti_mul_u64(footprint.blocks, elements, &padded) ||
        !dti_mul_u64(footprint.blocks, dti_stored_bytes(stored), &footprint.bytes) ||
        !dti_add_u64(footprint.bytes, tensor, &footprint.bytes))
        return false;
    footprint.scale_bytes = footprint.blocks * scale + tensor; /* less than bytes */
    footprint.padding = padded - extent->elements;
    *ret = footprint;
    return true;
}

bool dti_footprint_of(const struct dti_stored *stored, const struct dti_extent *extent,
                      struct dti_footprint *ret)
{
    if (extent->elements == 0 || extent->row == 0) {
        *ret = (struct dti_footprint){.bytes = 0};
        return true;
    }
    return dti_stored_elements(stored) > 0
               ? block_footprint(stored, extent, ret)
               : dtype_footprint(&stored->format, extent->elements, ret);
}

bool dti_footprint_add(struct dti_footprint *sum, const struct dti_footprint *more)
{
    struct dti_footprint added;
    if (!dti_add_u64(sum->bytes, more->bytes, &added.bytes) ||
        !dti_add_u64(sum->scale_bytes, more->scale_bytes, &added.scale_bytes) ||
        !dti_add_u64(sum->blocks, more->blocks, &added.blocks) ||
        !dti_add_u64(sum->padding, more->padding, &added.padding))
        return false;
    *sum = added;
    return true;
}

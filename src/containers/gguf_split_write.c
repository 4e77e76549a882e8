/* SPDX-License-Identifier: MIT
 *
 * Which tensors go into which part of a GGUF that is to be split: in their order, as many as fit.
 */
#include <string.h>

#include "containers/gguf.h"

/* Sizes are known to fit: those of the whole file do. */
struct part_sizes {
    uint64_t alignment;
    uint64_t first, other; /* before descriptions of tensors: of the first part, of another */
    uint64_t head, data;   /* of the part at hand */
};

static uint64_t padded(const struct part_sizes *sizes, uint64_t bytes)
{
    return bytes + (sizes->alignment - bytes % sizes->alignment) % sizes->alignment;
}

static uint64_t description(const struct dti_new_tensor *tensor)
{
    return 8 + tensor->name_length + 4 + 8 * (uint64_t)tensor->rank + 4 + 8;
}

static uint64_t key(const char *name, size_t value)
{
    return 8 + strlen(name) + 4 + value;
}

static void start(struct part_sizes *ret, const struct dti_new_head *whole,
                  const struct dti_new_tensor *tensors, size_t count)
{
    enum { MAGIC = 4 + 4 + 8 + 8 };
    const uint64_t split = key(dti_gguf_split_keys[DTI_GGUF_SPLIT_NO], 2) +
                           key(dti_gguf_split_keys[DTI_GGUF_SPLIT_COUNT], 2) +
                           key(dti_gguf_split_keys[DTI_GGUF_SPLIT_TENSORS], 4);
    /* the last byte of the data may be in the text, too */
    uint64_t head = whole->count > 0 ? whole->pieces[0].length : whole->text.length;
    for (size_t i = 0; i < count; i++)
        head -= description(&tensors[i]);
    *ret = (struct part_sizes){
        .alignment = whole->from->pairs.alignment, .first = head + split, .other = MAGIC + split};
    if (ret->alignment != DTI_GGUF_ALIGNMENT)
        ret->other += key("general.alignment", 4);
    ret->head = ret->first;
}

/* Of the part, with a tensor more. */
static uint64_t size_with(const struct part_sizes *sizes, uint64_t head, uint64_t data,
                          const struct dti_new_tensor *tensor)
{
    return padded(sizes, head + description(tensor)) + data + padded(sizes, tensor->bytes);
}

void dti_gguf_divide(const struct dti_new_head *whole, const struct dti_new_tensor *tensors,
                     size_t count, uint64_t most, size_t *ends, size_t *ret_parts,
                     size_t *ret_large)
{
    struct part_sizes sizes;
    size_t parts = 0, first = 0;
    start(&sizes, whole, tensors, count);
    *ret_large = 0;
    for (size_t i = 0; i < count; i++) {
        const bool fits = size_with(&sizes, sizes.head, sizes.data, &tensors[i]) <= most;
        const bool fits_alone = size_with(&sizes, sizes.other, 0, &tensors[i]) <= most;
        /* the first part may have key-values alone, where that helps */
        if (!fits && (i > first || (parts == 0 && fits_alone))) {
            *ret_large += padded(&sizes, sizes.head) + sizes.data > most;
            ends[parts++] = first = i;
            sizes.head = sizes.other;
            sizes.data = 0;
        }
        sizes.head += description(&tensors[i]);
        sizes.data += padded(&sizes, tensors[i].bytes);
    }
    *ret_large += padded(&sizes, sizes.head) + sizes.data > most;
    ends[parts++] = count;
    *ret_parts = parts;
}

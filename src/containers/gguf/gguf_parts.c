/* SPDX-License-Identifier: MIT
 *
 * The file names of a split GGUF, PREFIX-00001-of-00003.gguf, and the keys that repeat this
 * information in each file: both as in llama.cpp. Also divides tensors into parts. */
#include <stdio.h>
#include <string.h>

#include "containers/gguf/gguf.h"
#include "util/text/ascii.h"

enum { DIGITS = 5 };
static const char extension[] = ".gguf", of[] = "-of-";

const char *const dti_gguf_split_keys[DTI_GGUF_SPLIT_KEYS] = {
    [DTI_GGUF_SPLIT_NO] = "split.no",
    [DTI_GGUF_SPLIT_COUNT] = "split.count",
    [DTI_GGUF_SPLIT_TENSORS] = "split.tensors.count",
};

enum dti_gguf_split_key dti_gguf_split_key(const char *key, size_t length)
{
    unsigned i = 0;
    while (i < DTI_GGUF_SPLIT_KEYS && !dti_text_is(key, length, dti_gguf_split_keys[i]))
        i++;
    return (enum dti_gguf_split_key)i;
}

static bool read_digits(const char *text, uint32_t *ret)
{
    *ret = 0;
    for (size_t i = 0; i < DIGITS; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *ret = 10 * *ret + (uint32_t)(text[i] - '0');
    }
    return true;
}

bool dti_gguf_part_named(const char *name, struct dti_gguf_part_name *ret)
{
    const size_t end = sizeof of - 1 + DIGITS + sizeof extension - 1, suffix = 1 + DIGITS + end;
    const size_t length = strlen(name);
    if (length < suffix)
        return false;
    const char *const at = name + (length - suffix), *const middle = at + 1 + DIGITS;
    ret->prefix = length - suffix;
    return at[0] == '-' && read_digits(at + 1, &ret->number) &&
           memcmp(middle, of, sizeof of - 1) == 0 &&
           read_digits(middle + sizeof of - 1, &ret->count) &&
           strcmp(middle + sizeof of - 1 + DIGITS, extension) == 0 && ret->number > 0 &&
           ret->number <= ret->count && ret->count <= DTI_GGUF_PARTS_MAX;
}

void dti_gguf_part_suffix(char ret[DTI_GGUF_PART_SUFFIX], uint32_t no, uint32_t count)
{
    (void)snprintf(ret, DTI_GGUF_PART_SUFFIX, "-%05u-of-%05u",
                   (unsigned)(no % DTI_GGUF_PARTS_MAX) + 1, (unsigned)(count & UINT16_MAX));
}

bool dti_gguf_find_part(const char *const *names, size_t count, const char **ret_part,
                        const char *ret_two[2])
{
    struct dti_gguf_part_name first, other;
    size_t at = 0;
    *ret_part = NULL;
    while (at < count && !(dti_gguf_part_named(names[at], &first) && first.count > 1))
        at++;
    if (at == count)
        return true;
    for (size_t i = 0; i < count; i++) {
        if (dti_gguf_part_named(names[i], &other) && other.count == first.count &&
            other.prefix == first.prefix && memcmp(names[i], names[at], first.prefix) == 0)
            continue;
        ret_two[0] = names[i < at ? i : at];
        ret_two[1] = names[i < at ? at : i];
        return false;
    }
    *ret_part = names[at];
    return true;
}

/* Parts are filled greedily, in tensor order. Sizes cannot overflow, since those of the whole file
 * do not. */
struct part_sizes {
    uint64_t alignment;
    uint64_t first, other; /* header bytes excluding tensor descriptions: first part, other parts */
    uint64_t head, data;   /* of the current part */
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
    /* the text may also include the last byte of the data */
    uint64_t head = whole->count > 0 ? whole->pieces[0].length : whole->text.length;
    for (size_t i = 0; i < count; i++)
        head -= description(&tensors[i]);
    *ret = (struct part_sizes){
        .alignment = whole->from->pairs.alignment, .first = head + split, .other = MAGIC + split};
    if (ret->alignment != DTI_GGUF_ALIGNMENT)
        ret->other += key("general.alignment", 4);
    ret->head = ret->first;
}

/* Size of the current part with one more tensor. */
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
        /* the first part may hold only key-values, if that helps */
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

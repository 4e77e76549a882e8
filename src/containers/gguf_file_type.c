/* SPDX-License-Identifier: MIT
 *
 * What the key-values of a GGUF file say of the types of all its tensors together. They are taken
 * over from a file with other types, and follow the new ones: general.file_type, where there is
 * one, in place; general.quantization_version is added where tensors were encoded. */
#include <stdlib.h>
#include <string.h>

#include "containers/gguf.h"
#include "dtinfo/gguf_type.h"
#include "dtinfo/little_endian.h"

enum { TYPE_UINT32 = 4, QUANTIZATION_VERSION = 2 /* GGML_QNT_VERSION of ggml.h */ };
static const char file_type_key[] = "general.file_type";
static const char version_key[] = "general.quantization_version";

/* enum llama_ftype of llama.h: by ggml's ids of types, one more than the number; 0: it has none.
 * Where mixtures have numbers (S, M, L), the usual one, M: a file says what llama.cpp shows, and
 * all are loaded alike. */
static const unsigned char file_types[] = {
    [0] = 1 + 0,   [1] = 1 + 1,   [2] = 1 + 2,   [3] = 1 + 3,   [6] = 1 + 8,   [7] = 1 + 9,
    [8] = 1 + 7,   [10] = 1 + 10, [11] = 1 + 12, [12] = 1 + 15, [13] = 1 + 17, [14] = 1 + 18,
    [16] = 1 + 19, [17] = 1 + 20, [18] = 1 + 23, [19] = 1 + 24, [20] = 1 + 25, [21] = 1 + 26,
    [22] = 1 + 28, [23] = 1 + 30, [29] = 1 + 31, [30] = 1 + 32, [34] = 1 + 36, [35] = 1 + 37,
    [39] = 1 + 38, [40] = 1 + 39, [41] = 1 + 40, [42] = 1 + 41,
};
enum { TYPES = sizeof file_types / sizeof *file_types };

/* Bytes of tensors, by types. */
struct census {
    uint64_t bytes[TYPES];
    bool blocks[TYPES];
};

static void count_tensor(struct census *census, const struct dti_gguf_type *type, uint64_t bytes)
{
    if (!type || type->id >= TYPES)
        return;
    census->blocks[type->id] = type->dtype == DTI_NONE;
    if (census->bytes[type->id] <= UINT64_MAX - bytes) /* a file has less */
        census->bytes[type->id] += bytes;
}

/* Of the blocks, or where there are none of the floats, those with most bytes; -1: no number. */
static int find_file_type(const struct census *census)
{
    size_t most = 0;
    for (size_t i = 1; i < TYPES; i++) {
        const bool more = census->bytes[i] > census->bytes[most];
        if (census->bytes[i] > 0 && file_types[i] > 0 &&
            (census->blocks[i] == census->blocks[most] ? more : census->blocks[i]))
            most = i;
    }
    return census->bytes[most] > 0 ? file_types[most] - 1 : -1;
}

static int file_type_there(const struct dti_container *container)
{
    struct census census = {.bytes = {0}};
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        const struct dti_gguf_type *type = tensor->gguf;
        if (!type && tensor->format)
            type = dti_gguf_type_storing(tensor->format->id);
        count_tensor(&census, type, tensor->bytes);
    }
    return find_file_type(&census);
}

static int file_type_written(const struct dti_new_tensor *tensors, size_t count)
{
    struct census census = {.bytes = {0}};
    for (size_t i = 0; i < count; i++)
        count_tensor(&census, dti_gguf_type_written(tensors[i].format), tensors[i].bytes);
    return find_file_type(&census);
}

bool dti_gguf_adds_version(const struct dti_new_head *head)
{
    return head->encodes && !head->from->pairs.has_version && head->part.no == 0;
}

static void put(struct dti_buffer *text, size_t size, uint64_t value)
{
    unsigned char bytes[8];
    dti_little_put(bytes, size, value);
    dti_buffer_append(text, (const char *)bytes, size);
}

void dti_gguf_set_file_type(struct dti_new_head *head, size_t at,
                            const struct dti_new_tensor *tensors, size_t count)
{
    const struct dti_pairs *const pairs = &head->from->pairs;
    const int now = at > 0 ? file_type_written(tensors, count) : -1;
    if (now < 0 || (uint32_t)now == pairs->file_type || now == file_type_there(head->from))
        return;
    dti_little_put((unsigned char *)head->text.data + at, sizeof pairs->file_type, (uint32_t)now);
    head->changes[head->change_count++] = (struct dti_head_change){
        .key = file_type_key, .from = pairs->file_type, .to = (uint32_t)now};
}

void dti_gguf_add_version(struct dti_new_head *head)
{
    if (!dti_gguf_adds_version(head))
        return;
    put(&head->text, 8, sizeof version_key - 1);
    dti_buffer_append(&head->text, version_key, sizeof version_key - 1);
    put(&head->text, 4, TYPE_UINT32);
    put(&head->text, 4, QUANTIZATION_VERSION);
    head->changes[head->change_count++] =
        (struct dti_head_change){.key = version_key, .added = true, .to = QUANTIZATION_VERSION};
}

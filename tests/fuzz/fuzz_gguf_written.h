/* SPDX-License-Identifier: MIT
 *
 * Writes new GGUF files in memory from one that was read. Checks what the reader finds in them, and
 * that a second write changes nothing. Their data is all zeros. */
#ifndef DTINFO_FUZZ_GGUF_WRITTEN_H
#define DTINFO_FUZZ_GGUF_WRITTEN_H

#include <string.h>

#include "containers/containers.h"
#include "fuzz_arrays.h"
#include "util/text/ascii.h"

/* Reads from a file in memory: the text, then zeros. */
static inline enum dti_status read_in_memory(const struct dti_input *input, void *buffer,
                                             size_t size, uint64_t offset, struct dti_error *reterr)
{
    const struct dti_buffer *const text = input->remote;
    (void)reterr;
    REQUIRE(offset <= input->size && size <= input->size - offset);
    const size_t there = offset < text->length ? text->length - (size_t)offset : 0;
    const size_t copied = size < there ? size : there;
    if (copied > 0)
        memcpy(buffer, text->data + offset, copied);
    memset((char *)buffer + copied, 0, size - copied);
    return DTI_OK;
}

static inline struct dti_input input_in_memory(struct dti_buffer *text, uint64_t size)
{
    static const struct dti_input_source source = {.read_at = read_in_memory};
    return (struct dti_input){
        .name = "x", .fd = -1, .seekable = true, .size = size, .source = &source, .remote = text};
}

static inline void check_message(const struct dti_error *error, enum dti_status status)
{
    REQUIRE(error->status == status && error->text[0] != '\0');
    check_text_is_safe(error->text);
}

static inline const struct dti_metadata *find_key(const struct dti_container *container,
                                                  const char *key)
{
    for (size_t i = 0; i < container->metadata_count; i++) {
        if (dti_text_is(container->metadata[i].key, container->metadata[i].key_length, key))
            return &container->metadata[i];
    }
    return NULL;
}

static inline uint64_t alignment_of(const struct dti_container *container)
{
    const struct dti_metadata *const entry = find_key(container, "general.alignment");
    return entry ? strtoull(entry->value, NULL, 10) : 32;
}

/* The type that tensors are converted to where possible. */
struct new_type {
    const char *name;     /* NULL: unchanged */
    enum dti_dtype dtype; /* DTI_NONE: Q8_0 */
};
static const struct new_type missing_type = {"fp8", DTI_FP8_E4M3FN}; /* not in GGUF */
static const struct new_type new_types[] = {
    {NULL, DTI_NONE}, {"F32", DTI_FP32}, {"BF16", DTI_BF16}, {"Q8_0", DTI_NONE}};

/* A new file, and the container read back from it. */
struct written_file {
    struct dti_new_head head;
    struct dti_new_tensor *tensors;
    size_t count;
    uint64_t size;
    struct dti_pool pool;
    struct dti_container_file file;
    struct dti_container container;
};

static inline void written_free(struct written_file *written)
{
    dti_new_head_free(&written->head);
    free(written->tensors);
    dti_pool_free(&written->pool);
}

static inline bool becomes(const struct dti_tensor *tensor, const struct new_type *type)
{
    return type->name && (type->dtype != DTI_NONE ||
                          (tensor->rank > 0 && tensor->shape[tensor->rank - 1] % 32 == 0));
}

static inline const struct dti_format *written_format(const struct dti_tensor *tensor,
                                                      const struct new_type *type)
{
    const bool other = becomes(tensor, type);
    if (other && type->dtype != DTI_NONE)
        return dti_format_get(type->dtype);
    if (!other && tensor->format)
        return tensor->format;
    return dti_container_blocks(DTI_CONTAINER_GGUF,
                                other ? dti_gguf_type_of(DTI_GGUF_Q8_0) : dti_tensor_gguf(tensor));
}

/* Lays out the new file. Tensors of types that ggml does not define are skipped. */
static inline enum dti_status lay_out(struct written_file *ret, const struct dti_container *from,
                                      const struct new_type *type, bool encodes,
                                      struct dti_error *reterr)
{
    *ret = (struct written_file){.size = 0};
    dti_new_head_init(&ret->head);
    ret->head.from = from;
    ret->head.encodes = encodes;
    ret->tensors = calloc(from->tensor_count + 1, sizeof *ret->tensors);
    REQUIRE(ret->tensors);
    for (size_t i = 0; i < from->tensor_count; i++) {
        const struct dti_tensor *const tensor = &from->tensors[i];
        if (tensor->format || dti_tensor_gguf(tensor))
            ret->tensors[ret->count++] =
                (struct dti_new_tensor){.name = tensor->name,
                                        .name_length = tensor->name_length,
                                        .format = written_format(tensor, type),
                                        .rank = tensor->rank,
                                        .shape = tensor->shape,
                                        .source = (uint32_t)i};
    }
    return dti_container_layout(DTI_CONTAINER_GGUF, ret->tensors, ret->count, NULL, 0, &ret->head,
                                &ret->size, reterr);
}

/* The head is one piece, optionally followed by a zero byte that ends the padding. */
static inline void check_pieces(const struct written_file *written)
{
    const struct dti_new_head *const head = &written->head;
    uint64_t end = head->text.length;
    for (size_t i = 0; i < written->count; i++) {
        if (written->tensors[i].bytes > 0)
            end = written->tensors[i].offset + written->tensors[i].bytes;
    }
    REQUIRE(!head->text.failed && (head->count == 0 || head->count == 2));
    if (head->count == 0) {
        REQUIRE(end == written->size);
        return;
    }
    REQUIRE(head->pieces[0].offset == 0 && head->pieces[0].length == head->text.length - 1);
    REQUIRE(head->pieces[1].offset == written->size - 1 && head->pieces[1].length == 1);
    REQUIRE(head->text.data[head->text.length - 1] == '\0' && end - 1 <= head->pieces[1].offset);
}

static inline void read_written(struct written_file *written)
{
    struct dti_error error = {.status = DTI_OK};
    check_pieces(written);
    written->file = (struct dti_container_file){
        .path = "x", .input = input_in_memory(&written->head.text, written->size)};
    written->container = (struct dti_container){
        .kind = DTI_CONTAINER_GGUF, .files = &written->file, .file_count = 1};
    REQUIRE(dti_container_read(&written->container, &written->pool, NULL, &error) == DTI_OK);
    REQUIRE(strcmp(written->container.version, "3") == 0);
    for (size_t i = 0; i < written->container.note_count; i++)
        REQUIRE(strcmp(written->container.notes[i].code, "long_names") == 0);
}

static inline void check_written_tensors(const struct written_file *written,
                                         const struct dti_container *from,
                                         const struct new_type *type)
{
    const uint64_t alignment = alignment_of(from);
    REQUIRE(written->container.tensor_count == written->count);
    for (size_t i = 0; i < written->count; i++) {
        const struct dti_new_tensor *const laid = &written->tensors[i];
        const struct dti_tensor *const old = &from->tensors[laid->source];
        const struct dti_tensor *const now = &written->container.tensors[i];
        const bool other = becomes(old, type);
        REQUIRE(now->name_length == old->name_length &&
                memcmp(now->name, old->name, old->name_length) == 0);
        REQUIRE(now->rank == old->rank &&
                memcmp(now->shape, old->shape, old->rank * sizeof *old->shape) == 0);
        REQUIRE(strcmp(now->stored_as, other ? type->name : old->stored_as) == 0);
        REQUIRE(now->bytes == laid->bytes && (other || now->bytes == old->bytes));
        REQUIRE(now->offset == laid->offset && now->offset % alignment == 0);
    }
}

/* llama.cpp's file type number if all bytes have one type; -1: several types, or one without a
 * number here. */
static inline int sole_type(const struct dti_container *container)
{
    static const struct {
        const char *name;
        int number;
    } known[] = {{"F32", 0}, {"F16", 1}, {"Q4_0", 2}, {"Q8_0", 7}, {"BF16", 32}};
    const char *sole = NULL;
    for (size_t i = 0; i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        if (tensor->bytes > 0 && sole && strcmp(tensor->stored_as, sole) != 0)
            return -1;
        if (tensor->bytes > 0)
            sole = tensor->stored_as;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known && sole; i++) {
        if (strcmp(known[i].name, sole) == 0)
            return known[i].number;
    }
    return -1;
}

/* general.file_type is the number of the new sole type, or unchanged if the old types already had
 * it. */
static inline void check_file_type(const char *was, const char *is,
                                   const struct dti_container *from, const struct dti_container *to)
{
    const int before = sole_type(from), after = sole_type(to);
    const bool stayed = strcmp(is, was) == 0;
    REQUIRE(after < 0 || strtol(is, NULL, 10) == after ||
            (stayed && (before < 0 || before == after)));
}

/* All key-values are kept byte for byte, except the number of general.file_type. A
 * general.quantization_version may be appended. */
static inline void check_pairs(const struct written_file *written, const struct dti_container *from,
                               const struct new_type *type, bool encodes)
{
    static const char version[] = "\x1c\0\0\0\0\0\0\0general.quantization_version\4\0\0\0\2\0\0";
    const struct dti_container *const to = &written->container;
    const struct dti_buffer *const source = from->files[0].input.remote;
    const char *const old_text = source->data + from->pairs.offset;
    const char *const text = written->head.text.data + 24; /* after the counts */
    const bool adds = encodes && !find_key(from, "general.quantization_version");
    const uint64_t bytes = from->pairs.bytes;
    size_t changes = adds;
    REQUIRE(to->metadata_count == from->metadata_count + adds);
    REQUIRE(!adds || memcmp(text + bytes, version, sizeof version) == 0);
    for (size_t i = 0; i < from->metadata_count; i++) {
        const struct dti_metadata *const old = &from->metadata[i], *const now = &to->metadata[i];
        const bool is_type = dti_text_is(old->key, old->key_length, "general.file_type") &&
                             strcmp(old->type, "uint32") == 0;
        REQUIRE(now->key_length == old->key_length &&
                memcmp(now->key, old->key, old->key_length) == 0);
        const bool equal = now->value_length == old->value_length &&
                           memcmp(now->value, old->value, old->value_length) == 0;
        REQUIRE(strcmp(now->type, old->type) == 0 && now->count == old->count &&
                (equal || (is_type && type->name)));
        if (is_type && type->name)
            check_file_type(old->value, now->value, from, to);
        changes += !equal;
    }
    REQUIRE(written->head.change_count == changes);
    for (uint64_t i = 0; i < bytes; i++)
        REQUIRE(text[i] == old_text[i] || (changes > adds && i >= from->pairs.file_type_at &&
                                           i - from->pairs.file_type_at < 4));
}

/* Writing the output again must reproduce it. */
static inline void check_again(const struct written_file *written, bool encodes)
{
    struct written_file again;
    struct dti_error error = {.status = DTI_OK};
    REQUIRE(lay_out(&again, &written->container, &new_types[0], encodes, &error) == DTI_OK);
    REQUIRE(again.size == written->size && again.head.change_count == 0);
    REQUIRE(again.head.count == written->head.count &&
            again.head.text.length == written->head.text.length &&
            memcmp(again.head.text.data, written->head.text.data, again.head.text.length) == 0);
    written_free(&again);
}

static inline void check_refused(const struct dti_container *from, const struct new_type *type)
{
    struct written_file written;
    struct dti_error error = {.status = DTI_OK};
    REQUIRE(lay_out(&written, from, type, false, &error) == DTI_WRONG_KIND);
    check_message(&error, DTI_WRONG_KIND);
    written_free(&written);
}

static inline void check_written(const struct dti_container *from)
{
    if (from->pairs.big_endian) {
        check_refused(from, &new_types[0]);
        return;
    }
    for (size_t i = 0; i < sizeof new_types / sizeof *new_types; i++) {
        const struct new_type *const type = &new_types[i];
        const bool encodes = type->name && type->dtype == DTI_NONE;
        struct written_file written;
        struct dti_error error = {.status = DTI_OK};
        REQUIRE(lay_out(&written, from, type, encodes, &error) == DTI_OK);
        read_written(&written);
        check_written_tensors(&written, from, type);
        check_pairs(&written, from, type, encodes);
        check_again(&written, encodes);
        if (!type->name && written.count > 0)
            check_refused(from, &missing_type);
        written_free(&written);
    }
}

#endif

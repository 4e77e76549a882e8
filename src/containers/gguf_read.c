/* SPDX-License-Identifier: MIT
 *
 * GGUF, versions 2 and 3, of both byte orders: a header, key-values, descriptions of tensors, the
 * data. The checks are those of ggml; beyond them the file must be long enough for the data. Longer
 * names and types that ggml does not know are taken, because other builds of it write them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/gguf.h"
#include "containers/name_order.h"
#include "dtinfo/checked.h"

enum {
    TENSOR_MIN = 8 + 4 + 4 + 8, /* bytes of the smallest description of a tensor */
    UNKNOWN_SIZE = 32,          /* holds "unknown type 4294967295" */
};

/* The reading of one file. */
struct gguf_reading {
    struct dti_gguf_stream stream;
    struct dti_pool *pool;
    struct dti_notes notes;
    uint64_t tensor_count, alignment;
    struct dti_tensor *tensors; /* offsets count from the start of the data until it is known */
    uint64_t end;               /* of the data so far, padded */
    size_t unknown, long_names; /* tensors of unknown types, with names that ggml does not take */
};

static enum dti_status fail_tensor(const struct gguf_reading *work, const struct dti_tensor *tensor,
                                   struct dti_error *reterr, const char *problem)
{
    char name[DTI_QUOTE_SIZE];
    dti_fail(reterr, DTI_BAD_INPUT, "%s: tensor %s: %s", work->stream.label,
             dti_quote(name, tensor->name, tensor->name_length), problem);
    dti_error_argument(reterr, tensor->name, tensor->name_length);
    return DTI_BAD_INPUT;
}

/* The version, which also tells the byte order, and the two counts. */
static enum dti_status read_header(struct gguf_reading *work, const char **ret_version,
                                   uint64_t *ret_pairs, struct dti_error *reterr)
{
    struct dti_gguf_stream *const stream = &work->stream;
    unsigned char magic[4];
    uint64_t version = 0, pairs = 0;
    enum dti_status status = dti_gguf_bytes(stream, magic, sizeof magic, reterr);
    if (status != DTI_OK)
        return status;
    if (memcmp(magic, "GGUF", sizeof magic) != 0)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s does not begin with \"GGUF\"", stream->label);
    status = dti_gguf_number(stream, 4, &version, reterr);
    if (status != DTI_OK)
        return status;
    stream->big_endian = version != 0 && (version & 0xFFFF) == 0;
    if (stream->big_endian)
        version = version >> 24 | (version >> 8 & 0xFF00);
    if (version != 2 && version != 3)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s is GGUF version %llu; 2 and 3 are read",
                        stream->label, (unsigned long long)version);
    status = dti_gguf_number(stream, 8, &work->tensor_count, reterr);
    if (status == DTI_OK)
        status = dti_gguf_number(stream, 8, &pairs, reterr);
    if (status != DTI_OK)
        return status;
    if (work->tensor_count > dti_gguf_left(stream) / TENSOR_MIN)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s: %llu tensors do not fit into the %llu bytes behind them",
                        stream->label, (unsigned long long)work->tensor_count,
                        (unsigned long long)dti_gguf_left(stream));
    if (stream->big_endian && !dti_notes_add(&work->notes, "big_endian", "the file is big-endian"))
        return dti_no_memory(reterr);
    *ret_version = version == 2 ? "2" : "3";
    *ret_pairs = pairs;
    return DTI_OK;
}

/* The dimensions, the fastest first in the file, into a shape. */
static enum dti_status read_shape(struct gguf_reading *work, struct dti_tensor *tensor,
                                  struct dti_error *reterr)
{
    uint64_t rank, shape[DTI_GGUF_RANK_MAX], product = 1;
    bool empty = false;
    enum dti_status status = dti_gguf_number(&work->stream, 4, &rank, reterr);
    if (status != DTI_OK)
        return status;
    if (rank > DTI_GGUF_RANK_MAX) {
        char problem[80];
        snprintf(problem, sizeof problem, "it has %llu dimensions, and the limit is %u",
                 (unsigned long long)rank, (unsigned)DTI_GGUF_RANK_MAX);
        return fail_tensor(work, tensor, reterr, problem);
    }
    bool fits = true, each_fits = true;
    for (size_t i = 0; i < rank; i++) {
        uint64_t *const dimension = &shape[rank - 1 - i];
        status = dti_gguf_number(&work->stream, 8, dimension, reterr);
        if (status != DTI_OK)
            return status;
        each_fits = each_fits && *dimension <= INT64_MAX;
        empty = empty || *dimension == 0;
        if (*dimension > 0)
            fits = fits && dti_mul_u64(product, *dimension, &product) && product < INT64_MAX;
    }
    if (!each_fits || (!fits && !empty))
        return fail_tensor(work, tensor, reterr, "its dimensions make 2^63 elements or more");
    uint64_t *const copy = dti_pool_array(work->pool, (size_t)rank, sizeof *copy);
    if (!copy)
        return dti_no_memory(reterr);
    if (rank > 0)
        memcpy(copy, shape, (size_t)rank * sizeof *copy);
    tensor->rank = (unsigned)rank;
    tensor->shape = copy;
    tensor->elements = empty ? 0 : product;
    return DTI_OK;
}

/* A type that ggml does not have: its bytes are known once the next tensor's offset is. */
static enum dti_status set_unknown(struct gguf_reading *work, struct dti_tensor *tensor,
                                   uint64_t id, struct dti_error *reterr)
{
    char text[UNKNOWN_SIZE];
    const int length = snprintf(text, sizeof text, "unknown type %llu", (unsigned long long)id);
    tensor->stored_as = dti_pool_text(work->pool, text, (size_t)length);
    if (!tensor->stored_as)
        return dti_no_memory(reterr);
    tensor->refusal = "is of a type that ggml does not have";
    tensor->bytes = UINT64_MAX;
    work->unknown++;
    return DTI_OK;
}

static enum dti_status read_type(struct gguf_reading *work, struct dti_tensor *tensor,
                                 struct dti_error *reterr)
{
    uint64_t id;
    const enum dti_status status = dti_gguf_number(&work->stream, 4, &id, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_gguf_type *const type = dti_gguf_type(id);
    if (!type)
        return set_unknown(work, tensor, id, reterr);
    const uint64_t row = tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;
    if (row % type->elements != 0) {
        char problem[120];
        snprintf(problem, sizeof problem,
                 "its rows of %llu elements are no multiple of the %u in a block of %s",
                 (unsigned long long)row, type->elements, type->name);
        return fail_tensor(work, tensor, reterr, problem);
    }
    if (!dti_mul_u64(tensor->elements / type->elements, type->bytes, &tensor->bytes))
        return fail_tensor(work, tensor, reterr, "its bytes do not fit in 64 bits");
    tensor->stored_as = type->name;
    if (type->dtype != DTI_NONE) {
        tensor->format = dti_format_get(type->dtype);
        tensor->layout = dti_file_layout(tensor->format, DTI_PACKING_LOW, work->stream.big_endian);
    } else {
        tensor->block = type->block ? dti_block_lookup(type->block) : NULL;
        tensor->layout.swapped = dti_is_swapped(work->stream.big_endian); /* of scales */
        tensor->refusal = type->refusal;
    }
    return DTI_OK;
}

/* Tensors lie one after another, each padded to the alignment. */
static enum dti_status place(struct gguf_reading *work, struct dti_tensor *tensor,
                             struct dti_tensor *previous, struct dti_error *reterr)
{
    char problem[160];
    const uint64_t offset = tensor->offset;
    if (previous && previous->bytes == UINT64_MAX) {
        if (offset < previous->offset || offset % work->alignment != 0) {
            snprintf(problem, sizeof problem,
                     "its offset %llu is below %llu, where the tensor before it begins, or no "
                     "multiple of %llu",
                     (unsigned long long)offset, (unsigned long long)previous->offset,
                     (unsigned long long)work->alignment);
            return fail_tensor(work, tensor, reterr, problem);
        }
        previous->bytes = offset - previous->offset;
    } else if (offset != work->end) {
        snprintf(problem, sizeof problem,
                 "its offset is %llu, and the tensors before it end at %llu",
                 (unsigned long long)offset, (unsigned long long)work->end);
        return fail_tensor(work, tensor, reterr, problem);
    }
    const uint64_t bytes = tensor->bytes == UINT64_MAX ? 0 : tensor->bytes;
    uint64_t end;
    if (!dti_add_u64(offset, bytes, &end) || end > work->stream.input->size) {
        snprintf(problem, sizeof problem,
                 "truncated: it has %llu bytes from byte %llu of the data on, the whole file %llu",
                 (unsigned long long)bytes, (unsigned long long)offset,
                 (unsigned long long)work->stream.input->size);
        return fail_tensor(work, tensor, reterr, problem);
    }
    const uint64_t over = end % work->alignment; /* end is below 2^63, the alignment below 2^32 */
    work->end = over > 0 ? end + (work->alignment - over) : end;
    return DTI_OK;
}

static enum dti_status read_tensor(struct gguf_reading *work, struct dti_tensor *tensor,
                                   struct dti_tensor *previous, struct dti_error *reterr)
{
    struct dti_gguf_stream *const stream = &work->stream;
    *tensor = (struct dti_tensor){.format = NULL};
    enum dti_status status =
        dti_gguf_string(stream, work->pool, &tensor->name, &tensor->name_length, reterr);
    if (status != DTI_OK)
        return status;
    work->long_names += tensor->name_length > DTI_GGUF_NAME_MAX;
    status = read_shape(work, tensor, reterr);
    if (status == DTI_OK)
        status = read_type(work, tensor, reterr);
    if (status == DTI_OK)
        status = dti_gguf_number(stream, 8, &tensor->offset, reterr);
    return status == DTI_OK ? place(work, tensor, previous, reterr) : status;
}

static enum dti_status read_tensors(struct gguf_reading *work, struct dti_error *reterr)
{
    void *list = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < work->tensor_count; i++) {
        if (!dti_list_grow(work->pool, &list, i, &capacity, sizeof *work->tensors))
            return dti_no_memory(reterr);
        work->tensors = list;
        struct dti_tensor *const tensor = &work->tensors[i];
        const enum dti_status status = read_tensor(work, tensor, i > 0 ? tensor - 1 : NULL, reterr);
        if (status != DTI_OK)
            return status;
    }
    return DTI_OK;
}

static enum dti_status check_names(const struct gguf_reading *work, struct dti_error *reterr)
{
    struct dti_name_order order;
    size_t repeated;
    if (!dti_name_order_init(&order, (size_t)work->tensor_count))
        return dti_no_memory(reterr);
    for (size_t i = 0; i < work->tensor_count; i++)
        dti_name_order_add(&order, work->tensors[i].name, work->tensors[i].name_length);
    dti_name_order_sort(&order);
    const bool twice = dti_name_order_repeated(&order, &repeated);
    dti_name_order_free(&order);
    if (!twice)
        return DTI_OK;
    return fail_tensor(work, &work->tensors[repeated], reterr, "there are two of that name");
}

/* Where the data begin, now that the header has been read; all of them must be there. */
static enum dti_status place_data(struct gguf_reading *work, uint64_t *ret_start,
                                  struct dti_error *reterr)
{
    const uint64_t at = dti_gguf_at(&work->stream), size = work->stream.input->size;
    const uint64_t over = at % work->alignment;
    const uint64_t start = over > 0 && work->tensor_count > 0 ? at + (work->alignment - over) : at;
    uint64_t end = at;
    for (size_t i = 0; i < work->tensor_count; i++) {
        struct dti_tensor *const tensor = &work->tensors[i];
        tensor->offset += start;
        if (tensor->bytes == UINT64_MAX) /* the last one, of an unknown type */
            tensor->bytes = size > tensor->offset ? size - tensor->offset : 0;
        end = tensor->offset + tensor->bytes;
        if (end > size) {
            char problem[120];
            snprintf(problem, sizeof problem,
                     "truncated: its data end at byte %llu, the file has %llu",
                     (unsigned long long)end, (unsigned long long)size);
            return fail_tensor(work, tensor, reterr, problem);
        }
    }
    const uint64_t tail = end % work->alignment;
    const uint64_t padded =
        tail > 0 && work->tensor_count > 0 ? end + (work->alignment - tail) : end;
    if (size > padded) {
        char line[80];
        snprintf(line, sizeof line, "%llu bytes stand behind the data",
                 (unsigned long long)(size - padded));
        if (!dti_notes_add(&work->notes, "trailing_bytes", line))
            return dti_no_memory(reterr);
    }
    *ret_start = start;
    return DTI_OK;
}

static enum dti_status add_notes(struct gguf_reading *work, struct dti_error *reterr)
{
    char line[160];
    bool added = true;
    if (work->unknown > 0) {
        snprintf(line, sizeof line,
                 "%llu of %llu tensors are of types that ggml does not have; their bytes are "
                 "counted up to the next tensor",
                 (unsigned long long)work->unknown, (unsigned long long)work->tensor_count);
        added = dti_notes_add(&work->notes, "unknown_types", line);
    }
    if (added && work->long_names > 0) {
        snprintf(line, sizeof line, "%llu of %llu names are longer than the %u bytes of ggml",
                 (unsigned long long)work->long_names, (unsigned long long)work->tensor_count,
                 (unsigned)DTI_GGUF_NAME_MAX);
        added = dti_notes_add(&work->notes, "long_names", line);
    }
    return added ? DTI_OK : dti_no_memory(reterr);
}

static enum dti_status read_all(struct gguf_reading *work, struct dti_container_file *file,
                                struct dti_container *container, struct dti_error *reterr)
{
    const char *version = NULL;
    struct dti_metadata *metadata = NULL;
    uint64_t pairs = 0, start = 0;
    enum dti_status status = read_header(work, &version, &pairs, reterr);
    if (status == DTI_OK)
        status = dti_gguf_metadata(&work->stream, &work->notes, pairs, &metadata, &work->alignment,
                                   reterr);
    if (status == DTI_OK)
        status = read_tensors(work, reterr);
    if (status == DTI_OK)
        status = check_names(work, reterr);
    if (status == DTI_OK)
        status = place_data(work, &start, reterr);
    if (status == DTI_OK)
        status = add_notes(work, reterr);
    if (status != DTI_OK)
        return status;
    file->header_bytes = start;
    container->version = version;
    container->tensors = work->tensors;
    container->tensor_count = (size_t)work->tensor_count;
    container->metadata = metadata;
    container->metadata_count = (size_t)pairs;
    container->notes = work->notes.notes;
    container->note_count = work->notes.count;
    return DTI_OK;
}

enum dti_status dti_gguf_read(struct dti_pool *pool, struct dti_container_file *file,
                              struct dti_container *container, struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    struct gguf_reading *const work = malloc(sizeof *work); /* too large for some stacks */
    if (!work)
        return dti_no_memory(reterr);
    work->stream.input = &file->input;
    work->stream.label = dti_input_label(&file->input, label);
    work->stream.big_endian = false;
    work->stream.buffer_at = 0;
    work->stream.have = work->stream.next = 0;
    work->pool = pool;
    work->notes = (struct dti_notes){.pool = pool};
    work->tensor_count = 0;
    work->alignment = DTI_GGUF_ALIGNMENT;
    work->tensors = NULL;
    work->end = 0;
    work->unknown = work->long_names = 0;
    const enum dti_status status = read_all(work, file, container, reterr);
    free(work);
    return status;
}

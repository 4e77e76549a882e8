/* SPDX-License-Identifier: MIT
 *
 * GGUF versions 2 and 3, in both byte orders: a header, key-values, tensor descriptions, the data.
 * The checks are those of ggml; in addition the file must be long enough for the data. Longer names
 * are accepted, because other builds of ggml write them; types that only forks of ggml define, and
 * unknown ones, are accepted, so that such a file can be listed. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "containers/containers.h"
#include "containers/gguf/gguf.h"
#include "util/checked.h"
#include "util/run/allocate.h"

enum {
    TENSOR_MIN = 8 + 4 + 4 + 8, /* bytes of the smallest description of a tensor */
    UNKNOWN_SIZE = 32,          /* holds "unknown type 4294967295" */
};

/* Why blocks cannot be read as values of a dtype. */
static const char *const refusals[DTI_GGUF_BLOCKS_COUNT] = {
#define GGUF_DTYPE(...)
#define GGUF_BLOCKS(id, name, ...) "is quantized in blocks of " #name,
#include "core/dtype/gguf_types.def"
#undef GGUF_BLOCKS
};

/* For big-endian files. */
static const char *const swapped_refusals[DTI_GGUF_BLOCKS_COUNT] = {
#define GGUF_BLOCKS(id, name, ...) \
    "holds blocks of " #name " in big-endian order, which are not supported",
#include "core/dtype/gguf_types.def"
#undef GGUF_BLOCKS
#undef GGUF_DTYPE
};

/* State while one file is read. */
struct gguf_reading {
    struct dti_gguf_stream stream;
    struct dti_opening *opening;
    struct dti_gguf_part *part;
    unsigned file;
    uint64_t tensor_count, alignment;
    uint64_t end;               /* of the data so far, padded */
    size_t unknown, long_names; /* tensors with unknown types, and with names too long for ggml */
    size_t forks;               /* tensors with types of other programs */
    uint64_t fork;              /* the type of the previous tensor, if it is one of these; else 0 */
};

static struct dti_subject the(const struct dti_tensor *tensor)
{
    return (struct dti_subject){"tensor", tensor->name, tensor->name_length, .argument = true};
}

static uint64_t padded(const struct gguf_reading *work, uint64_t end)
{
    const uint64_t over = end % work->alignment;
    return over > 0 ? end + (work->alignment - over) : end;
}

/* Reads the version, which also determines the byte order, and the two counts. */
static bool read_header(struct gguf_reading *work, uint64_t *ret_pairs)
{
    struct dti_gguf_stream *const stream = &work->stream;
    struct dti_opening *const opening = work->opening;
    unsigned char magic[4];
    uint64_t version;
    if (!dti_gguf_bytes(stream, magic, sizeof magic))
        return false;
    if (memcmp(magic, "GGUF", sizeof magic) != 0)
        return dti_opening_refuse(opening, " does not begin with \"GGUF\"");
    if (!dti_gguf_number(stream, 4, &version))
        return false;
    stream->big_endian = version != 0 && (version & 0xFFFF) == 0;
    if (stream->big_endian)
        version = version >> 24 | (version >> 8 & 0xFF00);
    if (version != 2 && version != 3)
        return dti_opening_refuse(
            opening, " is GGUF version %" PRIu64 "; only versions 2 and 3 are supported", version);
    if (!dti_gguf_number(stream, 8, &work->tensor_count) || !dti_gguf_number(stream, 8, ret_pairs))
        return false;
    if (work->tensor_count > dti_gguf_left(stream) / TENSOR_MIN)
        return dti_opening_refuse(
            opening, ": %" PRIu64 " tensors do not fit into the %" PRIu64 " bytes that remain",
            work->tensor_count, dti_gguf_left(stream));
    opening->container->version = version == 2 ? "2" : "3";
    return !stream->big_endian || dti_opening_note(opening, "big_endian", "the file is big-endian");
}

/* Reads the dimensions, innermost first in the file, into a shape. */
static bool read_shape(struct gguf_reading *work, struct dti_tensor *tensor)
{
    uint64_t rank, shape[DTI_GGUF_RANK_MAX], product = 1;
    bool empty = false, fits = true, each_fits = true;
    if (!dti_gguf_number(&work->stream, 4, &rank))
        return false;
    if (rank > DTI_GGUF_RANK_MAX)
        return dti_opening_refuse_of(work->opening, the(tensor),
                                     ": it has %" PRIu64 " dimensions, and the limit is %u", rank,
                                     (unsigned)DTI_GGUF_RANK_MAX);
    for (size_t i = 0; i < rank; i++) {
        uint64_t *const dimension = &shape[rank - 1 - i];
        if (!dti_gguf_number(&work->stream, 8, dimension))
            return false;
        each_fits = each_fits && *dimension <= INT64_MAX;
        empty = empty || *dimension == 0;
        if (*dimension > 0)
            fits = fits && dti_mul_u64(product, *dimension, &product) && product < INT64_MAX;
    }
    if (!each_fits || (!fits && !empty))
        return dti_opening_refuse_of(work->opening, the(tensor),
                                     ": its dimensions make 2^63 elements or more");
    tensor->rank = (unsigned)rank;
    tensor->shape = dti_opening_copy(work->opening, shape, (size_t)rank, sizeof *shape);
    tensor->elements = empty ? 0 : product;
    return tensor->shape != NULL;
}

/* A type unknown to ggml: its size follows from the next tensor's offset. */
static bool set_unknown(struct gguf_reading *work, struct dti_tensor *tensor, uint64_t id)
{
    char text[UNKNOWN_SIZE];
    const int length = snprintf(text, sizeof text, "unknown type %" PRIu64, id);
    tensor->stored_as = dti_opening_text(work->opening, text, (size_t)length);
    tensor->own.refusal = "has a type that ggml does not define";
    tensor->undefined = true;
    tensor->bytes = UINT64_MAX;
    work->unknown++;
    return tensor->stored_as != NULL;
}

/* A type of another program: whether its size fits shows at the next tensor. */
static bool set_fork(struct gguf_reading *work, struct dti_tensor *tensor, uint64_t id)
{
    const struct dti_gguf_fork *const fork = dti_gguf_fork_find(id);
    const uint64_t row = tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;
    if (!fork || row == 0 ||
        !dti_gguf_fork_bytes(fork, tensor->elements / row, row, &tensor->bytes))
        return set_unknown(work, tensor, id);
    tensor->stored_as = fork->name;
    tensor->own.refusal = fork->refusal;
    tensor->undefined = true;
    work->forks++;
    work->fork = id;
    return true;
}

/* The layout of big-endian blocks is known only if scales come first and the rest are bytes. */
static void set_blocks(struct gguf_reading *work, struct dti_tensor *tensor,
                       const struct dti_gguf_type *type)
{
    const bool big_endian = work->stream.big_endian;
    assert(type->blocks < DTI_GGUF_BLOCKS_COUNT);
    dti_tensor_set_block(tensor, dti_block_lookup(type->word));
    tensor->layout.swapped = dti_is_swapped(big_endian); /* of scales */
    dti_tensor_set_gguf(tensor, !big_endian || tensor->block_row > 0 ? type : NULL);
    tensor->own.refusal = (tensor->gguf_row > 0 ? refusals : swapped_refusals)[type->blocks];
}

static bool read_type(struct gguf_reading *work, struct dti_tensor *tensor)
{
    uint64_t id;
    if (!dti_gguf_number(&work->stream, 4, &id))
        return false;
    const struct dti_gguf_type *const type = dti_gguf_type_find(id);
    if (!type)
        return set_fork(work, tensor, id);
    const uint64_t row = tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;
    if (row % type->elements != 0)
        return dti_opening_refuse_of(work->opening, the(tensor),
                                     ": its rows of %" PRIu64
                                     " elements are not a multiple of the %u in a block of %s",
                                     row, type->elements, type->name);
    if (!dti_mul_u64(tensor->elements / type->elements, type->bytes, &tensor->bytes))
        return dti_opening_refuse_of(work->opening, the(tensor),
                                     ": its size does not fit in 64 bits");
    tensor->stored_as = type->name;
    if (type->dtype != DTI_NONE) {
        tensor->format = dti_format_get(type->dtype);
        tensor->layout = dti_file_layout(tensor->format, DTI_PACKING_LOW, work->stream.big_endian);
    } else {
        set_blocks(work, tensor, type);
    }
    return true;
}

/* Another program may have given the id of a fork's type to a type of another size. */
static bool reconsider_fork(struct gguf_reading *work, uint64_t offset, struct dti_tensor *previous,
                            uint64_t fork)
{
    if (!previous || fork == 0 || offset == work->end)
        return true;
    work->forks--;
    return set_unknown(work, previous, fork);
}

/* Tensors are contiguous, each padded to the alignment. fork: the previous tensor's, or 0. */
static bool place(struct gguf_reading *work, struct dti_tensor *tensor, struct dti_tensor *previous,
                  uint64_t fork)
{
    const uint64_t offset = tensor->offset, size = work->opening->file->input.size;
    if (!reconsider_fork(work, offset, previous, fork))
        return false;
    if (previous && previous->bytes == UINT64_MAX) {
        if (offset < previous->offset || offset % work->alignment != 0)
            return dti_opening_refuse_of(
                work->opening, the(tensor),
                ": its offset %" PRIu64 " is below %" PRIu64
                ", where the previous tensor begins, or not a multiple of %" PRIu64,
                offset, previous->offset, work->alignment);
        previous->bytes = offset - previous->offset;
    } else if (offset != work->end) {
        return dti_opening_refuse_of(work->opening, the(tensor),
                                     ": its offset is %" PRIu64
                                     ", but the tensors before it end at %" PRIu64,
                                     offset, work->end);
    }
    const uint64_t bytes = tensor->bytes == UINT64_MAX ? 0 : tensor->bytes;
    uint64_t end;
    if (!dti_add_u64(offset, bytes, &end) || end > size)
        return dti_opening_refuse_of(work->opening, the(tensor),
                                     ": truncated: it has %" PRIu64 " bytes from byte %" PRIu64
                                     " of the data on, the whole file %" PRIu64,
                                     bytes, offset, size);
    work->end = padded(work, end); /* no overflow: end is below 2^63, the alignment below 2^32 */
    return true;
}

static bool read_tensors(struct gguf_reading *work)
{
    struct dti_gguf_stream *const stream = &work->stream;
    for (size_t i = 0; i < work->tensor_count; i++) {
        struct dti_tensor *const tensor = dti_opening_tensors(work->opening, 1);
        if (!tensor)
            return false;
        size_t length;
        *tensor = (struct dti_tensor){.file = (uint16_t)work->file};
        if (!dti_gguf_string(stream, &tensor->name, &length) ||
            !dti_opening_name_length(work->opening, length, tensor))
            return false;
        work->long_names += tensor->name_length > DTI_GGUF_NAME_MAX;
        const uint64_t fork = work->fork;
        work->fork = 0;
        if (!read_shape(work, tensor) || !read_type(work, tensor) ||
            !dti_gguf_number(stream, 8, &tensor->offset) ||
            !place(work, tensor, i > 0 ? tensor - 1 : NULL, fork))
            return false;
    }
    return true;
}

static bool check_names(const struct gguf_reading *work)
{
    struct dti_opening *const opening = work->opening;
    return dti_opening_check_names(
        opening, dti_opening_tensors_from(opening, work->part->first_tensor),
        (size_t)work->tensor_count, DTI_NAMED(struct dti_tensor, name),
        (struct dti_subject){.what = "tensor", .argument = true}, " occurs twice");
}

/* Determines the start of the data after the header, to which offsets were relative until now, and
 * checks that all data are within the file. */
static bool place_data(struct gguf_reading *work)
{
    struct dti_opening *const opening = work->opening;
    const uint64_t at = dti_gguf_at(&work->stream), size = opening->file->input.size;
    const uint64_t start = work->tensor_count > 0 ? padded(work, at) : at;
    uint64_t end = at;
    for (size_t i = 0; i < work->tensor_count; i++) {
        struct dti_tensor *const tensor =
            &opening->container->tensors[work->part->first_tensor + i];
        tensor->offset += start;
        if (tensor->bytes == UINT64_MAX) /* the last tensor, of an unknown type */
            tensor->bytes = size > tensor->offset ? size - tensor->offset : 0;
        end = tensor->offset + tensor->bytes;
        if (end > size)
            return dti_opening_refuse_of(
                opening, the(tensor),
                ": truncated: its data end at byte %" PRIu64 ", the file has %" PRIu64, end, size);
    }
    opening->file->header_bytes = start;
    end = padded(work, end);
    return size <= end || dti_opening_note(opening, "trailing_bytes",
                                           "%" PRIu64 " bytes follow the data", size - end);
}

static bool add_notes(const struct gguf_reading *work)
{
    return (work->unknown == 0 ||
            dti_opening_note(work->opening, "unknown_types",
                             "%zu of %" PRIu64 " tensors have types that ggml does not define; "
                             "their bytes are counted up to the next tensor",
                             work->unknown, work->tensor_count)) &&
           (work->forks == 0 ||
            dti_opening_note(work->opening, "fork_types",
                             "%zu of %" PRIu64 " tensors have types that only other programs than "
                             "llama.cpp define; their sizes are known, their numbers are not read",
                             work->forks, work->tensor_count)) &&
           (work->long_names == 0 ||
            dti_opening_note(work->opening, "long_names",
                             "%zu of %" PRIu64 " names are longer than the %u bytes of ggml",
                             work->long_names, work->tensor_count, (unsigned)DTI_GGUF_NAME_MAX));
}

static bool read_pairs(struct gguf_reading *work, uint64_t count)
{
    const bool good = dti_gguf_metadata(&work->stream, count, work->part);
    work->alignment = work->part->pairs.alignment;
    return good;
}

bool dti_gguf_read_part(struct dti_opening *opening, unsigned file, struct dti_gguf_part *ret)
{
    struct gguf_reading *const work = dti_calloc(1, sizeof *work); /* too large for some stacks */
    if (!work)
        return dti_opening_no_memory(opening);
    *ret = (struct dti_gguf_part){.first_metadata = opening->container->metadata_count,
                                  .first_tensor = opening->container->tensor_count};
    work->opening = work->stream.opening = opening;
    work->part = ret;
    work->file = file;
    uint64_t pairs;
    const bool good = read_header(work, &pairs) && read_pairs(work, pairs) && read_tensors(work) &&
                      check_names(work) && place_data(work) && add_notes(work);
    dti_free(work);
    return good;
}

/* SPDX-License-Identifier: MIT
 *
 * Reads ranges of tensors as codes in row-major order: as they lie in the file, or unpacked and in
 * this machine's byte order, or computed from codes and scales. In pieces, by the threads of the
 * context. */
#include <string.h>

#include "convert/block_queue.h"
#include "convert/transpose.h"
#include "files/stored/tensor_choice.h"
#include "library/file.h"
#include "util/checked.h"
#include "util/run/allocate.h"

enum {
    PIECE_BYTES = 1 << 20,  /* of codes in memory: as large as caches allow */
    DIRECT_BYTES = 8 << 20, /* the same if they are only read */
    LARGE_BYTES = 4 << 20,  /* below, threads are not worth their start */
    GROUP = 8,              /* elements that fill whole bytes, whatever their width */
    CACHE_LINE = 64,
};

/* Memory of a thread. */
struct reader {
    unsigned char *memory; /* stored bytes of a piece, or the scratch memory of a source */
    struct dti_window window;
};

/* A range that is read. */
struct read_job {
    struct dti_batch_source source; /* numbers that are computed; else: */
    const struct dti_input *input;
    uint64_t offset; /* of the tensor's first byte */
    const struct dti_plan
        *plan;            /* from stored codes to those that are given; NULL: they are alike */
    size_t item;          /* bytes of an element that is given */
    unsigned stored_bits; /* of one in the file */
    size_t parts;         /* of an element that the plan casts: 2 for complex numbers */
    uint64_t first, count, shift; /* shift: elements before `first` since the last multiple of the
                                     piece */
    unsigned char *buffer;
    struct reader *readers;
};

/* Bytes of n stored elements. */
static uint64_t stored_bytes(const struct read_job *range, uint64_t n)
{
    return n / GROUP * range->stored_bits + (n % GROUP * range->stored_bits + 7) / 8;
}

/* Elements `at` to at + n - 1 of the tensor by the plan, where `at` is a multiple of GROUP if codes
 * are packed. */
static enum dti_status run_plan(const struct read_job *range, struct reader *reader, void *dst,
                                uint64_t at, size_t n, struct dti_error *reterr)
{
    const enum dti_status status =
        dti_input_read_at(range->input, reader->memory, (size_t)stored_bytes(range, n),
                          range->offset + stored_bytes(range, at), reterr);
    return status == DTI_OK ? dti_plan_run(range->plan, dst, reader->memory, n * range->parts, 0,
                                           DTI_STORES_CACHED, NULL, reterr)
                            : status;
}

/* The same for any `at`: the first elements may share a byte with those before. */
static enum dti_status read_cast(const struct read_job *range, struct reader *reader,
                                 unsigned char *dst, uint64_t at, size_t n,
                                 struct dti_error *reterr)
{
    unsigned char codes[GROUP];
    const size_t skip = range->stored_bits % 8 == 0 ? 0 : (size_t)(at % GROUP);
    enum dti_status status = DTI_OK;
    size_t head = 0;
    if (skip > 0) {
        head = n < GROUP - skip ? n : GROUP - skip;
        status = run_plan(range, reader, codes, at - skip, skip + head, reterr);
        if (status == DTI_OK)
            memcpy(dst, codes + skip, head);
    }
    if (status == DTI_OK && head < n)
        status = run_plan(range, reader, dst + head * range->item, at + head, n - head, reterr);
    return status;
}

/* Pieces begin at multiples of their size in the tensor, except the first one. */
static enum dti_status read_piece(void *context, size_t member, size_t part, uint64_t first,
                                  size_t n, struct dti_error *reterr)
{
    const struct read_job *const range = context;
    struct reader *const reader = &range->readers[member];
    const size_t skip = first < range->shift ? (size_t)(range->shift - first) : 0;
    (void)part;
    if (skip >= n)
        return DTI_OK;
    n -= skip;
    const uint64_t done = first + skip - range->shift, at = range->first + done;
    unsigned char *const dst = range->buffer + done * range->item;
    if (range->plan)
        return read_cast(range, reader, dst, at, n, reterr);
    if (range->source.read)
        return range->source.read(range->source.context, dst, n * range->item, at * range->item,
                                  &reader->window, reader->memory, reterr);
    return dti_input_read_at(range->input, dst, n * range->item, range->offset + at * range->item,
                             reterr);
}

static void free_readers(struct read_job *range, size_t count)
{
    for (size_t i = 0; range->readers && i < count; i++) {
        dti_window_free(&range->readers[i].window);
        dti_free(range->readers[i].memory);
    }
    dti_free(range->readers);
}

static enum dti_status run_pieces(struct read_job *range, struct dti_team *team, size_t piece,
                                  struct dti_error *reterr)
{
    const size_t members = team ? dti_team_size(team) : 1;
    const size_t stored = range->plan          ? (size_t)stored_bytes(range, piece)
                          : range->source.read ? range->source.scratch_bytes
                                               : 0;
    range->readers = dti_calloc(members, sizeof *range->readers);
    enum dti_status status = range->readers ? DTI_OK : dti_no_memory(reterr);
    for (size_t i = 0; i < members && status == DTI_OK && stored > 0; i++) {
        range->readers[i].memory = dti_malloc_aligned(CACHE_LINE, stored);
        if (!range->readers[i].memory)
            status = dti_no_memory(reterr);
    }
    range->shift = range->first % piece;
    const struct dti_queue_part part = {.elements = range->shift + range->count, .block = piece};
    const struct dti_queue queue = {
        .parts = &part, .count = 1, .members = members, .work = read_piece, .context = range};
    if (status == DTI_OK)
        status = dti_queue_run(&queue, team, reterr);
    free_readers(range, members);
    return status;
}

static enum dti_status read_range(struct dti_file *file, struct read_job *range,
                                  struct dti_error *reterr)
{
    const uint64_t bytes = range->count * range->item;
    const bool direct = !range->plan && !range->source.read;
    struct dti_team *const team =
        bytes >= LARGE_BYTES ? dti_context_borrow_team(file->context) : NULL;
    enum dti_status status;
    if (direct && !team) /* nothing but a system call */
        status = dti_input_read_at(range->input, range->buffer, (size_t)bytes,
                                   range->offset + range->first * range->item, reterr);
    else
        status =
            run_pieces(range, team, (direct ? DIRECT_BYTES : PIECE_BYTES) / range->item, reterr);
    dti_context_return_team(file->context, team);
    return status;
}

/* Columns become rows in a temporary file, once. */
static enum dti_status make_rows(struct dti_file *file, size_t tensor, struct read_job *range,
                                 struct dti_error *reterr)
{
    const struct dti_tensor *const shown = &file->container->tensors[tensor];
    if (!file->rows)
        file->rows = dti_calloc(file->container->tensor_count, sizeof *file->rows);
    if (!file->rows)
        return dti_no_memory(reterr);
    struct dti_input *const rows = &file->rows[tensor];
    enum dti_status status = DTI_OK;
    if (!rows->seekable) {
        struct dti_input made;
        status = dti_transpose(range->input, range->offset, shown->rank, shown->shape,
                               dti_format_item(shown->format), 0, &made, reterr);
        if (status == DTI_OK)
            *rows = made;
    }
    range->input = rows;
    range->offset = 0;
    return status;
}

/* The plan for codes that are not stored as they are given. */
static enum dti_status make_plan(const struct dti_file *file, const struct dti_tensor *tensor,
                                 struct dti_plan **ret, struct dti_error *reterr)
{
    const struct dti_format *const format = dti_real_format(tensor->format);
    const struct dti_request request = {
        .src = *format,
        .src_layout = tensor->layout,
        .dst_layout = {.packing = DTI_PACKING_BYTES},
        .cast = {.dst = *format},
    };
    const bool packed = dti_format_packs(format) && tensor->layout.packing != DTI_PACKING_BYTES;
    if (!packed && !tensor->layout.swapped)
        return DTI_OK;
    return dti_plan_new(ret, &request, file->context->level, reterr);
}

static enum dti_status find_data(struct dti_file *file, size_t tensor, struct read_job *range,
                                 struct dti_plan **ret_plan, struct dti_error *reterr)
{
    const struct dti_tensor *const shown = &file->container->tensors[tensor];
    const struct dti_format *const part = dti_real_format(shown->format);
    enum dti_status status = dti_logical_data(file->container, tensor, &range->source,
                                              &range->input, &range->offset, reterr);
    if (status != DTI_OK || range->source.read)
        return status;
    range->parts = shown->format->kind == DTI_KIND_COMPLEX ? 2 : 1;
    range->stored_bits = (unsigned)range->parts * dti_format_stored_bits(part, &shown->layout);
    if (shown->fortran)
        status = make_rows(file, tensor, range, reterr);
    if (status == DTI_OK)
        status = make_plan(file, shown, ret_plan, reterr);
    range->plan = *ret_plan;
    return status;
}

/* Whether the files of a tensor are what they were when they were opened. */
static enum dti_status check_files(const struct dti_file *file, const struct dti_tensor *tensor,
                                   struct dti_error *reterr)
{
    const struct dti_dequant_form *const form = dti_tensor_form(tensor);
    const struct dti_container_file *const files = file->container->files;
    enum dti_status status =
        dti_input_same(&files[tensor->file].input, &file->states[tensor->file], reterr);
    for (size_t i = 0; form && i < DTI_PART_COUNT && status == DTI_OK; i++) {
        const struct dti_tensor *const part = dti_form_part(form, i);
        if (part && part->file != tensor->file && part->file < file->container->file_count)
            status = dti_input_same(&files[part->file].input, &file->states[part->file], reterr);
    }
    return status;
}

static enum dti_status check_range(const struct dti_file *file, size_t tensor, uint64_t first,
                                   uint64_t count, const void *buffer, struct dti_error *reterr)
{
    const struct dti_tensor *const shown = &file->container->tensors[tensor];
    const char *const refusal = dti_file_refusal(file, tensor);
    char place[DTI_TENSOR_PLACE];
    uint64_t bytes;
    dti_tensor_place(file->container, tensor, place);
    if (refusal)
        return dti_fail_remedy(reterr, DTI_BAD_INPUT, shown->remedy, "%s: %s", place, refusal);
    if (first > shown->elements || count > shown->elements - first)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s has %llu elements; %llu from element %llu on are beyond its end", place,
                        (unsigned long long)shown->elements, (unsigned long long)count,
                        (unsigned long long)first);
    if (!dti_mul_u64(count, dti_format_item(shown->format), &bytes) || bytes > SIZE_MAX / 2)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s: %llu elements are too many for memory", place,
                        (unsigned long long)count);
    if (dti_tensor_form(shown) && (uintptr_t)buffer % sizeof(float) != 0)
        return dti_fail(reterr, DTI_USAGE, "%s: the buffer for its numbers is not aligned", place);
    return DTI_OK;
}

enum dti_status dti_file_read(struct dti_file *file, size_t tensor, uint64_t first, uint64_t count,
                              void *buffer, struct dti_error *reterr)
{
    struct dti_plan *plan = NULL;
    struct dti_call call;
    enum dti_status status = check_range(file, tensor, first, count, buffer, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_tensor *const shown = &file->container->tensors[tensor];
    struct read_job range = {
        .item = dti_format_item(shown->format), .first = first, .count = count, .buffer = buffer};
    dti_call_begin(&call, &file->context->caller);
    status = find_data(file, tensor, &range, &plan, reterr);
    if (status == DTI_OK && count > 0)
        status = read_range(file, &range, reterr);
    const enum dti_status same = check_files(file, shown, status == DTI_OK ? reterr : NULL);
    dti_plan_free(plan);
    dti_call_end(&call);
    return status == DTI_OK ? same : status;
}

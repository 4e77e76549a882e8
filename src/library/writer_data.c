/* SPDX-License-Identifier: MIT
 *
 * Writes the data of new files: see dtinfo/file.h. The file is laid out at the first write, under a
 * temporary name, and gets its own when everything has been written. */
#include <string.h>

#include "library/writer.h"
#include "util/checked.h"
#include "util/run/allocate.h"

enum {
    GROUP = 8,             /* elements that fill whole bytes, whatever their width */
    PIECE = 64 * DTI_TILE, /* elements that are packed at once */
    CACHE_LINE = 64,
};

/* Leaves nothing behind; nothing can be written any more. */
static void end_writing(struct dti_writer *writer)
{
    dti_output_discard(writer->output);
    writer->output = NULL;
    writer->has_ended = true;
}

/* Opens the file with everything in it but the data. */
static enum dti_status lay_out(struct dti_writer *writer, struct dti_error *reterr)
{
    uint64_t size = 0;
    dti_new_head_free(&writer->head);
    dti_new_head_init(&writer->head);
    enum dti_status status =
        dti_container_layout(writer->kind, writer->tensors, writer->count, writer->texts,
                             writer->text_count, &writer->head, &size, reterr);
    for (size_t i = 0; i < writer->count && status == DTI_OK; i++)
        writer->declared[writer->tensors[i].source].offset = writer->tensors[i].offset;
    if (status == DTI_OK)
        status = dti_output_open(&writer->output, writer->path, writer->replace, size, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_output_seekable(writer->output)
                 ? dti_new_head_write(&writer->head, writer->output, reterr)
                 : dti_fail(reterr, DTI_WRITE_FAILED, "%s is not a regular file",
                            DTI_QUOTED(writer->path, strlen(writer->path)));
    if (status != DTI_OK)
        end_writing(writer);
    return status;
}

/* A range of a tensor that is written. */
struct write_job {
    struct dti_declared *tensor;
    uint64_t first, count;
    const unsigned char *codes;
};

/* Plans how given codes become stored ones, if they differ. */
static enum dti_status make_plan(struct dti_writer *writer, const struct write_job *piece,
                                 struct dti_error *reterr)
{
    const struct dti_layout *const layout = &piece->tensor->layout;
    const struct dti_format *const format = dti_real_format(piece->tensor->format);
    const bool packed = dti_format_packs(format) && layout->packing != DTI_PACKING_BYTES;
    const struct dti_request request = {.src = *format,
                                        .src_layout = {.packing = DTI_PACKING_BYTES},
                                        .dst_layout = *layout,
                                        .cast = {.dst = *format}};
    if (piece->tensor->plan || (!packed && !layout->swapped))
        return DTI_OK;
    if (!writer->packed)
        writer->packed = dti_malloc_aligned(CACHE_LINE, (size_t)PIECE * 2 * sizeof(uint64_t));
    if (!writer->packed)
        return dti_no_memory(reterr);
    return dti_plan_new(&piece->tensor->plan, &request, writer->context->level, reterr);
}

static enum dti_status write_piece(struct dti_writer *writer, const struct write_job *piece,
                                   struct dti_error *reterr)
{
    const struct dti_format *const format = piece->tensor->format;
    const struct dti_plan *const plan = piece->tensor->plan;
    const size_t item = dti_format_item(format), parts = format->kind == DTI_KIND_COMPLEX ? 2 : 1;
    enum dti_status status = DTI_OK;
    if (!plan)
        return dti_output_write_at(writer->output, piece->codes, (size_t)(piece->count * item),
                                   piece->tensor->offset + piece->first * item, reterr);
    for (uint64_t done = 0; done < piece->count && status == DTI_OK; done += PIECE) {
        const uint64_t left = piece->count - done;
        const size_t n = left < PIECE ? (size_t)left : PIECE;
        uint64_t begin = 0, bytes = 0;
        (void)dti_plan_dst_bytes(plan, (piece->first + done) * parts, &begin);
        (void)dti_plan_dst_bytes(plan, n * parts, &bytes);
        status = dti_plan_run(plan, writer->packed, piece->codes + done * item, n * parts, 0,
                              DTI_STORES_CACHED, NULL, reterr);
        if (status == DTI_OK)
            status = dti_output_write_at(writer->output, writer->packed, (size_t)bytes,
                                         piece->tensor->offset + begin, reterr);
    }
    return status;
}

static enum dti_status check_piece(const struct write_job *piece, struct dti_error *reterr)
{
    const struct dti_format *const format = piece->tensor->format;
    const uint64_t elements = piece->tensor->elements;
    char name[DTI_QUOTE_SIZE];
    uint64_t bytes;
    dti_quote(name, piece->tensor->name, piece->tensor->name_length);
    if (piece->first > elements || piece->count > elements - piece->first ||
        !dti_mul_u64(piece->count, dti_format_item(format), &bytes))
        return dti_fail(reterr, DTI_USAGE,
                        "tensor %s has %llu elements; %llu from element %llu on are beyond its end",
                        name, (unsigned long long)elements, (unsigned long long)piece->count,
                        (unsigned long long)piece->first);
    const bool packed =
        dti_format_packs(format) && piece->tensor->layout.packing != DTI_PACKING_BYTES;
    if (packed && (piece->first % GROUP != 0 ||
                   (piece->count % GROUP != 0 && piece->first + piece->count != elements)))
        return dti_fail(reterr, DTI_USAGE,
                        "tensor %s: %s shares bytes, and is written in multiples of %d elements",
                        name, format->name, GROUP);
    if (dti_spans_overlap(&piece->tensor->written, piece->first, piece->count))
        return dti_fail(reterr, DTI_USAGE, "tensor %s: an element is written twice", name);
    return DTI_OK;
}

enum dti_status dti_writer_write(struct dti_writer *writer, size_t tensor, uint64_t first,
                                 uint64_t count, const void *codes, struct dti_error *reterr)
{
    struct dti_call call;
    enum dti_status status = dti_writer_check_open(writer, false, reterr);
    if (status == DTI_OK && tensor >= writer->count)
        status = dti_fail(reterr, DTI_USAGE, "no tensor %zu was declared", tensor);
    if (status != DTI_OK)
        return status;
    struct write_job piece = {
        .tensor = &writer->declared[tensor], .first = first, .count = count, .codes = codes};
    dti_call_begin(&call, &writer->context->caller);
    if (!writer->output)
        status = lay_out(writer, reterr);
    if (status == DTI_OK)
        status = check_piece(&piece, reterr);
    if (status == DTI_OK)
        status = make_plan(writer, &piece, reterr);
    if (status == DTI_OK && count > 0) {
        status = write_piece(writer, &piece, reterr);
        if (status == DTI_OK && !dti_spans_add(&piece.tensor->written, first, count))
            status = dti_no_memory(reterr);
        if (status != DTI_OK) /* some bytes of the piece may be there */
            end_writing(writer);
    }
    dti_call_end(&call);
    return status;
}

static enum dti_status check_complete(const struct dti_writer *writer, struct dti_error *reterr)
{
    for (size_t i = 0; i < writer->count; i++) {
        const struct dti_declared *const tensor = &writer->declared[i];
        if (tensor->written.total != tensor->elements)
            return dti_fail(reterr, DTI_USAGE, "tensor %s: %llu of %llu elements were not written",
                            DTI_QUOTED(tensor->name, tensor->name_length),
                            (unsigned long long)(tensor->elements - tensor->written.total),
                            (unsigned long long)tensor->elements);
    }
    return DTI_OK;
}

enum dti_status dti_writer_commit(struct dti_writer *writer, struct dti_error *reterr)
{
    struct dti_call call;
    enum dti_status status = dti_writer_check_open(writer, false, reterr);
    if (status == DTI_OK)
        status = check_complete(writer, reterr);
    if (status != DTI_OK)
        return status;
    dti_call_begin(&call, &writer->context->caller);
    if (!writer->output)
        status = lay_out(writer, reterr);
    if (status == DTI_OK)
        status = dti_new_head_finish(&writer->head, writer->output, reterr);
    if (status == DTI_OK) {
        status = dti_output_commit(writer->output, reterr);
        writer->output = NULL;
    }
    end_writing(writer);
    dti_call_end(&call);
    return status;
}

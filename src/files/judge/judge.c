/* SPDX-License-Identifier: MIT
 *
 * Compares written bytes with existing ones: ranges, pieces, elements.
 *
 * Maps the bytes that a rewrite or copies would write to those of another file. */
#include "files/judge/judge.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "containers/name_order.h"
#include "convert/batch.h"
#include "convert/transpose.h"
#include "files/dequant/dequant_tensor.h"
#include "files/rewrite/rewrite_parts.h"
#include "util/run/allocate.h"

/* A range of the output that should equal bytes of a tensor. */
struct dti_judge_range {
    uint64_t offset, bytes;
    size_t made; /* the tensor that the verdict is about */
    enum dti_quant_part part;
    size_t other;
    uint64_t input_offset; /* before judge_add(): bytes of the tensor to skip */
    /* set by judge_add() */
    const struct dti_input *input;
    struct dti_input reordered;
    bool is_reordered;
    enum dti_arrangement arrangement; /* NIBBLES, PAIRS and HALVES only */
    uint64_t head, row;               /* rows of a head, bytes of a row */
    const struct dti_format *format;  /* NULL: bytes */
    struct dti_layout layout;
    uint64_t differing, first, expected, found;
};

struct dti_judge {
    const struct dti_judge_options *options;
    struct dti_output_file *output; /* receives the writes to be judged, or NULL */
    size_t count, capacity;
    struct dti_judge_range *ranges; /* sorted by offset before the first write */
    pthread_mutex_t lock;           /* guards the fields below, and the counts of ranges */
    uint64_t sampled, unlike;       /* elements at the start of the codes: compared, different */
    uint64_t sample_bytes, sample_left;
    bool differs;
};

enum {
    PIECE = 48 << 10,  /* bytes per read: whole elements, even of 6 bits */
    SAMPLE = 64 << 10, /* bytes at the start of the codes that rank candidates */
};

/* Bits of an element. */
static unsigned bits_of(const struct dti_judge_range *range)
{
    return range->format ? dti_format_stored_bits(range->format, &range->layout) : 8;
}

/* The code of an element in a buffer that starts at an element boundary. */
static uint64_t code_at(const struct dti_judge_range *range, const unsigned char *bytes, size_t at)
{
    const unsigned bits = bits_of(range);
    uint64_t code = 0;
    for (unsigned i = 0; i < bits; i++) {
        const size_t bit = at * bits + i;
        const bool high = bits < 8 && range->layout.packing == DTI_PACKING_HIGH;
        const uint64_t value = bytes[bit / 8] >> (high ? 7 - bit % 8 : bit % 8) & 1;
        code |= high ? value << (bits - 1 - i) : value << i;
    }
    if (bits > 8 && dti_is_big_endian(&range->layout)) {
        uint64_t turned = 0;
        for (unsigned i = 0; i < bits; i += 8)
            turned |= (code >> i & 255) << (bits - 8 - i);
        code = turned;
    }
    return range->format ? code >> dti_format_code_shift(range->format) : code;
}

static bool same_element(const struct dti_judge_range *range, const unsigned char *a,
                         const unsigned char *b, size_t at)
{
    const unsigned bits = bits_of(range);
    return bits >= 8 ? memcmp(a + at * bits / 8, b + at * bits / 8, bits / 8) == 0
                     : code_at(range, a, at) == code_at(range, b, at);
}

/* The result for a piece of a range. */
struct judged_piece {
    uint64_t differing, first, expected, found;
    uint64_t sampled, unlike;
};

/* begin: the offset of the piece in the range. The piece starts at an element boundary, or ends
 * with the range. */
static void compare_elements(const struct dti_judge_range *range, uint64_t begin,
                             const unsigned char *made, const unsigned char *there, size_t size,
                             struct judged_piece *piece)
{
    const unsigned bits = bits_of(range);
    const uint64_t first = begin * 8 / bits;
    const size_t n = size * 8 / bits;
    for (size_t i = 0; i < n; i++) {
        if (same_element(range, made, there, i))
            continue;
        if (piece->differing++ == 0) {
            piece->first = first + i;
            piece->expected = code_at(range, made, i);
            piece->found = code_at(range, there, i);
        }
        piece->unlike += (begin + i * bits / 8) < SAMPLE;
    }
    if (piece->differing == 0 && memcmp(made, there, size) != 0) { /* in the padding at the end */
        piece->differing = 1;
        piece->first = first + n;
        piece->expected = made[size - 1];
        piece->found = there[size - 1];
    }
}

static void merge(struct dti_judge *judge, struct dti_judge_range *range,
                  const struct judged_piece *piece, uint64_t sample_bytes)
{
    pthread_mutex_lock(&judge->lock);
    if (piece->differing > 0 && (range->differing == 0 || piece->first < range->first)) {
        range->first = piece->first;
        range->expected = piece->expected;
        range->found = piece->found;
    }
    range->differing += piece->differing;
    judge->differs = judge->differs || piece->differing > 0;
    judge->unlike += piece->unlike;
    judge->sample_left -= sample_bytes;
    pthread_mutex_unlock(&judge->lock);
}

/* How many bytes of a piece belong to the sample. */
static uint64_t sampled_of(const struct dti_judge_range *range, uint64_t begin, size_t size)
{
    if (range->part != DTI_PART_CODES || begin >= SAMPLE)
        return 0;
    return size < SAMPLE - begin ? size : SAMPLE - begin;
}

/* Whether elements of this shape can be in that order; `head` matters where there are heads. */
static bool is_fitting(enum dti_arrangement arrangement, uint64_t head, unsigned rank,
                       const uint64_t *shape, const struct dti_tensor *other)
{
    const bool whole = other->format && dti_format_item(other->format) > 0 &&
                       dti_format_stored_bits(dti_real_format(other->format), &other->layout) >= 8;
    switch (arrangement) {
    case DTI_ARRANGED_AS_MADE:
    case DTI_ARRANGED_NIBBLES:
        return true;
    case DTI_ARRANGED_TRANSPOSED:
        return whole && rank == 2 && other->rank == 2 && !other->fortran &&
               other->shape[0] == shape[1] && other->shape[1] == shape[0];
    case DTI_ARRANGED_PAIRS:
    case DTI_ARRANGED_HALVES:
        return whole && rank > 0 && !other->fortran && head > 0 && head % 2 == 0 && shape[0] > 0 &&
               shape[0] % head == 0;
    }
    return false;
}

static uint64_t row_there(const struct dti_judge_range *range, uint64_t row)
{
    const uint64_t head = range->head, at = row % head, half = head / 2;
    return range->arrangement == DTI_ARRANGED_PAIRS ? row - at + at % half * 2 + at / half
                                                    : row - at + at % 2 * half + at / 2;
}

/* The bytes of a range as they would be in the order of what is made. */
static enum dti_status read_there(const struct dti_judge_range *range, uint64_t begin,
                                  unsigned char *there, size_t n, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (range->row == 0)
        status = dti_input_read_at(range->input, there, n, range->input_offset + begin, reterr);
    for (size_t i = 0; i < n && range->arrangement == DTI_ARRANGED_NIBBLES; i++)
        there[i] = (unsigned char)(there[i] << 4 | there[i] >> 4);
    for (size_t done = 0, some; done < n && range->row > 0 && status == DTI_OK; done += some) {
        const uint64_t at = begin + done, skip = at % range->row, left = range->row - skip;
        some = n - done < left ? n - done : (size_t)left;
        status = dti_input_read_at(
            range->input, there + done, some,
            range->input_offset + row_there(range, at / range->row) * range->row + skip, reterr);
    }
    return status;
}

static enum dti_status compare_range(struct dti_judge *judge, struct dti_judge_range *range,
                                     uint64_t begin, const unsigned char *made, size_t size,
                                     struct dti_error *reterr)
{
    unsigned char there[PIECE];
    for (size_t done = 0, n; done < size; done += n) {
        struct judged_piece piece = {.differing = 0};
        n = size - done < PIECE ? size - done : PIECE;
        const enum dti_status status = read_there(range, begin + done, there, n, reterr);
        if (status != DTI_OK)
            return status;
        if (memcmp(made + done, there, n) != 0)
            compare_elements(range, begin + done, made + done, there, n, &piece);
        const uint64_t sampled = sampled_of(range, begin + done, n);
        if (piece.differing > 0 || sampled > 0)
            merge(judge, range, &piece, sampled);
    }
    return DTI_OK;
}

/* The range that contains this offset, or the next one. */
static size_t find(const struct dti_judge *judge, uint64_t offset)
{
    size_t low = 0, high = judge->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct dti_judge_range *const range = &judge->ranges[middle];
        if (range->offset + range->bytes <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* File heads are outside all ranges. */
static enum dti_status take_written(void *context, const void *data, size_t size, uint64_t offset,
                                    struct dti_error *reterr)
{
    struct dti_judge *const judge = context;
    const unsigned char *const bytes = data;
    const uint64_t end = offset + size;
    enum dti_status status = DTI_OK;
    for (size_t i = find(judge, offset); i < judge->count && status == DTI_OK; i++) {
        struct dti_judge_range *const range = &judge->ranges[i];
        const uint64_t from = range->offset > offset ? range->offset : offset;
        const uint64_t to = range->offset + range->bytes < end ? range->offset + range->bytes : end;
        if (from >= end)
            break;
        if (to > from)
            status = compare_range(judge, range, from - range->offset, bytes + (from - offset),
                                   (size_t)(to - from), reterr);
    }
    if (status != DTI_OK || !judge->options->stop)
        return status;
    pthread_mutex_lock(&judge->lock);
    const bool enough = judge->differs && judge->sample_left == 0;
    pthread_mutex_unlock(&judge->lock);
    return enough ? dti_fail(reterr, DTI_ANSWER_NO, "%s", "") : DTI_OK;
}

/* Allocates room for `capacity` ranges. Free it unless this fails. */
static enum dti_status judge_init(struct dti_judge *ret, size_t capacity,
                                  const struct dti_judge_options *options, struct dti_error *reterr)
{
    memset(ret, 0, sizeof *ret);
    ret->options = options;
    ret->capacity = capacity;
    ret->ranges = dti_calloc(capacity + 1, sizeof *ret->ranges);
    ret->output = dti_output_to(take_written, ret);
    if (ret->ranges && ret->output) {
        pthread_mutex_init(&ret->lock, NULL);
        return DTI_OK;
    }
    dti_free(ret->ranges);
    dti_output_discard(ret->output);
    return dti_no_memory(reterr);
}

/* Discards the output, unless something else has taken it. */
static void judge_free(struct dti_judge *judge)
{
    for (size_t i = 0; i < judge->count; i++) {
        if (judge->ranges[i].is_reordered)
            dti_input_close(&judge->ranges[i].reordered);
    }
    dti_output_discard(judge->output);
    pthread_mutex_destroy(&judge->lock);
    dti_free(judge->ranges);
}

/* Adds a range of a tensor of `other` and sets its format; fortran: the order of what is made. */
static enum dti_status judge_add(struct dti_judge *judge, const struct dti_judge_range *range,
                                 struct dti_container *other, bool fortran,
                                 struct dti_error *reterr)
{
    const struct dti_tensor *const tensor = &other->tensors[range->other];
    struct dti_judge_range *const added = &judge->ranges[judge->count];
    const uint64_t skipped = range->input_offset;
    *added = *range;
    /* the other file's format outlives the rewrite's equal one */
    added->format = tensor->format ? dti_real_format(tensor->format) : NULL;
    enum dti_status status =
        dti_container_data(other, range->other, &added->input, &added->input_offset, reterr);
    const enum dti_arrangement arrangement = judge->options->arrangement;
    if (status == DTI_OK && arrangement == DTI_ARRANGED_TRANSPOSED && range->bytes > 0) {
        /* a row-major matrix is the transposed one in columns */
        const uint64_t shape[2] = {tensor->shape[1], tensor->shape[0]};
        status = dti_transpose(added->input, added->input_offset, 2, shape,
                               dti_format_item(tensor->format), judge->options->max_memory,
                               &added->reordered, reterr);
        added->is_reordered = status == DTI_OK;
    } else if (arrangement == DTI_ARRANGED_NIBBLES) {
        added->arrangement = range->part == DTI_PART_CODES ? arrangement : DTI_ARRANGED_AS_MADE;
    } else if (arrangement != DTI_ARRANGED_AS_MADE && range->bytes > 0) {
        added->arrangement = arrangement;
        added->head = judge->options->head;
        added->row = tensor->bytes / tensor->shape[0];
    }
    if (status == DTI_OK && tensor->fortran && !fortran && range->bytes > 0) {
        status = dti_transpose(added->input, added->input_offset, tensor->rank, tensor->shape,
                               dti_format_item(tensor->format), judge->options->max_memory,
                               &added->reordered, reterr);
        added->is_reordered = status == DTI_OK;
    }
    if (status != DTI_OK)
        return status;
    judge->count++;
    added->input_offset += skipped;
    if (added->is_reordered)
        added->input_offset = 0; /* into the input that judge_start() sets */
    judge->sample_left +=
        sampled_of(added, 0, (size_t)(added->bytes < SAMPLE ? added->bytes : SAMPLE));
    return DTI_OK;
}

/* Marks the last range as written in pieces that may start at any byte: codes that straddle bytes
 * are then compared as bytes. */
static void judge_copied(struct dti_judge *judge)
{
    struct dti_judge_range *const range = &judge->ranges[judge->count - 1];
    const unsigned bits = bits_of(range);
    if (bits % 8 != 0 && 8 % bits != 0)
        range->format = NULL;
}

static int by_offset(const void *a, const void *b)
{
    const struct dti_judge_range *const x = a, *const y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

/* Call after the last judge_add(). */
static void judge_start(struct dti_judge *judge)
{
    judge->sample_bytes = judge->sample_left;
    qsort(judge->ranges, judge->count, sizeof *judge->ranges, by_offset);
    for (size_t i = 0; i < judge->count; i++) {
        if (judge->ranges[i].is_reordered)
            judge->ranges[i].input = &judge->ranges[i].reordered;
    }
}

/* Ends a run; a difference that stopped it counts as success. Fills verdicts that are still
 * DTI_VERDICT_SAME. */
static enum dti_status judge_end(const struct dti_judge *judge, enum dti_status status,
                                 struct dti_verdict *verdicts)
{
    if (status != DTI_OK && !(status == DTI_ANSWER_NO && judge->differs))
        return status;
    for (size_t i = 0; i < judge->count; i++) {
        const struct dti_judge_range *const range = &judge->ranges[i];
        struct dti_verdict *const verdict = &verdicts[range->made];
        const bool worse = verdict->kind == DTI_VERDICT_SAME ||
                           (verdict->kind == DTI_VERDICT_BYTES && range->part < verdict->part);
        if (range->differing == 0 || !worse)
            continue;
        const uint64_t elements = range->bytes * 8 / bits_of(range);
        const uint64_t sampled = judge->sample_bytes * 8 / bits_of(range);
        *verdict = (struct dti_verdict){
            .kind = DTI_VERDICT_BYTES,
            .part = range->part,
            .tensor = range->other,
            .elements = elements,
            .differing = status == DTI_OK ? range->differing : 0,
            .first = range->first,
            .format = range->format,
            .expected = range->expected,
            .found = range->found,
            .alike = sampled > 0 ? 1 - (double)judge->unlike / (double)sampled : 1,
        };
    }
    return DTI_OK;
}

/* A part of a tensor as it is made. */
struct judged_part {
    enum dti_quant_part part;
    const struct dti_format *format;
    struct dti_layout layout;
    unsigned rank;
    const uint64_t *shape;
    const struct dti_rewrite_part *place;
    bool fortran;
};

struct judged_rewrite {
    struct dti_rewrite *rewrite;
    const struct dti_judge_other *other;
    const size_t *part_count;
    struct dti_judge judge;
    struct dti_buffer name;
};

/* Finds the other file's tensor that should equal the part. */
static enum dti_status find_other(struct judged_rewrite *job, size_t at,
                                  const struct judged_part *part, size_t *ret,
                                  struct dti_error *reterr)
{
    const struct dti_tensor *const source = dti_rewrite_source(job->rewrite, at);
    struct dti_buffer *const name = &job->name;
    *ret = 0;
    if (!job->other->names)
        return DTI_OK;
    dti_buffer_clear(name);
    const char *suffix = "";
    size_t stem = source->name_length;
    if (dti_is_quantized(&job->rewrite->tensors[at]))
        stem =
            dti_quant_part_stem(job->rewrite->tensors[at].way->by->row, part->part, stem, &suffix);
    dti_buffer_append(name, source->name, stem);
    dti_buffer_puts(name, suffix);
    if (name->failed)
        return dti_no_memory(reterr);
    if (!dti_name_order_find(job->other->names, name->data, name->length, ret))
        *ret = SIZE_MAX;
    return DTI_OK;
}

static uint64_t skipped_bytes(const struct judged_part *part, uint64_t elements)
{
    return elements / 8 * dti_format_stored_bits(dti_real_format(part->format), &part->layout);
}

static enum dti_verdict_kind check(const struct judged_part *part, const struct dti_tensor *tensor,
                                   const struct dti_judge_options *options)
{
    const bool cut = options->elements > 0;
    const size_t bytes = part->rank * sizeof *part->shape;
    if (!tensor->format || dti_tensor_refusal(tensor) ||
        strcmp(tensor->format->name, part->format->name) != 0)
        return DTI_VERDICT_DTYPE;
    const bool turned = options->arrangement == DTI_ARRANGED_TRANSPOSED;
    const bool same =
        tensor->rank == part->rank && tensor->bytes == part->place->bytes &&
        (bytes == 0 || turned || memcmp(tensor->shape, part->shape, bytes) == 0) &&
        is_fitting(options->arrangement, options->head, part->rank, part->shape, tensor);
    if (cut ? tensor->fortran ||
                  tensor->bytes < part->place->bytes + skipped_bytes(part, options->skip)
            : !same)
        return DTI_VERDICT_SHAPE;
    if (tensor->layout.swapped != part->layout.swapped &&
        dti_format_container(dti_real_format(part->format)) > 1)
        return DTI_VERDICT_ORDER;
    return DTI_VERDICT_SAME;
}

static enum dti_status add_part(struct judged_rewrite *job, size_t at,
                                const struct judged_part *part, struct dti_verdict *verdict,
                                struct dti_error *reterr)
{
    size_t other;
    enum dti_status status = find_other(job, at, part, &other, reterr);
    if (status != DTI_OK || verdict->kind != DTI_VERDICT_SAME)
        return status;
    verdict->kind = other == SIZE_MAX
                        ? DTI_VERDICT_MISSING
                        : check(part, &job->other->container->tensors[other], job->judge.options);
    if (verdict->kind != DTI_VERDICT_SAME) {
        verdict->part = part->part;
        verdict->tensor = other;
        verdict->made_dtype = part->format->id;
        return DTI_OK;
    }
    const struct dti_judge_range range = {
        .offset = part->place->offset,
        .bytes = part->place->bytes,
        .made = job->rewrite->tensors[at].source,
        .part = part->part,
        .other = other,
        .layout = part->layout,
        .input_offset = skipped_bytes(part, job->judge.options->skip),
    };
    return judge_add(&job->judge, &range, job->other->container, part->fortran, reterr);
}

static enum dti_status add_tensor(struct judged_rewrite *job, size_t at,
                                  struct dti_verdict *verdict, struct dti_error *reterr)
{
    const struct dti_rewrite *const rewrite = job->rewrite;
    const struct dti_rewrite_tensor *const tensor = &rewrite->tensors[at];
    const struct dti_tensor *const source = dti_rewrite_source(rewrite, at);
    const size_t parts = dti_parts_before(tensor->parts, DTI_PART_COUNT);
    struct dti_quant_part_shape shapes[DTI_PART_COUNT];
    struct dti_quant_stored stored;
    enum dti_status status = DTI_OK;
    *verdict = (struct dti_verdict){.kind = DTI_VERDICT_SAME};
    if (!dti_is_quantized(tensor)) {
        const struct judged_part part = {
            .part = DTI_PART_CODES,
            .format = tensor->way->format,
            .layout = tensor->way->layout,
            .rank = source->rank,
            .shape = source->shape,
            .place = &rewrite->parts[tensor->part],
            .fortran = dti_rewrite_is_fortran(rewrite, source),
        };
        status = add_part(job, at, &part, verdict, reterr);
    } else {
        dti_rewrite_stored(rewrite, at, &stored);
        status = dti_quant_parts(&stored, shapes, reterr);
        for (size_t i = 0; i < DTI_PART_COUNT && status == DTI_OK; i++) {
            if (!shapes[i].there)
                continue;
            struct judged_part part = {
                .part = (enum dti_quant_part)i,
                .format = dti_format_get(shapes[i].dtype),
                .rank = shapes[i].rank,
                .shape = shapes[i].shape,
                .place = dti_rewrite_part(rewrite, at, (enum dti_quant_part)i),
            };
            (void)dti_container_stores(rewrite->request.kind, part.format, &part.layout);
            status = add_part(job, at, &part, verdict, reterr);
        }
    }
    if (status == DTI_OK && verdict->kind == DTI_VERDICT_SAME &&
        parts != job->part_count[tensor->source]) {
        verdict->kind = DTI_VERDICT_MORE;
        verdict->tensor = SIZE_MAX;
    }
    return status;
}

static enum dti_status run_judged(struct judged_rewrite *job,
                                  const struct dti_judge_options *options,
                                  struct dti_verdict *verdicts, struct dti_error *reterr)
{
    struct dti_rewrite *const rewrite = job->rewrite;
    const struct dti_rewrite_options how = {.team = options->team,
                                            .max_memory = options->max_memory};
    enum dti_status status = DTI_OK;
    bool some = false;
    for (size_t i = 0; i < rewrite->tensor_count && status == DTI_OK; i++) {
        struct dti_verdict *const verdict = &verdicts[rewrite->tensors[i].source];
        status = add_tensor(job, i, verdict, reterr);
        some = some || verdict->kind == DTI_VERDICT_SAME;
    }
    if (status != DTI_OK || !some)
        return status;
    judge_start(&job->judge);
    rewrite->files.list[0].output = job->judge.output; /* freed with the rewrite */
    job->judge.output = NULL;
    status = dti_rewrite_run(rewrite, &how, reterr);
    return judge_end(&job->judge, status, verdicts);
}

enum dti_status dti_judge_rewrite(struct dti_rewrite *rewrite, const struct dti_judge_other *other,
                                  const size_t *part_count, const struct dti_judge_options *options,
                                  struct dti_verdict *ret, struct dti_error *reterr)
{
    struct judged_rewrite job = {.rewrite = rewrite, .other = other, .part_count = part_count};
    size_t parts = 0;
    for (size_t i = 0; i < rewrite->tensor_count; i++)
        parts += dti_parts_before(rewrite->tensors[i].parts, DTI_PART_COUNT);
    if (rewrite->files.count != 1)
        return dti_fail(reterr, DTI_BUG, "a rewrite that is compared has %zu files",
                        rewrite->files.count);
    enum dti_status status = judge_init(&job.judge, parts, options, reterr);
    if (status != DTI_OK)
        return status;
    dti_buffer_init(&job.name);
    status = run_judged(&job, options, ret, reterr);
    dti_buffer_free(&job.name);
    judge_free(&job.judge);
    return status;
}

enum { COPIES = 1024 }; /* per batch */

static enum dti_status judge_some(struct dti_container *from, struct dti_container *to,
                                  const struct dti_judge_copy *copies, size_t count,
                                  const struct dti_judge_options *options,
                                  struct dti_batch_part *parts, struct dti_verdict *ret,
                                  struct dti_error *reterr)
{
    const struct dti_batch_options how = {.max_memory = options->max_memory};
    struct dti_judge judge;
    uint64_t offset = 0;
    size_t used = 0; /* parts */
    enum dti_status status = judge_init(&judge, count, options, reterr);
    if (status != DTI_OK)
        return status;
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        const struct dti_tensor *const tensor = &to->tensors[copies[i].to];
        const struct dti_judge_range range = {
            .offset = offset,
            .bytes = tensor->bytes,
            .made = i,
            .part = copies[i].part,
            .other = copies[i].to,
            .layout = tensor->layout,
        };
        const struct dti_tensor *const made = &from->tensors[copies[i].from];
        ret[i] = (struct dti_verdict){.kind = DTI_VERDICT_SAME};
        if (!is_fitting(options->arrangement, options->head, made->rank, made->shape, tensor)) {
            ret[i].kind = DTI_VERDICT_SHAPE;
            ret[i].tensor = copies[i].to;
            continue;
        }
        struct dti_batch_part *const part = &parts[used++];
        *part = (struct dti_batch_part){
            .elements = tensor->bytes, .output = judge.output, .output_offset = offset};
        status =
            dti_container_data(from, copies[i].from, &part->input, &part->input_offset, reterr);
        if (status == DTI_OK)
            status = judge_add(&judge, &range, to, tensor->fortran, reterr);
        if (status == DTI_OK)
            judge_copied(&judge);
        offset += tensor->bytes; /* no overflow: existing files are far below 2^63 bytes */
    }
    judge_start(&judge);
    if (status == DTI_OK)
        status = dti_batch_run(parts, used, options->team, &how, reterr);
    status = judge_end(&judge, status, ret);
    judge_free(&judge);
    return status;
}

enum dti_status dti_judge_copies(struct dti_container *from, struct dti_container *to,
                                 const struct dti_judge_copy *copies, size_t count,
                                 const struct dti_judge_options *options, struct dti_verdict *ret,
                                 struct dti_error *reterr)
{
    struct dti_batch_part *const parts = dti_calloc(COPIES, sizeof *parts);
    enum dti_status status = parts ? DTI_OK : dti_no_memory(reterr);
    for (size_t i = 0, n; i < count && status == DTI_OK; i += n) {
        n = count - i < COPIES ? count - i : COPIES;
        status = judge_some(from, to, copies + i, n, options, parts, ret + i, reterr);
    }
    dti_free(parts);
    return status;
}

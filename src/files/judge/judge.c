/* SPDX-License-Identifier: MIT
 *
 * Compares what is written with what is there: ranges, pieces, elements. */
#include <stdlib.h>
#include <string.h>

#include "dtinfo/transpose.h"
#include "files/dequant/dequant_tensor.h"
#include "files/judge/judge_parts.h"

enum {
    PIECE = 48 << 10,  /* bytes that are read at once: whole elements, of 6 bits too */
    SAMPLE = 64 << 10, /* bytes at the beginning of the codes by which candidates are ranked */
};

/* Bits of an element. */
static unsigned bits_of(const struct dti_judge_range *range)
{
    return range->format ? dti_format_stored_bits(range->format, &range->layout) : 8;
}

/* The code of an element in bytes that begin with a whole one. */
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

/* What a piece of a range came to. */
struct judged_piece {
    uint64_t differing, first, expected, found;
    uint64_t sampled, unlike;
};

/* `begin`: bytes of the range before the piece, which begins with a whole element or ends with the
 * range. */
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

static enum dti_status compare_range(struct dti_judge *judge, struct dti_judge_range *range,
                                     uint64_t begin, const unsigned char *made, size_t size,
                                     struct dti_error *reterr)
{
    unsigned char there[PIECE];
    for (size_t done = 0, n; done < size; done += n) {
        struct judged_piece piece = {.differing = 0};
        n = size - done < PIECE ? size - done : PIECE;
        const enum dti_status status =
            dti_input_read_at(range->input, there, n, range->input_offset + begin + done, reterr);
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

/* The range with the byte at an offset, or the next one. */
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

/* Heads of files lie in no range. */
static enum dti_status take(void *context, const void *data, size_t size, uint64_t offset,
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

enum dti_status dti_judge_init(struct dti_judge *ret, size_t capacity,
                               const struct dti_judge_options *options, struct dti_error *reterr)
{
    memset(ret, 0, sizeof *ret);
    ret->options = options;
    ret->capacity = capacity;
    ret->ranges = calloc(capacity + 1, sizeof *ret->ranges);
    ret->output = dti_output_to(take, ret);
    if (ret->ranges && ret->output) {
        pthread_mutex_init(&ret->lock, NULL);
        return DTI_OK;
    }
    free(ret->ranges);
    dti_output_discard(ret->output);
    return dti_no_memory(reterr);
}

void dti_judge_free(struct dti_judge *judge)
{
    for (size_t i = 0; i < judge->count; i++) {
        if (judge->ranges[i].is_reordered)
            dti_input_close(&judge->ranges[i].reordered);
    }
    dti_output_discard(judge->output);
    pthread_mutex_destroy(&judge->lock);
    free(judge->ranges);
}

enum dti_status dti_judge_add(struct dti_judge *judge, const struct dti_judge_range *range,
                              struct dti_container *other, bool fortran, struct dti_error *reterr)
{
    const struct dti_tensor *const tensor = &other->tensors[range->other];
    struct dti_judge_range *const added = &judge->ranges[judge->count];
    const uint64_t skipped = range->input_offset;
    *added = *range;
    /* lasts longer than that of a rewrite, which is the same */
    added->format = tensor->format ? dti_real_format(tensor->format) : NULL;
    enum dti_status status =
        dti_container_data(other, range->other, &added->input, &added->input_offset, reterr);
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
        added->input_offset = 0; /* of the input that dti_judge_start() sets */
    judge->sample_left +=
        sampled_of(added, 0, (size_t)(added->bytes < SAMPLE ? added->bytes : SAMPLE));
    return DTI_OK;
}

void dti_judge_copied(struct dti_judge *judge)
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

void dti_judge_start(struct dti_judge *judge)
{
    judge->sample_bytes = judge->sample_left;
    qsort(judge->ranges, judge->count, sizeof *judge->ranges, by_offset);
    for (size_t i = 0; i < judge->count; i++) {
        if (judge->ranges[i].is_reordered)
            judge->ranges[i].input = &judge->ranges[i].reordered;
    }
}

enum dti_status dti_judge_end(const struct dti_judge *judge, enum dti_status status,
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

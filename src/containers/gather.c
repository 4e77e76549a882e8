/* SPDX-License-Identifier: MIT
 *
 * Gathers elements that are not contiguous in a file. The part of the file that they touch is read
 * in pieces of fixed size: as many of the last dimensions as fit into a piece; or, if another
 * dimension has a smaller stride, tiles of that one and the last. */
#include "containers/gather.h"

#include <stdlib.h>
#include <string.h>

#include "io/scratch.h"
#include "util/run/allocate.h"

enum { PIECE = DTI_GATHER_PIECE, SIDE = 256, ITEM_MAX = 16, RANK_MAX = 66 };

/* A gather operation. Dimensions of size 1 are dropped, but there is always at least one dimension
 * in front. */
struct gathering {
    const struct dti_input *from;
    struct dti_input *to;
    uint64_t from_at, to_at; /* of the first element */
    size_t item;
    unsigned rank;
    uint64_t shape[RANK_MAX], strides[RANK_MAX]; /* strides in bytes */
    uint64_t out_strides[RANK_MAX];              /* in the result, in bytes */
    unsigned char *piece, *gathered;             /* PIECE bytes each */
};

/* Bytes from the first to the last element of the dimensions from `first` on. */
static uint64_t span_of(const struct gathering *work, unsigned first)
{
    uint64_t span = work->item;
    for (unsigned i = first; i < work->rank; i++)
        span += (work->shape[i] - 1) * work->strides[i]; /* no overflow: it is within the file */
    return span;
}

/* Odometer: advances the index of the dimensions before `end`, except those set in `skip`, and both
 * offsets. False: it wrapped around. */
static bool advance(const struct gathering *work, uint64_t *place, unsigned end, uint64_t skip,
                    uint64_t *from, uint64_t *to)
{
    for (unsigned i = end; i-- > 0;) {
        if (skip >> i & 1)
            continue;
        *from += work->strides[i];
        *to += work->out_strides[i];
        if (++place[i] < work->shape[i])
            return true;
        *from -= work->shape[i] * work->strides[i];
        *to -= work->shape[i] * work->out_strides[i];
        place[i] = 0;
    }
    return false;
}

static void move(unsigned char *to, const unsigned char *from, size_t item)
{
    switch (item) {
    case 1:
        *to = *from;
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    case 4:
        memcpy(to, from, 4);
        break;
    case 8:
        memcpy(to, from, 8);
        break;
    default:
        memcpy(to, from, ITEM_MAX);
    }
}

/* Gathers the elements of the dimensions from `first` on out of the piece; the output buffer is
 * written whenever it is full. */
static enum dti_status gather_piece(const struct gathering *work, unsigned first, uint64_t to,
                                    struct dti_error *reterr)
{
    const unsigned last = work->rank - 1;
    uint64_t place[RANK_MAX] = {0}, from = 0, unused = 0;
    size_t used = 0;
    enum dti_status status = DTI_OK;
    bool more = true;
    while (more && status == DTI_OK) {
        for (uint64_t i = 0; i < work->shape[last] && status == DTI_OK; i++) {
            move(work->gathered + used, work->piece + from + i * work->strides[last], work->item);
            used += work->item;
            if (used == PIECE) {
                status = dti_scratch_write_at(work->to, work->gathered, used, to, reterr);
                to += used;
                used = 0;
            }
        }
        more = advance(work, place, last, dti_low_bits(first), &from, &unused);
    }
    if (status == DTI_OK && used > 0)
        status = dti_scratch_write_at(work->to, work->gathered, used, to, reterr);
    return status;
}

/* Gathers everything; each piece spans the dimensions from `first` on. */
static enum dti_status gather_pieces(const struct gathering *work, unsigned first,
                                     struct dti_error *reterr)
{
    const size_t span = (size_t)span_of(work, first);
    uint64_t place[RANK_MAX] = {0}, from = work->from_at, to = work->to_at;
    enum dti_status status;
    do {
        status = dti_input_read_at(work->from, work->piece, span, from, reterr);
        if (status == DTI_OK)
            status = gather_piece(work, first, to, reterr);
    } while (status == DTI_OK && advance(work, place, first, 0, &from, &to));
    return status;
}

/* Gathers a tile: reads rows along the dimension `close`, writes rows along the last one. */
static enum dti_status gather_tile(const struct gathering *work, unsigned close, uint64_t from,
                                   uint64_t to, uint64_t rows, uint64_t columns,
                                   struct dti_error *reterr)
{
    const unsigned last = work->rank - 1;
    const size_t item = work->item, row = (size_t)columns * item;
    const size_t span = (size_t)((rows - 1) * work->strides[close]) + item;
    enum dti_status status = DTI_OK;
    for (uint64_t i = 0; i < columns && status == DTI_OK; i++) {
        status = dti_input_read_at(work->from, work->piece, span, from + i * work->strides[last],
                                   reterr);
        for (uint64_t j = 0; j < rows && status == DTI_OK; j++)
            move(work->gathered + j * row + i * item, work->piece + j * work->strides[close], item);
    }
    for (uint64_t j = 0; j < rows && status == DTI_OK; j++)
        status = dti_scratch_write_at(work->to, work->gathered + j * row, row,
                                      to + j * work->out_strides[close], reterr);
    return status;
}

static enum dti_status gather_tiles(const struct gathering *work, unsigned close,
                                    struct dti_error *reterr)
{
    const unsigned last = work->rank - 1;
    uint64_t place[RANK_MAX] = {0}, from = work->from_at, to = work->to_at;
    uint64_t side = SIDE;
    while ((side - 1) * work->strides[close] + work->item > PIECE)
        side /= 2;
    enum dti_status status = DTI_OK;
    do {
        for (uint64_t i = 0; i < work->shape[close] && status == DTI_OK; i += side) {
            const uint64_t rows = work->shape[close] - i < side ? work->shape[close] - i : side;
            for (uint64_t j = 0; j < work->shape[last] && status == DTI_OK; j += SIDE) {
                const uint64_t left = work->shape[last] - j;
                status = gather_tile(work, close,
                                     from + i * work->strides[close] + j * work->strides[last],
                                     to + i * work->out_strides[close] + j * work->item, rows,
                                     left < SIDE ? left : SIDE, reterr);
            }
        }
    } while (status == DTI_OK && advance(work, place, last, UINT64_C(1) << close, &from, &to));
    return status;
}

/* The dimension before `end` with the smallest stride, if that is below `span`; else dimension 0.
 */
static unsigned closest(const struct gathering *work, unsigned end, uint64_t span)
{
    unsigned close = 0;
    for (unsigned i = 1; i < end; i++) {
        if (work->strides[i] > 0 && work->strides[i] < span) {
            close = i;
            span = work->strides[i];
        }
    }
    return close;
}

/* For a last dimension that is longer than a piece but has the smallest stride: gathers as many of
 * its elements at a time as fit into a piece. */
static enum dti_status gather_rows(const struct gathering *work, struct dti_error *reterr)
{
    const unsigned last = work->rank - 1;
    const uint64_t step = work->strides[last], most = (PIECE - work->item) / step + 1;
    struct gathering part = *work;
    uint64_t place[RANK_MAX] = {0}, from = work->from_at, to = work->to_at;
    enum dti_status status = DTI_OK;
    part.rank = 1;
    part.strides[0] = step;
    do {
        for (uint64_t i = 0; i < work->shape[last] && status == DTI_OK; i += most) {
            const uint64_t left = work->shape[last] - i;
            part.from_at = from + i * step;
            part.to_at = to + i * work->item;
            part.shape[0] = left < most ? left : most;
            status = gather_pieces(&part, 0, reterr);
        }
    } while (status == DTI_OK && advance(work, place, last, 0, &from, &to));
    return status;
}

static enum dti_status gather(const struct gathering *work, struct dti_error *reterr)
{
    const unsigned last = work->rank - 1;
    unsigned first = work->rank;
    while (first > 0 && span_of(work, first - 1) <= PIECE)
        first--;
    const unsigned close = first <= last ? closest(work, first, span_of(work, first))
                                         : closest(work, last, work->strides[last]);
    return close > 0      ? gather_tiles(work, close, reterr)
           : first > last ? gather_rows(work, reterr)
                          : gather_pieces(work, first, reterr);
}

static void add_dimension(struct gathering *work, uint64_t count, uint64_t stride)
{
    work->shape[work->rank] = count;
    work->strides[work->rank++] = stride;
}

/* Adds the dimensions from `first` on after the existing one. Elements whose size is not that of a
 * number become rows of bytes. */
static void plan(struct gathering *work, const struct dti_tensor *tensor,
                 const struct dti_gather_place *place, unsigned first)
{
    const bool number = place->item <= ITEM_MAX && (place->item & (place->item - 1)) == 0;
    for (unsigned i = first; i < tensor->rank; i++) {
        if (tensor->shape[i] != 1)
            add_dimension(work, tensor->shape[i], place->strides[i]);
    }
    if (!number)
        add_dimension(work, place->item, 1);
    work->item = number ? (size_t)place->item : 1;
    uint64_t out = work->item;
    for (unsigned i = work->rank; i-- > 0;) {
        work->out_strides[i] = out;
        out *= work->shape[i];
    }
}

/* How many fields from this one on are gathered together. */
static size_t batch_of(const struct dti_gather_place *place, const struct dti_tensor *tensor,
                       uint64_t *ret_bytes)
{
    const struct dti_gather_records *const records = place->records;
    const bool several = records && records->bytes <= PIECE;
    const uint64_t most = several ? records->count * records->bytes / 8 : 0;
    size_t count = 1;
    *ret_bytes = tensor->bytes;
    while (several && count < records->fields - place->field && !place[count].gathered &&
           *ret_bytes + tensor[count].bytes <= most)
        *ret_bytes += tensor[count++].bytes;
    return count;
}

/* Gathers `count` fields; base: where the records begin. */
static enum dti_status gather_fields(struct dti_gathered *gathered,
                                     const struct dti_gather_place *places,
                                     const struct dti_tensor *tensors, size_t count,
                                     const struct dti_input *input, uint64_t base,
                                     struct dti_error *reterr)
{
    const struct dti_gather_records *const records = places->records;
    const uint64_t most = PIECE / records->bytes;
    enum dti_status status = DTI_OK;
    for (uint64_t done = 0; done < records->count && status == DTI_OK; done += most) {
        const uint64_t left = records->count - done, n = left < most ? left : most;
        uint64_t to = gathered->used;
        status = dti_input_read_at(input, gathered->buffers, (size_t)(n * records->bytes),
                                   base + done * records->bytes, reterr);
        for (size_t i = 0; i < count && status == DTI_OK; i++) {
            struct gathering work = {.to = &gathered->scratch,
                                     .piece = gathered->buffers + places[i].inside,
                                     .gathered = gathered->buffers + PIECE};
            const uint64_t each = tensors[i].bytes / records->count;
            if (places[i].strides) {
                add_dimension(&work, n, records->bytes);
                plan(&work, &tensors[i], &places[i], records->rank);
                status = gather_piece(&work, 0, to + done * each, reterr);
            }
            to += tensors[i].bytes;
        }
    }
    return status;
}

static enum dti_status gather_one(struct dti_gathered *gathered,
                                  const struct dti_gather_place *place,
                                  const struct dti_tensor *tensor, const struct dti_input *input,
                                  uint64_t offset, struct dti_error *reterr)
{
    struct gathering work = {.from = input,
                             .to = &gathered->scratch,
                             .from_at = offset,
                             .to_at = gathered->used,
                             .piece = gathered->buffers,
                             .gathered = gathered->buffers + PIECE};
    add_dimension(&work, 1, 0);
    plan(&work, tensor, place, 0);
    return gather(&work, reterr);
}

/* The file doubles in size as it grows, since there may be many small tensors. */
enum dti_status dti_gathered_room(struct dti_gathered *gathered, const char *name, uint64_t bytes,
                                  struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (!gathered->buffers)
        gathered->buffers = dti_malloc((size_t)2 * PIECE);
    if (!gathered->buffers)
        return dti_no_memory(reterr);
    if (!gathered->open)
        status = dti_scratch_open(&gathered->scratch, name, 0, reterr);
    if (status != DTI_OK)
        return status;
    gathered->open = true;
    const uint64_t left = gathered->scratch.size - gathered->used;
    if (bytes <= left)
        return DTI_OK;
    const uint64_t more = gathered->scratch.size > PIECE ? gathered->scratch.size : PIECE;
    return dti_scratch_extend(&gathered->scratch, more > bytes - left ? more : bytes - left,
                              reterr);
}

enum dti_status dti_gather(struct dti_gathered *gathered, struct dti_gather_place *place,
                           const struct dti_tensor *tensor, const struct dti_input *input,
                           uint64_t offset, const struct dti_input **ret_input,
                           uint64_t *ret_offset, struct dti_error *reterr)
{
    if (!place->gathered) {
        uint64_t bytes;
        const size_t count = batch_of(place, tensor, &bytes);
        enum dti_status status = dti_gathered_room(gathered, input->name, bytes, reterr);
        if (status == DTI_OK)
            status = count > 1 ? gather_fields(gathered, place, tensor, count, input,
                                               offset - place->inside, reterr)
                               : gather_one(gathered, place, tensor, input, offset, reterr);
        if (status != DTI_OK)
            return status;
        for (size_t i = 0; i < count; i++)
            dti_gathered_add(gathered, &place[i], tensor[i].bytes);
    }
    *ret_input = &gathered->scratch;
    *ret_offset = place->at;
    return DTI_OK;
}

void dti_gathered_free(struct dti_gathered *gathered)
{
    if (gathered->open)
        dti_input_close(&gathered->scratch);
    dti_free(gathered->buffers);
}

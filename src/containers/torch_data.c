/* SPDX-License-Identifier: MIT
 *
 * Where the data of a PyTorch file's tensors are. Views whose elements do not follow each other in
 * the file are gathered into an unnamed temporary file, in row-major order. What they touch of the
 * file is read in pieces of a fixed size: the last dimensions as far as they fit into a piece, or,
 * where another dimension lies closer in the file, tiles of that one and the last. */
#include <stdlib.h>
#include <string.h>

#include "containers/torch.h"
#include "dtinfo/scratch.h"

enum { PIECE = 1 << 20, SIDE = 256, RANK_MAX = 65 };

/* A gathering. Dimensions of one element are left out, but one is always there, in front. */
struct torch_gathering {
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
static uint64_t span_of(const struct torch_gathering *work, unsigned first)
{
    uint64_t span = work->item;
    for (unsigned i = first; i < work->rank; i++)
        span += (work->shape[i] - 1) * work->strides[i]; /* within the file: fits */
    return span;
}

/* Counts up the places of the dimensions before `end`, without those of which skip has a bit;
 * moves both offsets along. False: they are all done. */
static bool advance(const struct torch_gathering *work, uint64_t *place, unsigned end,
                    uint64_t skip, uint64_t *from, uint64_t *to)
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
        memcpy(to, from, 16);
    }
}

/* Takes the elements of the dimensions from `first` on out of the piece; what fills the room for
 * the gathered ones is written. */
static enum dti_status gather_piece(const struct torch_gathering *work, unsigned first, uint64_t to,
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

/* Everything, in pieces that have the dimensions from `first` on. */
static enum dti_status gather_pieces(const struct torch_gathering *work, unsigned first,
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

/* A tile: rows of the dimension `close` are read, rows of the last one are written. */
static enum dti_status gather_tile(const struct torch_gathering *work, unsigned close,
                                   uint64_t from, uint64_t to, uint64_t rows, uint64_t columns,
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

static enum dti_status gather_tiles(const struct torch_gathering *work, unsigned close,
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

/* Of the dimensions before `end` the one whose elements are closest in the file, if they are closer
 * than `span`; else the one in front. */
static unsigned closest(const struct torch_gathering *work, unsigned end, uint64_t span)
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

static enum dti_status gather(const struct torch_gathering *work, struct dti_error *reterr)
{
    const unsigned last = work->rank - 1;
    unsigned first = work->rank;
    while (first > 0 && span_of(work, first - 1) <= PIECE)
        first--;
    const unsigned close = first <= last ? closest(work, first, span_of(work, first))
                                         : closest(work, last, work->strides[last]);
    return close > 0 || first > last ? gather_tiles(work, close, reterr)
                                     : gather_pieces(work, first, reterr);
}

static void plan(struct torch_gathering *work, const struct dti_tensor *tensor,
                 const uint64_t *strides)
{
    work->shape[0] = 1;
    work->strides[0] = 0;
    work->rank = 1;
    for (unsigned i = 0; i < tensor->rank; i++) {
        if (tensor->shape[i] == 1)
            continue;
        work->shape[work->rank] = tensor->shape[i];
        work->strides[work->rank++] = strides[i] * work->item;
    }
    uint64_t out = work->item;
    for (unsigned i = work->rank; i-- > 0;) {
        work->out_strides[i] = out;
        out *= work->shape[i];
    }
}

static size_t item_bytes(const struct dti_tensor *tensor)
{
    const size_t part = dti_format_container(dti_real_format(tensor->format));
    return tensor->format->kind == DTI_KIND_COMPLEX ? 2 * part : part;
}

/* Bytes that are the characters of a text in UTF-8, in pieces; a character is not divided. */
static enum dti_status decode(struct dti_torch *torch, const struct dti_input *input,
                              const struct dti_tensor *tensor, uint64_t encoded,
                              struct dti_error *reterr)
{
    enum { TWO = 0xC2, TWO_END = 0xC4, MORE = 0x80, MORE_MASK = 0xC0 };
    unsigned char *const from = torch->buffers, *const to = torch->buffers + PIECE;
    uint64_t done = 0, written = 0;
    char label[DTI_QUOTE_SIZE];
    bool good = true;
    while (good && done < encoded) {
        const size_t size = encoded - done < PIECE ? (size_t)(encoded - done) : PIECE;
        size_t at = 0, used = 0;
        enum dti_status status =
            dti_input_read_at(input, from, size, tensor->offset + done, reterr);
        if (status != DTI_OK)
            return status;
        while (at < size && from[at] < MORE)
            to[used++] = from[at++];
        while (good && at < size && (from[at] < MORE || at + 1 < size)) {
            const bool two = from[at] >= MORE;
            good = !two ||
                   (from[at] >= TWO && from[at] < TWO_END && (from[at + 1] & MORE_MASK) == MORE);
            to[used++] =
                (unsigned char)(two ? from[at] << 6 | (from[at + 1] & ~MORE_MASK) : from[at]);
            at += 1 + two;
        }
        good = good && at > 0 && used <= tensor->bytes - written;
        if (good)
            status = dti_scratch_write_at(&torch->scratch, to, used, torch->used + written, reterr);
        if (status != DTI_OK)
            return status;
        done += at;
        written += used;
    }
    if (good && written == tensor->bytes)
        return DTI_OK;
    return dti_fail(reterr, DTI_BAD_INPUT,
                    "%s: array %s: damaged: its text is not that of its bytes",
                    dti_input_label(input, label), DTI_QUOTED(tensor->name, tensor->name_length));
}

/* Room for more in the temporary file, which grows by doubling: tensors may be many and small. */
static enum dti_status make_room(struct dti_torch *torch, const char *name, uint64_t bytes,
                                 struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (!torch->buffers)
        torch->buffers = malloc((size_t)2 * PIECE);
    if (!torch->buffers)
        return dti_no_memory(reterr);
    if (!torch->gathering)
        status = dti_scratch_open(&torch->scratch, name, 0, reterr);
    if (status != DTI_OK)
        return status;
    torch->gathering = true;
    const uint64_t left = torch->scratch.size - torch->used;
    if (bytes <= left)
        return DTI_OK;
    const uint64_t more = torch->scratch.size > PIECE ? torch->scratch.size : PIECE;
    return dti_scratch_extend(&torch->scratch, more > bytes - left ? more : bytes - left, reterr);
}

static enum dti_status gather_all(struct dti_torch *torch, const struct dti_input *input,
                                  const struct dti_tensor *tensor, const uint64_t *strides,
                                  struct dti_error *reterr)
{
    struct torch_gathering work = {.from = input,
                                   .to = &torch->scratch,
                                   .from_at = tensor->offset,
                                   .to_at = torch->used,
                                   .item = item_bytes(tensor),
                                   .piece = torch->buffers,
                                   .gathered = torch->buffers + PIECE};
    plan(&work, tensor, strides);
    return gather(&work, reterr);
}

enum dti_status dti_torch_data(struct dti_container *container, size_t index,
                               const struct dti_input **ret_input, uint64_t *ret_offset,
                               struct dti_error *reterr)
{
    struct dti_torch *const torch = container->own;
    const struct dti_tensor *const tensor = &container->tensors[index];
    const struct dti_input *const input = &container->files[tensor->file].input;
    struct dti_torch_place *const place = &torch->places[index];
    if (!place->strides && place->encoded == 0) {
        *ret_input = input;
        *ret_offset = tensor->offset;
        return DTI_OK;
    }
    if (!place->gathered) {
        enum dti_status status = make_room(torch, input->name, tensor->bytes, reterr);
        if (status != DTI_OK)
            return status;
        status = place->encoded > 0 ? decode(torch, input, tensor, place->encoded, reterr)
                                    : gather_all(torch, input, tensor, place->strides, reterr);
        if (status != DTI_OK)
            return status;
        place->gathered = true;
        place->gathered_at = torch->used;
        torch->used += tensor->bytes;
    }
    *ret_input = &torch->scratch;
    *ret_offset = place->gathered_at;
    return DTI_OK;
}

void dti_torch_free(struct dti_container *container)
{
    struct dti_torch *const torch = container->own;
    if (torch && torch->gathering)
        dti_input_close(&torch->scratch);
    if (torch)
        free(torch->buffers);
    container->own = NULL;
}

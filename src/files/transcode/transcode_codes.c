/* SPDX-License-Identifier: MIT
 *
 * Writes the codes of an integer matrix in another layout: packed along rows, down columns, or in
 * AWQ's order, in byte ranges that start and end anywhere. Matrices that need transposing are read
 * through stripes; if source and target are both transposed, in rows of words. */
#include "files/transcode/transcode_grouped.h"
#include "kernels/kernel.h"
#include "util/checked.h"
#include "util/little_endian.h"

enum { AT_ONCE = 16 }; /* enough for vectorization */

/* A part with codes. */
struct code_part {
    const struct dti_grouped *grouped;
    unsigned char flip;            /* XORed with unsigned codes */
    unsigned bits;                 /* of a code in the part */
    uint64_t row_codes, row_bytes; /* ALONG */
    const struct dti_kernel *pack; /* packs to less than 8 bits */
    struct dti_kernel_args pack_args;
};

struct code_scratch {
    struct dti_dequant_scratch dequant; /* followed by the scratch of stripes */
    unsigned char stripes[DTI_STRIPE_SCRATCH];
    unsigned char codes[DTI_DEQUANT_CHUNK + AT_ONCE];
    uint32_t fields[DTI_STRIPE_WIDEST];
    unsigned char words[4 * DTI_STRIPE_WIDEST];
    unsigned char packed[4 * DTI_STRIPE_WIDEST]; /* for a chunk: at most 8 bits per code */
};

/* The requested byte range of a part. */
struct code_piece {
    unsigned char *buffer;
    uint64_t offset;
    size_t size;
};

/* Copies the overlap of a piece with the bytes offset to offset + size - 1. */
static void deliver(const struct code_piece *piece, const unsigned char *bytes, uint64_t offset,
                    uint64_t size)
{
    const uint64_t end = piece->offset + piece->size;
    const uint64_t from = offset > piece->offset ? offset : piece->offset;
    const uint64_t to = offset + size < end ? offset + size : end;
    if (from < to)
        memcpy(piece->buffer + (from - piece->offset), bytes + (from - offset),
               (size_t)(to - from));
}

/* Eight at once; also modifies up to AT_ONCE - 1 codes after the last one. */
static void adjust(unsigned char *codes, size_t n, unsigned char flip, unsigned bits)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), mask = ones * ((1U << bits) - 1);
    for (size_t i = 0; i < n; i += 8)
        dti_little_put(codes + i, 8, (dti_little_get(codes + i, 8) ^ ones * flip) & mask);
}

static size_t within_row(const struct dti_dequant_tensor *tensor, uint64_t first, size_t n)
{
    const uint64_t left = tensor->is->columns - first % tensor->is->columns;
    return !dti_dequant_is_flat(tensor) && left < n ? (size_t)left : n;
}

/* Reads codes in stored order. */
static enum dti_status read_stored(const struct dti_dequant_tensor *tensor, uint64_t first,
                                   size_t n, unsigned char *codes,
                                   struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t done = 0; done < n && status == DTI_OK;) {
        const unsigned char *found = NULL;
        const size_t some = within_row(tensor, first + done, n - done);
        status = dti_dequant_codes(tensor, first + done, some, scratch, &found, reterr);
        if (status != DTI_OK)
            return status;
        memcpy(codes + done, found, some);
        status = dti_window_done(scratch->view, status, reterr);
        done += some;
    }
    return status;
}

/* Reads codes first to first + n - 1 of the matrix, at most a chunk, or of its columns in column
 * order, into scratch->codes. */
static enum dti_status read_codes(const struct code_part *part, bool turned, uint64_t first,
                                  size_t n, struct code_scratch *scratch, struct dti_error *reterr)
{
    const struct dti_grouped *const grouped = part->grouped;
    const struct dti_dequant_tensor *const how = grouped->how;
    const bool stored = (how->is->matrix > 0) == turned;
    const enum dti_status status =
        stored ? read_stored(how, first, n, scratch->codes, &scratch->dequant, reterr)
               : dti_stripes_codes(how->is->stripes, turned ? &grouped->turned : how, first, n,
                                   scratch->codes, &scratch->dequant, reterr);
    adjust(scratch->codes, n, grouped->flip ^ part->flip, grouped->bits);
    return status;
}

/* Whether rows of words can be built from those of the file. */
static bool has_words(const struct dti_grouped *grouped)
{
    return grouped->how->is->matrix > 0 && dti_dequant_word_bits(grouped->how) == grouped->bits &&
           grouped->flip == 0;
}

/* Reads one such row, for a range of columns. */
static enum dti_status read_words(const struct code_part *part, uint64_t row, uint64_t column,
                                  size_t columns, struct code_scratch *scratch,
                                  struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = part->grouped->how;
    const struct dti_word_rows rows = {.row = 0,
                                       .column = column,
                                       .rows = how->is->rows,
                                       .columns = columns,
                                       .first = (size_t)row,
                                       .n = 1};
    const enum dti_status status =
        dti_dequant_words(how, &rows, scratch->words, &scratch->dequant, reterr);
    if (status == DTI_OK && how->is->flip != 0) /* 4-bit codes only */
        adjust(scratch->words, 4 * columns, (unsigned char)(how->is->flip * 0x11), 8);
    return status;
}

static enum dti_status start(void *memory, struct dti_window *window, struct code_scratch **ret)
{
    *ret = memory;
    (*ret)->dequant.view = window;
    (*ret)->dequant.window.count = 0;
    return DTI_OK;
}

static enum dti_status read_along(void *context, void *buffer, size_t size, uint64_t offset,
                                  struct dti_window *window, void *memory, struct dti_error *reterr)
{
    const struct code_part *const part = context;
    const uint64_t unit_bytes = UINT64_C(4) * part->bits; /* of 32 codes */
    const struct code_piece piece = {buffer, offset, size};
    struct code_scratch *scratch;
    enum dti_status status = start(memory, window, &scratch);
    for (uint64_t at = offset; at < offset + size && status == DTI_OK;) {
        const uint64_t row = at / part->row_bytes, byte = at % part->row_bytes;
        const uint64_t unit = byte / unit_bytes, left = part->row_codes - 32 * unit;
        const uint64_t wanted = dti_divide_up(byte + (offset + size - at), unit_bytes) - unit;
        uint64_t n = wanted < DTI_DEQUANT_CHUNK / 32 ? 32 * wanted : DTI_DEQUANT_CHUNK;
        n = n < left ? n : left;
        const uint64_t begin = unit_bytes * unit;
        const uint64_t end = n == left ? part->row_bytes : begin + n / 32 * unit_bytes;
        status =
            read_codes(part, false, row * part->row_codes + 32 * unit, (size_t)n, scratch, reterr);
        if (status != DTI_OK)
            return status;
        if (part->pack) {
            memset(scratch->packed + (end - begin < 8 ? 0 : end - begin - 8), 0, 8);
            part->pack->run(&part->pack_args, scratch->packed, scratch->codes, (size_t)n);
        } else {
            memset(scratch->codes + n, 0, (size_t)(end - begin - n)); /* rest of the last word */
        }
        deliver(&piece, part->pack ? scratch->packed : scratch->codes,
                row * part->row_bytes + begin, end - begin);
        at = row * part->row_bytes + end;
    }
    return status;
}

/* Ors the codes of a row into words, from bit `from` on; bits below 0 are dropped. */
static void add_fields(uint32_t *restrict words, const unsigned char *restrict codes, size_t n,
                       int from)
{
    const unsigned left = from > 0 ? (unsigned)from : 0, right = from < 0 ? (unsigned)-from : 0;
    for (size_t at = 0; at < n; at += AT_ONCE) {
        for (size_t i = 0; i < AT_ONCE; i++)
            words[at + i] |= (uint32_t)codes[at + i] >> right << left;
    }
}

/* A row of words, for a range of columns, from codes that are read one by one. */
static enum dti_status join_words(const struct code_part *part, uint64_t row, uint64_t column,
                                  size_t columns, struct code_scratch *scratch,
                                  struct dti_error *reterr)
{
    const struct dti_grouped *const grouped = part->grouped;
    const unsigned bits = grouped->bits;
    enum dti_status status = DTI_OK;
    memset(scratch->fields, 0, sizeof scratch->fields);
    for (uint64_t k = 32 * row / bits; k * bits < 32 * (row + 1) && status == DTI_OK; k++) {
        status = read_codes(part, true, k * grouped->rows + column, columns, scratch, reterr);
        if (status == DTI_OK)
            add_fields(scratch->fields, scratch->codes, columns,
                       (int)((int64_t)(k * bits) - (int64_t)(32 * row)));
    }
    for (size_t i = 0; i < columns && status == DTI_OK; i++)
        dti_little_put(scratch->words + 4 * i, 4, scratch->fields[i]);
    return status;
}

static enum dti_status read_down(void *context, void *buffer, size_t size, uint64_t offset,
                                 struct dti_window *window, void *memory, struct dti_error *reterr)
{
    const struct code_part *const part = context;
    const uint64_t columns = part->grouped->rows;
    const bool words = has_words(part->grouped);
    const struct code_piece piece = {buffer, offset, size};
    struct code_scratch *scratch;
    enum dti_status status = start(memory, window, &scratch);
    for (uint64_t at = offset; at < offset + size && status == DTI_OK;) {
        const uint64_t row = at / 4 / columns, column = at / 4 % columns / 8 * 8;
        const uint64_t first = row * columns + column, left = columns - column;
        uint64_t n = dti_divide_up(dti_divide_up(offset + size, 4) - first, 8) * 8;
        n = n < DTI_STRIPE_WIDEST ? n : DTI_STRIPE_WIDEST;
        n = n < left ? n : left;
        status = words ? read_words(part, row, column, (size_t)n, scratch, reterr)
                       : join_words(part, row, column, (size_t)n, scratch, reterr);
        if (status == DTI_OK)
            deliver(&piece, scratch->words, 4 * first, 4 * n);
        at = 4 * (first + n);
    }
    return status;
}

/* Eight rows at a time, from rows of words. */
static enum dti_status read_lanes_of_words(const struct code_part *part,
                                           const struct code_piece *piece,
                                           struct code_scratch *scratch, struct dti_error *reterr)
{
    const uint64_t columns = part->grouped->rows, row_bytes = columns / 2;
    const uint64_t end = dti_divide_up(piece->offset + piece->size, row_bytes);
    enum dti_status status = DTI_OK;
    for (uint64_t row = piece->offset / row_bytes / 8; 8 * row < end; row++) {
        const uint64_t begin = 8 * row * row_bytes, last = 8 * row + 8 > end ? end - 8 * row : 8;
        uint64_t column = 0;
        if (begin + 7 * row_bytes < piece->offset) /* only one row, not from its start */
            column = (piece->offset - begin - 7 * row_bytes) / 4 * 8;
        for (size_t n; column < columns && status == DTI_OK; column += n) {
            const uint64_t left = columns - column;
            n = left < DTI_STRIPE_WIDEST ? (size_t)left : DTI_STRIPE_WIDEST;
            if (last == 1 && begin + column / 2 >= piece->offset + piece->size)
                break;
            status = read_words(part, row, column, n, scratch, reterr);
            if (status != DTI_OK)
                return status;
            dti_lanes_of_words(scratch->packed, scratch->words, n);
            for (uint64_t k = 0; k < last; k++)
                deliver(piece, scratch->packed + k * (n / 2), begin + k * row_bytes + column / 2,
                        n / 2);
        }
    }
    return status;
}

static enum dti_status read_lanes(void *context, void *buffer, size_t size, uint64_t offset,
                                  struct dti_window *window, void *memory, struct dti_error *reterr)
{
    const struct code_part *const part = context;
    const struct code_piece piece = {buffer, offset, size};
    struct code_scratch *scratch;
    enum dti_status status = start(memory, window, &scratch);
    if (has_words(part->grouped))
        return read_lanes_of_words(part, &piece, scratch, reterr);
    for (uint64_t at = offset / 4; 4 * at < offset + size && status == DTI_OK;) {
        const uint64_t left = dti_divide_up(offset + size, 4) - at;
        const size_t n = left < DTI_DEQUANT_CHUNK / 8 ? (size_t)left : DTI_DEQUANT_CHUNK / 8;
        status = read_codes(part, true, 8 * at, 8 * n, scratch, reterr);
        if (status != DTI_OK)
            return status;
        dti_lanes_pack(scratch->packed, scratch->codes, 8 * n);
        deliver(&piece, scratch->packed, 4 * at, 4 * n);
        at += n;
    }
    return status;
}

enum dti_status dti_grouped_codes(struct dti_pool *pool, const struct dti_grouped *grouped,
                                  enum dti_code_order order, bool sign,
                                  struct dti_transcode_part *part, struct dti_error *reterr)
{
    const unsigned bits = order == DTI_ORDER_BYTES ? 8 : grouped->bits;
    struct code_part *const made = dti_pool_alloc(pool, sizeof *made);
    if (!made)
        return dti_no_memory(reterr);
    memset(made, 0, sizeof *made);
    made->grouped = grouped;
    made->flip = (unsigned char)(sign ? dti_grouped_middle(grouped) : 0);
    made->bits = bits;
    made->row_codes = grouped->columns;
    if (grouped->columns * bits % 32 == 0) /* rows are contiguous */
        made->row_codes = grouped->columns * grouped->rows;
    made->row_bytes = (bits == 8 && sign) || order == DTI_ORDER_BYTES
                          ? made->row_codes
                          : dti_divide_up(made->row_codes * bits, 32) * 4;
    if (bits < 8) {
        made->pack_args.bits = bits;
        made->pack = dti_kernel_find(DTI_OP_PACK, &made->pack_args, grouped->how->is->level);
    }
    part->source = (struct dti_batch_source){
        .read = order == DTI_ORDER_ALONG || order == DTI_ORDER_BYTES ? read_along
                : order == DTI_ORDER_DOWN                            ? read_down
                                                                     : read_lanes,
        .context = made,
        .scratch_bytes = sizeof(struct code_scratch),
    };
    return DTI_OK;
}

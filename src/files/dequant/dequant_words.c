/* SPDX-License-Identifier: MIT
 *
 * Codes in little-endian 32-bit words or bytes that are not simply consecutive along a row.
 */
#include "files/dequant/dequant_piece.h"
#include "util/little_endian.h"

/* AutoAWQ's order, in which its kernels unpack two halves of a register at a time: fields 0 to 7 of
 * a word have columns 0, 2, 4, 6, 1, 3, 5, 7. */
static const unsigned char lane_of_column[8] = {0, 4, 1, 5, 2, 6, 3, 7},
                           in_order[8] = {0, 1, 2, 3, 4, 5, 6, 7};

/* Extracts fields first to first + n - 1 of words, one per byte. */
static void pick_fields(unsigned char *ret, const unsigned char *words, uint64_t first, size_t n,
                        unsigned bits)
{
    const unsigned mask = (1U << bits) - 1;
    for (size_t i = 0; i < n; i++) {
        const uint64_t at = (first + i) * bits;
        const unsigned shift = (unsigned)(at % 8);
        unsigned field = words[at / 8] >> shift;
        if (shift + bits > 8)
            field |= (unsigned)words[at / 8 + 1] << (8 - shift);
        ret[i] = (unsigned char)(field & mask);
    }
}

static void pick_lanes(unsigned char *ret, const unsigned char *words, uint64_t first, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t at = first + i;
        const unsigned lane = lane_of_column[at % 8];
        ret[i] = (unsigned char)(words[at / 8 * 4 + lane / 2] >> lane % 2 * 4 & 15);
    }
}

enum { AT_ONCE = 16, BYTES_AT_ONCE = 4 * AT_ONCE }; /* words; enough for vectorization */

/* Exchanges the masked fields of the words of two rows, from bit `shift` on. */
static inline void exchange(uint32_t *restrict a, uint32_t *restrict b, unsigned shift,
                            uint32_t mask)
{
    for (unsigned i = 0; i < AT_ONCE; i++) {
        const uint32_t differ = (a[i] >> shift ^ b[i]) & mask;
        b[i] ^= differ;
        a[i] ^= differ << shift;
    }
}

/* Transposes eight rows of words of eight fields: field j of row i becomes field i of row j. */
static inline void turn_fields(uint32_t row[8][AT_ONCE])
{
    for (unsigned i = 0; i < 4; i++)
        exchange(row[i], row[i + 4], 16, UINT32_C(0x0000ffff));
    for (unsigned i = 0; i < 8; i += i % 4 == 1 ? 3 : 1)
        exchange(row[i], row[i + 2], 8, UINT32_C(0x00ff00ff));
    for (unsigned i = 0; i < 8; i += 2)
        exchange(row[i], row[i + 1], 4, UINT32_C(0x0f0f0f0f));
}

/* Transposes eight rows of codes, `size` bytes each, into a row of words. lanes: of columns. */
static void turn_lanes(unsigned char *to, const unsigned char *rows, size_t size,
                       const unsigned char lanes[8])
{
    uint32_t word[8][AT_ONCE] = {{0}};
    for (size_t at = 0; at < size; at += sizeof word[0]) {
        const size_t left = size - at, bytes = left < sizeof word[0] ? left : sizeof word[0];
        for (size_t k = 0; k < 8; k++) {
            for (size_t i = 0; 4 * i < bytes; i++)
                word[k][i] = (uint32_t)dti_little_get(rows + k * size + at + 4 * i, 4);
        }
        turn_fields(word);
        for (size_t i = 0; 4 * i < bytes; i++) {
            for (size_t k = 0; k < 8; k++)
                dti_little_put(to + 8 * at + 32 * i + 4 * k, 4, word[lanes[k]][i]);
        }
    }
}

void dti_lanes_of_words(unsigned char *rows, const unsigned char *words, size_t columns)
{
    const size_t size = columns / 2;
    for (size_t at = 0; at < size; at += BYTES_AT_ONCE) {
        const size_t left = size - at, bytes = left < BYTES_AT_ONCE ? left : BYTES_AT_ONCE;
        uint32_t word[8][AT_ONCE] = {{0}};
        for (size_t i = 0; 4 * i < bytes; i++) {
            for (size_t k = 0; k < 8; k++)
                word[lane_of_column[k]][i] =
                    (uint32_t)dti_little_get(words + 8 * at + 32 * i + 4 * k, 4);
        }
        turn_fields(word);
        for (size_t k = 0; k < 8; k++) {
            for (size_t i = 0; 4 * i < bytes; i++)
                dti_little_put(rows + k * size + at + 4 * i, 4, word[k][i]);
        }
    }
}

void dti_lanes_pack(unsigned char *words, const unsigned char *codes, size_t n)
{
    for (size_t i = 0; i + 8 <= n; i += 8) {
        const uint64_t eight = dti_little_get(codes + i, 8);
        uint64_t even = eight & UINT64_C(0x00ff00ff00ff00ff);
        uint64_t odd = eight >> 8 & UINT64_C(0x00ff00ff00ff00ff);
        even |= even >> 12;
        odd |= odd >> 12;
        even = (even & 0xff) | (even >> 24 & 0xff00);
        odd = (odd & 0xff) | (odd >> 24 & 0xff00);
        dti_little_put(words + i / 2, 4, even | odd << 16);
    }
}

/* Reads words that are stored in the requested order. */
static enum dti_status read_down(const struct dti_dequant_tensor *tensor,
                                 const struct dti_word_rows *rows, unsigned char *words,
                                 struct dti_error *reterr)
{
    const uint64_t above =
        rows->row / 32 * tensor->is->bits + rows->row % 32 * tensor->is->bits / 32;
    const uint64_t first = above + rows->first;
    const size_t size = rows->columns * 4;
    const bool whole = rows->columns == tensor->is->columns;
    const size_t pieces = whole ? 1 : rows->n, piece = whole ? rows->n * size : size;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < pieces && status == DTI_OK; i++)
        status =
            dti_dequant_read_part(DTI_PART_OF(tensor, codes), words + i * size, piece,
                                  ((first + i) * tensor->is->columns + rows->column) * 4, reterr);
    return status;
}

/* Reads eight rows of 4-bit codes for each row of words. */
static enum dti_status read_lanes(const struct dti_dequant_tensor *tensor,
                                  const struct dti_word_rows *rows, unsigned char *words,
                                  struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const bool awq = tensor->is->arrangement == DTI_CODES_LANES;
    const size_t size = rows->columns / 2;
    const bool whole = size == tensor->is->row_bytes && tensor->is->slab == tensor->is->stored_slab;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < rows->n && status == DTI_OK; i++) {
        const uint64_t below = 8 * (uint64_t)(rows->first + i), left = rows->rows - below;
        const size_t there = left < 8 ? (size_t)left : 8, pieces = whole ? 1 : there;
        memset(scratch->raw + there * size, 0, (8 - there) * size);
        for (size_t k = 0; k < pieces && status == DTI_OK; k++)
            status = dti_dequant_read_part(
                DTI_PART_OF(tensor, codes), scratch->raw + k * size, whole ? there * size : size,
                dti_dequant_row(tensor, rows->row + below + k) + rows->column / 2, reterr);
        if (status == DTI_OK)
            turn_lanes(words + i * rows->columns * 4, scratch->raw, size,
                       awq ? lane_of_column : in_order);
    }
    return status;
}

/* Interleaves four consecutive rows of bytes into a row of words. */
static void join_rows(unsigned char *to, const unsigned char *rows, size_t columns)
{
    for (size_t at = 0; at < columns; at += AT_ONCE) {
        unsigned char row[4][AT_ONCE] = {{0}};
        uint32_t word[AT_ONCE];
        const size_t left = columns - at, n = left < AT_ONCE ? left : AT_ONCE;
        for (size_t k = 0; k < 4; k++)
            memcpy(row[k], rows + k * columns + at, n);
        for (size_t i = 0; i < AT_ONCE; i++)
            word[i] = row[0][i] | (uint32_t)row[1][i] << 8 | (uint32_t)row[2][i] << 16 |
                      (uint32_t)row[3][i] << 24;
        for (size_t i = 0; i < n; i++)
            dti_little_put(to + 4 * (at + i), 4, word[i]);
    }
}

/* Reads four rows of bytes for each row of words. */
static enum dti_status read_along(const struct dti_dequant_tensor *tensor,
                                  const struct dti_word_rows *rows, unsigned char *words,
                                  struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const size_t size = rows->columns;
    unsigned char *const four = scratch->raw + DTI_DEQUANT_CHUNK; /* the data read precedes them */
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < rows->n && status == DTI_OK; i++) {
        const uint64_t below = 4 * (uint64_t)(rows->first + i), left = rows->rows - below;
        const size_t there = left < 4 ? (size_t)left : 4;
        memset(four + there * size, 0, (4 - there) * size);
        for (size_t k = 0; k < there && status == DTI_OK; k++) {
            const uint64_t first = (rows->row + below + k) * tensor->is->columns + rows->column;
            const unsigned char *codes = NULL;
            status = dti_dequant_codes(tensor, first, size, scratch, &codes, reterr);
            if (status != DTI_OK)
                break;
            memcpy(four + k * size, codes, size);
            status = dti_window_done(scratch->view, status, reterr);
        }
        if (status == DTI_OK)
            join_rows(words + i * size * 4, four, size);
    }
    return status;
}

enum dti_status dti_dequant_words(const struct dti_dequant_tensor *tensor,
                                  const struct dti_word_rows *rows, unsigned char *words,
                                  struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    switch (tensor->is->arrangement) {
    case DTI_CODES_DOWN:
        return read_down(tensor, rows, words, reterr);
    case DTI_CODES_LANES:
        return read_lanes(tensor, rows, words, scratch, reterr);
    default:
        if (dti_dequant_word_bits(tensor) == 4)
            return read_lanes(tensor, rows, words, scratch, reterr);
        return read_along(tensor, rows, words, scratch, reterr);
    }
}

/* Reads words in lane order along a row. */
static enum dti_status pick_words(const struct dti_dequant_tensor *tensor, uint64_t row,
                                  uint64_t column, size_t n, struct dti_dequant_scratch *scratch,
                                  struct dti_error *reterr)
{
    const size_t skip = (size_t)(column % 8);
    const enum dti_status status =
        dti_dequant_read_part(DTI_PART_OF(tensor, codes), scratch->raw, (skip + n + 7) / 8 * 4,
                              dti_dequant_row(tensor, row) + column / 8 * 4, reterr);
    if (status == DTI_OK)
        pick_lanes(scratch->codes, scratch->raw, skip, n);
    return status;
}

/* Reads whole codes in each word of a row. */
static enum dti_status pick_whole(const struct dti_dequant_tensor *tensor, uint64_t row,
                                  uint64_t column, size_t n, struct dti_dequant_scratch *scratch,
                                  struct dti_error *reterr)
{
    const unsigned in_word = 32 / tensor->is->bits, mask = (1U << tensor->is->bits) - 1;
    const size_t skip = (size_t)(column % in_word);
    const enum dti_status status = dti_dequant_read_part(
        DTI_PART_OF(tensor, codes), scratch->raw, (skip + n + in_word - 1) / in_word * 4,
        dti_dequant_row(tensor, row) + column / in_word * 4, reterr);
    for (size_t i = 0; i < n && status == DTI_OK; i++) {
        const uint64_t word = dti_little_get(scratch->raw + (skip + i) / in_word * 4, 4);
        scratch->codes[i] = (unsigned char)(word >> (skip + i) % in_word * tensor->is->bits & mask);
    }
    return status;
}

/* Reads one of the rows that share bytes. */
static enum dti_status pick_row(const struct dti_dequant_tensor *tensor, uint64_t row,
                                uint64_t column, size_t n, struct dti_dequant_scratch *scratch,
                                struct dti_error *reterr)
{
    const unsigned per_byte = 8 / tensor->is->bits, mask = (1U << tensor->is->bits) - 1;
    const uint64_t rows = per_byte * tensor->is->row_step, within = row % rows;
    const uint64_t stored = row / rows * tensor->is->row_step + within % tensor->is->row_step;
    const unsigned shift = (unsigned)(within / tensor->is->row_step) * tensor->is->bits;
    const enum dti_status status =
        dti_dequant_read_part(DTI_PART_OF(tensor, codes), scratch->raw, n,
                              stored * tensor->is->row_bytes + column, reterr);
    for (size_t i = 0; i < n && status == DTI_OK; i++)
        scratch->codes[i] = (unsigned char)((unsigned)scratch->raw[i] >> shift & mask);
    return status;
}

/* Reads the codes of n elements of a row, one per byte, into scratch->codes. For matrices that are
 * not transposed and not DTI_CODES_ALONG. */
static enum dti_status pick(const struct dti_dequant_tensor *tensor, uint64_t first, size_t n,
                            struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const uint64_t row = first / tensor->is->columns, column = first % tensor->is->columns;
    const enum dti_status status = tensor->is->arrangement == DTI_CODES_ROWS
                                       ? pick_row(tensor, row, column, n, scratch, reterr)
                                   : tensor->is->arrangement == DTI_CODES_WHOLE
                                       ? pick_whole(tensor, row, column, n, scratch, reterr)
                                       : pick_words(tensor, row, column, n, scratch, reterr);
    dti_dequant_flip(tensor, scratch->codes, n);
    return status;
}

void dti_dequant_packed_zeros(const struct dti_dequant_tensor *tensor, unsigned char *fields,
                              const unsigned char *words, uint64_t first, size_t n)
{
    if (tensor->is->zero_form == DTI_ZERO_LANES)
        pick_lanes(fields, words, first, n);
    else
        pick_fields(fields, words, first, n, tensor->is->bits);
}

enum dti_status dti_dequant_codes(const struct dti_dequant_tensor *tensor, uint64_t first, size_t n,
                                  struct dti_dequant_scratch *scratch,
                                  const unsigned char **ret_codes, struct dti_error *reterr)
{
    const bool packed = tensor->method->unpack != NULL, flat = dti_dequant_is_flat(tensor);
    if (tensor->is->arrangement != DTI_CODES_ALONG) {
        *ret_codes = scratch->codes;
        return pick(tensor, first, n, scratch, reterr);
    }
    const unsigned container = dti_dequant_code_bytes(tensor);
    const unsigned bits = packed ? tensor->is->bits : 8 * container;
    const uint64_t column = flat ? first : first % tensor->is->columns;
    const uint64_t row = flat ? 0 : first / tensor->is->columns;
    const size_t skip = packed ? (size_t)(column % 8) : 0, count = n + skip;
    const size_t size = (count * bits + 7) / 8;
    const uint64_t offset =
        dti_dequant_row(tensor, row) + (column - skip) / 8 * bits + (column - skip) % 8 * bits / 8;
    const bool reversed = tensor->is->codes_swapped && bits > 8;
    const void *raw = scratch->raw;
    const enum dti_status status =
        reversed
            ? dti_dequant_read_part(DTI_PART_OF(tensor, codes), scratch->raw, size, offset, reterr)
            : dti_dequant_look(DTI_PART_OF(tensor, codes), scratch->view, scratch->raw, size,
                               offset, &raw, reterr);
    if (status != DTI_OK)
        return status;
    if (reversed)
        dti_dequant_reverse(scratch->raw, count, container);
    if (packed) {
        tensor->method->unpack->run(&tensor->method->unpack_args, scratch->codes, raw, count);
        dti_dequant_flip(tensor, scratch->codes, count);
    }
    *ret_codes = packed ? scratch->codes + skip : raw; /* raw: nothing is skipped */
    return DTI_OK;
}

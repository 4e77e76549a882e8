/* SPDX-License-Identifier: MIT
 *
 * Codes in little-endian 32-bit words that do not simply follow each other along a row. */
#include "dtinfo/little_endian.h"
#include "files/dequant_piece.h"

enum { AT_ONCE = 4096 }; /* columns */

/* AutoAWQ's order, by which its kernels unpack two halves of a register at a time: field i of a
 * word has column 0, 2, 4, 6, 1, 3, 5, 7 of eight. */
static const unsigned char lane_of_column[8] = {0, 4, 1, 5, 2, 6, 3, 7};

/* Fields first to first + n - 1 of words, one a byte. */
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

/* The bits of one row of words that belong to a row of codes: from bit `from` of each word on, to
 * bit `to` of each code. */
static void add_bits(unsigned char *codes, const unsigned char *words, size_t n, unsigned from,
                     unsigned to, unsigned mask)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t word = (uint32_t)dti_little_get(words + 4 * i, 4);
        codes[i] = (unsigned char)(codes[i] | ((word >> from & mask) << to));
    }
}

/* Words of the tensor, in scratch->raw: several rows of codes are in the same ones. */
static enum dti_status keep_words(const struct dti_dequant_tensor *tensor, uint64_t offset,
                                  size_t size, struct dti_dequant_scratch *scratch,
                                  struct dti_error *reterr)
{
    if (scratch->kept == size && scratch->kept_at == offset)
        return DTI_OK;
    scratch->kept = 0;
    const enum dti_status status =
        dti_input_read_at(tensor->codes.input, scratch->raw, size, offset, reterr);
    if (status == DTI_OK) {
        scratch->kept = size;
        scratch->kept_at = offset;
    }
    return status;
}

/* A code may begin in one word and end in the one below. */
static enum dti_status read_down(const struct dti_dequant_tensor *tensor,
                                 const struct dti_dequant_segment *segment, size_t done, size_t n,
                                 struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const uint64_t bit = segment->row * tensor->bits;
    unsigned taken = 0;
    enum dti_status status = DTI_OK;
    memset(scratch->codes + done, 0, n);
    while (taken < tensor->bits && status == DTI_OK) {
        const uint64_t word = (bit + taken) / 32;
        const unsigned from = (unsigned)((bit + taken) % 32), left = tensor->bits - taken;
        const unsigned width = left < 32 - from ? left : 32 - from;
        status = keep_words(
            tensor, tensor->codes.offset + (word * tensor->columns + segment->column + done) * 4,
            4 * n, scratch, reterr);
        if (status == DTI_OK)
            add_bits(scratch->codes + done, scratch->raw, n, from, taken, (1U << width) - 1);
        taken += width;
    }
    return status;
}

static enum dti_status read_lanes(const struct dti_dequant_tensor *tensor,
                                  const struct dti_dequant_segment *segment, size_t done, size_t n,
                                  struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const uint64_t column = segment->column + done, first = column / 8;
    const uint64_t last = (column + n - 1) / 8;
    const enum dti_status status = dti_input_read_at(
        tensor->codes.input, scratch->raw, (size_t)(last - first + 1) * 4,
        tensor->codes.offset + segment->row * tensor->row_bytes + first * 4, reterr);
    if (status == DTI_OK)
        pick_lanes(scratch->codes + done, scratch->raw, column % 8, n);
    return status;
}

enum dti_status dti_dequant_words(const struct dti_dequant_tensor *tensor,
                                  const struct dti_dequant_segment *segment,
                                  struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t done = 0; done < segment->n && status == DTI_OK;) {
        const size_t n = segment->n - done < AT_ONCE ? segment->n - done : AT_ONCE;
        status = tensor->arrangement == DTI_CODES_DOWN
                     ? read_down(tensor, segment, done, n, scratch, reterr)
                     : read_lanes(tensor, segment, done, n, scratch, reterr);
        done += n;
    }
    return status;
}

void dti_dequant_packed_zeros(const struct dti_dequant_tensor *tensor, unsigned char *fields,
                              const unsigned char *words, uint64_t first, size_t n)
{
    if (tensor->zero_form == DTI_ZERO_LANES)
        pick_lanes(fields, words, first, n);
    else
        pick_fields(fields, words, first, n, tensor->bits);
}

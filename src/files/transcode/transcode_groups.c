/* SPDX-License-Identifier: MIT
 *
 * Writes scales, zero points and biases of groups in another layout: in rows of the matrix or in
 * rows of groups, with zero points optionally packed. They are computed in rectangles, so that
 * values stored in the other order are read in runs. */
#include "files/transcode/transcode_grouped.h"
#include "util/checked.h"
#include "util/little_endian.h"

enum {
    TILE = 16384,    /* elements of a rectangle */
    WORD_TILE = 512, /* words: up to 16 zero points each, and those of partial words */
    ZEROS = 10240,
    TALL = 128, /* rows of a rectangle */
};

struct group_part {
    const struct dti_grouped *grouped;
    enum dti_group_values values;
    bool turned;
    unsigned less;
    uint64_t rows, columns; /* in elements of the part */
    size_t item;            /* bytes per element */
};

struct group_scratch {
    struct dti_dequant_window window;
    uint64_t first, count; /* range of raw scales or biases in memory, in stored order */
    unsigned char raw[4 * TILE];
    unsigned char zeros[ZEROS];
    unsigned char tile[4 * TILE];
};

/* Rows of the matrix, and groups of each. */
struct group_rectangle {
    uint64_t row, group;
    size_t rows, groups;
    size_t of_row, of_group; /* strides in the output */
};

/* Adjacent stored values, and where they go. */
struct group_run {
    uint64_t index, ahead; /* of the first; how many more may be read with them */
    size_t n, to, step;
};

/* Makes the window hold what a run needs, and possibly some of the following runs. */
static enum dti_status load(const struct group_part *part, struct group_scratch *scratch,
                            const struct group_run *run, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = part->grouped->how;
    const bool there = run->index >= scratch->window.first &&
                       run->index + run->n <= scratch->window.first + scratch->window.count;
    uint64_t n = run->n + run->ahead;
    n = n < DTI_DEQUANT_WINDOW ? n : DTI_DEQUANT_WINDOW;
    return dti_dequant_load(how, &scratch->window, run->index, there ? run->n : n, reterr);
}

static enum dti_status load_raw(const struct group_part *part, struct group_scratch *scratch,
                                const struct group_run *run, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = part->grouped->how;
    uint64_t n = run->n + run->ahead;
    if (run->index >= scratch->first && run->index + run->n <= scratch->first + scratch->count)
        return DTI_OK;
    n = n < TILE ? n : TILE;
    scratch->first = run->index;
    scratch->count = n;
    return dti_dequant_raw_scales(
        how, part->values == DTI_GROUP_BIASES ? DTI_PART_OF(how, biases) : DTI_PART_OF(how, scales),
        NULL, scratch->raw, run->index, (size_t)n, reterr);
}

/* The zero point of the element at an index of the window. */
static unsigned zero_at(const struct dti_grouped *grouped, const struct dti_dequant_window *window,
                        size_t at)
{
    const struct dti_dequant_tensor *const how = grouped->how;
    const unsigned shift = grouped->sign ? dti_grouped_middle(grouped) : 0;
    unsigned zero = 0;
    if (!grouped->biased)
        return shift + (unsigned)(how->is->zero_form == DTI_ZERO_NONE ? how->is->zero_offset
                                                                      : window->zero[at]);
    (void)dti_grouped_zero(grouped, window->scale[at], window->bias[at], &zero); /* cannot fail: it
                                                                                  * was checked */
    return zero;
}

/* Whether bytes of scales and biases are copied, since they are already stored as needed. */
static bool is_raw(const struct group_part *part)
{
    return part->values == DTI_GROUP_BIASES       ? part->grouped->biased
           : part->values == DTI_GROUP_RAW_SCALES ? true
           : part->values == DTI_GROUP_SCALES
               ? part->grouped->how->is->factor == 1 && !part->grouped->narrows
               : false;
}

static enum dti_status make_run(const struct group_part *part, const struct group_run *run,
                                unsigned char *to, struct group_scratch *scratch,
                                struct dti_error *reterr)
{
    const struct dti_grouped *const grouped = part->grouped;
    const struct dti_dequant_window *const window = &scratch->window;
    if (is_raw(part)) {
        const size_t item = part->item;
        const enum dti_status status = load_raw(part, scratch, run, reterr);
        const unsigned char *const from = scratch->raw + (run->index - scratch->first) * item;
        for (size_t i = 0; i < run->n && status == DTI_OK; i++)
            memcpy(to + (run->to + i * run->step) * item, from + i * item, item);
        return status;
    }
    const enum dti_status status = load(part, scratch, run, reterr);
    const size_t at = (size_t)(run->index - window->first);
    for (size_t i = 0; i < run->n && status == DTI_OK; i++) {
        const float scale = window->scale[at + i];
        const size_t place = run->to + i * run->step;
        if (part->values == DTI_GROUP_SCALES)
            dti_grouped_put(grouped->scale, to + place * part->item,
                            dti_grouped_scale(grouped, scale));
        else if (part->values == DTI_GROUP_BIASES)
            dti_grouped_put(grouped->scale, to + place * part->item,
                            dti_grouped_bias(grouped, scale, zero_at(grouped, window, at + i)));
        else
            to[place] = (unsigned char)(zero_at(grouped, window, at + i) - part->less);
    }
    return status;
}

/* Computes a value for each group of a rectangle, in runs of adjacent stored values. */
static enum dti_status make(const struct group_part *part, const struct group_rectangle *rectangle,
                            unsigned char *to, struct group_scratch *scratch,
                            struct dti_error *reterr)
{
    const struct dti_grouped *const grouped = part->grouped;
    const bool by_rows = grouped->groups > 1 && grouped->of_group == 1; /* runs stay within rows */
    const size_t runs = by_rows ? rectangle->rows : rectangle->groups;
    const size_t n = by_rows ? rectangle->groups : rectangle->rows;
    const uint64_t step = by_rows ? grouped->of_row : grouped->of_group;
    const uint64_t first = rectangle->row * grouped->of_row + rectangle->group * grouped->of_group;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < runs && status == DTI_OK; i++) {
        const struct group_run run = {
            .index = first + i * step,
            .ahead = n >= step / 8 ? (runs - 1 - i) * step : 0,
            .n = n,
            .to = i * (by_rows ? rectangle->of_row : rectangle->of_group),
            .step = by_rows ? rectangle->of_group : rectangle->of_row,
        };
        status = make_run(part, &run, to, scratch, reterr);
    }
    return status;
}

/* A range of rows and columns of a part's elements. */
struct part_rectangle {
    uint64_t row, column;
    size_t rows, columns;
};

static enum dti_status make_plain(const struct group_part *part,
                                  const struct part_rectangle *wanted,
                                  struct group_scratch *scratch, struct dti_error *reterr)
{
    const struct group_rectangle rectangle = {
        .row = part->turned ? wanted->column : wanted->row,
        .group = part->turned ? wanted->row : wanted->column,
        .rows = part->turned ? wanted->columns : wanted->rows,
        .groups = part->turned ? wanted->rows : wanted->columns,
        .of_row = part->turned ? 1 : wanted->columns,
        .of_group = part->turned ? wanted->columns : 1,
    };
    return make(part, &rectangle, scratch->tile, scratch, reterr);
}

/* Packs fields of `bits` bits as a stream into whole words; the last one may be padded. */
static void pack(unsigned char *words, const unsigned char *fields, size_t n, unsigned bits)
{
    const uint64_t mask = (1U << bits) - 1;
    uint64_t stream = 0;
    unsigned filled = 0;
    for (size_t i = 0; i < n; i++) {
        stream |= (fields[i] & mask) << filled;
        filled += bits;
        if (filled >= 32 || i + 1 == n) {
            dti_little_put(words, 4, stream);
            words += 4;
            stream >>= 32;
            filled = filled >= 32 ? filled - 32 : 0;
        }
    }
    if (filled > 0)
        dti_little_put(words, 4, stream);
}

/* Rows of groups, with a stream for each; wanted: in words. */
static enum dti_status make_along(const struct group_part *part,
                                  const struct part_rectangle *wanted,
                                  struct group_scratch *scratch, struct dti_error *reterr)
{
    const struct dti_grouped *const grouped = part->grouped;
    const unsigned bits = grouped->bits;
    const uint64_t first = wanted->column / bits * 32; /* starts on a word */
    const uint64_t last = dti_divide_up((wanted->column + wanted->columns) * 32, bits);
    const size_t n = (size_t)((last < grouped->rows ? last : grouped->rows) - first);
    const size_t skip = (size_t)(wanted->column % bits);
    const struct group_rectangle rectangle = {.row = first,
                                              .group = wanted->row,
                                              .rows = n,
                                              .groups = wanted->rows,
                                              .of_row = 1,
                                              .of_group = n};
    unsigned char words[4 * (WORD_TILE + 16)];
    const enum dti_status status = make(part, &rectangle, scratch->zeros, scratch, reterr);
    for (size_t i = 0; i < wanted->rows && status == DTI_OK; i++) {
        if (part->values == DTI_GROUP_ZEROS_LANES)
            dti_lanes_pack(words, scratch->zeros + i * n, n);
        else
            pack(words, scratch->zeros + i * n, n, bits);
        memcpy(scratch->tile + i * wanted->columns * 4, words + 4 * skip, wanted->columns * 4);
    }
    return status;
}

/* Words of several rows of a matrix each; wanted: within one matrix. bits divides 32. */
static enum dti_status make_down(const struct group_part *part, const struct part_rectangle *wanted,
                                 struct group_scratch *scratch, struct dti_error *reterr)
{
    const struct dti_grouped *const grouped = part->grouped;
    const unsigned bits = grouped->bits, in_word = 32 / bits;
    const uint64_t height = grouped->height;
    const uint64_t words = dti_divide_up(height, in_word);
    const uint64_t first = wanted->row % words * in_word, left = height - first;
    const size_t all = wanted->rows * in_word, n = left < all ? (size_t)left : all;
    const struct group_rectangle rectangle = {.row = wanted->row / words * height + first,
                                              .group = wanted->column,
                                              .rows = n,
                                              .groups = wanted->columns,
                                              .of_row = 1,
                                              .of_group = n};
    const enum dti_status status = make(part, &rectangle, scratch->zeros, scratch, reterr);
    unsigned char stream[4 * (WORD_TILE + 16)];
    for (size_t i = 0; i < wanted->columns && status == DTI_OK; i++) {
        pack(stream, scratch->zeros + i * n, n, bits);
        for (size_t k = 0; k < wanted->rows; k++)
            memcpy(scratch->tile + (k * wanted->columns + i) * 4, stream + 4 * k, 4);
    }
    return status;
}

/* The rectangle of elements from a position on: part of a row, or parts of several whole
 * consecutive rows; all before `end`. */
static struct part_rectangle rectangle_at(const struct group_part *part, uint64_t element,
                                          uint64_t end, uint64_t column)
{
    const bool packed = part->values >= DTI_GROUP_ZEROS_ALONG;
    const size_t room = packed ? WORD_TILE : TILE;
    const uint64_t row = element / part->columns, begin = element % part->columns;
    struct part_rectangle wanted = {.row = row, .column = begin + column, .rows = 1};
    if (begin == 0 && end - element >= part->columns) {
        uint64_t rows = (end - element) / part->columns;
        rows = rows < TALL ? rows : TALL;
        if (part->values == DTI_GROUP_ZEROS_DOWN) { /* within one matrix */
            const uint64_t words = dti_divide_up(part->grouped->height * part->grouped->bits, 32);
            rows = rows < words - row % words ? rows : words - row % words;
        }
        wanted.rows = (size_t)rows;
    }
    const uint64_t stop =
        part->columns - begin < end - element ? part->columns : begin + (end - element);
    const uint64_t left = stop - wanted.column;
    wanted.columns = left < room / wanted.rows ? (size_t)left : room / wanted.rows;
    return wanted;
}

static enum dti_status make_rectangle(const struct group_part *part,
                                      const struct part_rectangle *wanted,
                                      struct group_scratch *scratch, struct dti_error *reterr)
{
    switch (part->values) {
    case DTI_GROUP_ZEROS_ALONG:
    case DTI_GROUP_ZEROS_LANES:
        return make_along(part, wanted, scratch, reterr);
    case DTI_GROUP_ZEROS_DOWN:
        return make_down(part, wanted, scratch, reterr);
    default:
        return make_plain(part, wanted, scratch, reterr);
    }
}

/* Copies rows of a rectangle to the bytes offset to offset + size - 1 of the part. */
static void deliver(const struct group_part *part, const struct part_rectangle *made,
                    const unsigned char *tile, unsigned char *buffer, uint64_t offset, size_t size)
{
    for (size_t i = 0; i < made->rows; i++) {
        const uint64_t at = ((made->row + i) * part->columns + made->column) * part->item;
        const uint64_t end = at + made->columns * part->item;
        const uint64_t from = at > offset ? at : offset;
        const uint64_t to = end < offset + size ? end : offset + size;
        if (from < to)
            memcpy(buffer + (from - offset), tile + i * made->columns * part->item + (from - at),
                   (size_t)(to - from));
    }
}

static enum dti_status read_values(void *context, void *buffer, size_t size, uint64_t offset,
                                   struct dti_window *window, void *memory,
                                   struct dti_error *reterr)
{
    const struct group_part *const part = context;
    struct group_scratch *const scratch = memory;
    const uint64_t end = dti_divide_up(offset + size, part->item);
    enum dti_status status = DTI_OK;
    (void)window;
    scratch->window.first = scratch->window.count = scratch->first = scratch->count = 0;
    for (uint64_t at = offset / part->item; at < end && status == DTI_OK;) {
        uint64_t column = 0, stop = 0;
        size_t rows = 1;
        do { /* remaining columns of the same rows */
            const struct part_rectangle wanted = rectangle_at(part, at, end, column);
            status = make_rectangle(part, &wanted, scratch, reterr);
            if (status != DTI_OK)
                return status;
            deliver(part, &wanted, scratch->tile, buffer, offset, size);
            rows = wanted.rows;
            column += wanted.columns;
            stop = at % part->columns + column;
        } while (stop < part->columns && (rows > 1 || at + column < end));
        at += rows > 1 ? rows * part->columns : column;
    }
    return status;
}

enum dti_status dti_grouped_values(struct dti_pool *pool, const struct dti_grouped *grouped,
                                   enum dti_group_values values, bool turned, unsigned less,
                                   struct dti_transcode_part *part, struct dti_error *reterr)
{
    struct group_part *const made = dti_pool_alloc(pool, sizeof *made);
    uint64_t elements = 1;
    if (!made)
        return dti_no_memory(reterr);
    for (unsigned i = 0; i < part->rank; i++)
        elements *= part->shape[i];
    *made = (struct group_part){.grouped = grouped,
                                .values = values,
                                .turned = turned,
                                .less = less,
                                .columns = part->shape[part->rank - 1],
                                .item = dti_format_container(dti_format_get(part->dtype))};
    made->rows = elements / made->columns;
    part->source = (struct dti_batch_source){
        .read = read_values, .context = made, .scratch_bytes = sizeof(struct group_scratch)};
    return DTI_OK;
}

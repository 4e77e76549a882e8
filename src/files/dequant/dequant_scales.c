/* SPDX-License-Identifier: MIT
 *
 * Loads the scales and zero points of a range of elements, as numbers. */
#include <string.h>

#include "files/dequant/dequant_tensor.h"
#include "files/stored/scale_tiles.h"
#include "util/checked.h"
#include "util/little_endian.h"

/* Loads quantized scales, and the scales of those. */
static enum dti_status load_nested(const struct dti_dequant_tensor *tensor,
                                   struct dti_dequant_window *window, struct dti_error *reterr)
{
    const struct dti_dequant_nested *const nested = tensor->nested;
    const uint64_t first = window->first / nested->block;
    const uint64_t last = (window->first + window->count - 1) / nested->block;
    const size_t count = (size_t)window->count, of_codes = DTI_DEQUANT_WINDOW;
    unsigned char *const own = window->raw + of_codes;
    enum dti_status status = dti_dequant_read_part(DTI_PART_OF(tensor, scales), window->raw, count,
                                                   window->first, reterr);
    if (status == DTI_OK)
        status = dti_dequant_read_part(&nested->scales, own, (size_t)(last - first + 1) * 4,
                                       first * 4, reterr);
    for (size_t i = 0; i < count && status == DTI_OK; i++) {
        const uint64_t block = (window->first + i) / nested->block - first;
        const uint32_t code = (uint32_t)dti_little_get(own + block * 4, sizeof code);
        float scale;
        memcpy(&scale, &code, sizeof scale);
        window->scale[i] = dti_nested_back(nested->map[window->raw[i]], scale, nested->offset);
    }
    return status;
}

enum { TILES_AT_ONCE = 64, COLUMNS_AT_ONCE = TILES_AT_ONCE * DTI_TILE_COLUMNS };

/* A range of columns in some rows of one stripe; where its scales go. */
struct tiled_range {
    uint64_t stripe; /* offset of the stripe in the file */
    uint64_t row, rows, column, columns;
    unsigned char *to;
    size_t step; /* from row to row */
};

/* Reads the tiles of at most TILES_AT_ONCE as one piece, which takes less time than a call for each
 * four neighbours. */
static enum dti_status read_tiles(const struct dti_dequant_tensor *tensor,
                                  const struct tiled_range *range, struct dti_error *reterr)
{
    unsigned char bytes[TILES_AT_ONCE * DTI_TILE_BYTES];
    const uint64_t last = range->column + range->columns - 1;
    const uint64_t begin = range->rows > 1 ? range->column / DTI_TILE_COLUMNS * DTI_TILE_BYTES
                                           : dti_tile_offset(range->row, range->column);
    const uint64_t end = range->rows > 1 ? (last / DTI_TILE_COLUMNS + 1) * DTI_TILE_BYTES
                                         : dti_tile_offset(range->row, last) + 1;
    const enum dti_status status = dti_dequant_read_part(
        DTI_PART_OF(tensor, scales), bytes, (size_t)(end - begin), range->stripe + begin, reterr);
    for (uint64_t i = 0; i < range->rows && status == DTI_OK; i++) {
        unsigned char *const to = range->to + i * range->step;
        for (uint64_t j = 0; j < range->columns; j++)
            to[j] = bytes[dti_tile_offset(range->row + i, range->column + j) - begin];
    }
    return status;
}

static enum dti_status read_tiled(const struct dti_dequant_tensor *tensor, unsigned char *buffer,
                                  uint64_t first, size_t count, struct dti_error *reterr)
{
    const uint64_t columns = tensor->is->scale_columns;
    const uint64_t size = dti_tiled_columns(columns) * DTI_TILE_ROWS;
    enum dti_status status = DTI_OK;
    for (size_t done = 0; done < count && status == DTI_OK;) {
        const uint64_t row = (first + done) / columns, column = (first + done) % columns;
        const uint64_t left = DTI_TILE_ROWS - row % DTI_TILE_ROWS;
        const uint64_t whole = column == 0 ? (count - done) / columns : 0; /* rows */
        const uint64_t rows = whole == 0 ? 1 : whole < left ? whole : left;
        uint64_t n = whole > 0 ? columns : columns - column;
        n = n < count - done ? n : count - done;
        for (uint64_t at = 0, some; at < n && status == DTI_OK; at += some) {
            const uint64_t room = COLUMNS_AT_ONCE - (column + at) % DTI_TILE_COLUMNS;
            some = n - at < room ? n - at : room;
            status = read_tiles(tensor,
                                &(struct tiled_range){.stripe = row / DTI_TILE_ROWS * size,
                                                      .row = row % DTI_TILE_ROWS,
                                                      .rows = rows,
                                                      .column = column + at,
                                                      .columns = some,
                                                      .to = buffer + done + at,
                                                      .step = (size_t)columns},
                                reterr);
        }
        done += (size_t)(rows * n);
    }
    return status;
}

enum dti_status dti_dequant_raw_scales(const struct dti_dequant_tensor *tensor,
                                       const struct dti_dequant_part *part, struct dti_window *view,
                                       void *buffer, uint64_t first, size_t count,
                                       struct dti_error *reterr)
{
    const size_t size = dti_format_container(dti_dequant_part_tensor(part)->format);
    if (tensor->is->tiled)
        return read_tiled(tensor, buffer, first, count, reterr);
    return dti_dequant_copy(part, view, buffer, count * size, first * size, reterr);
}

/* Loads a part that has the dtype of scales. */
static enum dti_status load_floats(const struct dti_dequant_tensor *tensor,
                                   const struct dti_dequant_part *part,
                                   struct dti_dequant_window *window, float *ret,
                                   struct dti_error *reterr)
{
    const size_t size = dti_format_container(dti_dequant_part_tensor(part)->format);
    const size_t count = (size_t)window->count;
    enum dti_status status = dti_dequant_raw_scales(tensor, part, window->view, window->raw,
                                                    window->first, count, reterr);
    for (size_t done = 0; done < count && status == DTI_OK; done += DTI_TILE) {
        const size_t n = count - done < DTI_TILE ? count - done : DTI_TILE;
        status = dti_plan_run(tensor->is->scale_plan, ret + done, window->raw + done * size, n, 0,
                              DTI_STORES_CACHED, NULL, reterr);
    }
    return status;
}

static enum dti_status load_own(const struct dti_dequant_tensor *tensor,
                                struct dti_dequant_window *window, struct dti_error *reterr)
{
    if (tensor->nested)
        return load_nested(tensor, window, reterr);
    const size_t count = (size_t)window->count;
    const enum dti_status status =
        load_floats(tensor, DTI_PART_OF(tensor, scales), window, window->scale, reterr);
    for (size_t i = 0; i < count && tensor->is->divisors; i++)
        window->scale[i] = 1 / window->scale[i];
    for (size_t i = 0; i < count && tensor->is->block && tensor->is->block->family == DTI_BLOCKS_NV;
         i++)
        window->scale[i] = dti_dequant_block_scale(tensor, window->scale[i]);
    return status;
}

/* Loads scales, and biases if there are any. */
static enum dti_status load_scales(const struct dti_dequant_tensor *tensor,
                                   struct dti_dequant_window *window, struct dti_error *reterr)
{
    enum dti_status status = load_own(tensor, window, reterr);
    if (status == DTI_OK && tensor->is->from.biases)
        status = load_floats(tensor, DTI_PART_OF(tensor, biases), window, window->bias, reterr);
    for (uint64_t i = 0; i < window->count && tensor->is->centers && status == DTI_OK; i++)
        window->bias[i] = -(window->scale[i] * window->bias[i]);
    for (uint64_t i = 0; i < window->count && tensor->probe && status == DTI_OK; i++) {
        window->scale[i] = window->scale[i] == 0 ? 1 : 0;
        if (tensor->is->from.biases)
            window->bias[i] = 0;
    }
    return status;
}

enum dti_status dti_dequant_load_scales(const struct dti_dequant_tensor *tensor,
                                        struct dti_dequant_window *window, struct dti_window *view,
                                        uint64_t first, size_t count, struct dti_error *reterr)
{
    window->view = view;
    window->first = first;
    window->count = count;
    return load_scales(tensor, window, reterr);
}

static enum dti_status zero_outside(const struct dti_dequant_tensor *tensor, uint64_t index,
                                    int64_t zero, struct dti_error *reterr)
{
    char place[DTI_TENSOR_PLACE];
    return dti_fail(reterr, DTI_BAD_INPUT,
                    "%s: element %llu is %lld, which is not a zero point of %s codes",
                    dti_tensor_place(tensor->is->from.zeros, tensor->at.zeros, place),
                    (unsigned long long)index, (long long)zero, tensor->is->affine.code.name);
}

static int64_t integer_of(const struct dti_format *format, uint64_t code)
{
    const uint64_t sign = dti_format_sign_bit(format);
    return (int64_t)((code ^ sign) - sign);
}

bool dti_dequant_zero_of(const struct dti_dequant_tensor *tensor, const unsigned char *raw,
                         size_t i, int64_t *ret)
{
    const struct dti_tensor *const zeros = dti_dequant_part_tensor(DTI_PART_OF(tensor, zeros));
    const int64_t zero =
        integer_of(zeros->format, dti_storage_get(zeros->format, &zeros->layout, raw, i));
    *ret = zero;
    return zero >= INT16_MIN && zero <= UINT16_MAX &&
           zero + tensor->is->zero_offset >= tensor->is->affine.low &&
           zero + tensor->is->zero_offset <= tensor->is->affine.high;
}

static enum dti_status load_plain_zeros(const struct dti_dequant_tensor *tensor,
                                        struct dti_dequant_window *window, struct dti_error *reterr)
{
    const struct dti_tensor *const zeros = dti_dequant_part_tensor(DTI_PART_OF(tensor, zeros));
    const size_t size = dti_format_container(zeros->format);
    const enum dti_status status =
        dti_dequant_read_part(DTI_PART_OF(tensor, zeros), window->raw, (size_t)window->count * size,
                              window->first * size, reterr);
    for (size_t i = 0; i < window->count && status == DTI_OK; i++) {
        int64_t zero;
        if (!dti_dequant_zero_of(tensor, window->raw, i, &zero))
            return zero_outside(tensor, window->first + i, zero, reterr);
        window->zero[i] = (int32_t)zero + tensor->is->zero_offset;
    }
    return status;
}

/* Consecutive scales of a row, starting at position `done` of the window. */
struct scale_run {
    uint64_t row, column;
    size_t n;
};

static struct scale_run run_at(const struct dti_dequant_tensor *tensor,
                               const struct dti_dequant_window *window, uint64_t done)
{
    const uint64_t columns = tensor->is->scale_columns, at = window->first + done;
    const uint64_t left = columns - at % columns, wanted = window->count - done;
    return (struct scale_run){at / columns, at % columns, (size_t)(left < wanted ? left : wanted)};
}

/* Words hold the zero points of several rows of scales: 32 / bits whole ones, or a bit stream. */
static enum dti_status load_packed_zeros(const struct dti_dequant_tensor *tensor,
                                         struct dti_dequant_window *window,
                                         struct dti_error *reterr)
{
    const uint64_t columns = tensor->is->scale_columns, in_word = 32 / tensor->is->bits;
    const bool stream = tensor->is->zero_form == DTI_ZERO_DOWN;
    const uint64_t rows = tensor->is->scale_rows;
    const uint64_t words =
        stream ? dti_divide_up(rows * tensor->is->bits, 32) : dti_divide_up(rows, in_word);
    const int32_t mask = (int32_t)dti_low_bits(tensor->is->bits);
    enum dti_status status = DTI_OK;
    for (uint64_t done = 0; done < window->count && status == DTI_OK;) {
        const struct scale_run run = run_at(tensor, window, done);
        const uint64_t row = run.row % rows, bit = row * tensor->is->bits;
        const uint64_t above = run.row / rows * words + (stream ? bit / 32 : row / in_word);
        const uint64_t word = above * columns + run.column;
        const unsigned shift = (unsigned)(stream ? bit % 32 : row % in_word * tensor->is->bits);
        unsigned char *const next = window->raw + 4 * (size_t)DTI_DEQUANT_WINDOW;
        status = dti_dequant_read_part(DTI_PART_OF(tensor, zeros), window->raw, 4 * run.n, 4 * word,
                                       reterr);
        if (status == DTI_OK && shift + tensor->is->bits > 32)
            status = dti_dequant_read_part(DTI_PART_OF(tensor, zeros), next, 4 * run.n,
                                           4 * (word + columns), reterr);
        for (size_t i = 0; i < run.n && status == DTI_OK; i++) {
            uint64_t bits = dti_little_get(window->raw + 4 * i, 4);
            if (shift + tensor->is->bits > 32)
                bits |= dti_little_get(next + 4 * i, 4) << 32;
            window->zero[done + i] = (int32_t)(bits >> shift & (uint32_t)mask);
        }
        done += run.n;
    }
    return status;
}

/* Each row of scales has its zero points in whole words or bytes. */
static enum dti_status load_zeros_along(const struct dti_dequant_tensor *tensor,
                                        struct dti_dequant_window *window, struct dti_error *reterr)
{
    const unsigned unit = tensor->is->zero_form == DTI_ZERO_BYTES ? 8 : 32;
    const uint64_t row_bytes =
        dti_divide_up(tensor->is->scale_columns * tensor->is->bits, unit) * (unit / 8);
    const int32_t mask = (int32_t)dti_low_bits(tensor->is->bits);
    enum dti_status status = DTI_OK;
    for (uint64_t done = 0; done < window->count && status == DTI_OK;) {
        const struct scale_run run = run_at(tensor, window, done);
        const uint64_t word = run.column / 32 * tensor->is->bits;
        const size_t skip = (size_t)(run.column % 32);
        unsigned char *const fields = window->raw + 4 * (size_t)DTI_DEQUANT_WINDOW;
        uint64_t bytes = dti_divide_up((skip + run.n) * tensor->is->bits, 32) * 4;
        bytes = bytes > row_bytes - word * 4 ? row_bytes - word * 4 : bytes;
        status = dti_dequant_read_part(DTI_PART_OF(tensor, zeros), window->raw, (size_t)bytes,
                                       run.row * row_bytes + word * 4, reterr);
        if (status != DTI_OK)
            return status;
        dti_dequant_packed_zeros(tensor, fields, window->raw, skip, run.n);
        for (size_t i = 0; i < run.n; i++)
            window->zero[done + i] = (fields[i] + tensor->is->zero_offset) & mask;
        done += run.n;
    }
    return status;
}

enum dti_status dti_dequant_load(const struct dti_dequant_tensor *tensor,
                                 struct dti_dequant_window *window, uint64_t first, uint64_t count,
                                 struct dti_error *reterr)
{
    if (window->count > 0 && first >= window->first && first - window->first <= window->count &&
        count <= window->count - (first - window->first))
        return DTI_OK;
    if (first > tensor->is->scale_count || count > tensor->is->scale_count - first)
        return dti_fail(reterr, DTI_BUG, "scales beyond the last one");
    window->view = NULL; /* a look for codes may be open */
    window->first = first;
    window->count = count;
    if (tensor->is->scale_count <= DTI_DEQUANT_WINDOW) { /* load all of them once */
        window->first = 0;
        window->count = tensor->is->scale_count;
    }
    enum dti_status status = load_scales(tensor, window, reterr);
    if (status == DTI_OK && tensor->is->zero_form == DTI_ZERO_PLAIN)
        status = load_plain_zeros(tensor, window, reterr);
    if (status == DTI_OK &&
        (tensor->is->zero_form == DTI_ZERO_WORDS || tensor->is->zero_form == DTI_ZERO_DOWN))
        status = load_packed_zeros(tensor, window, reterr);
    if (status == DTI_OK && tensor->is->zero_form >= DTI_ZERO_ALONG)
        status = load_zeros_along(tensor, window, reterr);
    if (status != DTI_OK)
        window->count = 0;
    return status;
}

/* SPDX-License-Identifier: MIT
 *
 * Converts Fortran order to row-major order in bounded memory: cuts the array into tiles and
 * reads, transposes and writes each. A tile is long in the dimensions that vary fastest in the
 * file and in those that vary fastest in the result, so that both are accessed in long runs. */
#include "convert/transpose.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "io/scratch.h"
#include "util/checked.h"
#include "util/run/allocate.h"

enum {
    MEMORY = 16 << 20,
    RANK_MAX = 64, /* maximum number of dimensions above 1: 2^64 items */
    LINE = 64,
};

struct transposition {
    const struct dti_input *from;
    struct dti_input *to;
    uint64_t offset;
    size_t item;
    unsigned rank;           /* at least 1; dimensions of 1 are dropped, except for a single item */
    uint64_t size[RANK_MAX]; /* slowest dimension of the result first */
    uint64_t tile[RANK_MAX]; /* extents of a tile that is not at an edge */
    unsigned char *read, *transposed;
};

/* One tile: start and extent, in items. Like other arrays by dimension it is set as a whole,
 * because gcc's analyzer does not know that all loops have the same rank. */
struct transpose_tile {
    uint64_t begin[RANK_MAX], extent[RANK_MAX];
};

/* Advances to the next position within the extents of dimensions [from, to). Dimension `to - 1`
 * varies fastest; with `up`, `from` does. False after the last. */
static bool advance(uint64_t *at, const uint64_t *extent, unsigned from, unsigned to, bool up)
{
    for (unsigned i = from; i < to; i++) {
        const unsigned dimension = up ? i : to - 1 - (i - from);
        if (++at[dimension] < extent[dimension])
            return true;
        at[dimension] = 0;
    }
    return false;
}

/* The first dimension that the tile does not cover completely, or the last dimension. */
static unsigned first_partial(const struct transposition *job, const uint64_t *extent)
{
    unsigned i = 0;
    while (i + 1 < job->rank && extent[i] == job->size[i])
        i++;
    return i;
}

/* The last dimension that the tile does not cover completely, or the first dimension. */
static unsigned last_partial(const struct transposition *job, const uint64_t *extent)
{
    unsigned i = job->rank - 1;
    while (i > 0 && extent[i] == job->size[i])
        i--;
    return i;
}

static uint64_t product(const uint64_t *extent, unsigned from, unsigned to)
{
    uint64_t all = 1;
    for (unsigned i = from; i < to; i++)
        all *= extent[i];
    return all;
}

/* Doubles one extent, keeping the tile within `most` items. False if it cannot grow. */
static bool grow(struct transposition *job, unsigned at, uint64_t most)
{
    const uint64_t now = job->tile[at], others = product(job->tile, 0, job->rank) / now;
    uint64_t wanted = now < job->size[at] / 2 ? 2 * now : job->size[at];
    if (wanted > most / others)
        wanted = most / others;
    if (wanted <= now)
        return false;
    job->tile[at] = wanted;
    return true;
}

/* Grows the shorter run first, of the file or of the result. */
static void choose_tile(struct transposition *job, uint64_t most)
{
    for (unsigned i = 0; i < job->rank; i++)
        job->tile[i] = 1;
    for (;;) {
        const unsigned first = first_partial(job, job->tile), last = last_partial(job, job->tile);
        const uint64_t in = product(job->tile, 0, first + 1);
        const uint64_t out = product(job->tile, last, job->rank);
        if (!grow(job, in <= out ? first : last, most) &&
            !grow(job, in <= out ? last : first, most))
            break;
    }
    for (unsigned i = 0; i < job->rank; i++) { /* equal tiles rather than a thin last one */
        const uint64_t count = (job->size[i] - 1) / job->tile[i] + 1;
        job->tile[i] = (job->size[i] - 1) / count + 1;
    }
}

/* Reads contiguous runs of the file into memory, one after the other. */
static enum dti_status read_tile(const struct transposition *job, const struct transpose_tile *tile,
                                 struct dti_error *reterr)
{
    uint64_t stride[RANK_MAX] = {0}, at[RANK_MAX] = {0};
    for (unsigned i = 0; i < job->rank; i++)
        stride[i] = product(job->size, 0, i);
    const unsigned partial = first_partial(job, tile->extent);
    const size_t run = (size_t)product(tile->extent, 0, partial + 1) * job->item;
    unsigned char *to = job->read;
    do {
        uint64_t first = 0;
        for (unsigned i = 0; i < job->rank; i++)
            first += (tile->begin[i] + at[i]) * stride[i];
        const enum dti_status status =
            dti_input_read_once_at(job->from, to, run, job->offset + first * job->item, reterr);
        if (status != DTI_OK)
            return status;
        to += run;
    } while (advance(at, tile->extent, partial + 1, job->rank, true));
    return DTI_OK;
}

static enum dti_status write_tile(const struct transposition *job,
                                  const struct transpose_tile *tile, struct dti_error *reterr)
{
    uint64_t stride[RANK_MAX] = {0}, at[RANK_MAX] = {0};
    for (unsigned i = 0; i < job->rank; i++)
        stride[i] = product(job->size, i + 1, job->rank);
    const unsigned partial = last_partial(job, tile->extent);
    const size_t run = (size_t)product(tile->extent, partial, job->rank) * job->item;
    const unsigned char *from = job->transposed;
    do {
        uint64_t first = 0;
        for (unsigned i = 0; i < job->rank; i++)
            first += (tile->begin[i] + at[i]) * stride[i];
        const enum dti_status status =
            dti_scratch_write_at(job->to, from, run, first * job->item, reterr);
        if (status != DTI_OK)
            return status;
        from += run;
    } while (advance(at, tile->extent, 0, partial, false));
    return DTI_OK;
}

/* A matrix in memory: `rows` items are contiguous in src and have stride dst_stride in dst;
 * `columns` items are contiguous in dst and have stride src_stride in src. */
struct matrix {
    const unsigned char *src;
    unsigned char *dst;
    size_t rows, columns, src_stride, dst_stride;
};

/* Transposes block by block, reading and writing whole cache lines. Callers pass item as a
 * constant. */
static inline void transpose(const struct matrix *m, const size_t item)
{
    enum { SIDE_MAX = 64 };
    unsigned char square[SIDE_MAX * SIDE_MAX];
    const size_t side = item == 1 ? SIDE_MAX / 2 : item < 16 ? LINE / item : 8;
    for (size_t row = 0; row < m->rows; row += side) {
        const size_t rows = m->rows - row < side ? m->rows - row : side;
        for (size_t column = 0; column < m->columns; column += side) {
            const size_t columns = m->columns - column < side ? m->columns - column : side;
            for (size_t j = 0; j < columns; j++) {
                const unsigned char *const from =
                    m->src + (row + (column + j) * m->src_stride) * item;
                for (size_t i = 0; i < rows; i++)
                    memcpy(square + (i * side + j) * item, from + i * item, item);
            }
            for (size_t i = 0; i < rows; i++)
                memcpy(m->dst + ((row + i) * m->dst_stride + column) * item,
                       square + i * side * item, columns * item);
        }
    }
}

static void transpose_matrix(const struct matrix *matrix, size_t item)
{
    switch (item) {
    case 1:
        transpose(matrix, 1);
        break;
    case 2:
        transpose(matrix, 2);
        break;
    case 4:
        transpose(matrix, 4);
        break;
    case 8:
        transpose(matrix, 8);
        break;
    default:
        transpose(matrix, 16);
        break;
    }
}

/* Transposes a tile as matrices of the first and last dimension, one for each position in those
 * between. */
static void transpose_tile(const struct transposition *job, const struct transpose_tile *tile)
{
    const uint64_t *const extent = tile->extent;
    const unsigned last = job->rank - 1;
    uint64_t at[RANK_MAX] = {0};
    if (last == 0) {
        memcpy(job->transposed, job->read, (size_t)extent[0] * job->item);
        return;
    }
    struct matrix matrix = {
        .rows = (size_t)extent[0],
        .columns = (size_t)extent[last],
        .src_stride = (size_t)product(extent, 0, last),
        .dst_stride = (size_t)product(extent, 1, last + 1),
    };
    do {
        uint64_t src = 0, dst = 0;
        for (unsigned i = last - 1; i > 0; i--)
            src = (src + at[i]) * extent[i - 1];
        for (unsigned i = 1; i < last; i++)
            dst = (dst + at[i]) * extent[i + 1];
        matrix.src = job->read + (size_t)src * job->item;
        matrix.dst = job->transposed + (size_t)dst * job->item;
        transpose_matrix(&matrix, job->item);
    } while (advance(at, extent, 1, last, false));
}

static enum dti_status transpose_all(const struct transposition *job, struct dti_error *reterr)
{
    struct transpose_tile tile = {.begin = {0}};
    uint64_t at[RANK_MAX] = {0}, tiles[RANK_MAX] = {0};
    for (unsigned i = 0; i < job->rank; i++)
        tiles[i] = (job->size[i] - 1) / job->tile[i] + 1;
    do {
        for (unsigned i = 0; i < job->rank; i++) {
            tile.begin[i] = at[i] * job->tile[i];
            const uint64_t left = job->size[i] - tile.begin[i];
            tile.extent[i] = left < job->tile[i] ? left : job->tile[i];
        }
        enum dti_status status = read_tile(job, &tile, reterr);
        if (status != DTI_OK)
            return status;
        transpose_tile(job, &tile);
        status = write_tile(job, &tile, reterr);
        if (status != DTI_OK)
            return status;
    } while (advance(at, tiles, 0, job->rank, false));
    return DTI_OK;
}

static enum dti_status fail_size(const struct dti_input *input, struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    return dti_fail(reterr, DTI_BAD_INPUT, "%s is too short for its array in Fortran order",
                    dti_input_label(input, label));
}

/* Drops dimensions of 1, which do not affect the order. *ret_bytes: size of the array. */
static enum dti_status describe(struct transposition *job, unsigned rank, const uint64_t *shape,
                                uint64_t *ret_bytes, struct dti_error *reterr)
{
    const struct dti_input *const input = job->from;
    uint64_t bytes = job->item, end;
    bool empty = false;
    for (unsigned i = 0; i < rank; i++)
        empty = empty || shape[i] == 0;
    for (unsigned i = 0; i < rank && !empty; i++) {
        if (!dti_mul_u64(bytes, shape[i], &bytes))
            return fail_size(input, reterr);
        if (shape[i] > 1)
            job->size[job->rank++] = shape[i];
    }
    if (job->rank == 0)
        job->size[job->rank++] = 1;
    if (empty)
        bytes = 0;
    if (!dti_add_u64(job->offset, bytes, &end) || end > input->size)
        return fail_size(input, reterr);
    *ret_bytes = bytes;
    return DTI_OK;
}

enum dti_status dti_transpose(const struct dti_input *input, uint64_t offset, unsigned rank,
                              const uint64_t *shape, size_t item, uint64_t max_memory,
                              struct dti_input *ret_input, struct dti_error *reterr)
{
    struct dti_input scratch;
    struct transposition job = {.from = input, .to = &scratch, .offset = offset, .item = item};
    uint64_t bytes = 0;
    enum dti_status status = describe(&job, rank, shape, &bytes, reterr);
    if (status != DTI_OK)
        return status;
    uint64_t most = (max_memory ? max_memory : MEMORY) / 2 / item;
    if (most > bytes / item)
        most = bytes / item;
    if (most < 4)
        most = 4;
    if (most > SIZE_MAX / 4 / item)
        most = SIZE_MAX / 4 / item;
    unsigned char *const memory = dti_malloc((size_t)most * item * 2);
    if (!memory)
        return dti_no_memory(reterr);
    job.read = memory;
    job.transposed = memory + (size_t)most * item;
    status = dti_scratch_open(&scratch, input->name, bytes, reterr);
    if (status == DTI_OK) {
        choose_tile(&job, most);
        if (bytes > 0)
            status = transpose_all(&job, reterr);
        if (status == DTI_OK)
            *ret_input = scratch;
        else
            dti_input_close(&scratch);
    }
    dti_free(memory);
    return status;
}

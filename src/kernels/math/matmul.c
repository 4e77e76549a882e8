/* SPDX-License-Identifier: MIT
 *
 * Matrix products around the tiles of a level. k is split so that a strip of A fits in the L1
 * cache, then n so that a block of B's panels takes half of the L2 cache:
 *
 *     for each block of columns of C
 *         for each block of k: pack B
 *             for each strip of rows: pack A, and perhaps prefetch the next strip
 *                 for each panel: a tile of C, in registers
 *
 * Registers that multiply faster than the L2 cache can deliver use longer blocks of k, split
 * into parts so that a part of a strip and of a panel fit in the L1 cache together:
 *
 *                 for each part of k, for each panel: a tile in a buffer outside C
 *
 * Each team member has its own rectangle of C and packs what it needs itself, so no member
 * waits. A single row of C reads B in place without packing, because reading B is all the time
 * it takes. */
#include <stdlib.h>
#include <string.h>

#include "kernels/math/matmul_tile.h"
#include "util/checked.h"
#include "util/run/allocate.h"

enum {
    FIRST_CACHE = 32 * 1024, /* used if the processor does not report it */
    SECOND_CACHE = 256 * 1024,
    PAGE = 4096,
};

/* A member's buffers and its part of C. */
struct share {
    unsigned char *strip, *panels, *edge, *scratch;
    size_t first_row, rows, first_column, columns;
};

struct dti_matmul {
    const struct dti_matmul_kernel *kernel;
    const struct dti_matmul_tile *tile;
    size_t m, n, k;
    size_t deep, wide;  /* k and n of a block: multiples of a step and of a panel */
    size_t part;        /* number of steps multiplied at a time */
    bool stream;        /* C exceeds the L2 cache */
    size_t panel_bytes; /* size of such a part */
    size_t scratch_bytes, member_bytes, members;
    size_t down, across; /* number of shares of C in each direction */
    unsigned char *memory;
};

static size_t at_least_one(size_t n)
{
    return n > 0 ? n : 1;
}

static size_t ceiling(size_t n, size_t by)
{
    return n / by + (n % by > 0);
}

/* Splits n as evenly as possible into the fewest parts of at most `most`, a multiple of `unit`. */
static size_t even_part(size_t n, size_t most, size_t unit)
{
    return ceiling(ceiling(n, ceiling(n, most)), unit) * unit;
}

static size_t cache_bytes(unsigned level, size_t otherwise)
{
    const size_t reported = dti_cache_bytes(level);
    return reported > 0 ? reported : otherwise;
}

/* Divides C as squarely as the number of members allows, to minimize the work of the busiest
 * one. */
static void divide(struct dti_matmul *matmul)
{
    const size_t strips = ceiling(matmul->m, matmul->kernel->rows);
    const size_t panels = ceiling(matmul->n, matmul->kernel->columns);
    double least = 0;
    for (size_t down = 1; down <= matmul->members; down++) {
        const size_t across = matmul->members / down;
        if (down * across != matmul->members)
            continue;
        const double tiles = (double)ceiling(strips, down) * (double)ceiling(panels, across);
        if (down == 1 || tiles < least) {
            least = tiles;
            matmul->down = down;
            matmul->across = across;
        }
    }
}

/* The number of steps for k elements, including padding. */
static size_t steps_of(const struct dti_matmul_tile *tile, size_t k)
{
    return ceiling(k, tile->group * tile->together) * tile->together;
}

static void choose_blocks(struct dti_matmul *matmul)
{
    const struct dti_matmul_tile *const tile = matmul->tile;
    const size_t columns = matmul->kernel->columns;
    /* in sixteenths of the L1 cache: more than half for a strip, because panels only pass
     * through; with parts, the same amount for a strip and a panel, and the rest for tiles of C */
    const size_t share = tile->take ? 7 : 10;
    size_t near = cache_bytes(1, FIRST_CACHE) * share / 16 / matmul->kernel->rows / 64 * 64;
    near = near < DTI_MATMUL_STRIP_BYTES ? at_least_one(near / 64) * 64 : DTI_MATMUL_STRIP_BYTES;
    const size_t bytes = tile->take ? (size_t)DTI_MATMUL_STRIP_BYTES : near;
    matmul->deep =
        even_part(matmul->k, bytes / tile->step * tile->group, tile->group * tile->together);
    matmul->part = even_part(steps_of(tile, matmul->deep), near / tile->step, tile->together);
    matmul->panel_bytes = tile->lead + matmul->part * columns * tile->step;
    const size_t parts = ceiling(steps_of(tile, matmul->deep), matmul->part);
    /* half of the L2 cache; more if tiles of C are buffered, because A then passes through less
     * often */
    const size_t second = cache_bytes(2, SECOND_CACHE), quarters = tile->take ? 3 : 2;
    const size_t panels = second / 4 * quarters / (parts * matmul->panel_bytes);
    const size_t own = ceiling(ceiling(matmul->n, columns), matmul->across) * columns;
    matmul->wide = even_part(own, at_least_one(panels) * columns, columns);
    matmul->scratch_bytes = tile->take ? matmul->wide * matmul->kernel->rows * tile->step : 0;
    matmul->stream = matmul->m * matmul->n * tile->step > second;
}

/* Whether the sizes of all three matrices are representable. */
static bool fits(const struct dti_matmul_kernel *kernel, uint64_t m, uint64_t n, uint64_t k)
{
    const uint64_t pairs[3][2] = {{m, k}, {k, n}, {m, n}};
    for (size_t i = 0; i < 3; i++) {
        const uint64_t element = i == 2 ? kernel->tile->step : kernel->tile->element;
        uint64_t count, bytes;
        if (!dti_mul_u64(pairs[i][0], pairs[i][1], &count) ||
            !dti_mul_u64(count, element, &bytes) || bytes > SIZE_MAX / 2)
            return false;
    }
    return true;
}

enum dti_status dti_matmul_new(struct dti_matmul **ret, const struct dti_matmul_kernel *kernel,
                               uint64_t m, uint64_t n, uint64_t k, size_t threads,
                               struct dti_error *reterr)
{
    const char *why = "needs AVX-VNNI";
    if (!dti_unit_present(kernel->unit) || !dti_level_permitted(kernel->level, &why))
        return dti_fail(reterr, DTI_UNAVAILABLE, "%s: %s", kernel->name, why);
    if (m == 0 || n == 0 || k == 0)
        return dti_fail(reterr, DTI_USAGE, "the product of %llux%llu and %llux%llu has no elements",
                        (unsigned long long)m, (unsigned long long)k, (unsigned long long)k,
                        (unsigned long long)n);
    if (!fits(kernel, m, n, k))
        return dti_fail(reterr, DTI_NO_MEMORY,
                        "matrices of %llux%llu and %llux%llu do not fit in memory",
                        (unsigned long long)m, (unsigned long long)k, (unsigned long long)k,
                        (unsigned long long)n);
    struct dti_matmul *const matmul = dti_calloc(1, sizeof *matmul);
    if (!matmul)
        return dti_no_memory(reterr);
    matmul->kernel = kernel;
    matmul->tile = kernel->tile;
    matmul->m = (size_t)m;
    matmul->n = (size_t)n;
    matmul->k = (size_t)k;
    matmul->members = at_least_one(threads);
    divide(matmul);
    choose_blocks(matmul);
    uint64_t bytes, all;
    const size_t parts = ceiling(steps_of(matmul->tile, matmul->deep), matmul->part);
    if (dti_mul_u64(matmul->wide / kernel->columns * parts, matmul->panel_bytes, &bytes) &&
        dti_add_u64(bytes,
                    matmul->scratch_bytes + (size_t)kernel->rows * DTI_MATMUL_STRIDE +
                        DTI_MATMUL_TILE_BYTES + PAGE,
                    &bytes) &&
        dti_mul_u64(bytes / PAGE * PAGE, matmul->members, &all) && all <= SIZE_MAX / 2) {
        matmul->member_bytes = (size_t)(bytes / PAGE * PAGE);
        matmul->memory = dti_malloc_aligned(PAGE, (size_t)all);
    }
    if (!matmul->memory) {
        dti_matmul_free(matmul);
        return dti_no_memory(reterr);
    }
    memset(matmul->memory, 0, matmul->member_bytes * matmul->members);
    *ret = matmul;
    return DTI_OK;
}

void dti_matmul_free(struct dti_matmul *matmul)
{
    if (!matmul)
        return;
    dti_free(matmul->memory);
    dti_free(matmul);
}

/* Part number `at` of `parts` of n, in whole units. */
static void take_share(size_t n, size_t unit, size_t at, size_t parts, size_t *ret_first,
                       size_t *ret_count)
{
    const size_t units = ceiling(n, unit), each = units / parts, more = units % parts;
    const size_t first = (each * at + (at < more ? at : more)) * unit;
    const size_t count = (each + (at < more)) * unit;
    *ret_first = first < n ? first : n;
    *ret_count = count < n - *ret_first ? count : n - *ret_first;
}

static void fetch_later(const unsigned char *p, size_t bytes)
{
#if defined __GNUC__
    for (size_t at = 0; at < bytes; at += 64)
        __builtin_prefetch(p + at, 0, 2);
#else
    (void)p, (void)bytes;
#endif
}

/* One multiplication: a strip and a block of panels. */
struct strip_product {
    const struct dti_matmul_tile *tile;
    const struct share *share;
    size_t columns_of_tile, panel_bytes;
    size_t columns, steps, part;
    bool add, stream;
};

/* Multiplies the tile at c; `rows` rows with `bytes` bytes each are inside C. A tile that
 * extends beyond C is computed in a buffer. */
static void multiply_tile(const struct strip_product *block, const struct dti_matmul_shape *shape,
                          unsigned char *c, size_t stride, size_t rows, size_t bytes,
                          const unsigned char *panel, size_t first_step)
{
    const struct dti_matmul_tile *const tile = block->tile;
    const size_t width = block->columns_of_tile * tile->step, left = block->steps - first_step;
    const size_t steps = left < block->part ? left : block->part;
    const unsigned char *const strip = block->share->strip + first_step * tile->step;
    const bool add = block->add || first_step > 0;
    if (rows == shape->rows && bytes == width) {
        shape->run(c, stride, strip, panel, steps, add);
        return;
    }
    unsigned char *const edge = block->share->edge;
    for (size_t i = 0; i < rows && add; i++)
        memcpy(edge + i * width, c + i * stride, bytes);
    shape->run(edge, width, strip, panel, steps, add);
    for (size_t i = 0; i < rows; i++)
        memcpy(c + i * stride, edge + i * width, bytes);
}

/* Multiplies a row of tiles of C at c. Meanwhile prefetches the next strip, at `next` (NULL:
 * none) with rows of next_bytes. */
static void multiply(const struct strip_product *block, unsigned char *c, size_t stride,
                     size_t rows, const unsigned char *next, size_t next_stride, size_t next_bytes)
{
    const struct dti_matmul_tile *const tile = block->tile;
    const size_t width = block->columns_of_tile * tile->step;
    const size_t panels = ceiling(block->columns, block->columns_of_tile);
    const size_t turns = panels * ceiling(block->steps, block->part);
    const struct dti_matmul_shape *shape = tile->shapes;
    while (shape < tile->shapes + DTI_MATMUL_SHAPES - 1 && shape[1].rows >= rows)
        shape++;
    unsigned char *const scratch = tile->take ? block->share->scratch : NULL;
    const size_t tile_bytes = tile->shapes->rows * width;
    if (scratch && block->add)
        tile->take(scratch, c, stride, rows, block->columns * tile->step);
    if (tile->enter)
        tile->enter(shape->rows);
    for (size_t turn = 0; turn < turns; turn++) {
        const size_t panel = turn % panels, left = block->columns - panel * block->columns_of_tile;
        for (size_t i = turn; next && i < rows; i += turns)
            fetch_later(next + i * next_stride, next_bytes);
        const bool whole = scratch || left >= block->columns_of_tile;
        multiply_tile(block, shape, scratch ? scratch + panel * tile_bytes : c + panel * width,
                      scratch ? width : stride, scratch ? shape->rows : rows,
                      whole ? width : left * tile->step,
                      block->share->panels + turn * block->panel_bytes,
                      turn / panels * block->part);
    }
    if (tile->leave)
        tile->leave();
    if (scratch)
        tile->give(c, stride, scratch, rows, block->columns * tile->step, block->stream);
}

/* Multiplies all rows of a share with one block of columns and of k. */
static void run_block(const struct dti_matmul *matmul, const struct share *share, unsigned char *c,
                      const unsigned char *a, const unsigned char *b, size_t first_column,
                      size_t columns, size_t first_k, size_t deep)
{
    const struct dti_matmul_tile *const tile = matmul->tile;
    const size_t a_stride = matmul->k * tile->element, b_stride = matmul->n * tile->element;
    const size_t c_stride = matmul->n * tile->step, tall = matmul->kernel->rows;
    const struct strip_product block = {.tile = tile,
                                        .share = share,
                                        .columns_of_tile = matmul->kernel->columns,
                                        .panel_bytes = matmul->panel_bytes,
                                        .columns = columns,
                                        .steps = steps_of(tile, deep),
                                        .part = matmul->part,
                                        .add = first_k > 0,
                                        .stream = matmul->stream};
    const size_t part = matmul->part * tile->group,
                 panels = ceiling(columns, block.columns_of_tile);
    unsigned char *to = share->panels;
    b += first_k * b_stride + first_column * tile->element;
    for (size_t at = 0; at < deep; at += part, to += panels * matmul->panel_bytes)
        tile->pack_b(to, b + at * b_stride, b_stride, columns, deep - at < part ? deep - at : part,
                     matmul->panel_bytes);
    for (size_t row = 0; row < share->rows; row += tall) {
        const size_t at = share->first_row + row, left = share->rows - row;
        const size_t rows = left < tall ? left : tall;
        const unsigned char *const from = a + at * a_stride + first_k * tile->element;
        tile->pack_a(share->strip, from, a_stride, rows, deep);
        /* parts of panels come from the L2 cache as fast as it can deliver */
        const bool fetches = !tile->take && left >= 2 * tall;
        multiply(&block, c + at * c_stride + first_column * tile->step, c_stride, rows,
                 fetches ? from + tall * a_stride : NULL, a_stride, deep * tile->element);
    }
}

/* Multiplies columns `first` to first + columns - 1 with elements first_k to end_k - 1 of k. */
static void run_columns(const struct dti_matmul *matmul, const struct share *share,
                        unsigned char *c, const unsigned char *a, const unsigned char *b,
                        size_t first, size_t columns, size_t first_k, size_t end_k)
{
    for (size_t column = 0; column < columns; column += matmul->wide) {
        const size_t left = columns - column, wide = left < matmul->wide ? left : matmul->wide;
        for (size_t at = first_k; at < end_k; at += matmul->deep) {
            const size_t deep = end_k - at < matmul->deep ? end_k - at : matmul->deep;
            run_block(matmul, share, c, a, b, first + column, wide, at, deep);
        }
    }
}

/* A single row; the remainders at the edges use the general path. */
static void run_row(const struct dti_matmul *matmul, const struct share *share, unsigned char *c,
                    const unsigned char *a, const unsigned char *b)
{
    const struct dti_matmul_tile *const tile =
        matmul->tile->row ? matmul->tile : matmul->tile->row_of;
    const size_t k = matmul->k / tile->row_k * tile->row_k;
    const size_t columns = share->columns / tile->row_columns * tile->row_columns;
    const size_t first = share->first_column;
    if (k > 0 && columns > 0)
        tile->row(c + first * tile->step, a, b + first * tile->element, matmul->n * tile->element,
                  columns, k);
    run_columns(matmul, share, c, a, b, first + columns, share->columns - columns, 0, k);
    run_columns(matmul, share, c, a, b, first, share->columns, k, matmul->k);
}

void dti_matmul_run(struct dti_matmul *matmul, void *c, const void *a, const void *b, size_t member)
{
    const struct dti_matmul_kernel *const kernel = matmul->kernel;
    struct share share = {.strip = matmul->memory + member * matmul->member_bytes};
    share.edge = share.strip + (size_t)kernel->rows * DTI_MATMUL_STRIDE;
    share.scratch = share.edge + DTI_MATMUL_TILE_BYTES;
    share.panels = share.scratch + matmul->scratch_bytes;
    take_share(matmul->m, kernel->rows, member / matmul->across, matmul->down, &share.first_row,
               &share.rows);
    take_share(matmul->n, kernel->columns, member % matmul->across, matmul->across,
               &share.first_column, &share.columns);
    if (share.rows == 0 || share.columns == 0)
        return;
    if (matmul->m == 1)
        run_row(matmul, &share, c, a, b);
    else
        run_columns(matmul, &share, c, a, b, share.first_column, share.columns, 0, matmul->k);
}

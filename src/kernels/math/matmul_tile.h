/* SPDX-License-Identifier: MIT
 *
 * What a matrix product needs of a level: packing, and tiles of C that stay in registers while a
 * strip of A and a panel of B pass by.
 *
 * A strip holds rows of A as they are, DTI_MATMUL_STRIDE bytes apart. A panel holds `columns`
 * columns of B: `lead` bytes, then for each step the elements that the step takes of one column
 * side by side, column by column. Rows and columns that are missing at the edges are zeros. */
#ifndef KERNELS_MATH_MATMUL_TILE_H
#define KERNELS_MATH_MATMUL_TILE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/math/matmul.h"

enum {
    DTI_MATMUL_STRIP_BYTES = 2048, /* of a row in a strip at most */
    /* a line more, so that rows of a strip do not meet in one set of the first cache */
    DTI_MATMUL_STRIDE = DTI_MATMUL_STRIP_BYTES + 64,
    DTI_MATMUL_SHAPES = 4,
    DTI_MATMUL_TILE_BYTES = 2048, /* of a tile of C at most */
};

/* Multiplies `steps` steps into the tile at c, whose rows are `stride` bytes apart: instead of what
 * is there, or added to it. */
typedef void dti_matmul_tile_fn(unsigned char *c, size_t stride, const unsigned char *strip,
                                const unsigned char *panel, size_t steps, bool add);

struct dti_matmul_tile {
    size_t element;  /* bytes of an element of A and B */
    size_t group;    /* elements of a row of A that a step takes; they become */
    size_t step;     /* bytes, as many as an element of C has */
    size_t lead;     /* bytes of a panel before its first step */
    size_t together; /* steps; strips and panels have a multiple of them */
    /* Where C takes longer to pass than A and B, strips are as long as they can be, and a strip and
     * a panel are multiplied in parts that stay in the first cache. In the meantime the tiles of a
     * strip of C are beside it, one after the other: `rows` rows of `bytes` bytes go there and
     * back, past the caches if `stream`. NULL: tiles are in C. */
    void (*take)(unsigned char *tiles, const unsigned char *c, size_t stride, size_t rows,
                 size_t bytes);
    void (*give)(unsigned char *c, size_t stride, const unsigned char *tiles, size_t rows,
                 size_t bytes, bool stream);
    /* `rows` rows of k elements, which are `stride` bytes apart; zeros up to a whole step. */
    void (*pack_a)(unsigned char *strip, const unsigned char *a, size_t stride, size_t rows,
                   size_t k);
    /* k rows of `columns` elements into panels that are panel_bytes apart. */
    void (*pack_b)(unsigned char *panels, const unsigned char *b, size_t stride, size_t columns,
                   size_t k, size_t panel_bytes);
    /* c = a B for a single row a, without packing: as many columns and elements of a row as are
     * multiples of these. */
    void (*row)(unsigned char *c, const unsigned char *a, const unsigned char *b, size_t stride,
                size_t columns, size_t k);
    size_t row_columns, row_k;
    /* Without `row`: the tile that has one, of a level that this level includes. */
    const struct dti_matmul_tile *row_of;
    /* Where tiles are in registers that must be set up: before and after any number of tiles of a
     * shape with that many rows, on the thread that multiplies. NULL: nothing to do. */
    void (*enter)(size_t rows);
    void (*leave)(void);
    /* Tiles of that many rows, the tallest first, then smaller ones for the edges; the last is 1.
     */
    struct dti_matmul_shape {
        size_t rows;
        dti_matmul_tile_fn *run;
    } shapes[DTI_MATMUL_SHAPES];
};

#define MATMUL(nm, ...)                                \
    extern const struct dti_matmul_tile dti_tile_##nm; \
    double dti_peak_##nm(uint64_t count);
#include "kernels/math/matmul_kernels.def"
#undef MATMUL

#endif

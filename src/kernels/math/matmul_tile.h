/* SPDX-License-Identifier: MIT
 *
 * What a level provides for matrix products: packing, and tiles of C that stay in registers
 * while a strip of A and a panel of B are streamed through.
 *
 * A strip holds rows of A in their original layout, DTI_MATMUL_STRIDE bytes apart. A panel holds
 * `columns` columns of B: `lead` bytes, then for each step, column by column, the elements of
 * that column that the step uses. Missing rows and columns at the edges are zeros. */
#ifndef KERNELS_MATH_MATMUL_TILE_H
#define KERNELS_MATH_MATMUL_TILE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels/math/matmul.h"

enum {
    DTI_MATMUL_STRIP_BYTES = 2048, /* maximum size of a row in a strip */
    /* one cache line more, so that the rows of a strip do not map to the same L1 set */
    DTI_MATMUL_STRIDE = DTI_MATMUL_STRIP_BYTES + 64,
    DTI_MATMUL_SHAPES = 4,
    DTI_MATMUL_TILE_BYTES = 2048, /* maximum size of a tile of C */
};

/* Multiplies `steps` steps into the tile at c, whose rows are `stride` bytes apart; overwrites
 * the tile, or adds to it. */
typedef void dti_matmul_tile_fn(unsigned char *c, size_t stride, const unsigned char *strip,
                                const unsigned char *panel, size_t steps, bool add);

struct dti_matmul_tile {
    size_t element;  /* bytes of an element of A and B */
    size_t group;    /* elements of a row of A per step; packed, they take */
    size_t step;     /* this many bytes, the size of an element of C */
    size_t lead;     /* bytes of a panel before its first step */
    size_t together; /* strips and panels have a multiple of this many steps */
    /* If moving C costs more than A and B, strips are as long as possible, and a strip and a
     * panel are multiplied in parts that stay in the L1 cache. Meanwhile the tiles of a strip of
     * C are kept in a buffer, one after the other: `rows` rows of `bytes` bytes are copied there
     * and back, with streaming stores if `stream`. NULL: tiles are computed in C. */
    void (*take)(unsigned char *tiles, const unsigned char *c, size_t stride, size_t rows,
                 size_t bytes);
    void (*give)(unsigned char *c, size_t stride, const unsigned char *tiles, size_t rows,
                 size_t bytes, bool stream);
    /* Packs `rows` rows of k elements that are `stride` bytes apart, padded with zeros to a
     * whole step. */
    void (*pack_a)(unsigned char *strip, const unsigned char *a, size_t stride, size_t rows,
                   size_t k);
    /* Packs k rows of `columns` elements into panels that are panel_bytes apart. */
    void (*pack_b)(unsigned char *panels, const unsigned char *b, size_t stride, size_t columns,
                   size_t k, size_t panel_bytes);
    /* c = a B for a single row a, without packing; columns and k must be multiples of these. */
    void (*row)(unsigned char *c, const unsigned char *a, const unsigned char *b, size_t stride,
                size_t columns, size_t k);
    size_t row_columns, row_k;
    /* If `row` is NULL: the tile of an included level that has one. */
    const struct dti_matmul_tile *row_of;
    /* For tiles in registers that need a setup: called before and after any number of tiles of a
     * shape with this many rows, on the thread that multiplies. NULL: not needed. */
    void (*enter)(size_t rows);
    void (*leave)(void);
    /* Tiles with this many rows, the tallest first, then smaller ones for the edges; the last is
     * 1. */
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

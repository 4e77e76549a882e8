/* SPDX-License-Identifier: MIT
 *
 * Sums and dot products of lists: sequential, by blocks, by halves, with Kahan's compensation. A
 * sum starts from -0, to which every first term is added exactly. */
#include <string.h>

#include "calc/bulk_parts.h"

enum { SIDE_BY_SIDE = 256 };

/* A running sum of blocks: chains of `block` terms, and a chain of their sums. */
struct running {
    uint64_t block, in_block; /* the length of one, how much of the current one is done */
    size_t blocks;            /* that are done and added to `total` */
    float sum, total;
    size_t waiting; /* sums of blocks that are not yet in `total` */
    float sums[DTI_BULK_TILE];
};

static void flush(const struct dti_bulk *bulk, struct running *r)
{
    float before[DTI_BULK_TILE], after[DTI_BULK_TILE];
    const struct dti_bulk_terms terms = {r->sums, NULL};
    if (r->waiting == 0)
        return;
    r->total = dti_bulk_chain(bulk, &terms, 0, r->waiting, r->total, before, after);
    const struct dti_arith_tile tile = dti_bulk_added(&terms, before, r->waiting);
    (void)dti_bulk_count(bulk, &tile, r->blocks * (size_t)r->block, (size_t)r->block, after);
    r->blocks += r->waiting;
    r->waiting = 0;
}

static void end_block(const struct dti_bulk *bulk, struct running *r)
{
    r->sums[r->waiting++] = r->sum;
    r->sum = -0.0F;
    r->in_block = 0;
    if (r->waiting == DTI_BULK_TILE)
        flush(bulk, r);
}

/* Numbers at first, first + step, ... */
static void load_apart(const struct dti_bulk *bulk, float ret[SIDE_BY_SIDE], const void *codes,
                       size_t first, size_t step)
{
    unsigned char near[SIDE_BY_SIDE * sizeof(float)];
    const unsigned char *from = (const unsigned char *)codes + first * bulk->code_bytes;
    for (size_t k = 0; k < SIDE_BY_SIDE; k++, from += step * bulk->code_bytes) {
        if (bulk->code_bytes == 2)
            memcpy(near + 2 * k, from, 2);
        else
            memcpy(near + 4 * k, from, 4);
    }
    dti_bulk_load(bulk, ret, near, SIDE_BY_SIDE);
}

/* SIDE_BY_SIDE blocks together, elementwise: all first terms, all second ones. Their number. */
static size_t add_blocks(const struct dti_bulk *bulk, struct running *r, bool fused, const void *a,
                         const void *b, size_t first, size_t count)
{
    float x[SIDE_BY_SIDE], y[SIDE_BY_SIDE], products[SIDE_BY_SIDE];
    float sums[SIDE_BY_SIDE], next[SIDE_BY_SIDE];
    unsigned char codes[SIDE_BY_SIDE * sizeof(float)];
    const size_t block = (size_t)r->block;
    if (r->block > count / SIDE_BY_SIDE || r->in_block > 0)
        return 0;
    for (size_t k = 0; k < SIDE_BY_SIDE; k++)
        sums[k] = -0.0F;
    for (size_t i = 0; i < block; i++) {
        const struct dti_bulk_terms terms = {x, b ? y : NULL};
        load_apart(bulk, x, a, first + i, block);
        if (b)
            load_apart(bulk, y, b, first + i, block);
        struct dti_arith_tile tile = dti_bulk_added(&terms, sums, SIDE_BY_SIDE);
        if (b && !fused) {
            const struct dti_arith_tile both = {DTI_ARITH_MULTIPLY, x, y, NULL, SIDE_BY_SIDE};
            dti_bulk_tile(bulk, &both, first + i, block, codes, products);
            tile = (struct dti_arith_tile){DTI_ARITH_ADD, sums, products, NULL, SIDE_BY_SIDE};
        }
        dti_bulk_tile(bulk, &tile, first + i, block, codes, next);
        memcpy(sums, next, sizeof sums);
    }
    for (size_t k = 0; k < SIDE_BY_SIDE; k++) {
        r->sum = sums[k];
        end_block(bulk, r);
    }
    return SIDE_BY_SIDE * block;
}

static void add_terms(const struct dti_bulk *bulk, struct running *r,
                      const struct dti_bulk_terms *terms, size_t n, size_t first)
{
    float before[DTI_BULK_TILE], after[DTI_BULK_TILE];
    for (size_t at = 0; at < n;) {
        const uint64_t room = r->block - r->in_block;
        const size_t end = room < n - at ? at + (size_t)room : n;
        r->sum = dti_bulk_chain(bulk, terms, at, end, r->sum, before, after);
        r->in_block += end - at;
        at = end;
        if (r->in_block == r->block)
            end_block(bulk, r);
    }
    const struct dti_arith_tile tile = dti_bulk_added(terms, before, n);
    (void)dti_bulk_count(bulk, &tile, first, 1, after);
}

/* Sums of powers of two of terms, each half as long as the one before it or shorter. */
struct pairs {
    unsigned depth;
    struct {
        float sum;
        size_t first, length;
    } part[64];
};

/* The two last parts as one. */
static void join(const struct dti_bulk *bulk, struct pairs *p)
{
    unsigned char code[8];
    const unsigned last = --p->depth;
    float *const left = &p->part[last - 1].sum;
    const struct dti_arith_tile tile = {DTI_ARITH_ADD, left, &p->part[last].sum, NULL, 1};
    float sum;
    dti_bulk_tile(bulk, &tile, p->part[last].first, 1, code, &sum);
    *left = sum;
    p->part[last - 1].length += p->part[last].length;
}

/* n terms, a power of two, by halves: neighbours, then neighbours of these. Overwrites them. */
static void push(const struct dti_bulk *bulk, struct pairs *p, float *terms, size_t n, size_t first)
{
    float left[DTI_BULK_TILE / 2], right[DTI_BULK_TILE / 2];
    unsigned char codes[DTI_BULK_TILE / 2 * sizeof(float)];
    for (size_t length = 1; length < n; length *= 2) {
        const struct dti_arith_tile tile = {DTI_ARITH_ADD, left, right, NULL, n / length / 2};
        for (size_t i = 0; i < tile.n; i++) {
            left[i] = terms[2 * i];
            right[i] = terms[2 * i + 1];
        }
        dti_bulk_tile(bulk, &tile, first + length, 2 * length, codes, terms);
    }
    p->part[p->depth].sum = terms[0];
    p->part[p->depth].first = first;
    p->part[p->depth++].length = n;
    while (p->depth > 1 && p->part[p->depth - 2].length == p->part[p->depth - 1].length)
        join(bulk, p);
}

static void add_pairs(const struct dti_bulk *bulk, struct pairs *p, float *terms, size_t n,
                      size_t first)
{
    size_t at = 0;
    for (size_t length = DTI_BULK_TILE; length > 0; length /= 2) {
        for (; n - at >= length; at += length)
            push(bulk, p, terms + at, length, first + at);
    }
}

bool dti_bulk_reduce(const struct dti_bulk *bulk, bool dot, const void *a, const void *b,
                     size_t count, void *ret_code)
{
    const struct dti_calc_options *const options = bulk->options;
    const enum dti_calc_order order = options->order;
    const bool fused = dot && options->fma;
    struct running running = {
        .block = order == DTI_CALC_BLOCKED ? options->block : count, .sum = -0.0F, .total = -0.0F};
    struct dti_bulk_kahan kahan = {.sum = -0.0F};
    struct pairs pairs = {.depth = 0};
    float x[DTI_BULK_TILE], y[DTI_BULK_TILE], products[DTI_BULK_TILE];
    unsigned char codes[DTI_BULK_TILE * sizeof(float)];
    if (fused && order != DTI_CALC_SEQUENTIAL && order != DTI_CALC_BLOCKED)
        return false;
    size_t at = 0, blocks = 0;
    do {
        blocks =
            order == DTI_CALC_BLOCKED ? add_blocks(bulk, &running, fused, a, b, at, count - at) : 0;
        at += blocks;
    } while (blocks > 0);
    for (; at < count; at += DTI_BULK_TILE) {
        const size_t n = count - at < DTI_BULK_TILE ? count - at : DTI_BULK_TILE;
        const size_t offset = at * bulk->code_bytes;
        const bool multiply = dot && !fused;
        float *const list = multiply ? products : x;
        const struct dti_bulk_terms terms = {list, fused ? y : NULL};
        dti_bulk_load(bulk, x, (const unsigned char *)a + offset, n);
        if (dot)
            dti_bulk_load(bulk, y, (const unsigned char *)b + offset, n);
        if (multiply) {
            const struct dti_arith_tile tile = {DTI_ARITH_MULTIPLY, x, y, NULL, n};
            dti_bulk_tile(bulk, &tile, at, 1, codes, products);
        }
        if (order == DTI_CALC_PAIRWISE)
            add_pairs(bulk, &pairs, list, n, at);
        else if (order != DTI_CALC_KAHAN)
            add_terms(bulk, &running, &terms, n, at);
        else if (!dti_bulk_add_kahan(bulk, &kahan, list, n, at))
            return false;
    }
    while (pairs.depth > 1)
        join(bulk, &pairs);
    if (order == DTI_CALC_KAHAN)
        bulk->counts->events[DTI_CALC_ABSORBED] = 0; /* the correction keeps it */
    if (running.in_block > 0)
        end_block(bulk, &running);
    flush(bulk, &running);
    dti_bulk_store(bulk, ret_code,
                   order == DTI_CALC_PAIRWISE ? pairs.part[0].sum
                   : order == DTI_CALC_KAHAN  ? kahan.sum
                                              : running.total);
    return true;
}

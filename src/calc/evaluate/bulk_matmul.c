/* SPDX-License-Identifier: MIT
 *
 * Products of matrices: the sums of a row of results are added side by side, so that no addition
 * waits for the one before it. A panel of columns of b is decoded once for all rows. */
#include <stdlib.h>
#include <string.h>

#include "calc/evaluate/bulk_parts.h"
#include "util/run/allocate.h"
#include "util/run/caller.h"

/* PANEL: columns side by side. */
enum { PANEL = 512, PANEL_BYTES_MAX = 1 << 26 };

/* A row of a, and the sums of its products with the columns of a panel. */
struct side_by_side {
    const struct dti_bulk *bulk;
    const struct dti_bulk_product *p;
    float *panel;            /* rows of `stride` numbers */
    size_t first, n, stride; /* columns of the panel */
    float *row;
    size_t at; /* the row's number */
    float sums[PANEL];
    uint8_t marks[PANEL]; /* of the sums */
};

static void fill_marks(uint8_t *ret, const uint8_t *marks, bool all, size_t first, size_t n)
{
    if (marks)
        memcpy(ret, marks + first, n);
    else
        memset(ret, all, n);
}

/* Adds the products of element k of the row and n columns of the panel from `from` on. */
static void add_products(struct side_by_side *s, size_t k, size_t from, size_t n,
                         uint64_t found[DTI_ARITH_COUNTS], uint64_t *cancelled)
{
    const struct dti_bulk *const bulk = s->bulk;
    const struct dti_bulk_product *const p = s->p;
    const bool fused = bulk->options->fma && k > 0;
    float x[PANEL], products[PANEL], next[PANEL];
    uint8_t x_marks[PANEL], y_marks[PANEL], product_marks[PANEL];
    uint64_t counts[DTI_ARITH_COUNTS];
    const struct dti_arith_tile tile = {fused ? DTI_ARITH_FMA : DTI_ARITH_MULTIPLY, x,
                                        s->panel + k * s->stride + from, s->sums + from, n};
    const uint8_t *const marks[3] = {x_marks, y_marks, s->marks + from};
    for (size_t i = 0; i < n; i++)
        x[i] = s->row[k];
    if (p->ret_marks) {
        memset(x_marks, p->a_marks ? p->a_marks[s->at * p->length + k] : p->a_all, n);
        fill_marks(y_marks, p->b_marks, p->b_all, k * p->columns + s->first + from, n);
    }
    bulk->kernel->round(&tile, &bulk->target, products, found);
    if (p->ret_marks)
        (void)bulk->kernel->mark(&tile, &bulk->target, products, marks, false, product_marks);
    if (k > 0 && !fused) {
        const struct dti_arith_tile sum = {DTI_ARITH_ADD, s->sums + from, products, NULL, n};
        const uint8_t *const both[3] = {s->marks + from, product_marks, NULL};
        bulk->kernel->round(&sum, &bulk->target, next, counts);
        for (unsigned i = 0; i < DTI_ARITH_COUNTS; i++)
            found[i] += counts[i];
        if (p->ret_marks)
            *cancelled += bulk->kernel->mark(&sum, &bulk->target, next, both, true, product_marks);
    }
    memcpy(s->sums + from, k > 0 && !fused ? next : products, n * sizeof *next);
    if (p->ret_marks)
        memcpy(s->marks + from, product_marks, n);
}

/* Computes the sums of n columns. */
static void add_row(struct side_by_side *s, size_t from, size_t n, uint64_t total[DTI_ARITH_COUNTS],
                    uint64_t *cancelled)
{
    *cancelled = 0;
    memset(total, 0, DTI_ARITH_COUNTS * sizeof *total);
    for (size_t k = 0; k < s->p->length; k++) {
        uint64_t found[DTI_ARITH_COUNTS];
        add_products(s, k, from, n, found, cancelled);
        for (unsigned i = 0; i < DTI_ARITH_COUNTS; i++)
            total[i] += found[i];
    }
}

/* A NaN is one of several; this computes the column alone, which finds which. */
static bool store_nan(struct side_by_side *s, size_t column, void *ret)
{
    const struct dti_bulk_product *const p = s->p;
    struct dti_bulk alone = *s->bulk;
    const size_t width = alone.code_bytes;
    struct dti_calc_bulk_counts ignored;
    unsigned char *const codes = dti_malloc(p->length * width);
    const void *const operands[2] = {(const char *)p->a + s->at * p->length * width, codes};
    static const bool scalar[2] = {false, false};
    if (!codes)
        return false;
    for (size_t k = 0; k < p->length; k++)
        memcpy(codes + k * width, (const char *)p->b + (k * p->columns + column) * width, width);
    const bool done =
        dti_bulk_compute(&alone, DTI_CALC_DOT, ret, operands, scalar, p->length, NULL, &ignored);
    dti_free(codes);
    return done;
}

/* The first column of the panel with an event. Sums are computed again, so they stay as they are.
 */
static size_t first_column(struct side_by_side *s, enum dti_calc_event_kind kind)
{
    size_t from = 0;
    for (size_t n = s->n; n > 1;) {
        struct dti_calc_bulk_counts counts = {.inexact = 0};
        struct dti_bulk probe = *s->bulk;
        uint64_t found[DTI_ARITH_COUNTS], cancelled;
        probe.counts = &counts;
        add_row(s, from, n / 2, found, &cancelled);
        dti_bulk_count_at(&probe, found, cancelled, 0);
        from += counts.events[kind] == 0 ? n / 2 : 0;
        n = counts.events[kind] == 0 ? n - n / 2 : n / 2;
    }
    return from;
}

static void count_row(struct side_by_side *s, size_t start, const uint64_t found[DTI_ARITH_COUNTS],
                      uint64_t cancelled)
{
    struct dti_calc_bulk_counts *const counts = s->bulk->counts;
    const struct dti_calc_bulk_counts before = *counts;
    dti_bulk_count_at(s->bulk, found, cancelled, start);
    for (unsigned kind = 0; kind < DTI_CALC_EVENT_COUNT; kind++) {
        if (counts->events[kind] > before.events[kind] &&
            (before.events[kind] == 0 || start < before.first[kind]))
            counts->first[kind] = start + first_column(s, (enum dti_calc_event_kind)kind);
    }
}

static bool multiply_row(struct side_by_side *s)
{
    const struct dti_bulk *const bulk = s->bulk;
    const struct dti_bulk_product *const p = s->p;
    const size_t start = s->at * p->columns + s->first;
    char *const codes = (char *)p->ret + start * bulk->code_bytes;
    uint64_t found[DTI_ARITH_COUNTS], cancelled;
    dti_bulk_load(bulk, s->row, (const char *)p->a + s->at * p->length * bulk->code_bytes,
                  p->length);
    add_row(s, 0, s->n, found, &cancelled);
    count_row(s, start, found, cancelled);
    (void)dti_plan_run(bulk->from_fp32, codes, s->sums, s->n, 0, DTI_STORES_CACHED, NULL, NULL);
    if (p->ret_marks)
        memcpy(p->ret_marks + start, s->marks, s->n);
    for (size_t i = 0; i < s->n; i++) {
        if (s->sums[i] != s->sums[i] && !store_nan(s, s->first + i, codes + i * bulk->code_bytes))
            return false;
    }
    return true;
}

static bool multiply(struct side_by_side *s)
{
    const struct dti_bulk_product *const p = s->p;
    for (s->first = 0; s->first < p->columns; s->first += PANEL) {
        const size_t left = p->columns - s->first;
        s->n = left < PANEL ? left : PANEL;
        for (size_t k = 0; k < p->length; k++)
            dti_bulk_load(s->bulk, s->panel + k * s->stride,
                          (const char *)p->b + (k * p->columns + s->first) * s->bulk->code_bytes,
                          s->n);
        for (s->at = 0; s->at < p->rows &&
                        dti_calc_goes_on(s->bulk->options, s->first * p->rows + s->at * s->n,
                                         p->rows * p->columns);
             s->at++) {
            if (!multiply_row(s))
                return false;
        }
    }
    return true;
}

bool dti_bulk_multiply(struct dti_bulk *bulk, const struct dti_bulk_product *product,
                       struct dti_calc_bulk_counts *counts)
{
    struct dti_calc_bulk_counts found = {.inexact = 0};
    const size_t stride = product->columns < PANEL ? product->columns : PANEL;
    if (bulk->options->order != DTI_CALC_SEQUENTIAL ||
        product->length > PANEL_BYTES_MAX / (PANEL * sizeof(float)))
        return false;
    struct side_by_side *const s = dti_calloc(1, sizeof *s);
    float *const numbers = dti_malloc(product->length * (stride + 1) * sizeof(float));
    bool done = s && numbers;
    if (done) {
        bulk->counts = &found;
        bulk->marks = NULL;
        s->bulk = bulk;
        s->p = product;
        s->stride = stride;
        s->row = numbers;
        s->panel = numbers + product->length;
        done = multiply(s);
    }
    dti_free(numbers);
    dti_free(s);
    if (done)
        *counts = found;
    return done;
}

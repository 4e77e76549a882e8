/* SPDX-License-Identifier: MIT
 *
 * Compares many pairs of tensors, block by block as in scan_stats.c.
 *
 * Also decides whether two tensors can be compared. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/transpose.h"
#include "files/dequant/file_dequant.h"
#include "files/scan/scan.h"
#include "files/scan/scan_side.h"
#include "util/run/allocate.h"

enum { HUBS = DTI_COMPARISON_WIDE + 1, LINE = 64 };

struct compared_sides {
    struct dti_scan_side a, b;
    struct dti_input reordered; /* b in a's order */
    bool is_reordered;
    bool same_bytes;              /* equal codes are equal bytes */
    dti_comparison_same_fn *same; /* for equal tiles; NULL: by their numbers */
};

/* One thread's results for a pair, merged when it moves on to another: this keeps contention low,
 * as maxima rarely change once much has been seen. */
struct comparison_tally {
    struct dti_tensor_pair *pair;
    struct dti_comparison comparison;
};

struct comparison_scan {
    struct dti_scan frame;
    struct dti_tensor_pair *pairs;
    struct compared_sides *sides;
    dti_comparison_fn *kernel[HUBS];
};

/* A block of both sides in memory. */
struct compared_chunk {
    const unsigned char *a, *b;
    uint64_t first;
    size_t n;
};

/* *ret_equal: no bit of a code differs. */
static enum dti_status look_at(struct comparison_scan *scan, size_t part,
                               const struct compared_chunk *block,
                               const struct dti_scan_buffers *buffers,
                               struct dti_comparison *comparison, bool *ret_equal,
                               struct dti_error *reterr)
{
    const struct dti_tensor_pair *const pair = &scan->pairs[part];
    const struct compared_sides *const sides = &scan->sides[part];
    dti_comparison_fn *const kernel = scan->kernel[pair->rule.hub];
    const bool single = pair->rule.hub == DTI_COMPARISON_HUB32;
    bool equal = true;
    for (size_t at = 0; at < block->n; at += DTI_TILE) {
        const size_t n = block->n - at < DTI_TILE ? block->n - at : DTI_TILE;
        const uint64_t index = block->first + at;
        const unsigned char *const raw_a = block->a + dti_scan_bytes(&sides->a, at);
        const unsigned char *const raw_b = block->b + dti_scan_bytes(&sides->b, at);
        /* just before the numbers are read, which it brings into the nearest cache */
        const bool same =
            sides->same_bytes && memcmp(raw_a, raw_b, dti_scan_bytes(&sides->a, n)) == 0;
        const void *a, *b;
        if (same && sides->same && sides->same(raw_a, n, comparison))
            continue;
        enum dti_status status =
            dti_scan_numbers(&sides->a, raw_a, buffers->numbers[0], n, index, &a, reterr);
        b = a;
        if (status == DTI_OK && !same)
            status = dti_scan_numbers(&sides->b, raw_b, buffers->numbers[1], n, index, &b, reterr);
        if (status != DTI_OK)
            return status;
        equal =
            equal && (same || (!sides->same_bytes &&
                               memcmp(a, b, n * (single ? sizeof(float) : sizeof(uint64_t))) == 0));
        kernel(&pair->rule, a, b, n, index, comparison);
    }
    *ret_equal = equal;
    return DTI_OK;
}

static void give(struct comparison_scan *scan, struct comparison_tally *member,
                 struct dti_tensor_pair *next)
{
    if (member->pair == next)
        return;
    if (member->pair) {
        pthread_mutex_lock(&scan->frame.lock);
        dti_comparison_merge(&member->pair->comparison, &member->comparison);
        pthread_mutex_unlock(&scan->frame.lock);
    }
    dti_comparison_init(&member->comparison);
    member->pair = next;
}

static enum dti_status do_block(void *context, size_t member, size_t part, uint64_t first, size_t n,
                                struct dti_error *reterr)
{
    struct comparison_scan *const scan = context;
    struct dti_tensor_pair *const pair = &scan->pairs[part];
    const struct compared_sides *const sides = &scan->sides[part];
    const struct dti_scan_buffers buffers = dti_scan_buffers(&scan->frame, member);
    const size_t bytes_a = dti_scan_bytes(&sides->a, n), bytes_b = dti_scan_bytes(&sides->b, n);
    unsigned char *const behind_a = buffers.raw + (bytes_a + LINE - 1) / LINE * LINE;
    const void *a, *b;
    const bool whole = n == sides->a.elements;
    struct comparison_tally *const mine = (struct comparison_tally *)scan->frame.members + member;
    struct dti_comparison *const comparison = whole ? &pair->comparison : &mine->comparison;
    bool equal = false;
    if (!whole)
        give(scan, mine, pair);
    enum dti_status status = dti_scan_look(&sides->a, &buffers.windows[0], buffers.raw, first, n,
                                           buffers.scratch, &a, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_scan_look(&sides->b, &buffers.windows[1], behind_a, first, n, buffers.scratch, &b,
                           reterr);
    if (status == DTI_OK) {
        const struct compared_chunk block = {.a = a, .b = b, .first = first, .n = n};
        status = look_at(scan, part, &block, &buffers, comparison, &equal, reterr);
        status = dti_window_done(&buffers.windows[1], status, reterr);
    }
    status = dti_window_done(&buffers.windows[0], status, reterr);
    if (status != DTI_OK)
        return status;
    pthread_mutex_lock(&scan->frame.lock);
    pair->identical = pair->identical && equal;
    pthread_mutex_unlock(&scan->frame.lock);
    (void)atomic_fetch_add(&scan->frame.bytes, bytes_a + bytes_b);
    return DTI_OK;
}

static bool same_layout(const struct dti_scan_side *a, const struct dti_scan_side *b)
{
    return strcmp(a->format->name, b->format->name) == 0 &&
           a->layout.swapped == b->layout.swapped &&
           (!dti_format_packs(a->format) || a->layout.packing == b->layout.packing);
}

/* Reorders b like a, whose order indices are reported in. A row-major tensor is a column-major one
 * with the dimensions reversed, so one transpose routine is enough. */
static enum dti_status reorder(struct compared_sides *sides, const struct dti_tensor *b,
                               uint64_t max_memory, struct dti_error *reterr)
{
    struct dti_scan_side *const side = &sides->b;
    uint64_t *const shape = dti_malloc((b->rank > 0 ? b->rank : 1) * sizeof *shape);
    if (!shape)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    for (unsigned i = 0; i < b->rank; i++)
        shape[i] = b->shape[b->fortran ? i : b->rank - 1 - i];
    const size_t item = (size_t)(side->bits / 8) * (side->format == b->format ? 1 : 2);
    const enum dti_status status = dti_transpose(side->input, side->offset, b->rank, shape, item,
                                                 max_memory, &sides->reordered, reterr);
    dti_free(shape);
    if (status != DTI_OK)
        return status;
    sides->is_reordered = true;
    side->input = &sides->reordered;
    side->offset = 0;
    return DTI_OK;
}

/* Codes are compared as codes, not as the numbers that they encode. */
static bool same_dtype(const struct dti_tensor *a, const struct dti_tensor *b)
{
    if (!dti_tensor_form(a) || !dti_tensor_form(b))
        return !dti_tensor_form(a) == !dti_tensor_form(b) &&
               strcmp(dti_scan_format(a)->name, dti_scan_format(b)->name) == 0;
    return strcmp(dti_tensor_form(a)->is->dtype, dti_tensor_form(b)->is->dtype) == 0;
}

static void set_change(struct dti_scan_side *side, const struct dti_scan_change *change,
                       const struct dti_tensor *tensor)
{
    const uint64_t rows = tensor->rank > 0 ? tensor->shape[0] : 0;
    side->change = *change;
    side->row = rows > 0 ? side->elements / rows : 0;
    if (side->elements == 0)
        side->change.head_rows = 0;
}

static enum dti_status prepare_pair(struct comparison_scan *scan, size_t at,
                                    struct dti_container *a, struct dti_container *b, double atol,
                                    double rtol, struct dti_error *reterr)
{
    struct dti_tensor_pair *const pair = &scan->pairs[at];
    struct compared_sides *const sides = &scan->sides[at];
    const struct dti_tensor *const tensor_a = &a->tensors[pair->a];
    const struct dti_tensor *const tensor_b = &b->tensors[pair->b];
    const struct dti_format *const format_a = dti_scan_format(tensor_a);
    const struct dti_format *const format_b = dti_scan_format(tensor_b);
    dti_comparison_rule_init(&pair->rule, format_a, format_b, atol, rtol);
    dti_comparison_init(&pair->comparison);
    const struct dti_format *const hub = dti_comparison_hub_format(pair->rule.hub);
    enum dti_status status = dti_scan_side_init(&sides->a, a, pair->a, hub, &scan->frame, reterr);
    if (status == DTI_OK)
        status = dti_scan_side_init(&sides->b, b, pair->b, hub, &scan->frame, reterr);
    if (status != DTI_OK)
        return status;
    scan->frame.parts[at] = (struct dti_queue_part){.elements = sides->a.elements,
                                                    .block = sides->a.bits + sides->b.bits};
    set_change(&sides->a, &pair->change_a, tensor_a);
    set_change(&sides->b, &pair->change_b, tensor_b);
    pair->identical =
        same_dtype(tensor_a, tensor_b) && !pair->change_a.plus_one && !pair->change_b.plus_one;
    sides->same_bytes = pair->identical && same_layout(&sides->a, &sides->b);
    if (sides->same_bytes && pair->rule.hub == DTI_COMPARISON_HUB32 && !sides->a.layout.swapped &&
        sides->a.bits == format_a->width)
        sides->same = dti_comparison_same_kernel(format_a->id, scan->frame.options->level);
    if (sides->a.elements != sides->b.elements)
        return dti_fail(reterr, DTI_BUG, "tensors of different sizes are compared");
    if (tensor_a->fortran != tensor_b->fortran && sides->b.elements > 0)
        return reorder(sides, tensor_b, scan->frame.options->max_memory, reterr);
    return DTI_OK;
}

static void flush(void *context, size_t member)
{
    struct comparison_scan *const scan = context;
    give(scan, (struct comparison_tally *)scan->frame.members + member, NULL);
}

enum dti_status dti_scan_comparison(struct dti_container *a, struct dti_container *b,
                                    struct dti_tensor_pair *pairs, size_t count, double atol,
                                    double rtol, const struct dti_scan_options *options,
                                    struct dti_error *reterr)
{
    struct comparison_scan scan = {
        .frame = {.work = do_block,
                  .flush = flush,
                  .member_bytes = sizeof(struct comparison_tally)},
        .pairs = pairs,
    };
    if (count == 0)
        return DTI_OK;
    scan.frame.context = &scan;
    enum dti_status status = dti_scan_init(&scan.frame, count, options, reterr);
    scan.sides = dti_calloc(count, sizeof *scan.sides);
    if (status == DTI_OK && !scan.sides)
        status = dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    for (unsigned hub = 0; hub < HUBS; hub++)
        scan.kernel[hub] = dti_comparison_kernel((enum dti_comparison_hub)hub, options->level);
    for (size_t i = 0; status == DTI_OK && i < count; i++)
        status = prepare_pair(&scan, i, a, b, atol, rtol, reterr);
    if (status == DTI_OK)
        status = dti_scan_run(&scan.frame, reterr);
    dti_scan_free(&scan.frame);
    for (size_t i = 0; scan.sides && i < count; i++) {
        if (scan.sides[i].is_reordered)
            dti_input_close(&scan.sides[i].reordered);
    }
    dti_free(scan.sides);
    return status;
}

/* "[2, 3]"; truncated with "..." if there are too many dimensions. */
static void spell_shape(char *text, size_t size, const struct dti_tensor *tensor)
{
    size_t used = 1;
    text[0] = '[';
    for (unsigned i = 0; i < tensor->rank; i++) {
        char number[32];
        const int length = snprintf(number, sizeof number, "%s%llu", i > 0 ? ", " : "",
                                    (unsigned long long)tensor->shape[i]);
        if (used + (size_t)length + sizeof "..., ]" > size) {
            memcpy(text + used, ", ...", 5);
            used += 5;
            break;
        }
        memcpy(text + used, number, (size_t)length);
        used += (size_t)length;
    }
    memcpy(text + used, "]", 2);
}

static bool is_complex(const struct dti_tensor *tensor)
{
    return tensor->format->kind == DTI_KIND_COMPLEX;
}

/* Several elements per byte: these are not reordered. */
static bool is_packed(const struct dti_tensor *tensor)
{
    return !is_complex(tensor) && dti_format_stored_bits(tensor->format, &tensor->layout) < 8;
}

bool dti_scan_changes(const struct dti_scan_change *change, const struct dti_tensor *tensor,
                      const char **ret_why)
{
    const bool floats = tensor->format && dti_format_is_float(tensor->format);
    const uint64_t rows = tensor->rank > 0 ? tensor->shape[0] : 0;
    *ret_why = NULL;
    if (change->plus_one && !floats)
        *ret_why = "holds no floats, to which 1 is added in GGUF";
    if (change->head_rows == 0)
        return !*ret_why;
    if (!tensor->format || is_complex(tensor) || is_packed(tensor) || tensor->fortran)
        *ret_why = "has rows that cannot be put in another order";
    else if (change->head_rows % 2 != 0 || rows % change->head_rows != 0)
        *ret_why = "has rows that are not those of its heads";
    return !*ret_why;
}

bool dti_scan_comparable(const struct dti_tensor *a, const struct dti_tensor *b,
                         char why[DTI_SCAN_WHY_SIZE], enum dti_remedy *ret_remedy)
{
    *ret_remedy = DTI_REMEDY_NONE;
    char shape_a[64], shape_b[64];
    const struct dti_tensor *const unread = dti_tensor_refusal(a) || !a->format   ? a
                                            : dti_tensor_refusal(b) || !b->format ? b
                                                                                  : NULL;
    if (!dti_tensor_same_shape(a, b)) {
        spell_shape(shape_a, sizeof shape_a, a);
        spell_shape(shape_b, sizeof shape_b, b);
        (void)snprintf(why, DTI_SCAN_WHY_SIZE, "shapes %s and %s differ", shape_a, shape_b);
    } else if (unread) {
        (void)snprintf(why, DTI_SCAN_WHY_SIZE, "its type %.40s %s", unread->stored_as,
                       dti_tensor_refusal(unread) ? dti_tensor_refusal(unread)
                                                  : "holds blocks, which are not supported");
        *ret_remedy = unread->remedy;
    } else if (is_complex(a) != is_complex(b)) {
        (void)snprintf(why, DTI_SCAN_WHY_SIZE, "one is complex, the other is real");
    } else if (a->fortran != b->fortran && (dti_tensor_form(b) || is_packed(b))) {
        (void)snprintf(why, DTI_SCAN_WHY_SIZE, "one is in Fortran order, the other is %s",
                       dti_tensor_form(b) ? "quantized" : "packed");
    } else {
        return true;
    }
    return false;
}

/* SPDX-License-Identifier: MIT
 *
 * The statistics of many tensors: a thread reads, decodes and counts a block, then merges the
 * result into the tensor's. */
#include <stdlib.h>
#include <string.h>

#include "files/scan/scan_side.h"
#include "util/run/allocate.h"

enum { HUBS = DTI_STATS_U64 + 1 };
static const struct dti_code_peaks NO_PEAKS = {INT64_MIN, 0};

/* One thread's counts, merged when it moves on to another tensor or histogram: this keeps
 * contention low, as extremes rarely change once much has been seen. */
struct stats_tally {
    struct dti_tensor_stats *tensor;
    struct dti_stats stats;
    struct dti_code_peaks peaks; /* of its finite numbers so far */
    struct dti_histogram *into;
    struct dti_histogram counted;
};

struct stats_scan {
    struct dti_scan frame;
    struct dti_tensor_stats *tensors;
    struct dti_scan_side *sides;
    bool *begun;         /* the shift of a multi-block tensor is known; guarded by the lock */
    uint64_t *finite_to; /* where the peaks of codes are those of numbers, the highest finite code
                          * without its sign; else 0 */
    dti_code_peaks_fn *peaks;
    dti_stats_fn *stats[HUBS];
    dti_histogram_fn *histogram[HUBS];
};

/* The first tile determines the shift subtracted from all elements. */
static void begin_tensor(struct dti_tensor_stats *tensor, const void *numbers, size_t n)
{
    tensor->rule.shift = dti_stats_choose_shift(&tensor->rule, numbers, n);
    tensor->stats.shift = tensor->rule.shift;
}

/* Called by the first thread to reach a multi-block tensor, at whatever block. */
static enum dti_status begin_large(struct stats_scan *scan, size_t part,
                                   const struct dti_scan_buffers *buffers, struct dti_error *reterr)
{
    const struct dti_scan_side *const side = &scan->sides[part];
    const void *raw, *numbers;
    pthread_mutex_lock(&scan->frame.lock);
    enum dti_status status = DTI_OK;
    if (!scan->begun[part]) {
        status = dti_scan_look(side, buffers->windows, buffers->raw, 0, DTI_TILE, buffers->scratch,
                               &raw, reterr);
        if (status == DTI_OK) {
            status =
                dti_scan_numbers(side, raw, buffers->numbers[0], DTI_TILE, 0, &numbers, reterr);
            if (status == DTI_OK)
                begin_tensor(&scan->tensors[part], numbers, DTI_TILE);
            status = dti_window_done(buffers->windows, status, reterr);
        }
        scan->begun[part] = status == DTI_OK;
    }
    pthread_mutex_unlock(&scan->frame.lock);
    return status;
}

static void give_histogram(struct stats_scan *scan, struct stats_tally *member,
                           struct dti_histogram *next)
{
    if (member->into == next)
        return;
    if (member->into) {
        pthread_mutex_lock(&scan->frame.lock);
        dti_histogram_merge(member->into, &member->counted);
        pthread_mutex_unlock(&scan->frame.lock);
    }
    dti_histogram_init(&member->counted);
    member->into = next;
}

static void give_stats(struct stats_scan *scan, struct stats_tally *member,
                       struct dti_tensor_stats *next)
{
    if (member->tensor == next)
        return;
    if (member->tensor) {
        pthread_mutex_lock(&scan->frame.lock);
        dti_stats_merge(&member->tensor->stats, &member->stats);
        pthread_mutex_unlock(&scan->frame.lock);
    }
    if (next)
        dti_stats_init(&member->stats, &next->rule);
    member->peaks = NO_PEAKS;
    member->tensor = next;
}

/* Whether a tile holds neither NaN nor infinity, nor a number beyond those that this thread has
 * seen. Its blocks are in order, so that an equal number is not the first one. */
static bool is_within(const struct stats_scan *scan, size_t part, const unsigned char *raw,
                      size_t n, struct dti_code_peaks *seen)
{
    const uint64_t finite_to = scan->finite_to[part];
    const unsigned bits = scan->sides[part].bits;
    if (finite_to == 0)
        return false;
    const struct dti_code_peaks peaks = scan->peaks(raw, n, bits);
    const uint64_t lowest = finite_to | UINT64_C(1) << (bits - 1);
    if (peaks.as_signed <= seen->as_signed && peaks.as_unsigned <= seen->as_unsigned)
        return true;
    if (peaks.as_signed <= (int64_t)finite_to && peaks.as_unsigned <= lowest) {
        seen->as_signed = peaks.as_signed > seen->as_signed ? peaks.as_signed : seen->as_signed;
        seen->as_unsigned =
            peaks.as_unsigned > seen->as_unsigned ? peaks.as_unsigned : seen->as_unsigned;
    }
    return false;
}

/* The kernel that adds tiles of codes; NULL: numbers are needed. */
static dti_stats_codes_fn *codes_kernel(const struct stats_scan *scan, size_t part)
{
    const struct dti_scan_side *const side = &scan->sides[part];
    if (scan->tensors[part].histogram || side->layout.swapped || side->bits != side->format->width)
        return NULL;
    return dti_stats_codes_kernel(side->format->id, scan->frame.options->level);
}

/* Counts the elements first to first + n - 1 of a tensor, at raw. */
static enum dti_status count(struct stats_scan *scan, size_t member, size_t part,
                             const unsigned char *raw, uint64_t first, size_t n,
                             struct dti_error *reterr)
{
    struct dti_tensor_stats *const tensor = &scan->tensors[part];
    const struct dti_scan_side *const side = &scan->sides[part];
    const struct dti_scan_buffers buffers = dti_scan_buffers(&scan->frame, member);
    const bool whole = n == side->elements;
    struct dti_histogram *const into = tensor->histogram;
    struct stats_tally *const mine = (struct stats_tally *)scan->frame.members + member;
    struct dti_stats *const stats = whole ? &tensor->stats : &mine->stats;
    struct dti_code_peaks none_yet = NO_PEAKS;
    struct dti_code_peaks *const peaks = whole ? &none_yet : &mine->peaks;
    dti_stats_codes_fn *const add_codes = codes_kernel(scan, part);
    if (!whole)
        give_stats(scan, mine, tensor);
    if (into)
        give_histogram(scan, mine, into);
    for (size_t at = 0; at < n; at += DTI_TILE) {
        const size_t some = n - at < DTI_TILE ? n - at : DTI_TILE;
        const unsigned char *const tile = raw + dti_scan_bytes(side, at);
        const void *numbers;
        if (is_within(scan, part, tile, some, peaks)) {
            stats->elements += some;
            stats->finite += some;
            continue;
        }
        if (add_codes && add_codes(&tensor->rule, tile, some, first + at, stats))
            continue;
        const enum dti_status status =
            dti_scan_numbers(side, tile, buffers.numbers[0], some, first + at, &numbers, reterr);
        if (status != DTI_OK)
            return status;
        if (whole && at == 0)
            begin_tensor(tensor, numbers, some);
        scan->stats[tensor->rule.hub](&tensor->rule, numbers, some, first + at, stats);
        if (into)
            scan->histogram[tensor->rule.hub](&tensor->rule, numbers, some, &mine->counted);
    }
    (void)atomic_fetch_add(&scan->frame.bytes, dti_scan_bytes(side, n));
    return DTI_OK;
}

static enum dti_status do_block(void *context, size_t member, size_t part, uint64_t first, size_t n,
                                struct dti_error *reterr)
{
    struct stats_scan *const scan = context;
    const struct dti_scan_side *const side = &scan->sides[part];
    const struct dti_scan_buffers buffers = dti_scan_buffers(&scan->frame, member);
    const void *raw;
    enum dti_status status =
        n == side->elements ? DTI_OK : begin_large(scan, part, &buffers, reterr);
    if (status == DTI_OK)
        status = dti_scan_look(side, buffers.windows, buffers.raw, first, n, buffers.scratch, &raw,
                               reterr);
    if (status != DTI_OK)
        return status;
    status = count(scan, member, part, raw, first, n, reterr);
    return dti_window_done(buffers.windows, status, reterr);
}

/* Rules are expensive to build: tensors of one dtype share one. */
static void init_rule(struct dti_tensor_stats *tensors, size_t at, const struct dti_format *format)
{
    enum { LOOK_BACK = 16 };
    for (size_t i = at; i > 0 && at - i < LOOK_BACK; i--) {
        if (strcmp(tensors[i - 1].rule.format.name, format->name) == 0) {
            tensors[at].rule = tensors[i - 1].rule;
            return;
        }
    }
    dti_stats_rule_init(&tensors[at].rule, format, 0);
}

/* Codes of a sign and a magnitude, whose order is that of the numbers. */
static uint64_t finite_to_of(const struct dti_scan_side *side)
{
    const struct dti_format *const format = side->format;
    const unsigned bits = side->bits;
    uint64_t highest, lowest;
    if (!dti_format_is_float(format) || dti_format_is_tapered(format) || side->layout.swapped ||
        bits != format->width || !(bits == 8 || bits == 16 || bits == 32 || bits == 64) ||
        !dti_format_has_minus_zero(format) || !dti_code_max(format, &highest) ||
        !dti_code_lowest(format, &lowest) || lowest != (highest | UINT64_C(1) << (bits - 1)))
        return 0;
    return highest;
}

static enum dti_status prepare(struct stats_scan *scan, struct dti_container *container,
                               struct dti_error *reterr)
{
    for (size_t i = 0; i < scan->frame.count; i++) {
        struct dti_tensor_stats *const tensor = &scan->tensors[i];
        init_rule(scan->tensors, i, dti_scan_format(&container->tensors[tensor->tensor]));
        dti_stats_init(&tensor->stats, &tensor->rule);
        if (tensor->histogram)
            dti_histogram_init(tensor->histogram);
        const enum dti_status status =
            dti_scan_side_init(&scan->sides[i], container, tensor->tensor,
                               dti_stats_hub_format(tensor->rule.hub), &scan->frame, reterr);
        if (status != DTI_OK)
            return status;
        scan->frame.parts[i] = (struct dti_queue_part){.elements = scan->sides[i].elements,
                                                       .block = scan->sides[i].bits};
        if (scan->frame.options->only_peaks && !tensor->histogram)
            scan->finite_to[i] = finite_to_of(&scan->sides[i]);
    }
    scan->peaks = dti_code_peaks_kernel(scan->frame.options->level);
    for (unsigned hub = 0; hub < HUBS; hub++) {
        const enum dti_level level = scan->frame.options->level;
        scan->stats[hub] = dti_stats_kernel((enum dti_stats_hub)hub, level);
        scan->histogram[hub] = dti_histogram_kernel((enum dti_stats_hub)hub, level);
    }
    return DTI_OK;
}

static void flush(void *context, size_t member)
{
    struct stats_scan *const scan = context;
    struct stats_tally *const mine = (struct stats_tally *)scan->frame.members + member;
    give_stats(scan, mine, NULL);
    give_histogram(scan, mine, NULL);
}

enum dti_status dti_scan_stats(struct dti_container *container, struct dti_tensor_stats *tensors,
                               size_t count, const struct dti_scan_options *options,
                               struct dti_error *reterr)
{
    struct stats_scan scan = {
        .frame = {.work = do_block, .flush = flush, .member_bytes = sizeof(struct stats_tally)},
        .tensors = tensors,
    };
    if (count == 0)
        return DTI_OK;
    scan.frame.context = &scan;
    enum dti_status status = dti_scan_init(&scan.frame, count, options, reterr);
    scan.sides = dti_calloc(count, sizeof *scan.sides);
    scan.begun = dti_calloc(count, sizeof *scan.begun);
    scan.finite_to = dti_calloc(count, sizeof *scan.finite_to);
    if (status == DTI_OK && (!scan.sides || !scan.begun || !scan.finite_to))
        status = dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    if (status == DTI_OK)
        status = prepare(&scan, container, reterr);
    if (status == DTI_OK)
        status = dti_scan_run(&scan.frame, reterr);
    dti_scan_free(&scan.frame);
    dti_free(scan.finite_to);
    dti_free(scan.begun);
    dti_free(scan.sides);
    return status;
}

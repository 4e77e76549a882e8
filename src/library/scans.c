/* SPDX-License-Identifier: MIT
 *
 * Statistics and comparison of arrays in memory: blocks of tiles, which threads take in turn,
 * decoded as casts of the context decode them, and counted by the kernels that scan files. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "convert/plan_parts.h"
#include "files/scan/scan_side.h"
#include "library/casters.h"

enum {
    BLOCK = 32 * DTI_TILE,  /* elements that a thread takes at once */
    TEAM_BYTES = 512 << 10, /* with less, another thread begins too late */
};

/* One of the arrays. */
struct array_side {
    struct dti_scan_side how;
    struct dti_caster *caster; /* NULL: stored as numbers, or codes are wanted */
    const unsigned char *codes;
};

struct array_scan {
    struct dti_context *context;
    struct array_side side[2];
    size_t sides, n;
    bool compares;
    struct dti_stats_rule stats_rule;
    dti_stats_fn *stats_kernel;
    struct dti_comparison_rule rule;
    dti_comparison_fn *kernel;
    atomic_size_t next;     /* block */
    atomic_bool stopped;    /* because one failed */
    pthread_mutex_t lock;   /* of what follows */
    struct dti_stats stats; /* of all */
    struct dti_comparison comparison;
    enum dti_status status;
    struct dti_error error;
};

static enum dti_status check(const char *name, const struct dti_format *format,
                             enum dti_packing packing, struct dti_error *reterr)
{
    if (!format)
        return dti_fail(reterr, DTI_USAGE, "%s is NULL", name);
    if ((unsigned)packing > DTI_PACKING_BYTES)
        return dti_fail(reterr, DTI_USAGE, "packing is %u, which is no enumerator",
                        (unsigned)packing);
    if (format->kind == DTI_KIND_COMPLEX)
        return dti_fail(reterr, DTI_WRONG_KIND, "%s is complex; pass its parts, twice as many %s",
                        format->name, dti_real_format(format)->name);
    return DTI_OK;
}

/* hub: the format of the numbers; NULL for codes in uint64_t. */
static enum dti_status add_side(struct array_scan *scan, const struct dti_format *format,
                                enum dti_packing packing, const struct dti_format *hub,
                                const void *codes, struct dti_error *reterr)
{
    struct array_side *const side = &scan->side[scan->sides++];
    const bool packs = dti_format_packs(format);
    const struct dti_layout layout = {.packing =
                                          (unsigned char)(packs ? packing : DTI_PACKING_BYTES)};
    const unsigned bits = dti_format_stored_bits(format, &layout);
    *side = (struct array_side){
        .how = {.format = format, .layout = layout, .bits = bits, .wide = !hub},
        .codes = codes,
    };
    if (bits >= 8 && scan->n > SIZE_MAX / (bits / 8))
        return dti_fail(reterr, DTI_USAGE, "%zu elements have more bytes than memory", scan->n);
    if (!hub || format->id == hub->id)
        return DTI_OK;
    const struct dti_cast_spec spec = {.size = sizeof spec,
                                       .src = format,
                                       .dst = hub,
                                       .round_given = true,
                                       .src_packing = layout.packing};
    const enum dti_status status =
        dti_caster_take(&side->caster, scan->context, &spec, true, reterr);
    if (status == DTI_OK)
        side->how.plan = side->caster->plan;
    return status;
}

/* A tile's numbers, aligned: in place, or in the buffer. */
static enum dti_status look(const struct array_side *side, uint64_t *buffer, size_t at, size_t n,
                            const void **ret, struct dti_error *reterr)
{
    const unsigned char *const raw = side->codes + dti_tile_bytes(at, side->how.bits);
    if (!side->how.plan && !side->how.wide && (uintptr_t)raw % (side->how.bits / 8) != 0) {
        *ret = memcpy(buffer, raw, n * (side->how.bits / 8));
        return DTI_OK;
    }
    return dti_scan_numbers(&side->how, raw, buffer, n, at, ret, reterr);
}

struct array_tally {
    struct dti_stats stats;
    struct dti_comparison comparison;
};

static enum dti_status count(const struct array_scan *scan, size_t begin, size_t end,
                             struct array_tally *tally, struct dti_error *reterr)
{
    _Alignas(64) uint64_t buffers[2][DTI_TILE];
    const void *numbers[2] = {NULL, NULL};
    enum dti_status status = DTI_OK;
    for (size_t at = begin; at < end && status == DTI_OK; at += DTI_TILE) {
        const size_t n = end - at < DTI_TILE ? end - at : DTI_TILE;
        for (size_t i = 0; i < scan->sides && status == DTI_OK; i++)
            status = look(&scan->side[i], buffers[i], at, n, &numbers[i], reterr);
        if (status != DTI_OK)
            break;
        if (scan->compares)
            scan->kernel(&scan->rule, numbers[0], numbers[1], n, at, &tally->comparison);
        else
            scan->stats_kernel(&scan->stats_rule, numbers[0], n, at, &tally->stats);
    }
    return status;
}

static void run_member(void *context, size_t member, size_t size)
{
    struct array_scan *const scan = context;
    struct array_tally tally;
    struct dti_error error;
    enum dti_status status = DTI_OK;
    (void)member, (void)size;
    if (scan->compares)
        dti_comparison_init(&tally.comparison);
    else
        dti_stats_init(&tally.stats, &scan->stats_rule);
    while (status == DTI_OK && !atomic_load(&scan->stopped)) {
        const size_t block = atomic_fetch_add(&scan->next, 1);
        if (block > scan->n / BLOCK)
            break;
        const size_t begin = block * BLOCK;
        const size_t end = scan->n - begin < BLOCK ? scan->n : begin + BLOCK;
        status =
            dti_interrupted() ? dti_cancelled(&error) : count(scan, begin, end, &tally, &error);
    }
    (void)pthread_mutex_lock(&scan->lock);
    if (scan->compares)
        dti_comparison_merge(&scan->comparison, &tally.comparison);
    else
        dti_stats_merge(&scan->stats, &tally.stats);
    if (status != DTI_OK && scan->status == DTI_OK) {
        scan->status = status;
        scan->error = error;
        atomic_store(&scan->stopped, true);
    }
    (void)pthread_mutex_unlock(&scan->lock);
}

/* The first tile determines the shift that the sums of statistics are of. */
static enum dti_status begin(struct array_scan *scan, struct dti_error *reterr)
{
    uint64_t buffer[DTI_TILE];
    const void *numbers = buffer;
    const size_t n = scan->n < DTI_TILE ? scan->n : DTI_TILE;
    if (scan->compares) {
        dti_comparison_init(&scan->comparison);
        return DTI_OK;
    }
    const enum dti_status status =
        n > 0 ? look(&scan->side[0], buffer, 0, n, &numbers, reterr) : DTI_OK;
    if (status == DTI_OK) {
        scan->stats_rule.shift = dti_stats_choose_shift(&scan->stats_rule, numbers, n);
        dti_stats_init(&scan->stats, &scan->stats_rule);
    }
    return status;
}

static enum dti_status run(struct array_scan *scan, struct dti_error *reterr)
{
    enum dti_status status = begin(scan, reterr);
    if (status != DTI_OK)
        return status;
    const bool large =
        scan->n > BLOCK && dti_tile_bytes(scan->n, scan->side[0].how.bits) >= TEAM_BYTES;
    struct dti_team *const team = large ? dti_context_borrow_team(scan->context) : NULL;
    (void)pthread_mutex_init(&scan->lock, NULL);
    atomic_init(&scan->next, 0);
    atomic_init(&scan->stopped, false);
    if (team)
        dti_team_run(team, run_member, scan);
    else
        run_member(scan, 0, 1);
    dti_context_return_team(scan->context, team);
    (void)pthread_mutex_destroy(&scan->lock);
    if (scan->status != DTI_OK && reterr)
        *reterr = scan->error;
    return scan->status;
}

static void give_stats(const struct array_scan *scan, struct dti_array_stats *ret)
{
    const struct dti_stats *const stats = &scan->stats;
    struct dti_array_stats own = {
        .size = sizeof own,
        .elements = stats->elements,
        .nan = stats->nan,
        .inf = stats->inf,
        .negative_inf = stats->negative_inf,
        .zeros = stats->zeros,
        .negative = stats->negative,
        .subnormals = stats->subnormals,
        .finite = stats->finite,
        .first_nan = stats->first_nan,
        .first_inf = stats->first_inf,
        .mean = dti_stats_mean(stats),
        .deviation = dti_stats_deviation(stats),
    };
    if (dti_stats_extremes(stats, &scan->stats_rule, &own.min, &own.max, &own.absmax)) {
        own.min_index = stats->min_index;
        own.max_index = stats->max_index;
        own.absmax_index = stats->absmax_index;
    }
    dti_struct_give(ret, &own, sizeof own);
}

enum dti_status dti_array_stats(struct dti_context *context, const struct dti_format *format,
                                enum dti_packing packing, const void *codes, size_t n,
                                struct dti_array_stats *ret, struct dti_error *reterr)
{
    struct dti_call call;
    struct array_scan scan = {.context = context, .n = n, .status = DTI_OK};
    enum dti_status status = check("format", format, packing, reterr);
    if (status != DTI_OK)
        return status;
    dti_call_begin(&call, &context->caller);
    dti_stats_rule_init_plain(&scan.stats_rule, format, 0);
    scan.stats_kernel = dti_stats_kernel(scan.stats_rule.hub, context->level);
    status =
        add_side(&scan, format, packing, dti_stats_hub_format(scan.stats_rule.hub), codes, reterr);
    if (status == DTI_OK)
        status = run(&scan, reterr);
    if (status == DTI_OK)
        give_stats(&scan, ret);
    dti_caster_free(scan.side[0].caster);
    dti_call_end(&call);
    return status;
}

bool dti_array_stats_fit(const struct dti_array_stats *stats, const struct dti_format *format)
{
    struct dti_array_stats own = {.size = sizeof own};
    dti_struct_give(&own, stats, stats->size < sizeof own ? stats->size : sizeof own);
    const struct dti_stats counts = {
        .nan = own.nan, .inf = own.inf, .negative_inf = own.negative_inf, .finite = own.finite};
    return dti_stats_fit_between(&counts, &own.min, &own.max, dti_real_format(format));
}

static void give_comparison(const struct array_scan *scan, struct dti_array_difference *ret)
{
    const struct dti_comparison *const comparison = &scan->comparison;
    const struct dti_array_difference own = {
        .size = sizeof own,
        .elements = comparison->elements,
        .differing = comparison->differing,
        .unmatched = comparison->unmatched,
        .exceeding = comparison->exceeding,
        .compared = comparison->compared,
        .max_absolute = comparison->max_absolute,
        .max_index = comparison->max_index,
        .max_relative = comparison->max_relative,
        .max_ulp = scan->rule.ulp.width > 0 ? comparison->max_ulp : NAN,
        .first_differing = comparison->first_differing,
        .first_unmatched = comparison->first_unmatched,
        .mean_absolute = dti_comparison_mean_absolute(comparison),
        .root_mean_square = dti_comparison_root_mean_square(comparison),
        .sqnr_db = dti_comparison_sqnr_db(comparison),
        .nmse = dti_comparison_nmse(comparison),
        .cosine = dti_comparison_cosine(comparison),
    };
    dti_struct_give(ret, &own, sizeof own);
}

enum dti_status dti_array_compare(struct dti_context *context, const struct dti_format *format_a,
                                  const void *a, const struct dti_format *format_b, const void *b,
                                  size_t n, double atol, double rtol,
                                  struct dti_array_difference *ret, struct dti_error *reterr)
{
    struct dti_call call;
    struct array_scan scan = {.context = context, .n = n, .compares = true, .status = DTI_OK};
    enum dti_status status = check("format_a", format_a, DTI_PACKING_BYTES, reterr);
    if (status == DTI_OK)
        status = check("format_b", format_b, DTI_PACKING_BYTES, reterr);
    if (status == DTI_OK && !(atol >= 0 && rtol >= 0))
        status = dti_fail(reterr, DTI_USAGE, "tolerances are at least 0");
    if (status != DTI_OK)
        return status;
    dti_call_begin(&call, &context->caller);
    dti_comparison_rule_init(&scan.rule, format_a, format_b, atol, rtol);
    scan.kernel = dti_comparison_kernel(scan.rule.hub, context->level);
    const struct dti_format *const hub = dti_comparison_hub_format(scan.rule.hub);
    status = add_side(&scan, format_a, DTI_PACKING_BYTES, hub, a, reterr);
    if (status == DTI_OK)
        status = add_side(&scan, format_b, DTI_PACKING_BYTES, hub, b, reterr);
    if (status == DTI_OK)
        status = run(&scan, reterr);
    if (status == DTI_OK)
        give_comparison(&scan, ret);
    dti_caster_free(scan.side[0].caster);
    dti_caster_free(scan.side[1].caster);
    dti_call_end(&call);
    return status;
}

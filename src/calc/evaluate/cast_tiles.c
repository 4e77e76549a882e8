/* SPDX-License-Identifier: MIT
 *
 * A tile is cast by a plan, decoded again, and compared. NaNs, infinities, and tiles with the first
 * number that went wrong go through dti_calc_round(), which knows all details. */
#include "calc/evaluate/cast_tiles.h"

#include <string.h>

#include "core/code/scalar.h"
#include "kernels/fp64.h"
#include "kernels/scan/loss.h"
#include "util/run/process_environment.h"

enum { LIST_LEAST = 4096 }; /* finding kernels and limits takes longer than a shorter list */

/* Whether the codes of arrays here are those of dti_storage_get() and fill their containers, or
 * are below 8 bits; and whether casts to the format only have the events that are counted. */
static bool fits(const struct dti_format *format)
{
    const bool real = format->kind == DTI_KIND_FLOAT || format->kind == DTI_KIND_INT ||
                      format->kind == DTI_KIND_UINT;
    const bool whole =
        format->width <= 8 || format->width == 16 || format->width == 32 || format->width == 64;
    return real && whole && !dti_format_is_tapered(format);
}

static bool policy_fits(const struct dti_calc_recorder *recorder)
{
    const enum dti_round round = recorder->policy.round;
    /* a format without infinity and NaN saturates, or with these modes only keeps to its limits */
    const bool limited = (round == DTI_ROUND_UP || round == DTI_ROUND_DOWN) &&
                         recorder->format.specials == DTI_SPECIALS_FINITE;
    return !recorder->flush && !recorder->finds_worst && round != DTI_ROUND_STOCHASTIC && !limited;
}

static bool new_plan(struct dti_plan **ret, const struct dti_format *src,
                     const struct dti_format *dst, const struct dti_policy *policy,
                     enum dti_level level)
{
    const struct dti_layout bytes = {.packing = DTI_PACKING_BYTES};
    const struct dti_request request = {
        .src = *src,
        .src_layout = bytes,
        .dst_layout = bytes,
        .cast = {.dst = *dst, .policy = *policy, .round_given = true},
        .uncounted = true};
    return dti_plan_new(ret, &request, level, NULL) == DTI_OK;
}

static bool new_decoder(struct dti_plan **ret, const struct dti_format *src,
                        const struct dti_format *number, enum dti_level level)
{
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    return dti_calc_same_format(src, number) || new_plan(ret, src, number, &nearest, level);
}

void dti_cast_tiles_close(struct dti_cast_tiles *tiles)
{
    dti_plan_free(tiles->cast);
    dti_plan_free(tiles->source_number);
    dti_plan_free(tiles->stored_number);
}

bool dti_cast_tiles_open(struct dti_cast_tiles *ret, struct dti_calc_recorder *recorder,
                         const struct dti_format *source, size_t count)
{
    const struct dti_format *const format = &recorder->format;
    struct dti_loss_rule rule;
    enum dti_level level;
    if (count < LIST_LEAST || !fits(source) || !fits(format) || !policy_fits(recorder) ||
        dti_level_choose(dti_environment("DTINFO_CPU"), &level, NULL) != DTI_OK)
        return false;
    dti_loss_rule_init(&rule, source, format, &recorder->policy);
    *ret = (struct dti_cast_tiles){.recorder = recorder,
                                   .source = *source,
                                   .kernel = dti_arith_kernel_find(level),
                                   .doubles = rule.hub == DTI_LOSS_HUB64,
                                   .limits = {.smallest_normal = rule.dst_smallest_normal}};
    if (rule.hub == DTI_LOSS_WIDE || !ret->kernel)
        return false;
    memcpy(ret->limits.overflow_from, rule.overflow_from, sizeof rule.overflow_from);
    const struct dti_format *const number = dti_format_get(ret->doubles ? DTI_FP64 : DTI_FP32);
    if (new_plan(&ret->cast, source, format, &recorder->policy, level) &&
        new_decoder(&ret->source_number, source, number, level) &&
        new_decoder(&ret->stored_number, format, number, level))
        return true;
    dti_cast_tiles_close(ret);
    return false;
}

static void cast_one(const struct dti_cast_tiles *tiles, const struct dti_calc_array *codes,
                     size_t i, size_t first, struct dti_calc_slot *slot, bool marks)
{
    struct dti_calc_element e = {.op = DTI_CALC_OP_COUNT, .index = first + i};
    struct dti_calc_rounded rounded;
    dti_decode(&tiles->source, dti_calc_code(codes, i), &e.exact);
    dti_calc_round(tiles->recorder, &e, &rounded);
    dti_calc_put(&slot->array, e.index, rounded.code);
    if (rounded.inexact && marks)
        dti_calc_mark(slot, e.index);
}

static void add_counts(struct dti_calc_recorder *recorder, const uint64_t found[DTI_ROUNDED_COUNTS],
                       size_t n)
{
    struct dti_calc_step *const step = &recorder->step;
    step->inexact += found[DTI_ROUNDED_INEXACT];
    step->events[DTI_CALC_OVERFLOW] += found[DTI_ROUNDED_OVERFLOW];
    step->events[DTI_CALC_TO_ZERO] += found[DTI_ROUNDED_TO_ZERO];
    step->events[DTI_CALC_SUBNORMAL] += found[DTI_ROUNDED_SUBNORMAL];
    recorder->operations += n - found[DTI_ROUNDED_UNDECIDED];
    recorder->flags |= found[DTI_ROUNDED_INEXACT] ? DTI_FLAG_INEXACT : 0;
    if (dti_format_is_float(&recorder->format) &&
        (found[DTI_ROUNDED_TO_ZERO] || found[DTI_ROUNDED_SUBNORMAL]))
        recorder->flags |= DTI_FLAG_UNDERFLOW;
}

/* Whether the tile has the first event of a kind that has details, or the flags of overflow. */
static bool needs_details(const struct dti_calc_recorder *recorder,
                          const uint64_t found[DTI_ROUNDED_COUNTS])
{
    const bool wrong = found[DTI_ROUNDED_OVERFLOW] || found[DTI_ROUNDED_TO_ZERO];
    return (wrong && !recorder->has_first) ||
           (found[DTI_ROUNDED_OVERFLOW] && !(recorder->flags & DTI_FLAG_OVERFLOW));
}

static const void *decoded(const struct dti_plan *plan, void *room, const void *codes, size_t n)
{
    if (!plan)
        return codes;
    (void)dti_plan_run(plan, room, codes, n, 0, DTI_STORES_CACHED, NULL, NULL);
    return room;
}

static bool is_finite(const struct dti_cast_tiles *tiles, const void *numbers, size_t i)
{
    double number;
    float narrow;
    if (tiles->doubles)
        return memcpy(&number, (const char *)numbers + i * sizeof number, sizeof number),
               isfinite(number);
    return memcpy(&narrow, (const char *)numbers + i * sizeof narrow, sizeof narrow),
           isfinite(narrow);
}

void dti_cast_tiles_run(const struct dti_cast_tiles *tiles, const void *codes, size_t n,
                        size_t first, struct dti_calc_slot *slot, bool marks)
{
    struct dti_calc_recorder *const recorder = tiles->recorder;
    const struct dti_calc_array from = {
        .format = tiles->source, .count = n, .codes = (void *)(uintptr_t)codes};
    double source[DTI_CAST_TILE], stored[DTI_CAST_TILE];
    uint8_t inexact[DTI_CAST_TILE];
    uint64_t found[DTI_ROUNDED_COUNTS];
    void *const to = (char *)slot->array.codes + first * dti_calc_code_bytes(&recorder->format);
    const bool each = marks && slot->array.count <= DTI_CALC_TRUTH_MAX;
    (void)dti_plan_run(tiles->cast, to, codes, n, 0, DTI_STORES_CACHED, NULL, NULL);
    const void *const x = decoded(tiles->source_number, source, codes, n);
    const void *const y = decoded(tiles->stored_number, stored, to, n);
    (tiles->doubles ? tiles->kernel->rounded64 : tiles->kernel->rounded32)(
        x, y, n, &tiles->limits, found, each ? inexact : NULL);
    const bool whole = needs_details(recorder, found);
    if (!whole)
        add_counts(recorder, found, n);
    for (size_t i = 0; i < n && (whole || found[DTI_ROUNDED_UNDECIDED] > 0); i++) {
        if (whole || !is_finite(tiles, x, i))
            cast_one(tiles, &from, i, first, slot, marks);
    }
    if (whole || !marks || found[DTI_ROUNDED_INEXACT] == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        if (!each || inexact[i])
            dti_calc_mark(slot, first + i);
        if (!each)
            break;
    }
}

bool dti_cast_tiles_list(const struct dti_cast_tiles *tiles, const void *codes, size_t n,
                         size_t first, struct dti_calc_slot *slot)
{
    const struct dti_calc_options *const options = tiles->recorder->engine->options;
    const size_t width = dti_calc_code_bytes(&tiles->source);
    for (size_t at = 0; at < n; at += DTI_CAST_TILE) {
        const size_t left = n - at;
        if (!dti_calc_goes_on(options, first + at, slot->array.count))
            return false;
        dti_cast_tiles_run(tiles, (const char *)codes + at * width,
                           left < DTI_CAST_TILE ? left : DTI_CAST_TILE, first + at, slot, true);
    }
    return true;
}

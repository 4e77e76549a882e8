/* SPDX-License-Identifier: MIT
 *
 * Casts of one run compared by their bytes: beyond the caches, memory is the limit, so a cast that
 * reads and writes less should not take longer. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/bench/bench_narrow.h"
#include "cli/bench/bench_page.h"

static const double clearly = 1.1;

/* Whether a moves less than b and is slower all the same. */
static bool is_slower(const struct bench_cast_seen *a, const struct bench_cast_seen *b)
{
    return a->threads == b->threads && a->place == b->place && a->src_width <= b->src_width &&
           a->dst_width <= b->dst_width &&
           a->src_width + a->dst_width < b->src_width + b->dst_width && a->low > b->high &&
           a->seconds > clearly * b->seconds;
}

bool dti_bench_cast_is_slow(const struct bench_cast_seen *seen, size_t count,
                            const struct bench_cast_seen *now, size_t *ret_other, bool *ret_now)
{
    bool found = false;
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        const bool slow = is_slower(now, &seen[i]);
        if (!slow && !is_slower(&seen[i], now))
            continue;
        const double ratio = slow ? now->seconds / seen[i].seconds : seen[i].seconds / now->seconds;
        if (ratio > most) {
            most = ratio;
            *ret_other = i;
            *ret_now = slow;
            found = true;
        }
    }
    return found;
}

static void tell(const struct dti_context *cx, const struct bench_cast_seen *narrow,
                 const struct bench_cast_seen *wide)
{
    char slow[DTI_TEXT_SIZE], fast[DTI_TEXT_SIZE];
    dti_warn(cx, "%s -> %s takes %s an element, more than %s -> %s (%s), which moves more bytes",
             narrow->src, narrow->dst, dti_bench_seconds(slow, narrow->seconds), wide->src,
             wide->dst, dti_bench_seconds(fast, wide->seconds));
}

void dti_bench_casts_see(struct bench_casts *casts, const struct dti_bench_result *result,
                         const struct dti_context *cx)
{
    const struct dti_bench_table *const table = result->table;
    const struct dti_bench_cast *const cast = result->request->cast;
    const enum dti_bench_place place = dti_bench_main_place(&table->bench);
    const double elements = (double)table->elements;
    struct dti_bench_figure time;
    size_t other;
    bool now_is_slow;
    dti_bench_time(&time, &table->bench, 0, place);
    if (table->items[0].where != DTI_BENCH_ON_CPU || table->in_cache || table->bench.disturbed ||
        !time.has_interval || elements == 0 || casts->count == BENCH_CASTS_MAX)
        return;
    struct bench_cast_seen *const now = &casts->seen[casts->count];
    *now = (struct bench_cast_seen){.src_width = cast->src.width,
                                    .dst_width = cast->dst.width,
                                    .threads = result->threads,
                                    .place = place,
                                    .seconds = time.median / elements,
                                    .low = time.low / elements,
                                    .high = time.high / elements};
    (void)snprintf(now->src, sizeof now->src, "%s", cast->src.name);
    (void)snprintf(now->dst, sizeof now->dst, "%s", cast->dst.name);
    if (dti_bench_cast_is_slow(casts->seen, casts->count, now, &other, &now_is_slow)) {
        const struct bench_cast_seen *const then = &casts->seen[other];
        tell(cx, now_is_slow ? now : then, now_is_slow ? then : now);
    }
    casts->count++;
}

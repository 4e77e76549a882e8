/* SPDX-License-Identifier: MIT
 *
 * The table that a measurement fills, and the list of kinds of measurements. */
#include "bench/measure/bench_table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct dti_bench_kind *const dti_bench_kinds[] = {
#define BENCH(name) &dti_bench_kind_##name,
#include "bench/measure/benches.def"
#undef BENCH
};
const size_t dti_bench_kind_count = sizeof dti_bench_kinds / sizeof *dti_bench_kinds;

struct dti_bench_item *dti_bench_add_item(struct dti_bench_table *table, const char *role,
                                          const char *device)
{
    if (table->count == DTI_BENCH_ITEMS_MAX)
        return NULL;
    struct dti_bench_item *const item = &table->items[table->count++];
    *item = (struct dti_bench_item){.limit_item = SIZE_MAX};
    (void)snprintf(item->role, sizeof item->role, "%s", role);
    (void)snprintf(item->device, sizeof item->device, "%s", device);
    return item;
}

void dti_bench_add_note(struct dti_bench_table *table, const char *format, ...)
{
    if (table->note_count == DTI_BENCH_NOTES_MAX)
        return;
    char *const note = table->notes[table->note_count++];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(note, sizeof table->notes[0], format, args);
    va_end(args);
}

void dti_bench_table_free(struct dti_bench_table *table)
{
    dti_bench_free(&table->bench);
}

/* The rate of an item: operations per second if it has operations, else bytes per second. */
static double rate_of(const struct dti_bench_table *table, size_t at)
{
    const struct dti_bench_item *const item = &table->items[at];
    struct dti_bench_figure time;
    dti_bench_time(&time, &table->bench, at, dti_bench_main_place(&table->bench));
    const double bytes = (double)item->bytes_read + (double)item->bytes_written;
    return time.samples > 0 ? (item->operations > 0 ? item->operations : bytes) / time.median : 0;
}

size_t dti_bench_best_limit(const struct dti_bench_table *table, const char *role,
                            const char *device)
{
    size_t best = SIZE_MAX;
    double most = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct dti_bench_item *const item = &table->items[i];
        if (!item->limit || strcmp(item->role, role) != 0 || strcmp(item->device, device) != 0)
            continue;
        const double rate = rate_of(table, i);
        if (rate > most) {
            most = rate;
            best = i;
        }
    }
    return best;
}

size_t dti_bench_fastest(const struct dti_bench_table *table, const char *role,
                         enum dti_bench_where where, enum dti_bench_place place)
{
    size_t best = table->count;
    double least = 0;
    for (size_t i = 0; i < table->count; i++) {
        struct dti_bench_figure time;
        if (table->items[i].where != where || strcmp(table->items[i].role, role) != 0)
            continue;
        dti_bench_time(&time, &table->bench, i, place);
        if (time.samples > 0 && (best == table->count || time.median < least)) {
            best = i;
            least = time.median;
        }
    }
    return best;
}

double dti_bench_least_seconds(const struct dti_bench_table *table, size_t at, size_t limit)
{
    struct dti_bench_figure time;
    if (limit == SIZE_MAX)
        return 0;
    const struct dti_bench_item *const own = &table->items[at], *const other = &table->items[limit];
    dti_bench_time(&time, &table->bench, limit, dti_bench_main_place(&table->bench));
    if (time.samples == 0)
        return 0;
    if (other->operations > 0)
        return time.median * own->operations / other->operations;
    /* written bytes do not count in a comparison with reading */
    const uint64_t written = other->bytes_written > 0 ? own->bytes_written : 0;
    return time.median * (double)(own->bytes_read + written) /
           (double)(other->bytes_read + other->bytes_written);
}

/* The work of a pass of a, relative to a pass of b. */
static double work_ratio(const struct dti_bench_item *a, const struct dti_bench_item *b)
{
    if (a->operations > 0 && b->operations > 0)
        return a->operations / b->operations;
    const double bytes_a = (double)a->bytes_read + (double)a->bytes_written;
    const double bytes_b = (double)b->bytes_read + (double)b->bytes_written;
    return bytes_b > 0 ? bytes_a / bytes_b : 0;
}

bool dti_bench_of_limit(struct dti_bench_figure *ret, const struct dti_bench_table *table,
                        size_t at, enum dti_bench_place place)
{
    const struct dti_bench_item *const item = &table->items[at];
    if (item->limit_item >= table->count)
        return false;
    dti_bench_ratio(ret, &table->bench, item->limit_item, at, place);
    const double work = work_ratio(item, &table->items[item->limit_item]);
    ret->median *= work;
    ret->minimum *= work;
    ret->low *= work;
    ret->high *= work;
    return ret->samples > 0 && work > 0;
}

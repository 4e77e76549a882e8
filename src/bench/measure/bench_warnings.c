/* SPDX-License-Identifier: MIT
 *
 * Notes for problems that the figures of a table cannot show: a share of the peak hides a faster
 * unit that has no kernel, and a narrower dtype slower than a wider one uses the wrong kernel or
 * unit.
 */
#include "bench/measure/frame.h"

#include <string.h>

static const struct {
    enum dti_instruction unit;
    enum dti_dtype dtype;
    const char *instruction;
} units[] = {
#define UNIT(unit_, dtype_, instruction_) {DTI_HAS_##unit_, DTI_##dtype_, instruction_},
#include "bench/measure/units.def"
#undef UNIT
};

const char *dti_unit_unused(const bool has[DTI_INSTRUCTION_COUNT], enum dti_dtype dtype,
                            const char *instruction)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (units[i].dtype != dtype)
            continue;
        if (instruction &&
            strncmp(instruction, units[i].instruction, strlen(units[i].instruction)) == 0)
            return NULL;
        if (has[units[i].unit])
            return dti_instruction_name(units[i].unit);
    }
    return NULL;
}

void dti_bench_warn_unit(struct dti_bench_table *table, const struct dti_bench_request *request,
                         enum dti_dtype dtype, const struct dti_matmul_kernel *kernel)
{
    struct dti_machine machine;
    enum dti_level highest;
    /* with a limited level, the user left units out on purpose */
    if (dti_level_choose(NULL, &highest, NULL) != DTI_OK || highest != request->level ||
        dti_machine_read(&machine, NULL, NULL) != DTI_OK)
        return;
    const char *const unit =
        dti_unit_unused(machine.has, dtype, kernel ? kernel->instruction : NULL);
    if (unit && kernel)
        dti_bench_add_note(table, "%s: no kernel for this CPU's %s; the peak is that of %s",
                           dti_format_get(dtype)->name, unit, kernel->instruction);
    else if (unit)
        dti_bench_add_note(table, "%s: no kernel for this CPU's %s", dti_format_get(dtype)->name,
                           unit);
}

/* The width of the dtype if the item is one of our own computations, else 0. */
static unsigned width_of(const struct dti_bench_item *item)
{
    if (item->limit || item->operations == 0 || strcmp(item->engine, "dtinfo") != 0)
        return 0;
    for (int i = 0; i < DTI_DTYPE_COUNT; i++) {
        const struct dti_format *const format = dti_format_get((enum dti_dtype)i);
        if (strcmp(item->dtype, format->name) == 0)
            return format->width;
    }
    return 0;
}

void dti_bench_warn_narrow(struct dti_bench_table *table)
{
    static const double clearly = 1.1;
    const enum dti_bench_place place = dti_bench_main_place(&table->bench);
    for (size_t i = 0; i < table->count; i++) {
        const struct dti_bench_item *const narrow = &table->items[i];
        struct dti_bench_figure worst = {.median = 0};
        size_t fastest = table->count;
        for (size_t j = 0; j < table->count && width_of(narrow) > 0; j++) {
            const struct dti_bench_item *const wide = &table->items[j];
            struct dti_bench_figure times;
            if (width_of(wide) <= width_of(narrow) || strcmp(wide->role, narrow->role) != 0 ||
                wide->operations < narrow->operations)
                continue;
            dti_bench_ratio(&times, &table->bench, i, j, place);
            if (dti_bench_judge(&times) == DTI_BENCH_MORE && times.median > worst.median) {
                worst = times;
                fastest = j;
            }
        }
        if (fastest < table->count && worst.median > clearly)
            dti_bench_add_note(table, "%s: takes %u %% of the time of %s, which is wider",
                               narrow->dtype, (unsigned)(100 * worst.median + 0.5),
                               table->items[fastest].dtype);
    }
}

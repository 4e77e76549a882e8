/* SPDX-License-Identifier: MIT
 *
 * bench --list: the kernels that are built in, and which of them this CPU can run. */
#include "cli/bench/bench_job.h"
#include "dtinfo/dot.h"
#include "dtinfo/expsin.h"
#include "dtinfo/matmul.h"
#include "dtinfo/table.h"

struct listed {
    const char *name, *operation;
    enum dti_level level;
};

/* The kernel number `at` of all families, one after another; false when there are no more. */
static bool kernel_at(size_t at, struct listed *ret)
{
    if (at < dti_kernel_count) {
        const struct dti_kernel *const kernel = &dti_kernels[at];
        *ret = (struct listed){kernel->name, dti_operation_name(kernel->op), kernel->level};
        return true;
    }
    at -= dti_kernel_count;
    if (at < dti_expsin_kernel_count) {
        const struct dti_expsin_kernel *const kernel = &dti_expsin_kernels[at];
        *ret = (struct listed){kernel->name, "expsin", kernel->level};
        return true;
    }
    at -= dti_expsin_kernel_count;
    if (at < dti_dot_kernel_count) {
        const struct dti_dot_kernel *const kernel = &dti_dot_kernels[at];
        *ret = (struct listed){kernel->name, "dot", kernel->level};
        return true;
    }
    at -= dti_dot_kernel_count;
    if (at < dti_matmul_kernel_count) {
        const struct dti_matmul_kernel *const kernel = &dti_matmul_kernels[at];
        *ret = (struct listed){kernel->name, "matmul", kernel->level};
        return true;
    }
    return false;
}

static enum dti_status list_json(const struct dti_context *cx, struct dti_error *reterr)
{
    struct dti_json *const json = dti_json_new();
    if (!json)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    dti_json_begin(json, "dtinfo.bench/1");
    dti_json_null(json, "benchmark");
    dti_json_null(json, "options");
    dti_json_null(json, "host");
    dti_json_array(json, "kernels");
    struct listed kernel;
    for (size_t i = 0; kernel_at(i, &kernel); i++) {
        dti_json_object(json, NULL);
        dti_json_string(json, "kernel", dti_kernel_title(kernel.name));
        dti_json_string(json, "operation", kernel.operation);
        dti_json_string(json, "level", dti_level_name(kernel.level));
        dti_json_bool(json, "available", dti_level_present(kernel.level));
        dti_json_end(json);
    }
    dti_json_end(json);
    dti_json_array(json, "results");
    dti_json_end(json);
    dti_json_null(json, "comparison");
    const enum dti_status status = dti_json_write(json, cx->out, reterr);
    dti_json_free(json);
    return status;
}

enum dti_status dti_bench_list(const struct dti_context *cx, struct dti_error *reterr)
{
    static const char *const titles[] = {"kernel", "operation", "level", "here"};
    enum { COLUMNS = sizeof titles / sizeof *titles };
    if (cx->output != DTI_OUTPUT_HUMAN)
        return list_json(cx, reterr);
    struct dti_table *const table = dti_table_new(COLUMNS);
    for (size_t i = 0; i < COLUMNS; i++)
        dti_table_cell(table, DTI_STYLE_DIM, titles[i]);
    struct listed kernel;
    for (size_t i = 0; kernel_at(i, &kernel); i++) {
        dti_table_cell(table, DTI_STYLE_BOLD, dti_kernel_title(kernel.name));
        dti_table_cell(table, DTI_STYLE_PLAIN, kernel.operation);
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_level_name(kernel.level));
        dti_table_cell(table, DTI_STYLE_PLAIN, dti_level_present(kernel.level) ? "yes" : "no");
    }
    const bool written = dti_table_write(table, cx->out, cx->colour, 0);
    dti_table_free(table);
    return written ? DTI_OK : dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}

/* SPDX-License-Identifier: MIT
 *
 * Quantizing the operands of a product, as a candidate of its measurement. */
#include "bench/workloads/quantizing.h"

#include <stdio.h>
#include <string.h>

#include "dtinfo/clock.h"
#include "dtinfo/kernel.h"

enum dti_status dti_quantizing_init(struct dti_quantizing *ret, enum dti_dtype dtype,
                                    const struct dti_quantizing_place numbers[2],
                                    const struct dti_quantizing_place codes[2],
                                    const uint64_t elements[2], enum dti_level level,
                                    struct dti_team *team, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    *ret = (struct dti_quantizing){.team = team};
    for (size_t i = 0; i < 2 && status == DTI_OK; i++) {
        struct dti_quant_request request = {.number = *dti_format_get(DTI_FP32),
                                            .layout = {.packing = DTI_PACKING_LOW},
                                            .order = DTI_BLOCK_LOW,
                                            .outer = 1,
                                            .length = elements[i],
                                            .inner = 1};
        ret->numbers[i] = numbers[i];
        ret->codes[i] = codes[i];
        ret->elements[i] = elements[i];
        if (!dti_affine_recipe_init(&request.scheme.affine, dti_format_get(dtype),
                                    DTI_SYMMETRY_FULL))
            return dti_fail(reterr, DTI_WRONG_KIND, "nothing is quantized to %s",
                            dti_format_get(dtype)->name);
        status = dti_quant_plan_new(&ret->plans[i], &request, level, reterr);
    }
    return status;
}

void dti_quantizing_end(struct dti_quantizing *quantizing)
{
    dti_quant_plan_free(quantizing->plans[0]);
    dti_quant_plan_free(quantizing->plans[1]);
}

static unsigned char *address(const struct dti_quantizing_place *place, size_t set)
{
    unsigned char *const operand = dti_bench_memory_at(
        place->memory, set % dti_bench_memory_sets(place->memory), place->operand);
    return operand + place->at;
}

static enum dti_status run(struct dti_quantizing *quantizing, size_t set)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < 2 && status == DTI_OK; i++) {
        float scale;
        int32_t zero_point;
        struct dti_quantized_array array = {.codes = address(&quantizing->codes[i], set),
                                            .scales = &scale,
                                            .zero_points = &zero_point};
        status = dti_quant_array(quantizing->plans[i], quantizing->team,
                                 address(&quantizing->numbers[i], set), &array, DTI_STORES_AUTO,
                                 NULL, &quantizing->error);
    }
    return status;
}

/* The team is the array's. */
static double timed(void *context, size_t set, uint64_t passes)
{
    struct dti_quantizing *const quantizing = context;
    enum dti_status status = run(quantizing, set); /* what was measured before is in the caches */
    const uint64_t start = dti_clock_now();
    for (uint64_t pass = 0; pass < passes && status == DTI_OK; pass++)
        status = run(quantizing, set + (size_t)pass);
    const uint64_t end = dti_clock_now();
    return status == DTI_OK ? (double)(end - start) * 1e-9 : -1;
}

void dti_quantizing_add(struct dti_quantizing *quantizing, struct dti_bench_table *table,
                        struct dti_bench_candidate *candidates)
{
    char text[DTI_PLAN_TEXT_SIZE];
    const struct dti_format *const code =
        &dti_quant_plan_request(quantizing->plans[0])->scheme.affine.affine.code;
    const uint64_t elements = quantizing->elements[0] + quantizing->elements[1];
    const size_t at = table->count;
    struct dti_bench_item *const item = dti_bench_add_item(table, "quantize", "cpu");
    if (!item)
        return;
    (void)snprintf(item->dtype, sizeof item->dtype, "%s", code->name);
    (void)snprintf(item->engine, sizeof item->engine, "dtinfo");
    (void)snprintf(item->kernel, sizeof item->kernel, "%s",
                   dti_quant_plan_describe(quantizing->plans[0], false, text));
    (void)snprintf(item->arithmetic, sizeof item->arithmetic,
                   "fp32, both operands: the range, then the codes");
    item->bytes_read = 2 * elements * sizeof(float);
    item->bytes_written = elements * code->width / 8;
    const size_t sets = dti_bench_memory_sets(quantizing->codes[0].memory);
    candidates[at] = (struct dti_bench_candidate){
        .timed = timed, .context = quantizing, .sets = sets, .subject = true};
}

enum dti_status dti_quantizing_status(const struct dti_quantizing *quantizing,
                                      enum dti_status status, struct dti_error *reterr)
{
    if (status != DTI_DEVICE_FAILED)
        return status;
    if (reterr)
        *reterr = quantizing->error;
    return quantizing->error.status;
}

bool dti_quantizing_is(const struct dti_bench_item *item)
{
    return strcmp(item->role, "quantize") == 0;
}

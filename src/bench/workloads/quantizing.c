/* SPDX-License-Identifier: MIT
 *
 * Quantizing the operands of a product, as a candidate of its own. */
#include "bench/workloads/quantizing.h"

#include "kernels/kernel.h"

struct dti_quant_request dti_quantizing_request(uint64_t outer, uint64_t length, uint64_t inner)
{
    return (struct dti_quant_request){.number = *dti_format_get(DTI_FP32),
                                      .layout = {.packing = DTI_PACKING_LOW},
                                      .order = DTI_BLOCK_LOW,
                                      .outer = outer,
                                      .length = length,
                                      .inner = inner};
}

void dti_quantizing_end(struct dti_quantizing *quantizing)
{
    dti_quant_plan_free(quantizing->plans[0]);
    dti_quant_plan_free(quantizing->plans[1]);
}

static unsigned char *address(const struct dti_quantizing_place *place, size_t set)
{
    return (unsigned char *)dti_bench_memory_at(place->memory, set % place->memory->sets,
                                                place->operand) +
           place->at;
}

/* Uses the array code's own team. */
static enum dti_status pass(void *context, size_t set, struct dti_error *reterr)
{
    const struct dti_quantizing *const quantizing = context;
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < 2 && status == DTI_OK; i++) {
        float scale;
        int32_t zero_point;
        struct dti_quantized_array array = {.codes = address(&quantizing->codes[i], set),
                                            .scales = &scale,
                                            .zero_points = &zero_point};
        status = dti_quant_array(quantizing->plans[i], quantizing->team,
                                 address(&quantizing->numbers[i], set), &array, DTI_STORES_AUTO,
                                 NULL, reterr);
    }
    return status;
}

enum dti_status dti_quantizing_add(struct dti_quantizing *quantizing, enum dti_dtype dtype,
                                   struct dti_frame *frame, struct dti_error *reterr)
{
    char text[DTI_PLAN_TEXT_SIZE];
    const struct dti_format *const format = dti_format_get(dtype);
    const uint64_t elements = quantizing->elements[0] + quantizing->elements[1];
    quantizing->team = frame->team;
    for (size_t i = 0; i < 2; i++) {
        struct dti_quant_request request = dti_quantizing_request(1, quantizing->elements[i], 1);
        if (!dti_affine_recipe_init(&request.scheme.affine, format, DTI_SYMMETRY_FULL))
            return dti_fail(reterr, DTI_WRONG_KIND, "quantizing to %s is not supported",
                            format->name);
        const enum dti_status status =
            dti_quant_plan_new(&quantizing->plans[i], &request, frame->request->level, reterr);
        if (status != DTI_OK)
            return status;
    }
    (void)dti_quant_plan_describe(quantizing->plans[0], false, text);
    text[DTI_BENCH_WORDS - 1] = '\0';
    (void)dti_frame_add(frame, &(struct dti_bench_entry){
                                   .role = "quantize",
                                   .dtype = format->name,
                                   .engine = "dtinfo",
                                   .kernel = text,
                                   .arithmetic = "fp32, both operands: the range, then the codes",
                                   .bytes_read = 2 * elements * sizeof(float),
                                   .bytes_written = elements * format->width / 8,
                                   .pass = pass,
                                   .context = quantizing,
                                   .sets = quantizing->codes[0].memory->sets,
                               });
    return DTI_OK;
}

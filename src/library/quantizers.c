/* SPDX-License-Identifier: MIT
 *
 * The public functions of quantization: facts on blocks, and objects that quantize arrays. */
#include "library/quantizers.h"

#include <string.h>

#include "files/scan/loss_summary.h"
#include "util/run/allocate.h"

bool dti_block_at(size_t index, struct dti_block_info *ret)
{
    struct dti_block_info own = {.size = 0};
    if (index < dti_block_format_count) {
        const struct dti_block_format *const block = &dti_block_formats[index];
        own.name = block->name;
        own.summary = block->summary;
        own.code = dti_format_get(block->code);
        own.scale = dti_format_get(block->scale);
        own.length = block->length;
        own.bytes = block->bytes;
        own.encodes = true;
    } else if (index - dti_block_format_count < DTI_GGUF_BLOCKS_COUNT) {
        const struct dti_gguf_type *const type =
            dti_gguf_type_of((enum dti_gguf_blocks)(index - dti_block_format_count));
        own.name = type->word;
        own.length = type->elements;
        own.bytes = type->bytes;
        own.gguf = true;
        own.encodes = dti_gguf_encodes(type);
    } else {
        return false;
    }
    dti_struct_give(ret, &own, sizeof own);
    return true;
}

static void destroy(struct dti_quantizer *quantizer)
{
    dti_quant_plan_free(quantizer->plan);
    dti_plan_free(quantizer->load);
    dti_plan_free(quantizer->store);
    dti_free(quantizer);
}

enum dti_status dti_quantizer_new(struct dti_quantizer **ret, struct dti_context *context,
                                  const struct dti_quantize_spec *spec, struct dti_error *reterr)
{
    struct dti_quantize_spec taken;
    struct dti_error unwanted; /* the layers below need one */
    struct dti_call call;
    if (!dti_struct_take(&taken, sizeof taken, spec))
        return dti_struct_newer(reterr, "dti_quantize_spec");
    dti_call_begin(&call, &context->caller);
    reterr = reterr ? reterr : &unwanted;
    enum dti_status status = DTI_OK;
    struct dti_quantizer *const quantizer = dti_calloc(1, sizeof *quantizer);
    if (quantizer) {
        quantizer->context = context;
        status = dti_quantizer_plan(quantizer, &taken, reterr);
    } else {
        status = dti_no_memory(reterr);
    }
    if (status == DTI_OK)
        *ret = quantizer;
    else if (quantizer)
        destroy(quantizer);
    dti_call_end(&call);
    return status;
}

void dti_quantizer_free(struct dti_quantizer *quantizer)
{
    struct dti_call call;
    if (!quantizer)
        return;
    dti_call_begin(&call, &quantizer->context->caller);
    destroy(quantizer);
    dti_call_end(&call);
}

void dti_quantizer_sizes(const struct dti_quantizer *quantizer, struct dti_quantized_sizes *ret)
{
    dti_struct_give(ret, &quantizer->sizes, sizeof quantizer->sizes);
}

/* A buffer of every part that has bytes. */
static enum dti_status check_buffers(const struct dti_quantizer *quantizer,
                                     const struct dti_quantized *parts, const void *numbers,
                                     struct dti_error *reterr)
{
    const struct dti_quantized_sizes *const sizes = &quantizer->sizes;
    const struct {
        const char *name;
        const void *buffer;
        uint64_t bytes;
    } list[] = {{"codes", parts->codes, sizes->codes},
                {"scales", parts->scales, sizes->scales},
                {"zero_points", parts->zero_points, sizes->zero_points},
                {"nested_scales", parts->nested_scales, sizes->nested_scales},
                {"nested_map", parts->nested_map, sizes->nested_map},
                {"numbers", numbers, sizes->elements}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (!list[i].buffer && list[i].bytes > 0)
            return dti_fail(reterr, DTI_USAGE, "the buffer of %s is missing", list[i].name);
    return DTI_OK;
}

static void put_report(const struct dti_quantizer *quantizer, const struct dti_quant_report *report,
                       struct dti_quantize_report *ret)
{
    struct dti_loss_summary loss;
    dti_loss_summarize(&report->loss, &loss);
    const struct dti_quantize_report own = {
        .elements = quantizer->sizes.elements,
        .inexact = loss.inexact,
        .clipped = report->count.clipped,
        .special = report->count.special,
        .compared = loss.compared,
        .max_absolute = loss.max_absolute,
        .max_index = loss.max_index,
        .max_relative = loss.max_relative,
        .mean_absolute = loss.mean_absolute,
        .root_mean_square = loss.root_mean_square,
        .sqnr_db = loss.sqnr_db,
    };
    dti_struct_give(ret, &own, sizeof own);
}

enum dti_status dti_quantizer_run(const struct dti_quantizer *quantizer, const void *numbers,
                                  struct dti_quantized *ret, struct dti_quantize_report *ret_report,
                                  struct dti_error *reterr)
{
    struct dti_quantized parts;
    struct dti_quant_report report;
    struct dti_call call;
    if (!dti_struct_take(&parts, sizeof parts, ret))
        return dti_struct_newer(reterr, "dti_quantized");
    enum dti_status status = check_buffers(quantizer, &parts, numbers, reterr);
    if (status != DTI_OK)
        return status;
    dti_call_begin(&call, &quantizer->context->caller);
    dti_quant_report_init(&report);
    struct dti_team *const team = dti_context_borrow_team(quantizer->context);
    status = (quantizer->type ? dti_quantized_gguf_run : dti_quantized_parts_run)(
        quantizer, team, numbers, &parts, ret_report ? &report : NULL, reterr);
    dti_context_return_team(quantizer->context, team);
    dti_call_end(&call);
    if (status != DTI_OK)
        return status;
    dti_struct_give(ret, &parts, sizeof parts);
    if (ret_report)
        put_report(quantizer, &report, ret_report);
    return DTI_OK;
}

enum dti_status dti_quantizer_back(const struct dti_quantizer *quantizer,
                                   const struct dti_quantized *parts, void *ret_numbers,
                                   struct dti_error *reterr)
{
    struct dti_quantized taken;
    struct dti_call call;
    if (!dti_struct_take(&taken, sizeof taken, parts))
        return dti_struct_newer(reterr, "dti_quantized");
    enum dti_status status = check_buffers(quantizer, &taken, ret_numbers, reterr);
    if (status != DTI_OK)
        return status;
    if (!dti_format_is_float(&quantizer->number))
        return dti_fail(reterr, DTI_WRONG_KIND, "dequantized numbers are floats, and %s is not one",
                        quantizer->number.name);
    dti_call_begin(&call, &quantizer->context->caller);
    struct dti_team *const team = dti_context_borrow_team(quantizer->context);
    status = (quantizer->type ? dti_quantized_gguf_back : dti_quantized_parts_back)(
        quantizer, team, &taken, ret_numbers, reterr);
    dti_context_return_team(quantizer->context, team);
    dti_call_end(&call);
    return status;
}

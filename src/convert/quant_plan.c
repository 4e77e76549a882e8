/* SPDX-License-Identifier: MIT
 *
 * Turns a request into a quantization plan: which kernels to use, and their parameters. */
#include <stdlib.h>

#include "convert/plan_parts.h"
#include "convert/quant_plan_parts.h"

enum {
    ROW_LEAST = 1024, /* elements that a call for scales of their own should have */
};

/* The largest finite number of a float that fp32 holds. */
static float largest_of(const struct dti_format *format)
{
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value value;
    struct dti_outcome outcome;
    uint64_t code = 0;
    (void)dti_code_max(format, &code);
    dti_decode(format, code, &value);
    dti_encode(dti_format_get(DTI_FP32), &value, &nearest, 0, &outcome);
    return dti_quant_float((uint32_t)outcome.code);
}

/* Kernels are chosen by arguments as they will be given. */
static void choose_affine(struct dti_quant_plan *plan)
{
    static const float some = 1;
    float largest = 0;
    const struct dti_policy saturating = {.overflow = DTI_OVERFLOW_SATURATE,
                                          .nan = DTI_NAN_CANONICAL};
    const struct dti_affine_recipe *const recipe = &plan->request.scheme.affine;
    const struct dti_format *const code = &recipe->affine.code;
    plan->affine_args.affine = &recipe->affine;
    if (dti_format_is_float(code)) {
        dti_encoder_init(&plan->shared->encoder, code, &saturating);
        dti_decoder_init(&plan->shared->decoder, code);
        plan->affine_args.encoder = &plan->shared->encoder;
        plan->affine_args.decoder = &plan->shared->decoder;
        largest = largest_of(code);
    }
    struct dti_affine_args args = plan->affine_args;
    plan->affine = dti_quant_find_affine(false, &args, plan->level);
    plan->affine_back = dti_quant_find_affine(true, &args, plan->level);
    args.scales = args.inverses = &some;
    plan->columns = dti_quant_find_affine(false, &args, plan->level);
    plan->columns_back = dti_quant_find_affine(true, &args, plan->level);
    dti_quant_choice_init(&plan->choice, recipe, largest);
}

static void choose_blocks(struct dti_quant_plan *plan)
{
    const struct dti_quant_scheme *const scheme = &plan->request.scheme;
    struct dti_block_args *const args = &plan->block_args;
    dti_block_parts_init(&plan->shared->parts, &scheme->blocks);
    args->recipe = &scheme->blocks;
    args->parts = &plan->shared->parts;
    args->order = plan->request.order;
    args->code_stride = plan->block_bytes;
    args->scale_stride = plan->scale_bytes;
    plan->blocks = dti_quant_find_blocks(false, args, plan->level);
    plan->blocks_back = dti_quant_find_blocks(true, args, plan->level);
    struct dti_block_args bytes = *args;
    bytes.order = DTI_BLOCK_BYTES;
    plan->bytes = dti_quant_find_blocks(false, &bytes, plan->level);
}

static enum dti_status choose_numbers(struct dti_quant_plan *plan, struct dti_error *reterr)
{
    const struct dti_quant_request *const request = &plan->request;
    const struct dti_format *const fp32 = dti_format_get(DTI_FP32), *const number =
                                                                        &request->number;
    const struct dti_layout bare = {.packing = DTI_PACKING_BYTES};
    struct dti_request load = {.src = *number,
                               .src_layout = request->layout,
                               .dst_layout = bare,
                               .cast = {.dst = *fp32, .round_given = true}};
    struct dti_request store = {.src = *fp32,
                                .src_layout = bare,
                                .dst_layout = request->layout,
                                .cast = {.dst = *number, .round_given = true}};
    plan->number_bits = dti_format_stored_bits(number, &request->layout);
    plan->plain = dti_format_same(number, fp32) && !request->layout.swapped;
    if (plan->plain)
        return DTI_OK;
    if (plan->number_bits < 8) {
        const struct dti_kernel_args args = {
            .bits = number->width, .high_first = request->layout.packing == DTI_PACKING_HIGH};
        plan->pack_numbers = dti_kernel_find(DTI_OP_PACK, &args, plan->level);
        store.dst_layout = bare;
    }
    const enum dti_status status = dti_plan_new(&plan->load, &load, plan->level, reterr);
    if (status != DTI_OK || !dti_format_is_float(number))
        return status;
    return dti_plan_new(&plan->store, &store, plan->level, reterr);
}

static void choose_rest(struct dti_quant_plan *plan)
{
    const struct dti_format *const fp32 = dti_format_get(DTI_FP32);
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    const struct dti_kernel_args args = {.bits = plan->code_bits,
                                         .high_first = plan->request.order == DTI_BLOCK_HIGH};
    plan->range = dti_quant_find_range(false, plan->level);
    plan->range_columns = dti_quant_find_range(true, plan->level);
    if (plan->code_bits < 8) {
        plan->pack = dti_kernel_find(DTI_OP_PACK, &args, plan->level);
        plan->unpack = dti_kernel_find(DTI_OP_UNPACK, &args, plan->level);
    }
    dti_loss_rule_init(&plan->shared->loss_rule, fp32, fp32, &nearest);
    plan->loss = dti_loss_kernel_find(plan->shared->loss_rule.hub, plan->level);
}

/* What quantizes at all, here. */
static enum dti_status check(const struct dti_quant_request *request, struct dti_error *reterr)
{
    const struct dti_quant_scheme *const scheme = &request->scheme;
    const struct dti_format *const code = &scheme->affine.affine.code;
    struct dti_affine_recipe recipe;
    if (request->number.kind == DTI_KIND_COMPLEX)
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "arrays of %s cannot be quantized; quantize their parts, %s",
                        request->number.name, dti_format_get(request->number.component)->name);
    if (!scheme->block && scheme->per == DTI_PER_GROUP && scheme->group == 0)
        return dti_fail(reterr, DTI_USAGE, "a group cannot have 0 elements");
    if (scheme->nested && (!scheme->block || scheme->block->family != DTI_BLOCKS_NF ||
                           request->outer != 1 || request->inner != 1))
        return dti_fail(reterr, DTI_BUG, "nested scales of something else than a row of blocks");
    if (scheme->block)
        return DTI_OK;
    if (!dti_affine_recipe_init(&recipe, code, scheme->affine.symmetry) ||
        (dti_format_is_float(code) &&
         (!dti_encoder_takes_hub32(code) || !dti_format_fits_hub32(code))))
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "arrays cannot be quantized to %s; use an integer of 2 to 16 bits or a "
                        "float of at most 8 bits whose values fp32 holds",
                        code->name);
    return DTI_OK;
}

static void shape(struct dti_quant_plan *plan)
{
    const struct dti_quant_request *const request = &plan->request;
    const struct dti_quant_scheme *const scheme = &request->scheme;
    const struct dti_format *const code =
        scheme->block ? dti_format_get(scheme->block->code) : &scheme->affine.affine.code;
    plan->container = (unsigned)dti_format_container(code);
    plan->code_bits =
        code->width < 8 && request->order != DTI_BLOCK_BYTES ? code->width : 8 * plan->container;
    plan->scale_bytes = sizeof(float);
    if (scheme->block) {
        plan->group = scheme->block->length;
        plan->scale_bytes = dti_format_get(scheme->block->scale)->width / 8u;
        plan->block_bytes = (size_t)plan->group * plan->code_bits / 8;
        plan->alone = request->inner == 1;
    } else if (scheme->per == DTI_PER_GROUP) {
        plan->group = scheme->group;
        if (plan->group > request->length && request->length > 0 && !request->pad)
            plan->group = request->length;
    }
    plan->repeats = 1;
    if (scheme->per == DTI_PER_CHANNEL && request->inner == 1 && request->length > 0 &&
        request->length < ROW_LEAST)
        plan->repeats = (size_t)(ROW_LEAST / request->length) + 1;
}

static enum dti_status too_large(struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_USAGE, "the array is too large: its size does not fit 64 bits");
}

enum dti_status dti_quant_plan_new(struct dti_quant_plan **ret,
                                   const struct dti_quant_request *request, enum dti_level allowed,
                                   struct dti_error *reterr)
{
    enum dti_status status = check(request, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_quant_plan *const plan = calloc(1, sizeof *plan);
    if (plan)
        plan->shared = calloc(1, sizeof *plan->shared);
    if (!plan || !plan->shared) {
        dti_quant_plan_free(plan);
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    }
    plan->request = *request;
    plan->request.scheme.blocks.format = request->scheme.block;
    if (request->scheme.block)
        plan->request.scheme.per = DTI_PER_GROUP;
    plan->level = allowed;
    shape(plan);
    if (dti_quant_measure(plan)) {
        if (request->scheme.block)
            choose_blocks(plan);
        else
            choose_affine(plan);
        choose_rest(plan);
        status = choose_numbers(plan, reterr);
    } else {
        status = too_large(reterr);
    }
    if (status != DTI_OK) {
        dti_quant_plan_free(plan);
        return status;
    }
    *ret = plan;
    return DTI_OK;
}

/* Arguments of kernels point into `like`, where the scheme is the same. */
enum dti_status dti_quant_plan_new_like(struct dti_quant_plan **ret,
                                        const struct dti_quant_request *request,
                                        const struct dti_quant_plan *like, struct dti_error *reterr)
{
    struct dti_quant_plan *const plan = malloc(sizeof *plan);
    if (!plan)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    *plan = *like;
    plan->borrows = true;
    plan->request.outer = request->outer;
    plan->request.length = request->length;
    plan->request.inner = request->inner;
    plan->request.pad = request->pad;
    shape(plan);
    if (!dti_quant_measure(plan)) {
        dti_quant_plan_free(plan);
        return too_large(reterr);
    }
    *ret = plan;
    return DTI_OK;
}

void dti_quant_plan_free(struct dti_quant_plan *plan)
{
    if (!plan)
        return;
    if (!plan->borrows) {
        dti_plan_free(plan->load);
        dti_plan_free(plan->store);
        free(plan->shared);
    }
    free(plan);
}

const struct dti_quant_request *dti_quant_plan_request(const struct dti_quant_plan *plan)
{
    return &plan->request;
}

void dti_quant_plan_sizes(const struct dti_quant_plan *plan, struct dti_quant_sizes *ret)
{
    *ret = plan->sizes;
}

size_t dti_quant_plan_scratch(const struct dti_quant_plan *plan)
{
    (void)plan;
    return sizeof(struct dti_quant_scratch);
}

const char *dti_quant_plan_describe(const struct dti_quant_plan *plan, bool back,
                                    char buffer[DTI_PLAN_TEXT_SIZE])
{
    const struct dti_quant_scheme *const scheme = &plan->request.scheme;
    const bool each = scheme->per == DTI_PER_CHANNEL ? plan->request.inner < DTI_QUANT_RUN_LEAST
                                                     : plan->group > 0 && plan->request.inner > 1;
    const bool packs = plan->code_bits < 8 && !plan->alone;
    const struct dti_plan *const numbers = back ? plan->store : plan->load;
    char text[DTI_PLAN_TEXT_SIZE];
    buffer[0] = '\0';
    if (!back && numbers)
        dti_plan_text_add(buffer, dti_plan_describe(numbers, text));
    if (back && packs)
        dti_plan_text_add(buffer, dti_kernel_title(plan->unpack->name));
    if (!back && ((plan->group > 0 && !scheme->block) || dti_quant_plan_needs_range(plan)))
        dti_plan_text_add(buffer,
                          dti_kernel_title((each ? plan->range_columns : plan->range)->name));
    if (scheme->block)
        dti_plan_text_add(buffer, dti_kernel_title((back                      ? plan->blocks_back
                                                    : plan->request.inner > 1 ? plan->bytes
                                                                              : plan->blocks)
                                                       ->name));
    else if (back)
        dti_plan_text_add(buffer,
                          dti_kernel_title((each ? plan->columns_back : plan->affine_back)->name));
    else
        dti_plan_text_add(buffer, dti_kernel_title((each ? plan->columns : plan->affine)->name));
    if (!back && packs)
        dti_plan_text_add(buffer, dti_kernel_title(plan->pack->name));
    if (back && numbers)
        dti_plan_text_add(buffer, dti_plan_describe(numbers, text));
    return buffer;
}

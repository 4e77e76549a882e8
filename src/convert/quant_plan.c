/* SPDX-License-Identifier: MIT
 *
 * Compiles a request to a quantization plan: the kernels and their parameters; the shape of
 * codes and scales: how many, how they are packed, and where an array may be cut. Also code
 * shared by quantization and dequantization: kernel arguments, the position of a piece in its
 * arrays, and the scale of a range. The scale is computed in hardware fp32 if that gives the
 * same result as dti_affine_choose(), because there may be one for every few elements. */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "convert/plan_parts.h"
#include "convert/quant_plan_parts.h"
#include "kernels/quant/nested_scales.h"
#include "util/checked.h"
#include "util/run/allocate.h"

/* Whether the compiler rounds fp32 expressions to fp32. */
enum { PLAIN_FLOATS = FLT_EVAL_METHOD == 0 };

/* largest: largest finite number of a float code. */
static void quant_choice_init(struct dti_quant_choice *ret, const struct dti_affine_recipe *recipe,
                              float largest)
{
    const struct dti_affine *const affine = &recipe->affine;
    const bool real = dti_format_is_float(&affine->code);
    const bool torch = recipe->zero == DTI_ZERO_TORCH && !real;
    struct dti_affine_scale nothing;
    dti_affine_choose(recipe, 0, 0, &nothing);
    ret->zero_point = nothing.zero_point;
    ret->nothing = dti_quant_float(nothing.scale);
    ret->least = recipe->least > 0 ? dti_quant_float(recipe->least) : torch ? FLT_EPSILON : FLT_MIN;
    ret->widens = !real && recipe->symmetry == DTI_SYMMETRY_NONE;
    ret->divisor = real          ? largest
                   : ret->widens ? (float)(affine->high - affine->low)
                   : recipe->symmetry == DTI_SYMMETRY_FULL
                       ? (float)(affine->high - nothing.zero_point)
                       : (float)(affine->high - affine->low) / 2;
}

/* Rounds |number| < 2^22 to the nearest integer, ties to even. */
static int32_t nearest(float number)
{
    const float sum = number + 12582912.0F; /* 2^23 + 2^22: moves the integer into the mantissa */
    return (int32_t)(dti_quant_bits(sum) - UINT32_C(0x4b400000));
}

static int32_t zero_point_of(const struct dti_affine_recipe *recipe, float min, float scale)
{
    const int32_t low = recipe->affine.low, high = recipe->affine.high;
    const float steps = min / scale; /* little more than the number of codes */
    const int32_t zero =
        recipe->zero == DTI_ZERO_TORCH ? low - nearest(steps) : nearest((float)low - steps);
    return zero < low ? low : zero > high ? high : zero;
}

struct dti_affine_scale dti_quant_choose(const struct dti_quant_plan *plan,
                                         const struct dti_range *range)
{
    const struct dti_quant_scheme *const scheme = &plan->request.scheme;
    const struct dti_quant_choice *const choice = &plan->choice;
    const bool none = !(range->min <= range->max); /* no finite number */
    const float min = !none && range->min < 0 ? range->min : 0;
    const float max = !none && range->max > 0 ? range->max : 0;
    const float low = none ? 0 : fabsf(range->min), high = none ? 0 : fabsf(range->max);
    const float size = choice->widens ? max - min : low > high ? low : high;
    struct dti_affine_scale scale = scheme->scale;
    if (scheme->fixed)
        return scale;
    if (!PLAIN_FLOATS || size > FLT_MAX) {
        dti_affine_choose(&scheme->affine, dti_quant_bits(none ? 0 : range->min),
                          dti_quant_bits(none ? 0 : range->max), &scale);
        return scale;
    }
    float quotient = size / choice->divisor;
    quotient = quotient > FLT_MAX ? FLT_MAX : quotient;
    quotient = quotient < choice->least ? choice->least : quotient;
    quotient = size > 0 ? quotient : choice->nothing;
    scale.scale = dti_quant_bits(quotient);
    scale.zero_point =
        choice->widens ? zero_point_of(&scheme->affine, min, quotient) : choice->zero_point;
    return scale;
}

enum { GRAIN_LEAST = DTI_QUANT_TILE };

/* Bytes of n contiguous codes. */
static bool code_bytes(const struct dti_quant_plan *plan, uint64_t n, uint64_t *ret)
{
    if (plan->code_bits >= 8)
        return dti_mul_u64(n, plan->container, ret);
    *ret = n / 8 * plan->code_bits + (n % 8 * plan->code_bits + 7) / 8;
    return true;
}

/* Bytes of the codes of `outer` rows of the axis, each `inner` times. */
static bool row_bytes(const struct dti_quant_plan *plan, uint64_t outer, uint64_t *ret)
{
    assert(!plan->alone || plan->group > 0);
    const uint64_t rest = plan->alone ? plan->places % plan->group : 0;
    uint64_t codes, row, last;
    if (rest == 0)
        return dti_mul_u64(outer, plan->places, &codes) &&
               dti_mul_u64(codes, plan->request.inner, &codes) && code_bytes(plan, codes, ret);
    /* each block starts at a whole byte */
    return code_bytes(plan, rest, &last) &&
           dti_mul_u64(plan->places / plan->group, plan->block_bytes, &row) &&
           dti_add_u64(row, last, &row) && dti_mul_u64(outer, row, ret);
}

/* A grain consists of units: groups, or whole rows if the last group of a row is short. It has
 * whole bytes on both sides and is large enough to be worth a call. */
static bool measure_grain(struct dti_quant_plan *plan)
{
    const struct dti_quant_request *const request = &plan->request;
    struct dti_quant_sizes *const sizes = &plan->sizes;
    const uint64_t group = plan->group, inner = request->inner, length = request->length;
    const bool groups = group > 0 && group < length && (plan->whole || request->outer == 1);
    uint64_t unit_codes = GRAIN_LEAST, unit_scales = 0, codes;
    plan->unit = GRAIN_LEAST;
    if (group > 0 && sizes->elements > 0) {
        plan->unit = groups ? group * inner : length * inner;
        unit_codes = groups ? plan->unit : plan->places * inner;
        unit_scales = groups ? inner : sizes->groups * inner;
    }
    if (request->scheme.nested && groups) {
        plan->unit *= DTI_NESTED_BLOCK;
        unit_codes *= DTI_NESTED_BLOCK;
        unit_scales *= DTI_NESTED_BLOCK;
    }
    assert(plan->unit > 0); /* as are elements, of which it is a part */
    uint64_t units = plan->unit < GRAIN_LEAST ? (GRAIN_LEAST + plan->unit - 1) / plan->unit : 1;
    if (plan->unit % 8 != 0 || unit_codes % 8 != 0)
        units = (units + 7) / 8 * 8;
    if (!dti_mul_u64(units, plan->unit, &sizes->grain) || sizes->grain >= sizes->elements) {
        sizes->grain = sizes->elements > 0 ? sizes->elements : GRAIN_LEAST; /* one piece */
        sizes->grain_code_bytes = sizes->code_bytes;
        sizes->grain_scales = group > 0 ? sizes->scales : 0;
        return true;
    }
    sizes->grain_scales = units * unit_scales;
    if (!groups && group > 0)
        return row_bytes(plan, units, &sizes->grain_code_bytes);
    return dti_mul_u64(units, unit_codes, &codes) &&
           code_bytes(plan, codes, &sizes->grain_code_bytes);
}

/* Computes sizes and shape from request, group, container, code_bits, alone, block_bytes and
 * scale_bytes; false on overflow. */
static bool quant_measure(struct dti_quant_plan *plan)
{
    const struct dti_quant_request *const request = &plan->request;
    struct dti_quant_sizes *const sizes = &plan->sizes;
    const uint64_t group = plan->group, length = request->length;
    uint64_t bytes;
    plan->whole = group == 0 || length % group == 0;
    plan->places = length;
    sizes->groups = group > 0 ? length / group + (length % group != 0) : 1;
    if (group == 0 && request->scheme.per == DTI_PER_CHANNEL)
        sizes->groups = length;
    if (group > 0 && request->pad && !dti_mul_u64(sizes->groups, group, &plan->places))
        return false;
    sizes->scales = sizes->groups;
    return dti_mul_u64(request->outer, length, &sizes->elements) &&
           dti_mul_u64(sizes->elements, request->inner, &sizes->elements) &&
           dti_mul_u64(sizes->elements, sizeof(float), &bytes) &&
           dti_format_bytes(&request->number, &request->layout, sizes->elements, &bytes) &&
           dti_mul_u64(request->outer, plan->places, &sizes->codes) &&
           dti_mul_u64(sizes->codes, request->inner, &sizes->codes) &&
           row_bytes(plan, 1, &plan->row_bytes) &&
           row_bytes(plan, request->outer, &sizes->code_bytes) &&
           (group == 0 || (dti_mul_u64(sizes->groups, request->outer, &sizes->scales) &&
                           dti_mul_u64(sizes->scales, request->inner, &sizes->scales))) &&
           dti_mul_u64(sizes->scales, plan->scale_bytes, &sizes->scale_bytes) &&
           measure_grain(plan);
}

uint64_t dti_quant_code_place(const struct dti_quant_plan *plan, uint64_t first, uint64_t at)
{
    const uint64_t row = plan->request.length * plan->request.inner;
    if (plan->places == plan->request.length)
        return at;
    /* add the padding of the rows in between; `first` starts a row, or no padding precedes it in
     * its row */
    const uint64_t more = (plan->places - plan->request.length) * plan->request.inner;
    return at + ((first + at) / row - first / row) * more;
}

uint64_t dti_quant_scale_place(const struct dti_quant_plan *plan, uint64_t first, uint64_t at)
{
    const uint64_t inner = plan->request.inner, row = plan->request.length * inner;
    const uint64_t of_row = plan->sizes.groups * inner, group = plan->group * inner;
    const uint64_t end = first + at;
    return end / row * of_row + end % row / group * inner + end % inner -
           (first / row * of_row + first % row / group * inner);
}

enum {
    ROW_LEAST = 1024, /* minimum elements in a call with one scale per element */
};

/* The largest finite number of a float format that fp32 can represent. */
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

/* Looks up kernels with the arguments that calls will pass. */
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
    if (plan->request.scheme.biased) {
        plan->biased = dti_quant_find_biased(false, plan->level);
        plan->biased_back = dti_quant_find_biased(true, plan->level);
        plan->biased_number = dti_quant_biased_number(&plan->request.number);
    }
    args.scales = args.inverses = &some;
    plan->columns = dti_quant_find_affine(false, &args, plan->level);
    plan->columns_back = dti_quant_find_affine(true, &args, plan->level);
    quant_choice_init(&plan->choice, recipe, largest);
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

enum dti_dtype dti_quant_biased_number(const struct dti_format *number)
{
    return number->id == DTI_FP16 || number->id == DTI_BF16 ? number->id : DTI_FP32;
}

/* Whether groups can have biases: whole ones along the last axis, of codes of at most 8 bits. */
static bool can_be_biased(const struct dti_quant_request *request)
{
    const struct dti_quant_scheme *const scheme = &request->scheme;
    const struct dti_format *const code = &scheme->affine.affine.code;
    return !scheme->block && scheme->per == DTI_PER_GROUP && !scheme->fixed && !request->pad &&
           code->kind == DTI_KIND_UINT && code->width <= 8 && scheme->group > 0 &&
           scheme->group % DTI_BIASED_LANES == 0 && scheme->group <= DTI_BIASED_MOST &&
           DTI_QUANT_TILE % scheme->group == 0 && request->inner <= 1 &&
           request->length % scheme->group == 0;
}

/* Whether all members are values of their enums. */
static bool exists(const struct dti_quant_request *request)
{
    const struct dti_quant_scheme *const scheme = &request->scheme;
    const struct dti_block_recipe *const blocks = &scheme->blocks;
    const struct dti_affine_recipe *const affine = &scheme->affine;
    return (unsigned)request->layout.packing <= DTI_PACKING_BYTES &&
           (unsigned)request->order <= DTI_BLOCK_BYTES && (unsigned)scheme->per <= DTI_PER_GROUP &&
           (unsigned)blocks->mx <= DTI_MX_RFLOOR && (unsigned)blocks->nv <= DTI_NV_UNROUNDED &&
           (unsigned)blocks->division <= DTI_DIVIDE_EXACT &&
           (unsigned)affine->affine.division <= DTI_DIVIDE_EXACT &&
           (unsigned)affine->affine.specials <= DTI_QUANT_AS_TORCH_CHANNEL &&
           (unsigned)affine->symmetry <= DTI_SYMMETRY_HALF &&
           (unsigned)affine->zero <= DTI_ZERO_TORCH;
}

/* Checks that the array can be quantized as requested. */
static enum dti_status check(const struct dti_quant_request *request, struct dti_error *reterr)
{
    const struct dti_quant_scheme *const scheme = &request->scheme;
    const struct dti_format *const code = &scheme->affine.affine.code;
    struct dti_affine_recipe recipe;
    if (!exists(request))
        return dti_fail(reterr, DTI_USAGE, "a quantization with a policy that does not exist");
    if (request->number.kind == DTI_KIND_COMPLEX)
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "arrays of %s cannot be quantized; quantize their parts, %s",
                        request->number.name, dti_format_get(request->number.component)->name);
    if (!scheme->block && scheme->per == DTI_PER_GROUP && scheme->group == 0)
        return dti_fail(reterr, DTI_USAGE, "a group cannot have 0 elements");
    if (scheme->nested && (!scheme->block || scheme->block->family != DTI_BLOCKS_NF ||
                           request->outer != 1 || request->inner != 1))
        return dti_fail(reterr, DTI_BUG, "nested scales of something else than a row of blocks");
    if (scheme->biased && !can_be_biased(request))
        return dti_fail(reterr, DTI_USAGE,
                        "biases are for unsigned codes of at most 8 bits, in whole groups of 16, "
                        "32, 64 or 128 along the last axis");
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
    struct dti_quant_plan *const plan = dti_calloc(1, sizeof *plan);
    if (plan)
        plan->shared = dti_calloc(1, sizeof *plan->shared);
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
    if (quant_measure(plan)) {
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

/* Copies the plan; kernel arguments point into `like`, because the scheme is the same. */
enum dti_status dti_quant_plan_new_like(struct dti_quant_plan **ret,
                                        const struct dti_quant_request *request,
                                        const struct dti_quant_plan *like, struct dti_error *reterr)
{
    struct dti_quant_plan *const plan = dti_malloc(sizeof *plan);
    if (!plan)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    *plan = *like;
    plan->borrows = true;
    plan->request.outer = request->outer;
    plan->request.length = request->length;
    plan->request.inner = request->inner;
    plan->request.pad = request->pad;
    shape(plan);
    if (!quant_measure(plan)) {
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
        dti_free(plan->shared);
    }
    dti_free(plan);
}

const struct dti_quant_request *dti_quant_plan_request(const struct dti_quant_plan *plan)
{
    return &plan->request;
}

bool dti_quant_plan_needs_range(const struct dti_quant_plan *plan)
{
    const struct dti_quant_scheme *const scheme = &plan->request.scheme;
    return scheme->block
               ? scheme->nested || (scheme->tensor_scale && scheme->block->family == DTI_BLOCKS_NV)
               : !scheme->fixed && scheme->per != DTI_PER_GROUP;
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
    if (!back && ((plan->group > 0 && !scheme->block && !scheme->biased) ||
                  dti_quant_plan_needs_range(plan)))
        dti_plan_text_add(buffer,
                          dti_kernel_title((each ? plan->range_columns : plan->range)->name));
    if (scheme->block)
        dti_plan_text_add(buffer, dti_kernel_title((back                      ? plan->blocks_back
                                                    : plan->request.inner > 1 ? plan->bytes
                                                                              : plan->blocks)
                                                       ->name));
    else if (scheme->biased)
        dti_plan_text_add(buffer,
                          dti_kernel_title((back ? plan->biased_back : plan->biased)->name));
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

struct dti_affine_args dti_quant_affine_args(const struct dti_quant_job *job,
                                             const struct dti_affine_scale *scale)
{
    struct dti_affine_args args = job->plan->affine_args;
    args.scale = dti_quant_float(scale->scale);
    args.inverse = 1 / args.scale;
    args.zero_point = scale->zero_point;
    args.stream = job->stream;
    return args;
}

struct dti_affine_args dti_quant_channel_args(const struct dti_quant_job *job, size_t channel)
{
    struct dti_affine_args args = job->plan->affine_args;
    args.scale = job->known->scale[channel];
    args.inverse = job->known->inverse[channel];
    args.zero_point = job->known->zero_point[channel];
    args.stream = job->stream;
    args.ahead = job->ahead;
    return args;
}

struct dti_block_args dti_quant_block_args(const struct dti_quant_job *job, bool bytes)
{
    struct dti_block_args args = job->plan->block_args;
    args.recipe = &job->recipe;
    args.stream = job->stream;
    if (bytes) {
        args.order = DTI_BLOCK_BYTES;
        args.code_stride = (size_t)job->plan->group;
        args.stream = NULL;
    }
    return args;
}

const struct dti_streaming *dti_quant_streaming(const struct dti_quant_plan *plan,
                                                enum dti_stores stores, uint64_t n)
{
    const uint64_t bytes = n / 8 * (plan->number_bits + plan->code_bits);
    return dti_stores_stream(stores, bytes) ? dti_streaming_for(bytes) : NULL;
}

void dti_quant_spread(const struct dti_quant_job *job, uint64_t at, size_t n)
{
    const uint64_t inner = job->plan->request.inner, e = job->first + at;
    struct dti_quant_scratch *const scratch = job->scratch;
    size_t channel = (size_t)(e / inner % job->known->count);
    uint64_t left = inner - e % inner;
    for (size_t i = 0; i < n; i++) {
        scratch->scale[i] = job->known->scale[channel];
        scratch->inverse[i] = job->known->inverse[channel];
        scratch->zero_point[i] = job->known->zero_point[channel];
        if (--left == 0) {
            left = inner;
            channel = channel + 1 == job->known->count ? 0 : channel + 1;
        }
    }
}

struct dti_affine_args dti_quant_spread_args(const struct dti_quant_job *job)
{
    struct dti_affine_args args = job->plan->affine_args;
    args.scales = job->scratch->scale;
    args.inverses = job->scratch->inverse;
    args.zero_points = job->scratch->zero_point;
    args.stream = job->stream;
    return args;
}

size_t dti_quant_block_offset(const struct dti_quant_plan *plan, uint64_t first, uint64_t at)
{
    const uint64_t length = plan->request.length, end = first + at;
    if (plan->whole) /* row boundaries do not matter */
        return (size_t)(at / plan->group) * plan->block_bytes;
    const uint64_t rows = end / length - first / length;
    return (size_t)(rows * plan->row_bytes) +
           (size_t)(end % length / plan->group - first % length / plan->group) * plan->block_bytes;
}

void dti_quant_clear(const struct dti_quant_job *job)
{
    const struct dti_quant_plan *const plan = job->plan;
    const uint64_t codes = dti_quant_code_place(plan, job->first, job->n);
    if (plan->code_bits < 8)
        memset(job->codes, 0, (size_t)((codes * plan->code_bits + 7) / 8));
}

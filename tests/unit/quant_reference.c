/* SPDX-License-Identifier: MIT
 *
 * The reference for quantization plans: whole arrays, element by element, by the definitions of
 * quant.h with plain index arithmetic. Slow. */
#include "quant_reference.h"

#include <string.h>

/* An array and the positions of its elements, codes and scales. */
struct reference_array {
    const struct dti_quant_request *request;
    const struct dti_quant_scheme *scheme;
    const struct dti_format *code;
    uint64_t group, groups, places; /* along the axis; group: 0 for per tensor and per channel */
    struct dti_block_recipe recipe;
    const struct dti_quantized_array *array;
};

static struct reference_array whole_of(const struct dti_quant_request *request,
                                       const struct dti_quantized_array *array)
{
    const struct dti_quant_scheme *const scheme = &request->scheme;
    struct reference_array w = {.request = request, .scheme = scheme, .array = array};
    w.code = scheme->block ? dti_format_get(scheme->block->code) : &scheme->affine.affine.code;
    w.group = scheme->block                  ? scheme->block->length
              : scheme->per == DTI_PER_GROUP ? scheme->group
                                             : 0;
    w.groups = w.group > 0 ? (request->length + w.group - 1) / w.group : 0;
    w.places = request->pad && w.group > 0 ? w.groups * w.group : request->length;
    w.recipe = scheme->blocks;
    w.recipe.format = scheme->block;
    return w;
}

static uint32_t fp32_of(const struct dti_format *format, uint64_t code)
{
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_value value;
    struct dti_outcome outcome;
    dti_decode(format, code, &value);
    dti_encode(dti_format_get(DTI_FP32), &value, &nearest, 0, &outcome);
    return (uint32_t)outcome.code;
}

static uint32_t number_at(const struct reference_array *w, const void *numbers, uint64_t element)
{
    return fp32_of(&w->request->number,
                   dti_storage_get(&w->request->number, &w->request->layout, numbers, element));
}

/* The index of element (o, a, i); a may be beyond the axis. */
static uint64_t element_at(const struct reference_array *w, uint64_t o, uint64_t a, uint64_t i)
{
    return (o * w->request->length + a) * w->request->inner + i;
}

static uint64_t scale_at(const struct reference_array *w, uint64_t o, uint64_t a, uint64_t i)
{
    if (w->group > 0)
        return (o * w->groups + a / w->group) * w->request->inner + i;
    return w->scheme->per == DTI_PER_CHANNEL ? a : 0;
}

/* The bit offset of a code. Blocks along the last axis are packed block by block. */
static uint64_t code_bit(const struct reference_array *w, uint64_t o, uint64_t a, uint64_t i,
                         unsigned bits)
{
    if (!w->scheme->block || w->request->inner > 1)
        return ((o * w->places + a) * w->request->inner + i) * bits;
    const uint64_t block = w->group * bits, last = (w->places % w->group * bits + 7) / 8 * 8;
    const uint64_t row = w->places / w->group * block + last;
    return o * row + a / w->group * block + a % w->group * bits;
}

static void put_code(const struct reference_array *w, uint64_t o, uint64_t a, uint64_t i,
                     uint32_t code)
{
    unsigned char *const codes = w->array->codes;
    const bool bytes = w->code->width >= 8 || w->request->order == DTI_BLOCK_BYTES;
    const unsigned bits = bytes ? (unsigned)dti_format_container(w->code) * 8 : w->code->width;
    const uint64_t at = code_bit(w, o, a, i, bits);
    if (bytes) {
        const uint16_t half = (uint16_t)code;
        const unsigned char byte = (unsigned char)code;
        memcpy(codes + at / 8, bits == 16 ? (const void *)&half : (const void *)&byte, bits / 8);
        return;
    }
    for (unsigned bit = 0; bit < bits; bit++) {
        const bool high = w->request->order == DTI_BLOCK_HIGH;
        const uint64_t to = at + bit;
        const uint32_t value = code >> (high ? bits - 1 - bit : bit) & 1;
        codes[to / 8] |= (unsigned char)(value << (high ? 7 - to % 8 : to % 8));
    }
}

static uint32_t get_code(const struct reference_array *w, uint64_t o, uint64_t a, uint64_t i)
{
    const unsigned char *const codes = w->array->codes;
    const bool bytes = w->code->width >= 8 || w->request->order == DTI_BLOCK_BYTES;
    const unsigned bits = bytes ? (unsigned)dti_format_container(w->code) * 8 : w->code->width;
    const uint64_t at = code_bit(w, o, a, i, bits);
    uint16_t half;
    uint32_t code = 0;
    if (bits == 16) {
        memcpy(&half, codes + at / 8, sizeof half);
        return half;
    }
    if (bytes)
        return codes[at / 8];
    for (unsigned bit = 0; bit < bits; bit++) {
        const bool high = w->request->order == DTI_BLOCK_HIGH;
        const uint64_t from = at + bit;
        const uint32_t value = codes[from / 8] >> (high ? 7 - from % 8 : from % 8) & 1;
        code |= value << (high ? bits - 1 - bit : bit);
    }
    return code;
}

static bool less(uint32_t a, uint32_t b)
{
    struct dti_value x, y;
    dti_decode(dti_format_get(DTI_FP32), a, &x);
    dti_decode(dti_format_get(DTI_FP32), b, &y);
    return dti_value_compare(&x, &y) < 0;
}

/* The range of finite numbers; 0 to 0 if there are none. */
struct number_range {
    uint32_t min, max;
    bool any;
};

static void widen(struct number_range *range, uint32_t x)
{
    if ((x & UINT32_C(0x7f800000)) == UINT32_C(0x7f800000))
        return;
    if (!range->any || less(x, range->min))
        range->min = x;
    if (!range->any || less(range->max, x))
        range->max = x;
    range->any = true;
}

/* The range over o0 to o1, a0 to a1, i0 to i1; upper bounds are exclusive. */
static struct number_range range_of(const struct reference_array *w, const void *numbers,
                                    uint64_t o0, uint64_t o1, uint64_t a0, uint64_t a1, uint64_t i0,
                                    uint64_t i1)
{
    struct number_range range = {.min = 0};
    for (uint64_t o = o0; o < o1; o++)
        for (uint64_t a = a0; a < a1 && a < w->request->length; a++)
            for (uint64_t i = i0; i < i1; i++)
                widen(&range, number_at(w, numbers, element_at(w, o, a, i)));
    return range;
}

static struct number_range range_of_all(const struct reference_array *w, const void *numbers)
{
    const struct dti_quant_request *const r = w->request;
    return range_of(w, numbers, 0, r->outer, 0, r->length, 0, r->inner);
}

static struct number_range range_of_scale(const struct reference_array *w, const void *numbers,
                                          uint64_t place)
{
    const struct dti_quant_request *const r = w->request;
    if (w->group > 0) {
        const uint64_t i = place % r->inner, g = place / r->inner % w->groups;
        const uint64_t o = place / r->inner / w->groups;
        return range_of(w, numbers, o, o + 1, g * w->group, (g + 1) * w->group, i, i + 1);
    }
    if (w->scheme->per == DTI_PER_CHANNEL)
        return range_of(w, numbers, 0, r->outer, place, place + 1, 0, r->inner);
    return range_of_all(w, numbers);
}

static struct dti_affine_scale get_scale(const struct reference_array *w, uint64_t place)
{
    struct dti_affine_scale scale;
    memcpy(&scale.scale, (const unsigned char *)w->array->scales + 4 * place, 4);
    scale.zero_point = w->array->zero_points[place];
    return scale;
}

static void quantize_affine(const struct reference_array *w, const void *numbers, uint64_t scales,
                            struct dti_quant_count *count)
{
    const struct dti_quant_request *const r = w->request;
    const struct dti_affine *const affine = &w->scheme->affine.affine;
    for (uint64_t place = 0; place < scales; place++) {
        struct dti_affine_scale scale = w->scheme->scale;
        const struct number_range range = range_of_scale(w, numbers, place);
        if (!w->scheme->fixed)
            dti_affine_choose(&w->scheme->affine, range.min, range.max, &scale);
        memcpy((unsigned char *)w->array->scales + 4 * place, &scale.scale, 4);
        w->array->zero_points[place] = scale.zero_point;
    }
    for (uint64_t o = 0; o < r->outer; o++)
        for (uint64_t a = 0; a < w->places; a++)
            for (uint64_t i = 0; i < r->inner; i++) {
                const struct dti_affine_scale scale = get_scale(w, scale_at(w, o, a, i));
                const bool real = a < r->length;
                struct dti_quantized_number q;
                dti_affine_quantize(affine, &scale,
                                    real ? number_at(w, numbers, element_at(w, o, a, i)) : 0, &q);
                put_code(w, o, a, i, q.code);
                count->clipped += q.clipped;
                count->special += q.special;
            }
}

static void quantize_block(const struct reference_array *w, const void *numbers, uint64_t o,
                           uint64_t g, uint64_t i, struct dti_quant_count *count)
{
    const uint64_t begin = g * w->group;
    const uint64_t n = w->places - begin < w->group ? w->places - begin : w->group;
    const unsigned width = dti_format_get(w->scheme->block->scale)->width / 8u;
    struct dti_quantized_block block;
    uint32_t x[DTI_BLOCK_LENGTH_MAX];
    for (uint64_t k = 0; k < n; k++)
        x[k] = begin + k < w->request->length
                   ? number_at(w, numbers, element_at(w, o, begin + k, i))
                   : 0;
    dti_block_quantize(&w->recipe, x, (size_t)n, &block);
    for (uint64_t k = 0; k < n; k++)
        put_code(w, o, begin + k, i, block.code[k]);
    const uint64_t place = scale_at(w, o, begin, i);
    for (unsigned k = 0; k < width; k++)
        ((unsigned char *)w->array->scales)[place * width + k] =
            (unsigned char)(block.scale >> (8 * k));
    count->clipped += block.clipped;
    count->blocks += block.clipped > 0;
    count->special += block.special;
}

static uint32_t back_at(const struct reference_array *w, uint64_t element)
{
    const struct dti_quant_request *const r = w->request;
    const uint64_t i = element % r->inner, a = element / r->inner % r->length;
    const uint64_t o = element / r->inner / r->length, place = scale_at(w, o, a, i);
    const uint32_t code = get_code(w, o, a, i);
    if (!w->scheme->block) {
        const struct dti_affine_scale scale = get_scale(w, place);
        return dti_affine_dequantize(&w->scheme->affine.affine, &scale, code);
    }
    const unsigned width = dti_format_get(w->scheme->block->scale)->width / 8u;
    uint32_t scale = 0;
    for (unsigned k = 0; k < width; k++)
        scale |= (uint32_t)((const unsigned char *)w->array->scales)[place * width + k] << (8 * k);
    return dti_block_dequantize(&w->recipe, scale, code);
}

/* Compares tile by tile. Tiles restart at each grain. */
static void compare(const struct reference_array *w, const void *numbers, uint64_t elements,
                    uint64_t grain, struct dti_loss *loss)
{
    const struct dti_format *const fp32 = dti_format_get(DTI_FP32);
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_loss_rule rule;
    struct dti_value source[DTI_TILE];
    uint64_t stored[DTI_TILE];
    dti_loss_rule_init(&rule, fp32, fp32, &nearest);
    for (uint64_t at = 0, part; at < elements; at += part) {
        const uint64_t left = grain - at % grain, rest = elements - at;
        part = left < DTI_TILE ? left : DTI_TILE;
        part = part < rest ? part : rest;
        for (uint64_t k = 0; k < part; k++) {
            dti_decode(fp32, number_at(w, numbers, at + k), &source[k]);
            stored[k] = back_at(w, at + k);
        }
        dti_loss_add_values(&rule, source, stored, (size_t)part, at, loss);
    }
}

void dti_quant_reference(const struct dti_quant_plan *plan, const void *numbers,
                         struct dti_quantized_array *array, struct dti_quant_report *report)
{
    const struct dti_quant_request *const request = dti_quant_plan_request(plan);
    struct dti_quant_sizes sizes;
    struct reference_array w = whole_of(request, array);
    dti_quant_plan_sizes(plan, &sizes);
    memset(array->codes, 0, (size_t)sizes.code_bytes);
    w.recipe.tensor_scale = UINT32_C(0x3f800000);
    if (w.scheme->block && w.scheme->tensor_scale && w.scheme->block->family == DTI_BLOCKS_NV) {
        const struct number_range range = range_of_all(&w, numbers);
        const uint32_t low = range.min & UINT32_C(0x7fffffff);
        const uint32_t high = range.max & UINT32_C(0x7fffffff);
        w.recipe.tensor_scale = dti_nv_tensor_scale(w.recipe.nv, low > high ? low : high);
    }
    memcpy(&array->tensor_scale, &w.recipe.tensor_scale, sizeof w.recipe.tensor_scale);
    if (!w.scheme->block) {
        quantize_affine(&w, numbers, sizes.scales, &report->count);
    } else {
        for (uint64_t o = 0; o < request->outer; o++)
            for (uint64_t g = 0; g < w.groups; g++)
                for (uint64_t i = 0; i < request->inner; i++)
                    quantize_block(&w, numbers, o, g, i, &report->count);
    }
    compare(&w, numbers, sizes.elements, sizes.grain, &report->loss);
}

void dti_quant_reference_back(const struct dti_quant_plan *plan,
                              const struct dti_quantized_array *array, void *numbers)
{
    const struct dti_quant_request *const request = dti_quant_plan_request(plan);
    const struct dti_policy nearest = {.round = DTI_ROUND_NEAREST_EVEN};
    struct dti_quant_sizes sizes;
    struct reference_array w = whole_of(request, array);
    dti_quant_plan_sizes(plan, &sizes);
    memcpy(&w.recipe.tensor_scale, &array->tensor_scale, sizeof w.recipe.tensor_scale);
    for (uint64_t e = 0; e < sizes.elements; e++) {
        struct dti_value value;
        struct dti_outcome outcome;
        dti_decode(dti_format_get(DTI_FP32), back_at(&w, e), &value);
        dti_encode(&request->number, &value, &nearest, e, &outcome);
        dti_storage_put(&request->number, &request->layout, numbers, e, outcome.code);
    }
}

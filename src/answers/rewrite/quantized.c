/* SPDX-License-Identifier: MIT
 *
 * Derived results of quantized values: quotients, errors, packed bytes; and their JSON. */
#include "answers/rewrite/quantized.h"

#include <assert.h>

#include "answers/rows.h"
#include "core/block/quant_parts.h"
#include "core/dtype/storage.h"
#include "core/number/spell.h"

uint32_t dti_quant_multiplier(const struct dti_quant_result *result,
                              const struct dti_quant_group *group)
{
    const struct dti_block_format *const block = result->target->scheme.block;
    struct dti_value scale;
    if (!block)
        return group->affine.scale;
    dti_decode(dti_format_get(block->scale), group->scale, &scale);
    const uint32_t own = dti_fp32_round(&scale);
    return block->family == DTI_BLOCKS_NV ? dti_fp32_multiply(own, result->recipe.tensor_scale)
                                          : own;
}

void dti_quant_code_number(const struct dti_quant_target *target, uint32_t code,
                           struct dti_value *ret_value)
{
    const struct dti_block_format *const block = target->scheme.block;
    const enum dti_block id = block ? block->id : DTI_BLOCK_COUNT;
    if (block && block->family == DTI_BLOCKS_NF) {
        dti_fp32_value(dti_block_table(block)[code & 15], ret_value);
        return;
    }
    if (id == DTI_BLOCK_Q4_0) {
        const bool negative = code < 8;
        dti_value_set(ret_value, negative, negative ? 8 - code : code - 8, 0);
        return;
    }
    dti_decode(&target->code, code, ret_value);
    if (id == DTI_BLOCK_MXINT8 && ret_value->kind == DTI_CLASS_FINITE)
        ret_value->exponent -= 6;
}

/* ggml's d, before it is stored with fewer bits. */
static uint32_t ggml_scale(const struct dti_quant_result *result,
                           const struct dti_quant_group *group)
{
    const uint32_t eighth = UINT32_C(0xc1000000), largest = UINT32_C(0x42fe0000); /* -8, 127 */
    assert(result->target->scheme.block);
    if (result->target->scheme.block->family == DTI_BLOCKS_Q8)
        return dti_fp32_divide(group->amax, largest);
    for (size_t i = group->first; i < group->first + group->count; i++) {
        const uint32_t x = result->numbers->list[i].x;
        if (dti_fp32_magnitude(x) == group->amax)
            return dti_fp32_divide(x, eighth);
    }
    return 0;
}

/* x r, or x / s if the reciprocal r is infinite. */
static uint32_t by_reciprocal(uint32_t x, uint32_t reciprocal, uint32_t scale)
{
    return dti_fp32_is_finite(reciprocal) ? dti_fp32_multiply(x, reciprocal)
                                          : dti_fp32_divide(x, scale);
}

/* nvfp4 by the scale before it is rounded: *ret_scale of the block, and with that of the tensor. */
static uint32_t unrounded_scale(const struct dti_block_recipe *recipe, uint32_t amax,
                                uint32_t *ret_scale)
{
    const uint32_t six = UINT32_C(0x40c00000), sixth = dti_fp32_divide(amax, six);
    *ret_scale = dti_fp32_divide(sixth, recipe->tensor_scale);
    return recipe->division == DTI_DIVIDE_EXACT ? sixth
           : recipe->tensor_divisor ? dti_fp32_divide(*ret_scale, recipe->tensor_divisor)
                                    : dti_fp32_multiply(*ret_scale, recipe->tensor_scale);
}

/* The quotient before rounding to a code; false if there is none. */
static bool find_scaled(const struct dti_quant_result *result, const struct dti_quant_group *group,
                        uint32_t x, struct dti_value *ret_value)
{
    const struct dti_quant_target *const target = result->target;
    const unsigned family = dti_quant_family(target);
    const enum dti_quant_division division =
        target->scheme.block ? result->recipe.division : target->scheme.affine.affine.division;
    uint32_t scale = dti_quant_multiplier(result, group), reciprocal = 0;
    struct dti_value scale_value;
    uint32_t of_block = 0;
    if (family == DTI_FAMILY_GGML)
        scale = ggml_scale(result, group);
    if (family == DTI_FAMILY_NV) {
        assert(target->scheme.block);
        dti_decode(dti_format_get(target->scheme.block->scale), group->scale, &scale_value);
        of_block = dti_fp32_round(&scale_value);
    }
    if (family == DTI_FAMILY_NV && result->recipe.nv == DTI_NV_UNROUNDED)
        scale = unrounded_scale(&result->recipe, group->amax, &of_block);
    if (!dti_fp32_is_finite(x) || !dti_fp32_is_finite(scale) || dti_fp32_is_zero(scale))
        return false;
    if (family == DTI_FAMILY_MX || (family != DTI_FAMILY_GGML && division == DTI_DIVIDE_EXACT)) {
        dti_fp32_value(x, ret_value);
        dti_fp32_value(scale, &scale_value);
        (void)dti_value_divide(ret_value, ret_value, &scale_value);
        return true;
    }
    reciprocal = dti_fp32_divide(DTI_FP32_ONE, scale);
    if (family == DTI_FAMILY_NV) /* 1 / tensor scale / block's scale */
        reciprocal =
            dti_fp32_divide(dti_fp32_divide(DTI_FP32_ONE, result->recipe.tensor_scale), of_block);
    if (family & DTI_FAMILY_AFFINE)
        x = division == DTI_DIVIDE_RECIPROCAL ? dti_fp32_multiply(x, reciprocal)
                                              : dti_fp32_divide(x, scale);
    else if (family == DTI_FAMILY_GGML)
        x = dti_fp32_is_finite(reciprocal) ? dti_fp32_multiply(x, reciprocal) : DTI_FP32_NAN;
    else
        x = division == DTI_DIVIDE_RECIPROCAL ? by_reciprocal(x, reciprocal, scale)
                                              : dti_fp32_divide(x, scale);
    dti_fp32_value(x, ret_value);
    return dti_fp32_is_finite(x);
}

static void find_error(struct dti_quant_facts *facts)
{
    char text[DTI_TEXT_SIZE];
    struct dti_value number, stored;
    struct dti_number parsed;
    bool has_exact;
    dti_fp32_value(facts->number->x, &number);
    dti_fp32_value(facts->stored->back, &stored);
    if (number.kind > DTI_CLASS_FINITE || stored.kind > DTI_CLASS_FINITE)
        return;
    const size_t length = dti_spell_hexfloat(text, &number);
    facts->failed = dti_number_parse(&parsed, text, length, NULL) != DTI_OK;
    if (facts->failed)
        return;
    facts->has_error =
        dti_number_difference(&parsed, &stored, &facts->difference, &facts->exact, &has_exact);
    facts->failed = !facts->has_error;
    facts->has_relative = facts->has_error && facts->difference.relative.kind <= DTI_CLASS_FINITE;
    dti_number_free(&parsed);
}

void dti_quant_facts(const struct dti_quant_result *result, const struct dti_quant_group *group,
                     size_t at, struct dti_quant_facts *ret)
{
    const struct dti_format *const format = &result->target->code;
    const uint32_t sign = format->kind == DTI_KIND_INT ? (uint32_t)dti_format_sign_bit(format) : 0;
    memset(ret, 0, sizeof *ret);
    ret->index = at;
    ret->format = format;
    ret->number = &result->numbers->list[at];
    ret->stored = &result->elements[at];
    ret->code = (int64_t)(ret->stored->code ^ sign) - (int64_t)sign;
    ret->input = dti_quant_text(result->numbers, at);
    ret->has_scaled = find_scaled(result, group, ret->number->x, &ret->scaled);
    dti_quant_code_number(result->target, ret->stored->code, &ret->element);
    dti_buffer_init(&ret->exact);
    find_error(ret);
}

void dti_quant_facts_free(struct dti_quant_facts *facts)
{
    dti_buffer_free(&facts->exact);
}

void dti_quant_reach(const struct dti_quant_target *target, const struct dti_quant_group *group,
                     uint32_t *ret_lowest, uint32_t *ret_highest)
{
    const struct dti_affine *const affine = &target->scheme.affine.affine;
    const uint32_t mask = (uint32_t)dti_low_bits(target->code.width);
    uint64_t low = (uint32_t)affine->low & mask, high = (uint32_t)affine->high & mask;
    if (!dti_format_is_integer(&target->code)) {
        (void)dti_code_lowest(&target->code, &low);
        (void)dti_code_max(&target->code, &high);
    }
    *ret_lowest = dti_affine_dequantize(affine, &group->affine, (uint32_t)low);
    *ret_highest = dti_affine_dequantize(affine, &group->affine, (uint32_t)high);
}

bool dti_quant_has_ggml(const struct dti_quant_target *target)
{
    const struct dti_block_format *const block = target->scheme.block;
    return block && (block->family == DTI_BLOCKS_Q8 || block->family == DTI_BLOCKS_Q4);
}

static void put_byte(struct dti_buffer *hex, unsigned byte)
{
    static const char digits[] = "0123456789abcdef";
    dti_buffer_append(hex, &digits[byte >> 4 & 15], 1);
    dti_buffer_append(hex, &digits[byte & 15], 1);
}

/* The code at an index in a block, which is padded with zeros. */
static uint32_t code_at(const struct dti_quant_result *result, const struct dti_quant_group *group,
                        size_t at)
{
    const struct dti_block_format *const block = result->target->scheme.block;
    if (at < group->count)
        return result->elements[group->first + at].code;
    if (!block)
        return 0;
    return dti_block_zero(block);
}

static void pack(const struct dti_quant_result *result, const struct dti_quant_group *group,
                 size_t length, struct dti_buffer *hex)
{
    const struct dti_layout packed_low = {.packing = DTI_PACKING_LOW};
    const unsigned width = dti_format_stored_bits(&result->target->code, &packed_low);
    const bool high = width < 8 && result->target->order == DTI_BLOCK_HIGH;
    const size_t bytes = (length * width + 7) / 8;
    for (size_t byte = 0; byte < bytes; byte++) {
        unsigned packed = 0;
        for (unsigned place = 0; place < 8; place++) {
            const size_t bit = byte * 8 + place, at = bit / width;
            const unsigned in_code = (unsigned)(bit % width);
            if (at >= length)
                break;
            const uint32_t code = code_at(result, group, at);
            const unsigned taken = high ? code >> (width - 1 - in_code) & 1 : code >> in_code & 1;
            packed |= taken << (high ? 7 - place : place);
        }
        put_byte(hex, packed);
    }
}

void dti_quant_packed(const struct dti_quant_result *result, const struct dti_quant_group *group,
                      bool ggml, struct dti_buffer *hex)
{
    const struct dti_block_format *const block = result->target->scheme.block;
    if (!ggml) {
        pack(result, group, block ? block->length : group->count, hex);
        return;
    }
    put_byte(hex, group->scale & 255);
    put_byte(hex, group->scale >> 8 & 255);
    if (block->family == DTI_BLOCKS_Q8) {
        pack(result, group, block->length, hex);
        return;
    }
    for (size_t at = 0; at < block->length / 2U; at++)
        put_byte(hex, code_at(result, group, at) | code_at(result, group, at + block->length / 2U)
                                                       << 4);
}

/* Precomputed values for the rows in quantized.def. */
struct recipe {
    const struct dti_quant_scheme *scheme;
    const struct dti_affine *affine;
    size_t family; /* index into the words */
    size_t division;
    bool in_groups, integer, zeros, divides, mx, nv, as_torch;
};
struct rules_in_words {
    const char *like; /* or NULL */
    size_t nibble;
};
struct scaled_group {
    const struct dti_quant_result *result;
    const struct dti_quant_group *of;
    const struct dti_sink *stream;  /* for elements, or NULL */
    const struct dti_format *scale; /* the dtype of the scale */
    uint64_t scale_code;
    uint32_t multiplier, lowest, highest; /* in fp32 */
    bool integer, affine, in_blocks;
    const char *ggml; /* or NULL */
    struct dti_buffer packed, ggml_room;
};
struct result {
    const struct dti_quant_result *of;
    const struct dti_quant_target *target;
    const struct dti_sink *stream;
    bool nv;
};

#define WORD(value, word, meaning) [value] = word,
/* After the first two entries: indexed by block format family. */
DTI_WORDS(family_words, "integer", "float", [2 + DTI_BLOCKS_MX] = "mx", [2 + DTI_BLOCKS_NV] = "nv",
          [2 + DTI_BLOCKS_NF] = "nf", [2 + DTI_BLOCKS_Q8] = "q8", [2 + DTI_BLOCKS_Q4] = "q4",
          [3 + DTI_BLOCKS_Q4] = "gguf")
DTI_WORDS(per_words, [DTI_PER_TENSOR] = "tensor", [DTI_PER_CHANNEL] = "channel",
          [DTI_PER_GROUP] = "block")
DTI_WORDS(symmetry_words, [DTI_SYMMETRY_NONE] = "none", DTI_QUANT_SYMMETRIES(WORD))
DTI_WORDS(zero_words, [DTI_ZERO_ONNX] = "onnx", [DTI_ZERO_TORCH] = "torch")
DTI_WORDS(division_words, DTI_QUANT_DIVISIONS(WORD))
DTI_WORDS(special_words, "clamp", "torch")
DTI_WORDS(mx_words, DTI_QUANT_MX_SCALES(WORD))
DTI_WORDS(nv_words, DTI_QUANT_NV_SCALES(WORD))
DTI_WORDS(tensor_scale_words, DTI_QUANT_TENSOR_SCALES(WORD)[DTI_TENSOR_SCALE_GIVEN] = "given")
DTI_WORDS(order_words, DTI_QUANT_ORDERS(WORD))
#undef WORD
#define WORD(value, word, meaning) [(value)-1] = word,
DTI_WORDS(like_words, DTI_QUANT_LIKES(WORD))
#undef WORD

const char *dti_quant_like_word(int like)
{
    return like == DTI_QUANT_LIKE_NONE ? NULL : like_words((size_t)like - 1);
}

static void fill_options(struct rules_in_words *ret, const struct dti_quant_rules *rules)
{
    ret->like = dti_quant_like_word(rules->like);
    ret->nibble = (size_t)rules->order;
}

static void fill_recipe(struct recipe *ret, const struct dti_quant_target *target)
{
    const struct dti_quant_scheme *const scheme = &target->scheme;
    const enum dti_quant_family family = dti_quant_family(target);
    ret->scheme = scheme;
    ret->affine = &scheme->affine.affine;
    ret->family = target->gguf    ? 3 + DTI_BLOCKS_Q4
                  : scheme->block ? 2 + (size_t)scheme->block->family
                                  : !dti_format_is_integer(&target->code);
    ret->division = scheme->block ? scheme->blocks.division : ret->affine->division;
    ret->in_groups = scheme->per == DTI_PER_GROUP;
    ret->integer = family == DTI_FAMILY_INTEGER;
    ret->zeros = ret->integer && !scheme->biased;
    ret->divides = !(family & (DTI_FAMILY_MX | DTI_FAMILY_GGML)) && !scheme->biased;
    ret->mx = family == DTI_FAMILY_MX;
    ret->nv = family == DTI_FAMILY_NV;
    ret->as_torch = ret->affine->specials != DTI_QUANT_CLAMP;
}

static void fill_group(struct scaled_group *ret, const struct result *result,
                       const struct dti_quant_group *group)
{
    const struct dti_block_format *const block = result->target->scheme.block;
    *ret = (struct scaled_group){
        .result = result->of,
        .of = group,
        .stream = result->stream,
        .scale = dti_format_get(block ? block->scale : DTI_FP32),
        .scale_code = block ? group->scale : group->affine.scale,
        .multiplier = dti_quant_multiplier(result->of, group),
        .integer = dti_quant_family(result->target) == DTI_FAMILY_INTEGER,
        .affine = !block,
        .in_blocks = block,
    };
    if (!block)
        dti_quant_reach(result->target, group, &ret->lowest, &ret->highest);
    dti_buffer_init(&ret->packed);
    dti_buffer_init(&ret->ggml_room);
    dti_quant_packed(result->of, group, false, &ret->packed);
    if (dti_quant_has_ggml(result->target)) {
        dti_quant_packed(result->of, group, true, &ret->ggml_room);
        ret->ggml = ret->ggml_room.data;
    }
}

static void put_elements(struct dti_json *json, const struct scaled_group *group);
static void put_groups(struct dti_json *json, const struct result *result);
static void put_results(struct dti_json *json, const struct dti_quant_answer *answer);
static void put_notes(struct dti_json *json, const struct dti_quant_answer *answer);

#define DTI_ROWS "answers/rewrite/quantized.def"
#include "answers/rows.h"

static void put_elements(struct dti_json *json, const struct scaled_group *group)
{
    const size_t first = group->of->first;
    if (group->stream)
        dti_json_stream(json, group->stream);
    for (size_t at = first; at < first + group->of->count; at++) {
        struct dti_quant_facts facts;
        dti_quant_facts(group->result, group->of, at, &facts);
        if (facts.failed)
            dti_json_out_of_memory(json);
        dti_put_quant_element(json, NULL, &facts);
        dti_quant_facts_free(&facts);
    }
}

static void put_groups(struct dti_json *json, const struct result *result)
{
    for (size_t i = 0; i < result->of->group_count; i++) {
        struct scaled_group group;
        fill_group(&group, result, &result->of->groups[i]);
        if (group.packed.failed || group.ggml_room.failed)
            dti_json_out_of_memory(json);
        dti_put_quant_group(json, NULL, &group);
        dti_buffer_free(&group.packed);
        dti_buffer_free(&group.ggml_room);
    }
}

static void put_results(struct dti_json *json, const struct dti_quant_answer *answer)
{
    for (size_t i = 0; i < answer->count; i++) {
        struct dti_quant_result result;
        if (!dti_quant_result_make(&result, &answer->targets[i], answer->numbers)) {
            dti_json_out_of_memory(json);
            continue;
        }
        *answer->ret_events |= dti_quant_events(&result);
        dti_put_quant_result(
            json, NULL,
            &(struct result){.of = &result,
                             .target = result.target,
                             .stream = answer->stream,
                             .nv = dti_quant_family(result.target) == DTI_FAMILY_NV});
        dti_quant_result_free(&result);
    }
}

static void put_notes(struct dti_json *json, const struct dti_quant_answer *answer)
{
    for (size_t i = 0; i < answer->count; i++) {
        const struct dti_quant_target *const target = &answer->targets[i];
        if (target->note)
            dti_put_warning(
                json, NULL,
                &(struct dti_warning_answer){"dtype_name", target->name, target->note, 0});
    }
}

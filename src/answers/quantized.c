/* SPDX-License-Identifier: MIT
 *
 * Quantized values as JSON: see quantized.h. */
#include "answers/quantized.h"

#include "answers/common.h"
#include "answers/rows.h"

/* What an object is written from, and where elements of it go one by one, or NULL. */
struct quant_result_of {
    const struct dti_quant_result *result;
    FILE *stream;
};
struct quant_group_of {
    const struct dti_quant_result *result;
    const struct dti_quant_group *group;
    FILE *stream;
};

#define WORD(value, word, meaning) [value] = word,
/* Behind the first two: by the family of a block format. */
DTI_WORDS(family_words, "integer", "float", [2 + DTI_BLOCKS_MX] = "mx", [2 + DTI_BLOCKS_NV] = "nv",
          [2 + DTI_BLOCKS_NF] = "nf", [2 + DTI_BLOCKS_Q8] = "q8", [2 + DTI_BLOCKS_Q4] = "q4")
DTI_WORDS(per_words, [DTI_PER_TENSOR] = "tensor", [DTI_PER_CHANNEL] = "channel",
          [DTI_PER_GROUP] = "block")
DTI_WORDS(symmetry_words, [DTI_SYMMETRY_NONE] = "none", DTI_QUANT_SYMMETRIES(WORD))
DTI_WORDS(zero_words, [DTI_ZERO_ONNX] = "onnx", [DTI_ZERO_TORCH] = "torch")
DTI_WORDS(division_words, DTI_QUANT_DIVISIONS(WORD))
DTI_WORDS(special_words, "clamp", "torch")
DTI_WORDS(mx_words, DTI_QUANT_MX_SCALES(WORD))
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

static const char *family_name(const struct dti_quant_target *target)
{
    const struct dti_block_format *const block = target->scheme.block;
    return family_words(block ? 2 + (size_t)block->family : !dti_format_is_integer(&target->code));
}

/* A figure that fp64 may only come near to; NULL for what it does not hold. */
static const char *spell(char text[DTI_TEXT_SIZE], bool there, const struct dti_value *value)
{
    return there && value->class <= DTI_CLASS_FINITE && dti_spell_rounded(text, value) > 0 ? text
                                                                                           : NULL;
}

static const char *packed(struct dti_json *json, const struct quant_group_of *of, bool ggml,
                          struct dti_buffer *hex)
{
    dti_buffer_clear(hex);
    dti_quant_packed(of->result, of->group, ggml, hex);
    if (hex->failed)
        dti_json_out_of_memory(json);
    return hex->data;
}

static void put_result(struct dti_json *json, const struct dti_quant_answer *answer,
                       const struct dti_quant_target *target);

#define DTI_ROWS "answers/quantized.def"
#include "answers/rows.h"

static void put_result(struct dti_json *json, const struct dti_quant_answer *answer,
                       const struct dti_quant_target *target)
{
    struct dti_quant_result result;
    if (!dti_quant_result_make(&result, target, answer->numbers)) {
        dti_json_out_of_memory(json);
        return;
    }
    *answer->ret_events |= dti_quant_events(&result);
    dti_put_quant_result(json, NULL, &(struct quant_result_of){&result, answer->stream});
    dti_quant_result_free(&result);
}

/* SPDX-License-Identifier: MIT
 *
 * fp8 with float scales; codes are unchanged. There is one scale, one for each row, or one for each
 * rectangle.
 *
 *   deepseek   X F8_E4M3 [N, K]   X_scale_inv F32 [N/128, K/128], factors despite their name
 *
 * Source: transformers 5.23 (Fp8Dequantize). */
#include <assert.h>
#include <string.h>

#include "files/config/quant_config_block.h"
#include "files/dequant/dequant_find.h"
#include "files/transcode/transcode_bytes.h"
#include "util/checked.h"

enum { SIDE = 128 }; /* of DeepSeek's rectangles */

bool dti_transcode_is_plain(const struct dti_dequant_found *found, enum dti_dtype code)
{
    const struct dti_dequant_tensor *const how = &found->how;
    return !how->is->block && how->is->affine.code.id == code && how->is->matrix == 0 &&
           how->is->arrangement == DTI_CODES_ALONG && !how->is->divisors && !how->nested &&
           !how->is->tiled && how->is->factor == 1 && how->tensor_scale == 1 &&
           how->is->zero_form == DTI_ZERO_NONE && how->is->zero_offset == 0 && how->is->flip == 0 &&
           !how->is->from.biases && found->shown->rank > 0 &&
           dti_dequant_part_tensor(DTI_PART_OF(how, codes))->bytes == how->is->elements;
}

bool dti_transcode_is_fp8(const struct dti_dequant_found *found)
{
    return dti_transcode_is_plain(found, DTI_FP8_E4M3FN);
}

enum dti_transcode_sharing dti_transcode_sharing(const struct dti_dequant_found *found)
{
    const struct dti_dequant_form *const form = &found->form;
    const struct dti_tensor *const scales =
        dti_dequant_part_tensor(DTI_PART_OF(&found->how, scales));
    const unsigned rank = found->shown->rank;
    if (form->is->per == DTI_PER_TENSOR && rank >= 2 && scales->rank == rank &&
        strcmp(form->is->layout, "scale_inv") == 0)
        return DTI_SHARED_BY_RECTANGLE; /* a single one */
    if (form->is->per == DTI_PER_TENSOR)
        return scales->elements == 1 ? DTI_SHARED_BY_TENSOR : DTI_SHARED_OTHERWISE;
    if (form->is->per == DTI_PER_CHANNEL)
        return form->is->axis == 0 && rank == 2 ? DTI_SHARED_BY_ROW : DTI_SHARED_OTHERWISE;
    if (form->is->group[0] > 0)
        return DTI_SHARED_BY_RECTANGLE;
    return form->is->axis + 1 == rank && form->is->group[1] == found->shown->shape[rank - 1]
               ? DTI_SHARED_BY_ROW
               : DTI_SHARED_OTHERWISE;
}

bool dti_transcode_is_whole_fp8(const struct dti_dequant_found *found)
{
    return dti_transcode_is_fp8(found) && found->how.is->from.scales &&
           dti_transcode_sharing(found) == DTI_SHARED_BY_TENSOR;
}

static void add_fp8_codes(const struct dti_dequant_found *found, struct dti_transcoded *ret)
{
    struct dti_transcode_part *const part = dti_transcode_add(ret, "", DTI_FP8_E4M3FN);
    dti_transcode_set_shape(found, 1, part);
    part->copied = *DTI_PART_OF(&found->how, codes);
    ret->blocks = ret->lossless = found->how.is->scale_count;
}

static enum dti_status refuse_fp8(const struct dti_dequant_found *found, const char *layout,
                                  const char *holds, struct dti_error *reterr)
{
    static const char *const words[] = {
        [DTI_SHARED_OTHERWISE] = "scales in another arrangement",
        [DTI_SHARED_BY_TENSOR] = "one scale",
        [DTI_SHARED_BY_ROW] = "a scale for each row",
        [DTI_SHARED_BY_RECTANGLE] = "a scale for each rectangle",
    };
    return dti_transcode_refuse(found, reterr, "it is %s with %s, and %s has %s",
                                found->form.is->dtype, words[dti_transcode_sharing(found)], layout,
                                holds);
}

static void set_rectangles(const struct dti_tensor *scales, struct dti_transcode_part *part)
{
    part->rank = 2;
    if (dti_dequant_is_spread(scales, 2, part->shape))
        return;
    part->rank = scales->rank;
    memcpy(part->shape, scales->shape, scales->rank * sizeof *part->shape);
}

enum dti_status dti_transcode_compressed_fp8(struct dti_pool *pool,
                                             const struct dti_dequant_found *found,
                                             struct dti_transcoded *ret, struct dti_error *reterr)
{
    const struct dti_tensor *const scales =
        dti_dequant_part_tensor(DTI_PART_OF(&found->how, scales));
    const enum dti_transcode_sharing which = dti_transcode_sharing(found);
    if (which == DTI_SHARED_OTHERWISE)
        return refuse_fp8(found, "compressed-tensors",
                          "one, one for each row, or one for each rectangle", reterr);
    add_fp8_codes(found, ret);
    const bool narrow = dti_format_container(scales->format) == 1;
    struct dti_transcode_part *const part =
        dti_transcode_add(ret, "_scale", narrow ? DTI_FP32 : scales->format->id);
    if (which == DTI_SHARED_BY_TENSOR) {
        part->rank = 1;
        part->shape[0] = 1;
    } else if (which == DTI_SHARED_BY_ROW) {
        dti_transcode_set_shape(found, 1, part);
        part->shape[part->rank - 1] = 1;
    } else {
        set_rectangles(scales, part);
    }
    return dti_transcode_set_scales(pool, found, part) ? DTI_OK : dti_no_memory(reterr);
}

enum dti_status dti_transcode_read_scale(const struct dti_dequant_found *found, float *ret,
                                         struct dti_error *reterr)
{
    unsigned char raw[8];
    const struct dti_tensor *const tensor =
        dti_dequant_part_tensor(DTI_PART_OF(&found->how, scales));
    const enum dti_status status =
        dti_dequant_read_all(DTI_PART_OF(&found->how, scales), raw, (size_t)tensor->bytes, reterr);
    if (status != DTI_OK)
        return status;
    return dti_plan_run(found->how.is->scale_plan, ret, raw, 1, 0, DTI_STORES_CACHED, NULL, reterr);
}

enum dti_status dti_transcode_whole_fp8(const struct dti_transcode_target *target,
                                        const struct dti_dequant_found *found,
                                        struct dti_transcoded *ret, struct dti_error *reterr)
{
    float scale = 0;
    if (dti_dequant_part_tensor(DTI_PART_OF(&found->how, scales))->elements != 1)
        return refuse_fp8(found, target->name, "one for the tensor", reterr);
    const enum dti_status status = dti_transcode_read_scale(found, &scale, reterr);
    add_fp8_codes(found, ret);
    if (status == DTI_OK)
        dti_transcode_add_number(scale, "_scale", 0, ret);
    return status;
}

/* The sides of its rectangles; the default for a single one, which may be cut off. */
static const uint64_t *sides_of(const struct dti_dequant_found *found)
{
    static const uint64_t usual[2] = {SIDE, SIDE};
    return found->form.is->group[0] > 0 ? found->form.is->group : usual;
}

void dti_transcode_fp8_form(const struct dti_dequant_found *found, struct dti_config_form *ret)
{
    const enum dti_transcode_sharing which = dti_transcode_sharing(found);
    const struct dti_format *const scale =
        dti_dequant_part_tensor(DTI_PART_OF(&found->how, scales))->format;
    ret->strategy = which == DTI_SHARED_BY_TENSOR ? "tensor"
                    : which == DTI_SHARED_BY_ROW  ? "channel"
                                                  : "block";
    ret->scale = dti_format_container(scale) == 1 ? DTI_FP32 : scale->id;
    if (which == DTI_SHARED_BY_RECTANGLE)
        memcpy(ret->group, sides_of(found), sizeof ret->group);
}

/* Rectangles with a scale each, or all with the same one. */
static enum dti_status plan_deepseek(const struct dti_transcode_target *target,
                                     struct dti_pool *pool, struct dti_dequant_found *found,
                                     struct dti_transcoded *ret, struct dti_error *reterr)
{
    const unsigned rank = found->shown->rank;
    dti_transcode_begin(found, ret);
    if (!dti_transcode_is_fp8(found) || rank < 2)
        return dti_transcode_refuse(found, reterr,
                                    "it is %s of %s, and deepseek has matrices of fp8_e4m3fn",
                                    found->form.is->dtype, found->form.is->layout);
    const enum dti_transcode_sharing which = dti_transcode_sharing(found);
    if (which != DTI_SHARED_BY_TENSOR && which != DTI_SHARED_BY_RECTANGLE)
        return refuse_fp8(found, target->name, "one for each rectangle", reterr);
    add_fp8_codes(found, ret);
    struct dti_transcode_part *const part = dti_transcode_add(ret, "_scale_inv", DTI_FP32);
    if (which == DTI_SHARED_BY_RECTANGLE) {
        const struct dti_tensor *const scales =
            dti_dequant_part_tensor(DTI_PART_OF(&found->how, scales));
        set_rectangles(scales, part);
        return dti_transcode_set_scales(pool, found, part) ? DTI_OK : dti_no_memory(reterr);
    }
    float scale = 0;
    const enum dti_status status = dti_transcode_read_scale(found, &scale, reterr);
    dti_transcode_set_shape(found, 1, part);
    for (unsigned i = rank - 2; i < rank; i++)
        part->shape[i] = dti_divide_up(part->shape[i], SIDE);
    if (status != DTI_OK)
        return status;
    dti_transcode_set_number(scale, part);
    return DTI_OK;
}

/* As read by transformers (FineGrainedFP8Config). */
static void put(struct dti_buffer *out, const uint64_t block[2], const char *kept)
{
    dti_buffer_print(out,
                     "{\n  \"quant_method\": \"fp8\",\n  \"activation_scheme\": \"dynamic\",\n"
                     "  \"fmt\": \"e4m3\",\n  \"weight_block_size\": [%llu, %llu],\n"
                     "  \"modules_to_not_convert\": ",
                     (unsigned long long)block[0], (unsigned long long)block[1]);
    dti_buffer_puts(out, kept);
    dti_buffer_puts(out, "\n}");
}

static void config_deepseek(const struct dti_transcode_target *target,
                            const struct dti_dequant_found *const *all, size_t count,
                            const char *kept, struct dti_config_texts *texts, const char **ret_why)
{
    struct dti_buffer *const ret = &texts->value;
    (void)target;
    const uint64_t *block = NULL;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *const own = sides_of(all[i]);
        if (block && memcmp(block, own, 2 * sizeof *own) != 0)
            *ret_why = "the rectangles of the tensors have several sizes";
        block = own;
        if (!dti_transcode_is_module(all[i]))
            *ret_why = "its loaders have no module for some of the tensors";
    }
    assert(block); /* there is a tensor at least */
    if (!*ret_why)
        put(ret, block, kept);
}

static const struct dti_transcode_target deepseek = {
    .name = "deepseek", .plan = plan_deepseek, .config = config_deepseek};
const struct dti_layout_ops dti_layout_fp8 = {
    .name = "scale_inv",
    .methods = {"fp8"},
    .one_scheme = 1,
    .ignored = {DTI_LIST_IGNORED_LAYERS, DTI_LIST_NOT_CONVERTED},
    .ignored_as = DTI_MODULE_NAME,
    .targets = {&deepseek},
};
const struct dti_layout_ops dti_layout_scale = {.name = "scale"};

/* SPDX-License-Identifier: MIT
 *
 * Blocks in MLX's modes. Codes and scales are unchanged; only the tensor scale of nvfp4 is stored
 * in another form:
 *
 *   X.weight U32 [N, K bits / 32]   X.scales U8 [N, K/32] or, nvfp4, [N, K/16]
 *   X.global_scale F32 []           2688 x the tensor scale; a stack of experts has one for each,
 *                                   [E]; missing: 1
 *
 * mlx-lm 0.32.2 reads X.global_scale of stacks of experts only. Source: MLX 0.32.4 (mx.quantize),
 * mlx-lm 0.32.2 (utils.py, models/switch_layers.py). */
#include "files/transcode/transcode_mlx.h"

#include <math.h>
#include <string.h>

#include "containers/json_quoted.h"
#include "files/transcode/transcode_grouped.h"
#include "files/transcode/transcode_nvfp4.h"

static const char weight[] = ".weight";

const struct dti_mlx_mode dti_mlx_modes[DTI_MLX_MODES] = {
    {"mxfp4", DTI_BLOCK_MXFP4, 4, 32},
    {"mxfp8", DTI_BLOCK_MXFP8_E4M3, 8, 32},
    {"nvfp4", DTI_BLOCK_NVFP4, 4, DTI_NV_LENGTH},
};

/* NULL: none. */
static const struct dti_mlx_mode *mode_of(enum dti_block id)
{
    for (const struct dti_mlx_mode *mode = dti_mlx_modes; mode < dti_mlx_modes + DTI_MLX_MODES;
         mode++) {
        if (mode->block == id)
            return mode;
    }
    return NULL;
}

/* The mode of a tensor in the new file; NULL: affine, or none. */
static const struct dti_mlx_mode *new_mode(const struct dti_transcode_target *target,
                                           const struct dti_dequant_found *found)
{
    const struct dti_block_format *const block = found->how.is->block;
    if (block && block->id == DTI_BLOCK_MXFP4 && target->takes == DTI_TAKES_FOR_NVFP4)
        return mode_of(DTI_BLOCK_NVFP4);
    return block ? mode_of(block->id) : NULL;
}

/* X.global_scale, unless the tensor scale is 1. */
static enum dti_status add_global_scale(struct dti_dequant_found *found, double scale,
                                        struct dti_transcoded *ret, struct dti_error *reterr)
{
    const float global = (float)(scale * DTI_MLX_LARGEST);
    const unsigned rank = found->shown->rank;
    if (!isnormal(global))
        return dti_transcode_refuse(found, reterr,
                                    "its tensor scale times %d is not a normal number in fp32",
                                    (int)DTI_MLX_LARGEST);
    if (global / DTI_MLX_LARGEST == 1)
        return DTI_OK;
    dti_transcode_add_number(global, ".global_scale", rank > 2, ret);
    if (rank > 2) { /* a stack: the same scale for each matrix */
        struct dti_transcode_part *const part = &ret->part[ret->count - 1];
        part->rank = rank - 2;
        memcpy(part->shape, found->shown->shape, part->rank * sizeof *part->shape);
    }
    return DTI_OK;
}

/* The tensor scale by which MLX multiplies. */
static enum dti_status add_nv_scale(struct dti_dequant_found *found, struct dti_transcoded *ret,
                                    struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = &found->how;
    const double scale =
        how->tensor_divisor != 0 ? 1 / (double)how->tensor_divisor : (double)how->tensor_scale;
    const struct dti_nv_tensor new = {(float)(scale * DTI_MLX_LARGEST) / DTI_MLX_LARGEST, 1};
    const enum dti_status status = add_global_scale(found, scale, ret, reterr);
    return status == DTI_OK ? dti_transcode_count_nv(found, new, ret, reterr) : status;
}

static void add_parts(const struct dti_mlx_mode *mode, struct dti_dequant_found *found,
                      struct dti_transcoded *ret)
{
    dti_transcode_begin(found, ret);
    ret->stem_length -= sizeof weight - 1;
    dti_transcode_set_shape(found, 32 / mode->bits, dti_transcode_add(ret, weight, DTI_UINT32));
    dti_transcode_set_shape(found, mode->group, dti_transcode_add(ret, ".scales", DTI_UINT8));
}

/* Converts mxfp4 to nvfp4, with a tensor scale of 1 if all numbers stay the same. */
static enum dti_status add_nvfp4(struct dti_pool *pool, struct dti_dequant_found *found,
                                 struct dti_transcoded *ret, struct dti_error *reterr)
{
    struct dti_nvfp4_plan *const plan = dti_pool_alloc(pool, sizeof *plan);
    if (!plan)
        return dti_no_memory(reterr);
    const enum dti_status status = dti_nvfp4_plan(&found->how, true, plan, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_transcode_units of_codes = {dti_nvfp4_fill_codes, plan, DTI_NV_LENGTH / 2};
    const struct dti_transcode_units of_scales = {dti_nvfp4_fill_scales, plan, 1};
    const bool made = plan->same_codes ? dti_transcode_set_codes(pool, found, &ret->part[0])
                                       : dti_transcode_set_units(pool, &ret->part[0], &of_codes);
    if (!made || !dti_transcode_set_units(pool, &ret->part[1], &of_scales))
        return dti_no_memory(reterr);
    ret->blocks = plan->blocks;
    ret->lossless = plan->lossless;
    ret->worst = plan->worst;
    return add_global_scale(found, ldexp(1, plan->power), ret, reterr);
}

static enum dti_status plan_blocks(const struct dti_transcode_target *target, struct dti_pool *pool,
                                   struct dti_dequant_found *found, struct dti_transcoded *ret,
                                   struct dti_error *reterr)
{
    const struct dti_mlx_mode *const mode = new_mode(target, found);
    if (!dti_transcode_is_module(found) || found->shown->rank < 2)
        return dti_transcode_refuse(found, reterr,
                                    "mlx has matrices only, whose names end in '.weight'");
    if (!mode)
        return dti_transcode_refuse(
            found, reterr,
            "it is %s of %s, and mlx has mxfp4, mxfp8, nvfp4 and affine integers in groups",
            found->form.is->dtype, found->form.is->layout);
    if (!dti_transcode_has_blocks(found))
        return dti_transcode_refuse(found, reterr,
                                    "its blocks of %s are filled up, or not along the last axis, "
                                    "and mlx has whole ones along rows",
                                    found->form.is->dtype);
    add_parts(mode, found, ret);
    if (mode->block != found->how.is->block->id)
        return add_nvfp4(pool, found, ret, reterr);
    ret->blocks = ret->lossless = found->how.is->scale_count;
    if (!dti_transcode_set_codes(pool, found, &ret->part[0]) ||
        !dti_transcode_set_scales(pool, found, &ret->part[1]))
        return dti_no_memory(reterr);
    return mode->block == DTI_BLOCK_NVFP4 ? add_nv_scale(found, ret, reterr) : DTI_OK;
}

struct dti_mlx_scheme dti_mlx_scheme_of_block(enum dti_block block)
{
    const struct dti_mlx_mode *const mode = mode_of(block);
    return (struct dti_mlx_scheme){mode->group, mode->bits, mode->name};
}

static struct dti_mlx_scheme scheme_of(const struct dti_transcode_target *target,
                                       const struct dti_dequant_found *found)
{
    const struct dti_mlx_mode *const mode = new_mode(target, found);
    struct dti_grouped grouped;
    if (mode)
        return dti_mlx_scheme_of_block(mode->block);
    (void)dti_grouped_facts(&grouped, found, "", NULL); /* cannot fail: it was planned */
    return (struct dti_mlx_scheme){grouped.length, grouped.bits, "affine"};
}

static void put_scheme(struct dti_buffer *ret, const struct dti_mlx_scheme *scheme,
                       const char *space)
{
    dti_buffer_print(ret, "{\n%s  \"group_size\": %llu,\n%s  \"bits\": %u,\n%s  \"mode\": \"%s\"",
                     space, (unsigned long long)scheme->group, space, scheme->bits, space,
                     scheme->mode);
}

void dti_mlx_config_begin(struct dti_buffer *ret, const struct dti_mlx_scheme *usual)
{
    put_scheme(ret, usual, "");
}

void dti_mlx_config_add(struct dti_buffer *ret, const struct dti_mlx_scheme *usual,
                        const struct dti_mlx_scheme *own, const char *module, size_t length)
{
    if (own && own->bits == usual->bits && own->group == usual->group &&
        strcmp(own->mode, usual->mode) == 0)
        return;
    dti_buffer_puts(ret, ",\n  ");
    dti_json_quoted(ret, module, length);
    dti_buffer_puts(ret, ": ");
    if (!own) {
        dti_buffer_puts(ret, "false");
        return;
    }
    put_scheme(ret, own, "  ");
    dti_buffer_puts(ret, "\n  }");
}

void dti_mlx_config(const struct dti_transcode_target *target,
                    const struct dti_dequant_found *const *all, size_t count, const char *kept,
                    struct dti_config_texts *texts, const char **ret_why)
{
    struct dti_buffer *const ret = &texts->value;
    const struct dti_mlx_scheme usual = scheme_of(target, all[0]);
    (void)kept; /* modules without scales are not quantized */
    (void)ret_why;
    dti_mlx_config_begin(ret, &usual);
    for (size_t i = 1; i < count; i++) {
        const struct dti_tensor *const shown = all[i]->shown;
        const struct dti_mlx_scheme own = scheme_of(target, all[i]);
        dti_mlx_config_add(ret, &usual, &own, shown->name,
                           shown->name_length - (sizeof weight - 1));
    }
    dti_buffer_puts(ret, "\n}");
}

const struct dti_transcode_target dti_target_mlx_blocks = {.name = "mlx",
                                                           .takes = DTI_TAKES_BLOCKS,
                                                           .no_inputs = true,
                                                           .plan = plan_blocks,
                                                           .config = dti_mlx_config};
const struct dti_transcode_target dti_target_mlx_nvfp4 = {.name = "mlx",
                                                          .takes = DTI_TAKES_FOR_NVFP4,
                                                          .no_inputs = true,
                                                          .plan = plan_blocks,
                                                          .config = dti_mlx_config};

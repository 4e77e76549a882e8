/* SPDX-License-Identifier: MIT
 *
 * Integers with groups as GPTQ, AWQ and MLX have them: a matrix [N, K] with G groups a row.
 *
 *   GPTQ   qweight [K bits / 32, N], qzeros [G, N bits / 32], scales [G, N], g_idx [K]
 *   AWQ    qweight [K, N / 8], qzeros [G, N / 8], scales [G, N]
 *   MLX    weight [N, K bits / 32], scales [N, G], biases [N, G]
 *
 * Codes, scales and zero points stay what they are; only MLX has biases in place of zero points.
 * Sources: GPTQModel 7.7 (nn_modules/qlinear, utils/model.py), AutoAWQ 0.2.9
 * (modules/linear/gemm.py), MLX 0.32.4 (mx.quantize). Configurations are as transformers 5.23
 * (GPTQConfig, AwqConfig), GPTQModel 7.7 (QuantizeConfig), vLLM and mlx-lm 0.32 (utils.load_model)
 * read them. */
#include <stdio.h>

#include "containers/json_quoted.h"
#include "dtinfo/little_endian.h"
#include "files/transcode/transcode_grouped.h"

static const char weight[] = ".weight";

/* The module's name, before ".weight". */
static enum dti_status set_module(const struct dti_grouped *grouped, struct dti_transcoded *ret,
                                  struct dti_error *reterr)
{
    const struct dti_tensor *const shown = &grouped->found->shown;
    if (!dti_quant_name_ends(shown->name, shown->name_length, weight))
        return dti_transcode_refuse(grouped->found, reterr,
                                    "its name does not end in '%s', for which %s has other endings",
                                    weight, grouped->target);
    ret->stem_length = shown->name_length - (sizeof weight - 1);
    return DTI_OK;
}

static enum dti_status check_matrix(const struct dti_grouped *grouped, struct dti_error *reterr)
{
    if (grouped->found->shown.rank != 2)
        return dti_transcode_refuse(grouped->found, reterr,
                                    "it is a stack of matrices; %s has single ones",
                                    grouped->target);
    if (grouped->one)
        return dti_transcode_refuse(grouped->found, reterr,
                                    "it has one scale; %s has scales for each row, or for groups",
                                    grouped->target);
    if (grouped->scale == DTI_FP32)
        return dti_transcode_refuse_for(
            grouped->found, reterr, DTI_REMEDY_SCALES_OF_16_BITS,
            "its scales are fp32; programs that read %s hold them in fp16 or "
            "bf16",
            grouped->target);
    return DTI_OK;
}

/* Which group a column of the matrix is in. */
static enum dti_status read_order(void *context, void *buffer, size_t size, uint64_t offset,
                                  struct dti_window *window, void *scratch,
                                  struct dti_error *reterr)
{
    const struct dti_grouped *const grouped = context;
    const uint16_t *const group_of = dti_dequant_order(grouped->how);
    unsigned char *const to = buffer;
    (void)window;
    (void)scratch;
    (void)reterr;
    for (uint64_t at = offset / 4 * 4; at < offset + size; at += 4) {
        const uint64_t column = at / 4;
        unsigned char bytes[4];
        dti_little_put(bytes, 4, group_of ? group_of[column] : column / grouped->length);
        for (size_t i = 0; i < 4; i++) {
            if (at + i >= offset && at + i < offset + size)
                to[at + i - offset] = bytes[i];
        }
    }
    return DTI_OK;
}

void dti_grouped_add_order(struct dti_transcoded *ret, struct dti_grouped *grouped,
                           const char *suffix)
{
    struct dti_transcode_part *const part = dti_grouped_add(ret, grouped, suffix, DTI_INT32, 0, 0);
    part->rank = 1;
    part->shape[0] = grouped->columns;
    part->source = (struct dti_batch_source){.read = read_order, .context = grouped};
}

/* What the layouts have in common: the tensor in groups, of which *ret has no part yet. */
static enum dti_status begin(struct dti_pool *pool, struct dti_dequant_found *found,
                             const char *target,
                             enum dti_status (*check)(const struct dti_grouped *grouped,
                                                      struct dti_error *reterr),
                             const struct dti_grouped_wants *wants, struct dti_transcoded *ret,
                             struct dti_grouped **ret_grouped, struct dti_error *reterr)
{
    dti_transcode_begin(found, ret);
    enum dti_status status = dti_grouped_new(ret_grouped, pool, found, target, reterr);
    if (status == DTI_OK)
        status = check(*ret_grouped, reterr);
    if (status == DTI_OK)
        status = set_module(*ret_grouped, ret, reterr);
    return status == DTI_OK ? dti_grouped_look(found, *ret_grouped, wants, ret, reterr) : status;
}

static enum dti_status check_gptq(const struct dti_grouped *grouped, struct dti_error *reterr)
{
    const unsigned bits = grouped->bits;
    const enum dti_status status = check_matrix(grouped, reterr);
    if (status != DTI_OK)
        return status;
    if (bits != 2 && bits != 3 && bits != 4 && bits != 8)
        return dti_transcode_refuse(grouped->found, reterr,
                                    "its codes have %u bits; %s has 2, 3, 4 and 8", bits,
                                    grouped->target);
    if (grouped->columns * bits % 32 != 0 || grouped->rows * bits % 32 != 0)
        return dti_transcode_refuse(
            grouped->found, reterr,
            "it is [%llu, %llu]; %u bits of each of them must fill words of "
            "32 bits, as %s has them",
            (unsigned long long)grouped->rows, (unsigned long long)grouped->columns, bits,
            grouped->target);
    return DTI_OK;
}

static enum dti_status check_awq(const struct dti_grouped *grouped, struct dti_error *reterr)
{
    enum dti_status status = check_matrix(grouped, reterr);
    if (status == DTI_OK)
        status = dti_grouped_check_rows(grouped, reterr);
    if (status != DTI_OK)
        return status;
    if (grouped->bits != 4)
        return dti_transcode_refuse(grouped->found, reterr, "its codes have %u bits; awq has 4",
                                    grouped->bits);
    if (grouped->rows % 8 != 0)
        return dti_transcode_refuse(grouped->found, reterr,
                                    "it has %llu rows; awq packs eight in a word",
                                    (unsigned long long)grouped->rows);
    return DTI_OK;
}

static enum dti_status plan_transposed(const struct dti_transcode_target *target,
                                       struct dti_pool *pool, struct dti_dequant_found *found,
                                       struct dti_transcoded *ret, struct dti_error *reterr)
{
    const bool awq = target->lanes;
    const struct dti_grouped_wants wants = {.no_zero_point = target->less > 0};
    struct dti_grouped *grouped = NULL;
    enum dti_status status = begin(pool, found, target->name, awq ? check_awq : check_gptq, &wants,
                                   ret, &grouped, reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t rows = grouped->rows, columns = grouped->columns, groups = grouped->groups;
    const uint64_t row_words = rows * grouped->bits / 32;
    struct dti_transcode_part *part =
        dti_grouped_add(ret, grouped, ".qweight", DTI_INT32,
                        awq ? columns : columns * grouped->bits / 32, awq ? row_words : rows);
    status = dti_grouped_codes(pool, grouped, awq ? DTI_ORDER_LANES : DTI_ORDER_DOWN, false, part,
                               reterr);
    if (status != DTI_OK)
        return status;
    part = dti_grouped_add(ret, grouped, ".qzeros", DTI_INT32, groups, row_words);
    status = dti_grouped_values(pool, grouped, awq ? DTI_GROUP_ZEROS_LANES : DTI_GROUP_ZEROS_ALONG,
                                true, target->less, part, reterr);
    if (status != DTI_OK)
        return status;
    part = dti_grouped_add(ret, grouped, ".scales", grouped->scale, groups, rows);
    if (!awq) {
        (void)snprintf(ret->told, sizeof ret->told, "%s", target->name);
        dti_grouped_add_order(ret, grouped, ".g_idx");
    }
    return dti_grouped_values(pool, grouped, DTI_GROUP_SCALES, true, 0, part, reterr);
}

static enum dti_status check_mlx(const struct dti_grouped *grouped, struct dti_error *reterr)
{
    const unsigned bits = grouped->bits;
    const uint64_t length = grouped->length;
    const enum dti_status status = dti_grouped_check_rows(grouped, reterr);
    if (status != DTI_OK)
        return status;
    if (bits == 1 || bits == 7)
        return dti_transcode_refuse(grouped->found, reterr,
                                    "its codes have %u bits; mlx has 2, 3, 4, 5, 6 and 8", bits);
    if (grouped->one || (length != 32 && length != 64 && length != 128))
        return dti_transcode_refuse(
            grouped->found, reterr,
            "a scale is for %llu elements; mlx has groups of 32, 64 and 128",
            (unsigned long long)(grouped->one ? grouped->rows * length : length));
    return DTI_OK;
}

static enum dti_status plan_mlx(const struct dti_transcode_target *target, struct dti_pool *pool,
                                struct dti_dequant_found *found, struct dti_transcoded *ret,
                                struct dti_error *reterr)
{
    static const struct dti_grouped_wants wants = {.biases = true};
    struct dti_grouped *grouped = NULL;
    enum dti_status status =
        begin(pool, found, target->name, check_mlx, &wants, ret, &grouped, reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t rows = grouped->height, groups = grouped->groups;
    dti_mlx_tell(grouped->bits, grouped->length, ret->told);
    struct dti_transcode_part *part = dti_grouped_add(ret, grouped, ".weight", DTI_UINT32, rows,
                                                      grouped->columns / 32 * grouped->bits);
    status = dti_grouped_codes(pool, grouped, DTI_ORDER_ALONG, false, part, reterr);
    if (status != DTI_OK)
        return status;
    part = dti_grouped_add(ret, grouped, ".scales", grouped->scale, rows, groups);
    status = dti_grouped_values(pool, grouped, DTI_GROUP_SCALES, false, 0, part, reterr);
    if (status != DTI_OK)
        return status;
    part = dti_grouped_add(ret, grouped, ".biases", grouped->scale, rows, groups);
    return dti_grouped_values(pool, grouped, DTI_GROUP_BIASES, false, 0, part, reterr);
}

/* What is said of all tensors at once. */
struct words_scheme {
    unsigned bits;
    long long length;         /* -1: a row has one scale */
    unsigned long long group; /* the same: of its columns */
    bool symmetric, ordered, head;
};

static struct words_scheme scheme_of(const struct dti_dequant_found *found)
{
    static const char head[] = "lm_head.weight";
    struct dti_grouped grouped;
    (void)dti_grouped_facts(&grouped, found, "", NULL); /* it was planned */
    return (struct words_scheme){
        .bits = grouped.bits,
        .length = grouped.length == grouped.columns ? -1 : (long long)grouped.length,
        .group = grouped.length,
        .symmetric = found->symmetric,
        .ordered = dti_dequant_order(&found->how) != NULL,
        .head = dti_quant_name_ends(found->shown.name, found->shown.name_length, head),
    };
}

/* False: tensors differ, which *ret_why says. */
static bool find_scheme(const struct dti_dequant_found *const *all, size_t count,
                        struct words_scheme *ret, const char **ret_why)
{
    *ret = scheme_of(all[0]);
    for (size_t i = 1; i < count; i++) {
        const struct words_scheme other = scheme_of(all[i]);
        if (other.bits != ret->bits || other.length != ret->length) {
            *ret_why = "its loaders have one code width and one length of groups for all tensors";
            return false;
        }
        ret->symmetric = ret->symmetric && other.symmetric;
        ret->ordered = ret->ordered || other.ordered;
        ret->head = ret->head || other.head;
    }
    return true;
}

static const char *boolean(bool value)
{
    return value ? "true" : "false";
}

static void config_gptq(const struct dti_transcode_target *target,
                        const struct dti_dequant_found *const *all, size_t count, const char *kept,
                        struct dti_buffer *ret, const char **ret_why)
{
    struct words_scheme scheme;
    (void)kept; /* what has no qweight is not quantized */
    if (!find_scheme(all, count, &scheme, ret_why))
        return;
    dti_buffer_print(ret,
                     "{\n  \"quant_method\": \"gptq\",\n  \"bits\": %u,\n  \"group_size\": %lld,\n"
                     "  \"desc_act\": %s,\n  \"sym\": %s,\n  \"lm_head\": %s,\n"
                     "  \"checkpoint_format\": \"%s\"\n}",
                     scheme.bits, scheme.length, boolean(scheme.ordered), boolean(scheme.symmetric),
                     boolean(scheme.head), target->name);
}

static void config_awq(const struct dti_transcode_target *target,
                       const struct dti_dequant_found *const *all, size_t count, const char *kept,
                       struct dti_buffer *ret, const char **ret_why)
{
    (void)target;
    struct words_scheme scheme;
    if (!find_scheme(all, count, &scheme, ret_why))
        return;
    dti_buffer_print(
        ret,
        "{\n  \"quant_method\": \"awq\",\n  \"bits\": 4,\n  \"group_size\": %lld,\n"
        "  \"zero_point\": true,\n  \"version\": \"gemm\",\n  \"modules_to_not_convert\": ",
        scheme.length);
    dti_buffer_puts(ret, kept ? kept : "[]");
    dti_buffer_puts(ret, "\n}");
}

/* Tensors that differ from the first one have members of their own. */
static void config_mlx(const struct dti_transcode_target *target,
                       const struct dti_dequant_found *const *all, size_t count, const char *kept,
                       struct dti_buffer *ret, const char **ret_why)
{
    (void)target;
    const struct words_scheme usual = scheme_of(all[0]);
    (void)kept; /* what has no scales is not quantized */
    (void)ret_why;
    dti_buffer_print(ret, "{\n  \"group_size\": %llu,\n  \"bits\": %u,\n  \"mode\": \"affine\"",
                     usual.group, usual.bits);
    for (size_t i = 1; i < count; i++) {
        const struct dti_tensor *const shown = &all[i]->shown;
        const struct words_scheme own = scheme_of(all[i]);
        if (own.bits == usual.bits && own.group == usual.group)
            continue;
        dti_buffer_puts(ret, ",\n  ");
        dti_json_quoted(ret, shown->name, shown->name_length - (sizeof weight - 1));
        dti_buffer_print(
            ret, ": {\n    \"group_size\": %llu,\n    \"bits\": %u,\n    \"mode\": \"affine\"\n  }",
            own.group, own.bits);
    }
    dti_buffer_puts(ret, "\n}");
}

#define INTEGERS(name_) .name = name_, .takes = DTI_TAKES_INTEGERS
const struct dti_transcode_target dti_target_gptq = {
    INTEGERS("gptq"), .less = 1, .plan = plan_transposed, .config = config_gptq};
/* Zero points as they are: what its loaders need where one of them is 0. */
const struct dti_transcode_target dti_target_gptq_v2 = {
    INTEGERS("gptq_v2"), .plan = plan_transposed, .config = config_gptq};
const struct dti_transcode_target dti_target_awq = {INTEGERS("awq"), .lanes = true,
                                                    .plan = plan_transposed, .config = config_awq};
const struct dti_transcode_target dti_target_mlx = {INTEGERS("mlx"), .plan = plan_mlx,
                                                    .config = config_mlx};

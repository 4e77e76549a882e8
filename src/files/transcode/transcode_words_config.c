/* SPDX-License-Identifier: MIT
 *
 * What loaders of GPTQ, AWQ and MLX are told: as transformers 5.23 (GPTQConfig, AwqConfig),
 * GPTQModel 7.7 (QuantizeConfig), vLLM and mlx-lm 0.32 (utils.load_model) read it. */

#include "containers/json_quoted.h"
#include "files/transcode/transcode_grouped.h"

enum { SUFFIX = sizeof ".weight" - 1 };

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

static void put_gptq(const struct dti_dequant_found *const *all, size_t count, const char *format,
                     struct dti_buffer *ret, const char **ret_why)
{
    struct words_scheme scheme;
    if (!find_scheme(all, count, &scheme, ret_why))
        return;
    dti_buffer_print(ret,
                     "{\n  \"quant_method\": \"gptq\",\n  \"bits\": %u,\n  \"group_size\": %lld,\n"
                     "  \"desc_act\": %s,\n  \"sym\": %s,\n  \"lm_head\": %s,\n"
                     "  \"checkpoint_format\": \"%s\"\n}",
                     scheme.bits, scheme.length, boolean(scheme.ordered), boolean(scheme.symmetric),
                     boolean(scheme.head), format);
}

void dti_gptq_config(const struct dti_dequant_found *const *all, size_t count, const char *kept,
                     struct dti_buffer *ret, const char **ret_why)
{
    (void)kept; /* what has no qweight is not quantized */
    put_gptq(all, count, "gptq", ret, ret_why);
}

void dti_gptq_v2_config(const struct dti_dequant_found *const *all, size_t count, const char *kept,
                        struct dti_buffer *ret, const char **ret_why)
{
    (void)kept;
    put_gptq(all, count, "gptq_v2", ret, ret_why);
}

void dti_awq_config(const struct dti_dequant_found *const *all, size_t count, const char *kept,
                    struct dti_buffer *ret, const char **ret_why)
{
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
void dti_mlx_config(const struct dti_dequant_found *const *all, size_t count, const char *kept,
                    struct dti_buffer *ret, const char **ret_why)
{
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
        dti_json_quoted(ret, shown->name, shown->name_length - SUFFIX);
        dti_buffer_print(
            ret, ": {\n    \"group_size\": %llu,\n    \"bits\": %u,\n    \"mode\": \"affine\"\n  }",
            own.group, own.bits);
    }
    dti_buffer_puts(ret, "\n}");
}

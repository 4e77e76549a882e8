/* SPDX-License-Identifier: MIT
 *
 * Names of tensors in checkpoints and in GGUF, in both directions, and the order of rows. */
#include "files/model/model_names.h"

#include <string.h>

#include "unit.h"

static const char *to_gguf(enum dti_model_arch arch, const char *name,
                           enum dti_model_change *ret_change)
{
    static struct dti_model_name found;
    if (!dti_model_name_to_gguf(&found, arch, name, strlen(name)))
        return NULL;
    *ret_change = found.change;
    return found.text;
}

static const char *from_gguf(enum dti_model_arch arch, const char *name)
{
    static struct dti_model_name found;
    return dti_model_name_from_gguf(&found, arch, name, strlen(name)) ? found.text : NULL;
}

static void names_go_both_ways(void)
{
    static const struct {
        enum dti_model_arch arch;
        const char *name, *gguf, *back;
        enum dti_model_change change;
    } rows[] = {
        {DTI_MODEL_LLAMA, "model.layers.12.self_attn.q_proj.weight", "blk.12.attn_q.weight", NULL,
         DTI_MODEL_PERMUTED_Q},
        {DTI_MODEL_LLAMA, "model.layers.0.self_attn.k_proj.bias", "blk.0.attn_k.bias", NULL,
         DTI_MODEL_PERMUTED_K},
        {DTI_MODEL_LLAMA, "model.layers.0.self_attn.q_proj.scale", "blk.0.attn_q.scale", NULL,
         DTI_MODEL_SAME},
        {DTI_MODEL_QWEN3, "model.layers.0.self_attn.q_proj.weight", "blk.0.attn_q.weight", NULL,
         DTI_MODEL_SAME},
        {DTI_MODEL_GEMMA2, "model.layers.1.post_attention_layernorm.weight",
         "blk.1.post_attention_norm.weight", NULL, DTI_MODEL_PLUS_ONE},
        {DTI_MODEL_GEMMA, "model.layers.1.post_attention_layernorm.weight", "blk.1.ffn_norm.weight",
         NULL, DTI_MODEL_PLUS_ONE},
        {DTI_MODEL_PHI3, "model.layers.3.mlp.gate_up_proj.weight", "blk.3.ffn_up.weight", NULL,
         DTI_MODEL_SAME},
        {DTI_MODEL_GEMMA3, "language_model.model.norm.weight", "output_norm.weight",
         "model.norm.weight", DTI_MODEL_PLUS_ONE},
        {DTI_MODEL_LLAMA, "layers.1.mlp.up_proj.weight", "blk.1.ffn_up.weight",
         "model.layers.1.mlp.up_proj.weight", DTI_MODEL_SAME},
        {DTI_MODEL_QWEN2, "lm_head.weight", "output.weight", NULL, DTI_MODEL_SAME},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum dti_model_change change = DTI_MODEL_SAME;
        CHECK_STR(to_gguf(rows[i].arch, rows[i].name, &change), rows[i].gguf);
        CHECK(change == rows[i].change);
        CHECK_STR(from_gguf(rows[i].arch, rows[i].gguf),
                  rows[i].back ? rows[i].back : rows[i].name);
    }
}

static void other_names_have_none(void)
{
    static const char *const names[] = {
        "",
        "model.layers.0.self_attn.q_proj",
        "model.layers.00.self_attn.q_proj.weight",
        "model.layers..self_attn.q_proj.weight",
        "model.layers.x.self_attn.q_proj.weight",
        "model.layers.0.self_attn.q_proj.weight_scale",
        "model.layers.0.self_attn.qkv_proj.weight",
        "blk.0.attn_q.weight",
        "lm_head",
    };
    enum dti_model_change change;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_STR(to_gguf(DTI_MODEL_LLAMA, names[i], &change), NULL);
    CHECK_STR(to_gguf(DTI_MODEL_GEMMA2, "lm_head.weight", &change), NULL);
    CHECK_STR(from_gguf(DTI_MODEL_LLAMA, "rope_freqs.weight"), NULL);
    char digits[200] = "model.layers.";
    memset(digits + 13, '1', 150);
    memcpy(digits + 163, ".mlp.up_proj.weight", 20);
    CHECK_STR(to_gguf(DTI_MODEL_LLAMA, digits, &change), NULL);
}

static void classes_have_architectures(void)
{
    CHECK(dti_model_arch_of_class("MistralForCausalLM", 18) == DTI_MODEL_LLAMA);
    CHECK(dti_model_arch_of_class("Qwen2ForCausalLM", 16) == DTI_MODEL_QWEN2);
    CHECK(dti_model_arch_of_class("Qwen2ForCausal", 14) == DTI_MODEL_ARCHS);
    CHECK(dti_model_arch_of_class("", 0) == DTI_MODEL_ARCHS);
    CHECK(dti_model_arch_named("gemma2", 6) == DTI_MODEL_GEMMA2);
    CHECK(dti_model_arch_named("gemma", 5) == DTI_MODEL_GEMMA);
    CHECK(dti_model_arch_named("flux", 4) == DTI_MODEL_ARCHS);
}

/* Row 2 i of a head is row i of its first half, row 2 i + 1 that of its second. */
static void rows_of_a_head_alternate(void)
{
    static const uint64_t wanted[] = {0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11};
    for (uint64_t i = 0; i < 12; i++)
        CHECK_U64(dti_model_permuted_row(i, 6), wanted[i]);
    CHECK_U64(dti_model_permuted_row(UINT64_C(1) << 40, UINT64_C(1) << 39), UINT64_C(1) << 40);
}

UNIT_MAIN(names_go_both_ways, other_names_have_none, classes_have_architectures,
          rows_of_a_head_alternate)

/* SPDX-License-Identifier: MIT
 *
 * config.json of quantized checkpoints. Any text gives a one-line error, or hints that are in range
 * and printable. */
#include <string.h>

#include "files/cache/kv_model.h"
#include "files/config/quant_config.h"
#include "fuzz.h"

const char *const dti_fuzz_words[] = {
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "null",
    "-1",
    "0",
    "8",
    "1e9",
    "18446744073709551615",
    "true",
    "false",
    "\"128x128\"",
    "[128,128]",
    "\"a\":",
    "\"quantization_config\":{",
    "\"compression_config\":{",
    "\"text_config\":{",
    "\"quantization\":{",
    "\"quant_method\":\"fp8\",",
    "\"quant_method\":\"bitnet\",",
    "\"quant_algo\":\"FP8\",",
    "\"format\":\"marlin-24\",",
    "\"format\":\"pack-quantized\",",
    "\"config_groups\":{\"g\":{",
    "\"W4A16\":[\"Linear\"],",
    "\"weights\":{",
    "\"num_bits\":",
    "\"group_size\":",
    "\"type\":\"float\",",
    "\"strategy\":\"block\",",
    "\"strategy\":\"group\",",
    "\"symmetric\":",
    "\"block_structure\":",
    "\"weight_block_size\":",
    "\"expert_dtype\":\"fp4\",",
    "\"bits\":4,",
    "\"mode\":\"mxfp4\",",
    "\"lm_head\":{",
    "\"quant_method\":\"gptq\",",
    "\"quant_method\":\"AWQ\",",
    "\"checkpoint_format\":\"gptq_v2\",",
    "\"is_marlin_format\":",
    "\"packing_format\":\"auto_round:auto_awq\",",
    "\"version\":\"GEMM\",",
    "\"w_bit\":",
    "\"q_group_size\":",
    "\"linear_class\":\"autobitlinear\",",
    "\"quant_method\":\"quark\",",
    "\"global_quant_config\":{\"weight\":{\"dtype\":\"int4\",",
    "\"qscheme\":\"per_group\",",
    "\"layer_quant_config\":{",
    "\"export\":{\"pack_method\":\"order\"",
    "\"targets\":[\"Linear\",\"re:a.*\"],",
    "\"ignore\":[\"re:.*b$\",\"a\"],",
    "\"re:(a*)*\"",
    "NaN,",
    "-Infinity",
    "\"bits\":4,\"bits\":4,",
    "\"dynamic\":{\"-:a\":{},\"b\":{\"bits\":2}},",
    "\"quantized_layers\":{\"a\":{\"quant_algo\":\"FP8\"}},",
    "\"modules_to_not_convert\":[\"a.*\",\"b\"],",
    NULL,
};

static void check_module(const struct dti_quant_config *config, const char *name)
{
    struct dti_quant_module module;
    struct dti_error error;
    if (dti_quant_config_module(config, name, strlen(name), &module, &error) != DTI_OK)
        return;
    REQUIRE(module.stated <= DTI_STATED_NOTHING && module.count <= DTI_QUANT_HINTS_MAX);
    REQUIRE(module.stated != DTI_STATED_IGNORED || module.rule);
    for (size_t i = 0; i < module.count; i++)
        REQUIRE(module.hints[i].bits <= 16 && module.hints[i].strategy <= DTI_STRATEGY_BLOCK);
}

static void check(const struct dti_quant_config *config)
{
    static const char *const modules[] = {"", "a", "a.b", "lm_head", "model.layers.0.mlp.up_proj"};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        check_module(config, modules[i]);
    REQUIRE(config->count <= DTI_QUANT_HINTS_MAX && memchr(config->unread, 0, 32));
    REQUIRE(memchr(config->method, 0, 32) && memchr(config->checkpoint_format, 0, 32) &&
            memchr(config->version, 0, 32) && config->bits <= 16);
    REQUIRE(memchr(config->algorithm, 0, 32) && config->conflict[0] == '\0');
    REQUIRE(memchr(config->linear_class, 0, 32) && memchr(config->quark.packing, 0, 32));
    REQUIRE(memchr(config->quark.weight.dtype, 0, 32) &&
            memchr(config->quark.weight.scheme, 0, 32));
    REQUIRE(config->file || (config->count == 0 && config->unread[0] == '\0'));
    REQUIRE(config->mlx || config->own.count == 0);
    for (size_t i = 0; i < config->own.count; i++) {
        const struct dti_config_module *const module = &config->own.list[i];
        REQUIRE(dti_config_find_module(&config->own, module->path, module->path_length));
        REQUIRE(module->scheme.bits <= 16 && memchr(module->scheme.mode, 0, DTI_MODULE_MODE));
    }
    for (size_t i = 0; i < config->count; i++) {
        const struct dti_quant_hint *const hint = &config->hints[i];
        char words[DTI_QUANT_HINT_TEXT];
        REQUIRE(hint->bits <= 16 && hint->strategy <= DTI_STRATEGY_BLOCK);
        REQUIRE(hint->number <= DTI_NUMBER_FLOAT);
        REQUIRE((hint->strategy == DTI_STRATEGY_BLOCK) || hint->group[0] == 0);
        REQUIRE(dti_quant_hint_words(hint, words)[0] != '\0');
    }
}

static void check_error(enum dti_status status, const struct dti_error *error)
{
    REQUIRE(status == DTI_BAD_INPUT && error->status == status);
    REQUIRE(strncmp(error->text, "'x'", 3) == 0);
    for (const char *c = error->text; *c; c++)
        REQUIRE((unsigned char)*c >= ' ' && *c != 0x7f);
}

/* What the same bytes say of the cache of the model. */
static void parse_cache(const char *data, size_t size)
{
    struct dti_kv_model model;
    struct dti_error error = {.status = DTI_OK};
    const enum dti_status status = dti_kv_config_parse("'x'", data, size, NULL, &model, &error);
    if (status != DTI_OK) {
        check_error(status, &error);
        return;
    }
    REQUIRE(model.count <= DTI_KV_GROUPS && memchr(model.type, 0, DTI_KV_WORD));
    REQUIRE(memchr(model.dtype, 0, DTI_KV_WORD) &&
            memchr(model.defaults, 0, sizeof model.defaults));
    REQUIRE(model.shared + model.without <= model.layers);
    for (size_t i = 0; i < model.count; i++) {
        const struct dti_kv_group *const group = &model.groups[i];
        REQUIRE(group->kind < DTI_KV_KINDS && group->layers > 0 && group->layers <= model.layers);
        REQUIRE(!dti_kv_is_state(group->kind) || group->window == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"config.json", "hf_quant_config.json",
                                        "quantize_config.json", "quant_config.json"};
    struct dti_quant_config config;
    struct dti_error error = {.status = DTI_OK};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const enum dti_status status =
            dti_quant_config_parse("'x'", names[i], (const char *)data, size, &config, &error);
        if (status == DTI_OK) {
            check(&config);
            dti_quant_config_free(&config);
            continue;
        }
        check_error(status, &error);
    }
    parse_cache((const char *)data, size);
    return 0;
}

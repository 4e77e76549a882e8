/* SPDX-License-Identifier: MIT
 *
 * config.json of quantized checkpoints. Any text: an error in one line, or hints that are within
 * their bounds and can be printed. */
#include <string.h>

#include "files/quant_config.h"
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
    NULL,
};

static void check(const struct dti_quant_config *config)
{
    REQUIRE(config->count <= DTI_QUANT_HINTS_MAX && memchr(config->unread, 0, 32));
    REQUIRE(config->file || (config->count == 0 && config->unread[0] == '\0'));
    for (size_t i = 0; i < config->count; i++) {
        const struct dti_quant_hint *const hint = &config->hints[i];
        char words[DTI_QUANT_HINT_TEXT];
        REQUIRE(hint->bits <= 16 && hint->strategy <= DTI_STRATEGY_BLOCK);
        REQUIRE(hint->number <= DTI_NUMBER_FLOAT);
        REQUIRE((hint->strategy == DTI_STRATEGY_BLOCK) || hint->group[0] == 0);
        REQUIRE(dti_quant_hint_words(hint, words)[0] != '\0');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"config.json", "hf_quant_config.json"};
    struct dti_quant_config config;
    struct dti_error error = {.status = DTI_OK};
    for (unsigned i = 0; i < 2; i++) {
        const enum dti_status status =
            dti_quant_config_parse("'x'", names[i], (const char *)data, size, &config, &error);
        if (status == DTI_OK) {
            check(&config);
            continue;
        }
        REQUIRE(status == DTI_BAD_INPUT && error.status == status);
        REQUIRE(strncmp(error.text, "'x'", 3) == 0);
        for (const char *c = error.text; *c; c++)
            REQUIRE((unsigned char)*c >= ' ' && *c != 0x7f);
    }
    return 0;
}

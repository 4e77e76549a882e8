/* SPDX-License-Identifier: MIT
 *
 * Configuration probe for the oracle tests. Standard input: requests, each a config.json with
 * its length in 4 bytes, the number of module names in 2, and the names with their lengths in 2,
 * little-endian. Answers are lines, one per name: "I" (not quantized), "N" (no group matches
 * it), or "Q" with bits and group size of the configuration or of the module's own group, and
 * the group lengths of all hints, vLLM's first and compressed-tensors' last. A rejected
 * configuration gives one line, "E" and the reason. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/config/quant_config.h"

static bool read_number(unsigned bytes, size_t *ret)
{
    *ret = 0;
    for (unsigned i = 0; i < bytes; i++) {
        const int byte = getchar();
        if (byte == EOF)
            return false;
        *ret |= (size_t)byte << 8 * i;
    }
    return true;
}

static bool read_text(unsigned bytes, char **ret, size_t *ret_length)
{
    if (!read_number(bytes, ret_length))
        return false;
    *ret = malloc(*ret_length + 1);
    return *ret && fread(*ret, 1, *ret_length, stdin) == *ret_length;
}

static void answer(const struct dti_quant_config *config, const char *name, size_t length)
{
    struct dti_quant_module module;
    struct dti_error error;
    if (dti_quant_config_module(config, name, length, &module, &error) != DTI_OK) {
        printf("E %s\n", error.text);
        return;
    }
    if (module.stated != DTI_STATED_QUANTIZED) {
        puts(module.stated == DTI_STATED_IGNORED ? "I" : "N");
        return;
    }
    printf("Q %u %llu", module.bits, (unsigned long long)module.group_size);
    for (size_t i = 0; i < module.count; i++)
        printf(" %llu", (unsigned long long)module.hints[i].group[1]);
    puts(module.rule ? " by" : "");
}

int main(void)
{
    char *text;
    size_t length;
    while (read_text(4, &text, &length)) {
        struct dti_quant_config config;
        struct dti_error error;
        size_t count = 0;
        const bool good = dti_quant_config_parse("config", "config.json", text, length, &config,
                                                 &error) == DTI_OK;
        if (!good)
            printf("E %s\n", error.text);
        if (!read_number(2, &count))
            return 1;
        for (size_t i = 0; i < count; i++) {
            char *name;
            size_t name_length;
            if (!read_text(2, &name, &name_length))
                return 1;
            if (good)
                answer(&config, name, name_length);
            free(name);
        }
        if (good)
            dti_quant_config_free(&config);
        free(text);
    }
    return 0;
}

/* SPDX-License-Identifier: MIT
 *
 * Compares two configurations of one checkpoint: config.json, and the layout's own file. Programs
 * read only one of them: vLLM the first, TensorRT-LLM the second. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "files/config/quant_config.h"

/* Whether the configuration has this scheme, or lists no schemes. */
static bool has_scheme(const struct dti_quant_config *config, const struct dti_quant_hint *wanted)
{
    for (size_t i = 0; i < config->count; i++) {
        const struct dti_quant_hint *const hint = &config->hints[i];
        const bool open = hint->group[1] == 0 || wanted->group[1] == 0;
        if (hint->bits == wanted->bits && hint->number == wanted->number &&
            (open || hint->group[1] == wanted->group[1]))
            return true;
    }
    return config->count == 0;
}

void dti_quant_config_compare(struct dti_quant_config *config, const struct dti_quant_config *other)
{
    char words[2][32];
    const char *what = NULL;
    if (config->algorithm[0] != '\0' && other->algorithm[0] != '\0' &&
        strcasecmp(config->algorithm, other->algorithm) != 0) {
        what = "quant_algo";
        (void)snprintf(words[0], sizeof words[0], "%s", config->algorithm);
        (void)snprintf(words[1], sizeof words[1], "%s", other->algorithm);
    } else if (config->group_size > 0 && other->group_size > 0 &&
               config->group_size != other->group_size) {
        what = "group_size";
        (void)snprintf(words[0], sizeof words[0], "%llu", (unsigned long long)config->group_size);
        (void)snprintf(words[1], sizeof words[1], "%llu", (unsigned long long)other->group_size);
    }
    if (what)
        (void)snprintf(config->conflict, sizeof config->conflict, "%s says %s %s, and %s says %s",
                       config->file, what, words[0], other->file, words[1]);
    else if (other->whole && !has_scheme(config, &other->hints[0]))
        (void)snprintf(config->conflict, sizeof config->conflict,
                       "no scheme of %s is that of %s: quant_algo %s", config->file, other->file,
                       other->algorithm);
}

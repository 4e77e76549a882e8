/* SPDX-License-Identifier: MIT
 *
 * Rejects what no loader accepts or what loaders would misread: unknown methods and algorithms, and
 * missing members that a method requires. Sources: transformers 5.24
 * (utils/quantization_config.py), vLLM 0.33, compressed-tensors 0.20. */
#include <string.h>
#include <strings.h>

#include "files/config/quant_config_block.h"
#include "files/stored/layouts.h"
#include "files/stored/unread_layouts.h"

static bool is_one_of(const char *word, const char *const *list)
{
    for (; *list; list++) {
        if (strcasecmp(word, *list) == 0)
            return true;
    }
    return false;
}

/* In addition to those of layouts.h; "": MLX, and old files. */
static const char *const methods[] = {
    "", "auto-round", "autoround", "intel/auto-round", NULL,
};

static enum dti_status fail_word(const struct dti_config_reading *reading, const char *key,
                                 const char *word, struct dti_error *reterr)
{
    return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_OVERRIDE_CONFIG,
                           "%s: its \"%s\" is %s, which is not supported", reading->label, key,
                           DTI_QUOTED(word, strlen(word)));
}

enum dti_status dti_config_check_block(const struct dti_config_reading *reading,
                                       const struct dti_config_block *block,
                                       struct dti_error *reterr)
{
    const struct dti_layout_ops *const layout = dti_layout_of_method(block->method);
    const bool compressed = strncasecmp(block->method, "compressed", 10) == 0;
    if (dti_unread_layout_of_method(block->method))
        return DTI_OK; /* its tensors are named, and nothing of it is read */
    if (block->average_bits)
        return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_OVERRIDE_CONFIG,
                               "%s: its \"bits\" is not a count", reading->label);
    if (!layout && !is_one_of(block->method, methods))
        return fail_word(reading, "quant_method", block->method, reterr);
    if (!dti_config_knows_algorithm(block->algorithm))
        return fail_word(reading, "quant_algo", block->algorithm, reterr);
    if (compressed && !block->grouped)
        return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_OVERRIDE_CONFIG,
                               "%s: it has no \"config_groups\"", reading->label);
    if (layout && layout->grouped && block->no_groups)
        return dti_fail_remedy(reterr, DTI_BAD_INPUT, DTI_REMEDY_OVERRIDE_CONFIG,
                               "%s: its \"group_size\" is 0; it is -1 for whole rows",
                               reading->label);
    return DTI_OK;
}

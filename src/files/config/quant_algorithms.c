/* SPDX-License-Identifier: MIT
 *
 * Schemes named by one word, "quant_algo". Sources: NVIDIA Model Optimizer 0.47
 * (export/quant_utils.py), and vLLM 0.33, whose loaders read them. */
#include <strings.h>

#include "files/config/quant_config_block.h"

static const struct algorithm {
    const char *name;
    unsigned bits; /* of floats; 0: the word adds nothing to what the parts show */
    enum dti_quant_strategy strategy;
    uint64_t group[2];
    bool inputs; /* it takes the scale of activations from the file */
    bool spread; /* scales of rectangles have a dimension of 1 after each of both */
} algorithms[] = {
    {"FP8", 8, DTI_STRATEGY_TENSOR, {0, 0}, true, false},
    {"FP8_PER_CHANNEL_PER_TOKEN", 8, DTI_STRATEGY_CHANNEL, {0, 0}, false, false},
    {"FP8_PB_WO", 8, DTI_STRATEGY_BLOCK, {128, 128}, false, true},
    {"FP8_BLOCK_SCALES", 8, DTI_STRATEGY_BLOCK, {128, 128}, false, false},
    {"NVFP4", 4, DTI_STRATEGY_GROUP, {0, 16}, true, false},
    {"W4A16_NVFP4", 4, DTI_STRATEGY_GROUP, {0, 16}, false, false},
    {"MXFP8", 8, DTI_STRATEGY_GROUP, {0, 32}, false, false},
    {.name = DTI_MIXED_PRECISION},
    {.name = "W4A16_AWQ"},
    {.name = "W4A8_AWQ"},
    {.name = "INT4_AWQ"},
    {.name = "NVFP4_AWQ"},
    {.name = "NVFP4_SVDQUANT"},
    {.name = "W4A8_NVFP4_FP8"},
    {.name = "MXFP4"},
    {.name = "W4A8_MXFP4_FP8"},
    {.name = "W8A16"},
    {.name = "W4A16"},
    {.name = "W8A8_SQ_PER_CHANNEL"},
    {.name = "INT8_SQ"},
};

static const struct algorithm *find(const char *name)
{
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        if (strcasecmp(name, algorithms[i].name) == 0)
            return &algorithms[i];
    }
    return NULL;
}

bool dti_config_algorithm(const char *name, uint64_t group_size, struct dti_quant_hint *ret)
{
    const struct algorithm *const found = find(name);
    if (!found || found->bits == 0)
        return false;
    const bool own = found->strategy == DTI_STRATEGY_GROUP && group_size > 0;
    *ret = (struct dti_quant_hint){.bits = found->bits,
                                   .number = DTI_NUMBER_FLOAT,
                                   .strategy = found->strategy,
                                   .group = {found->group[0], own ? group_size : found->group[1]},
                                   .inputs = found->inputs,
                                   .spread = found->spread};
    return true;
}

bool dti_config_knows_algorithm(const char *name)
{
    return name[0] == '\0' || find(name);
}

/* SPDX-License-Identifier: MIT
 *
 * AMD Quark's part of a configuration: the weight format of all layers, and how their codes are
 * packed. Layers that differ are only noted. */
#include <string.h>

#include "files/config/quant_config_block.h"

enum { WORD = DTI_CONFIG_WORD };

static enum dti_status read_weight(struct dti_config_reading *reading, struct dti_quark_weight *ret,
                                   struct dti_error *reterr)
{
    char key[WORD];
    struct dti_quark_weight weight = {.group = 0};
    enum dti_json_token token;
    enum dti_status status = dti_config_next(reading, &token, reterr);
    if (status != DTI_OK || token == DTI_JSON_NULL)
        return status;
    if (token != DTI_JSON_OBJECT) { /* a list: applied one after the other */
        memcpy(ret->dtype, "several", sizeof "several");
        return dti_config_skip_rest(reading, token, reterr);
    }
    while (status == DTI_OK && (status = dti_config_next_key(reading, key, reterr)) == DTI_OK &&
           key[0] != '\0') {
        if (strcmp(key, "dtype") == 0)
            status = dti_config_read_word(reading, key, weight.dtype, reterr);
        else if (strcmp(key, "qscheme") == 0)
            status = dti_config_read_word(reading, key, weight.scheme, reterr);
        else if (strcmp(key, "group_size") == 0)
            status = dti_config_read_count(reading, key, NULL, &weight.group, reterr);
        else
            status = dti_config_skip(reading, reterr);
    }
    if (status == DTI_OK)
        *ret = weight;
    return status;
}

/* {"weight": ..., "input_tensors": ...} */
static enum dti_status read_layer(struct dti_config_reading *reading, const char *name,
                                  struct dti_quark_weight *ret, struct dti_error *reterr)
{
    char key[WORD];
    bool there;
    enum dti_status status = dti_config_open_object(reading, name, &there, reterr);
    while (status == DTI_OK && there &&
           (status = dti_config_next_key(reading, key, reterr)) == DTI_OK && key[0] != '\0')
        status = strcmp(key, "weight") == 0 ? read_weight(reading, ret, reterr)
                                            : dti_config_skip(reading, reterr);
    return status;
}

static enum dti_status read_layers(struct dti_config_reading *reading, const char *name,
                                   struct dti_quark_config *quark, struct dti_error *reterr)
{
    char key[WORD];
    bool there;
    enum dti_status status = dti_config_open_object(reading, name, &there, reterr);
    while (status == DTI_OK && there &&
           (status = dti_config_next_key(reading, key, reterr)) == DTI_OK && key[0] != '\0') {
        struct dti_quark_weight weight = {.group = 0};
        status = read_layer(reading, name, &weight, reterr); /* the key is arbitrary text */
        if (status != DTI_OK || weight.dtype[0] == '\0')
            continue; /* the layer is not quantized */
        if (quark->layer.dtype[0] != '\0' && memcmp(&quark->layer, &weight, sizeof weight) != 0)
            quark->mixed = true;
        quark->layer = weight;
    }
    return status;
}

enum dti_status dti_config_read_quark(struct dti_config_reading *reading, const char *key,
                                      struct dti_quark_config *quark, bool *ret_mine,
                                      struct dti_error *reterr)
{
    char name[WORD];
    bool there;
    *ret_mine = true;
    if (strcmp(key, "global_quant_config") == 0)
        return read_layer(reading, key, &quark->weight, reterr);
    if (strcmp(key, "layer_quant_config") == 0 || strcmp(key, "layer_type_quant_config") == 0)
        return read_layers(reading, key, quark, reterr);
    *ret_mine = strcmp(key, "export") == 0;
    if (!*ret_mine)
        return DTI_OK;
    enum dti_status status = dti_config_open_object(reading, key, &there, reterr);
    while (status == DTI_OK && there &&
           (status = dti_config_next_key(reading, name, reterr)) == DTI_OK && name[0] != '\0')
        status = strcmp(name, "pack_method") == 0
                     ? dti_config_read_word(reading, name, quark->packing, reterr)
                     : dti_config_skip(reading, reterr);
    return status;
}

void dti_config_end_quark(struct dti_quark_config *quark)
{
    if (quark->weight.dtype[0] == '\0')
        quark->weight = quark->layer;
    else if (quark->layer.dtype[0] != '\0' &&
             memcmp(&quark->layer, &quark->weight, sizeof quark->layer) != 0)
        quark->mixed = true;
}

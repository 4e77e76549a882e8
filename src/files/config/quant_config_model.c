/* SPDX-License-Identifier: MIT
 *
 * What a configuration says about the model itself, quantized or not. Nothing here makes a
 * checkpoint unreadable. */
#include <string.h>

#include "files/config/quant_config_block.h"

enum dti_status dti_config_read_model(struct dti_config_reading *reading, const char *key,
                                      struct dti_config_model *model, struct dti_error *reterr)
{
    const bool dtype = strcmp(key, "dtype") == 0 || strcmp(key, "torch_dtype") == 0;
    const bool tied = strcmp(key, "tie_word_embeddings") == 0;
    const char *text;
    size_t length;
    enum dti_json_token token;
    const enum dti_status status = dti_config_next(reading, &token, reterr);
    if (status != DTI_OK)
        return status;
    if (dtype && token == DTI_JSON_STRING) {
        dti_json_string_value(&reading->json, &text, &length);
        if (length < sizeof model->dtype) {
            memcpy(model->dtype, text, length);
            model->dtype[length] = '\0';
        }
    }
    if (tied && (token == DTI_JSON_TRUE || token == DTI_JSON_FALSE))
        model->tied = token == DTI_JSON_TRUE;
    return dti_config_skip_rest(reading, token, reterr);
}

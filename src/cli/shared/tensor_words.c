/* SPDX-License-Identifier: MIT
 *
 * Tensors and figures in words. */
#include "cli/shared/tensor_words.h"

#include <string.h>

#include "cli/shared/human.h"

const char *dti_percent_words(char buffer[DTI_TEXT_SIZE], double ratio, unsigned digits)
{
    struct dti_value value;
    dti_double_value(ratio, &value);
    dti_human_percent(buffer, &value, digits);
    if (value.class <= DTI_CLASS_FINITE)
        memcpy(buffer + strlen(buffer), " %", 3);
    return buffer;
}

void dti_json_shape(struct dti_json *json, const char *key, const struct dti_tensor *tensor)
{
    dti_json_array(json, key);
    dti_json_uints(json, tensor->shape, tensor->rank);
    dti_json_end(json);
}

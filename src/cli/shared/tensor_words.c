/* SPDX-License-Identifier: MIT
 *
 * Figures in words. */
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

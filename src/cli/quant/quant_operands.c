/* SPDX-License-Identifier: MIT
 *
 * The values of quant that come from standard input. */
#include "cli/quant/quant_values.h"
#include "cli/shared/text_numbers.h"

enum dti_status dti_quant_inputs_read(struct dti_quant_inputs *numbers, struct dti_error *reterr)
{
    struct dti_input input;
    struct dti_text_numbers texts;
    enum dti_status status = dti_input_open(&input, "-", reterr);
    if (status != DTI_OK)
        return status;
    dti_text_numbers_init(&texts, &input);
    for (;;) {
        const char *text;
        size_t length;
        struct dti_error error;
        status = dti_text_numbers_next(&texts, &text, &length, reterr);
        if (status != DTI_OK || !text)
            break;
        status = dti_quant_inputs_add(numbers, text, length, &error);
        if (status != DTI_OK) {
            status = dti_text_numbers_fail(&texts, &error, reterr);
            break;
        }
    }
    dti_text_numbers_free(&texts);
    dti_input_close(&input);
    if (status == DTI_OK && numbers->count == 0)
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "standard input is empty; give values with white space between them");
    return status;
}

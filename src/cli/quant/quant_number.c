/* SPDX-License-Identifier: MIT
 *
 * Numbers on quant's command line, as fp32: the arithmetic of quantization. */
#include <string.h>

#include "cli/quant/quant_args.h"
#include "core/quant_parts.h"
#include "dtinfo/number.h"

/* "--min 'x' is not a number ...": the option before what is wrong with its value. */
static enum dti_status name_option(const char *option, struct dti_error *reterr)
{
    struct dti_error error = *reterr;
    (void)dti_fail(reterr, error.status, "%s: %s", option, error.text);
    memcpy(reterr->argument, error.argument, sizeof error.argument);
    return error.status;
}

enum dti_status dti_quant_option_finite(const char *option, const char *text, uint32_t *ret_code,
                                        struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    struct dti_value value;
    struct dti_error error;
    if (dti_value_parse(&value, text, strlen(text), &error) != DTI_OK) {
        *reterr = error;
        return name_option(option, reterr);
    }
    const uint32_t code = dti_fp32_round(&value);
    dti_fp32_value(code, &value);
    if (value.class > DTI_CLASS_FINITE) {
        (void)dti_fail(reterr, DTI_BAD_VALUE,
                       "%s %s is not a finite fp32 number; the largest is "
                       "3.4028235e+38",
                       option, dti_quote(quoted, text, strlen(text)));
        dti_error_argument(reterr, text, strlen(text));
        return DTI_BAD_VALUE;
    }
    *ret_code = code;
    return DTI_OK;
}

enum dti_status dti_quant_option_scale(const char *option, const char *text, uint32_t *ret_code,
                                       struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    struct dti_value value;
    struct dti_error error;
    if (dti_value_parse(&value, text, strlen(text), &error) != DTI_OK) {
        *reterr = error;
        return name_option(option, reterr);
    }
    const uint32_t code = dti_fp32_round(&value);
    dti_fp32_value(code, &value);
    if (value.class != DTI_CLASS_FINITE || value.negative) {
        (void)dti_fail(reterr, DTI_BAD_VALUE,
                       "%s %s is no scale; give a positive number within the range of fp32", option,
                       dti_quote(quoted, text, strlen(text)));
        dti_error_argument(reterr, text, strlen(text));
        return DTI_BAD_VALUE;
    }
    *ret_code = code;
    return DTI_OK;
}

enum dti_status dti_quant_option_integer(const char *option, const char *text, int64_t lowest,
                                         int64_t highest, int64_t *ret_number,
                                         struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    const bool negative = text[0] == '-';
    const char *digit = text + (negative || text[0] == '+');
    int64_t number = 0;
    bool good = *digit != '\0';
    for (; *digit >= '0' && *digit <= '9' && good; digit++) {
        number = number * 10 + (*digit - '0');
        good = number <= INT32_MAX;
    }
    number = negative ? -number : number;
    if (!good || *digit != '\0' || number < lowest || number > highest) {
        (void)dti_fail(reterr, DTI_USAGE, "%s takes an integer from %lld to %lld, not %s", option,
                       (long long)lowest, (long long)highest,
                       dti_quote(quoted, text, strlen(text)));
        dti_error_argument(reterr, text, strlen(text));
        return DTI_USAGE;
    }
    *ret_number = number;
    return DTI_OK;
}

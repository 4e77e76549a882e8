/* SPDX-License-Identifier: MIT
 *
 * Numbers on quant's command line, as fp32: the arithmetic of quantization. */
#include <string.h>

#include "cli/quant/quant_args.h"
#include "core/quant_parts.h"
#include "dtinfo/number.h"

/* The value of an option, rounded to fp32: also to infinity. */
static enum dti_status read_fp32(const char *option, const char *text, struct dti_value *ret_value,
                                 uint32_t *ret_code, struct dti_error *reterr)
{
    struct dti_error error;
    if (dti_value_parse(ret_value, text, strlen(text), &error) != DTI_OK) {
        (void)dti_fail(reterr, error.status, "%s: %s", option, error.text);
        memcpy(reterr->argument, error.argument, sizeof error.argument);
        return error.status;
    }
    *ret_code = dti_fp32_round(ret_value);
    dti_fp32_value(*ret_code, ret_value);
    return DTI_OK;
}

enum dti_status dti_quant_option_finite(const char *option, const char *text, uint32_t *ret_code,
                                        struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    struct dti_value value;
    const enum dti_status status = read_fp32(option, text, &value, ret_code, reterr);
    if (status != DTI_OK || value.class <= DTI_CLASS_FINITE)
        return status;
    (void)dti_fail(reterr, DTI_BAD_VALUE,
                   "%s %s is not a finite fp32 number; the largest is 3.4028235e+38", option,
                   dti_quote(quoted, text, strlen(text)));
    dti_error_argument(reterr, text, strlen(text));
    return DTI_BAD_VALUE;
}

enum dti_status dti_quant_option_scale(const char *option, const char *text, uint32_t *ret_code,
                                       struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    struct dti_value value;
    const enum dti_status status = read_fp32(option, text, &value, ret_code, reterr);
    if (status != DTI_OK || (value.class == DTI_CLASS_FINITE && !value.negative))
        return status;
    (void)dti_fail(reterr, DTI_BAD_VALUE,
                   "%s %s is no scale; give a positive number within the range of fp32", option,
                   dti_quote(quoted, text, strlen(text)));
    dti_error_argument(reterr, text, strlen(text));
    return DTI_BAD_VALUE;
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

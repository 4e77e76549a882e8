/* SPDX-License-Identifier: MIT
 *
 * Amounts of numbers as people write them, exactly: 7B, 1.5e9, 2^20, 32x1024x4096. */
#include <string.h>

#include "answers/mem.h"
#include "dtinfo/ascii.h"
#include "dtinfo/checked.h"
#include "dtinfo/number.h"

static const char suffixes[] = "kmbt"; /* thousands, and so on */

bool dti_mem_is_amount(const char *text)
{
    const char *const body = text + (text[0] == '+' || text[0] == '-');
    return dti_ascii_digit(body[0]) || (body[0] == '.' && dti_ascii_digit(body[1])) ||
           text[0] == '[';
}

static enum dti_status refuse(const char *text, const char *why, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    (void)dti_fail(reterr, DTI_BAD_VALUE, "%s %s", dti_quote(quoted, text, strlen(text)), why);
    dti_error_argument(reterr, text, strlen(text));
    return DTI_BAD_VALUE;
}

/* An exact whole number of 64 bits, not 0. */
static bool whole_number(const struct dti_value *value, uint64_t *ret_number)
{
    if (value->class != DTI_CLASS_FINITE || value->sticky || value->lo != 0 ||
        value->exponent < 0 || value->exponent > 63)
        return false;
    const unsigned below = 63 - (unsigned)value->exponent;
    if ((value->hi & dti_low_bits(below)) != 0)
        return false;
    *ret_number = value->hi >> below;
    return true;
}

/* "2^20" */
static bool power(const char *text, uint64_t *ret_number)
{
    size_t length = strlen(text);
    uint64_t base, exponent, number = 1;
    if (!dti_amount_digits(&text, &length, &base) || length == 0 || *text != '^')
        return false;
    text++, length--;
    if (!dti_amount_digits(&text, &length, &exponent) || length != 0 || base < 2)
        return false;
    for (uint64_t i = 0; i < exponent; i++) {
        if (!dti_mul_u64(number, base, &number))
            return false;
    }
    *ret_number = number;
    return true;
}

static enum dti_status read_count(const char *text, uint64_t *ret_count, struct dti_error *reterr)
{
    char spelled[64];
    const size_t length = strlen(text);
    struct dti_value value;
    if (strchr(text, '^'))
        return power(text, ret_count)
                   ? DTI_OK
                   : refuse(text, "is no power that 64 bits hold; write 2^20", reterr);
    const char *const suffix = strchr(suffixes, dti_ascii_lower(text[length - 1]));
    const size_t digits = suffix ? length - 1 : length;
    if (digits + 4 > sizeof spelled)
        return refuse(text, "is longer than any count; write 7B or 7e9", reterr);
    for (size_t i = 0; i < digits; i++) {
        if (!dti_ascii_digit(text[i]) && !strchr("+-._eE", text[i]))
            return refuse(text,
                          "is no count; write 7000000000, 7e9 or 7B: K, M, B and T are 1e3, 1e6, "
                          "1e9 and 1e12",
                          reterr);
    }
    memcpy(spelled, text, digits);
    spelled[digits] = '\0';
    if (suffix) {
        const unsigned thousands = (unsigned)(suffix - suffixes) + 1;
        const unsigned exponent = 3 * thousands;
        size_t at = digits;
        spelled[at++] = 'e';
        if (exponent >= 10)
            spelled[at++] = '1';
        spelled[at++] = (char)('0' + exponent % 10);
        spelled[at] = '\0';
    }
    struct dti_error error;
    const enum dti_status status = dti_value_parse(&value, spelled, strlen(spelled), &error);
    if (status == DTI_NO_MEMORY) {
        *reterr = error;
        return status;
    }
    if (status != DTI_OK)
        return refuse(text, "is no count; write 7000000000, 7e9 or 7B", reterr);
    if (value.class == DTI_CLASS_ZERO) {
        *ret_count = 0;
        return DTI_OK;
    }
    if (value.negative)
        return refuse(text, "is negative, which no amount is; write 7e9 or 7B", reterr);
    if (value.exponent > 63)
        return refuse(text, "numbers are more than 64 bits count", reterr);
    if (!whole_number(&value, ret_count))
        return refuse(text,
                      "is no whole number; K, M, B and T are 1e3, 1e6, 1e9 and 1e12: 1.5B is "
                      "1500000000",
                      reterr);
    return DTI_OK;
}

static enum dti_status read_shape(struct dti_mem_operand *ret, const char *text,
                                  struct dti_error *reterr)
{
    struct dti_extent extent;
    if (!dti_shape_parse(text, strlen(text), ret->shape, &ret->rank) || ret->rank == 0)
        return refuse(text, "is no shape; write 32x1024x4096 or 32,1024,4096", reterr);
    if (!dti_extent_of(ret->shape, ret->rank, &extent))
        return refuse(text, "has more elements than 64 bits count", reterr);
    ret->kind = DTI_MEM_SHAPE;
    return DTI_OK;
}

enum dti_status dti_mem_amount(struct dti_mem_operand *ret, const char *text,
                               struct dti_error *reterr)
{
    const bool signed_ = text[0] == '-' || text[0] == '+';
    ret->text = text;
    if (!signed_ && strpbrk(text, ",x["))
        return read_shape(ret, text, reterr);
    ret->kind = DTI_MEM_COUNT;
    ret->rank = 1;
    return read_count(text, &ret->shape[0], reterr);
}

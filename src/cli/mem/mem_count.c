/* SPDX-License-Identifier: MIT
 *
 * Amounts of numbers and of bytes as people write them, exactly: 7B, 1.5e9, 2^20, 32x1024x4096;
 * 80GB, 24GiB. */
#include <string.h>

#include "cli/mem/mem.h"
#include "cli/shared/amount.h"
#include "dtinfo/ascii.h"
#include "dtinfo/checked.h"
#include "dtinfo/number.h"

static const char suffixes[] = "kmbt"; /* thousands, and so on */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool dti_mem_is_amount(const char *text)
{
    const char *const body = text + (text[0] == '+' || text[0] == '-');
    return is_digit(body[0]) || (body[0] == '.' && is_digit(body[1])) || text[0] == '[';
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
        if (!is_digit(text[i]) && !strchr("+-._eE", text[i]))
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
    if (value.class == DTI_CLASS_ZERO)
        return refuse(text, "is no amount; there is nothing to store", reterr);
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

static enum dti_status read_shape(struct mem_operand *ret, const char *text,
                                  struct dti_error *reterr)
{
    struct dti_extent extent;
    if (!dti_shape_parse(text, strlen(text), ret->shape, &ret->rank) || ret->rank == 0)
        return refuse(text, "is no shape; write 32x1024x4096 or 32,1024,4096", reterr);
    if (!dti_extent_of(ret->shape, ret->rank, &extent))
        return refuse(text, "has more elements than 64 bits count", reterr);
    if (extent.elements == 0)
        return refuse(text,
                      "has a dimension of 0, so there is nothing to store; x and commas are "
                      "between dimensions",
                      reterr);
    ret->kind = MEM_SHAPE;
    return DTI_OK;
}

enum dti_status dti_mem_amount(struct mem_operand *ret, const char *text, struct dti_error *reterr)
{
    const bool signed_ = text[0] == '-' || text[0] == '+';
    ret->text = text;
    if (!signed_ && strpbrk(text, ",x["))
        return read_shape(ret, text, reterr);
    ret->kind = MEM_COUNT;
    ret->rank = 1;
    return read_count(text, &ret->shape[0], reterr);
}

/* digits[.digits] as an integer and how many digits are behind the point. */
static bool read_decimal(const char **text, size_t *length, uint64_t *ret_digits,
                         uint64_t *ret_scale)
{
    uint64_t digits = 0, scale = 1;
    size_t seen = 0;
    bool behind = false;
    for (; *length > 0 && (is_digit(**text) || (**text == '.' && !behind));
         (*text)++, (*length)--) {
        if (**text == '.') {
            behind = true;
            continue;
        }
        seen++;
        if (!dti_mul_u64(digits, 10, &digits) ||
            !dti_add_u64(digits, (uint64_t)(**text - '0'), &digits) ||
            (behind && !dti_mul_u64(scale, 10, &scale)))
            return false;
    }
    *ret_digits = digits;
    *ret_scale = scale;
    return seen > 0;
}

enum dti_status dti_mem_bytes(const char *option, const char *text, uint64_t *ret_bytes,
                              struct dti_error *reterr)
{
    static const struct {
        const char *name;
        uint64_t factor;
    } units[] = {
        {"", 1},
        {"B", 1},
        {"kB", 1000},
        {"MB", 1000000},
        {"GB", 1000000000},
        {"TB", UINT64_C(1000000000000)},
        {"KiB", 1 << 10},
        {"MiB", 1 << 20},
        {"GiB", 1 << 30},
        {"TiB", UINT64_C(1) << 40},
    };
    const char *at = text;
    size_t length = strlen(text);
    uint64_t digits, scale, product;
    char quoted[DTI_QUOTE_SIZE];
    if (read_decimal(&at, &length, &digits, &scale) && digits > 0) {
        if (length > 0 && *at == ' ')
            at++, length--;
        for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
            if (dti_ascii_equal(at, units[i].name) &&
                dti_mul_u64(digits, units[i].factor, &product) && product >= scale) {
                *ret_bytes = product / scale;
                return DTI_OK;
            }
        }
    }
    (void)dti_fail(reterr, DTI_USAGE,
                   "%s takes a device (cpu, cuda:0, auto) or bytes, as in 80GB or 24GiB; %s is "
                   "neither",
                   option, dti_quote(quoted, text, strlen(text)));
    dti_error_argument(reterr, text, strlen(text));
    return DTI_USAGE;
}

/* SPDX-License-Identifier: MIT
 *
 * Sizes of --fit: see fit_bytes.h. */
#include "requests/fit_bytes.h"

#include <string.h>

#include "util/checked.h"
#include "util/text/ascii.h"

enum { FEW_BYTES = 1 << 20 };

/* digits[.digits] as an integer and the number of digits after the point. */
static bool read_decimal(const char **text, size_t *length, uint64_t *ret_digits,
                         uint64_t *ret_scale)
{
    uint64_t digits = 0, scale = 1;
    size_t seen = 0;
    bool behind = false;
    for (; *length > 0 && (dti_ascii_digit(**text) || (**text == '.' && !behind));
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

bool dti_fit_bytes(const char *text, uint64_t *ret_bytes)
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
    uint64_t digits = 0, scale = 1, product;
    if (!read_decimal(&at, &length, &digits, &scale) || digits == 0)
        return false;
    if (length > 0 && *at == ' ')
        at++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (dti_ascii_equal(at, units[i].name) && dti_mul_u64(digits, units[i].factor, &product) &&
            product >= scale) {
            *ret_bytes = product / scale;
            return true;
        }
    }
    return false;
}

bool dti_fit_lacks_unit(const char *text, uint64_t bytes)
{
    const size_t length = strlen(text);
    return bytes < FEW_BYTES && length > 0 && dti_ascii_digit(text[length - 1]);
}

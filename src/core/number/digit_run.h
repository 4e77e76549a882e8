/* SPDX-License-Identifier: MIT
 *
 * Runs of decimal digits in a text, eight characters at a time (SWAR) and without a loop over
 * digits, because the run length is unpredictable for branch prediction. */
#ifndef CORE_NUMBER_DIGIT_RUN_H
#define CORE_NUMBER_DIGIT_RUN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/wide.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define DTI_RUNS_OF_EIGHT 1

/* The next eight characters, the first in the lowest byte; zeros past the end. */
static inline uint64_t dti_load_eight(const char *p, const char *start, const char *end)
{
    const size_t left = (size_t)(end - p);
    uint64_t eight = 0;
    if (left >= 8) {
        memcpy(&eight, p, sizeof eight);
    } else if (end - start >= 8) {
        memcpy(&eight, end - 8, sizeof eight);
        eight = eight >> 8 * (7 - left) >> 8;
    } else {
        for (size_t i = left; i-- > 0;)
            eight = eight << 8 | (unsigned char)p[i];
    }
    return eight;
}

/* The number of leading digits among eight characters. A byte is a digit if adding 0x46 does not
 * reach 0x80 and subtracting '0' does not borrow. Only bytes above a non-digit can be misjudged. */
static inline unsigned dti_count_digits(uint64_t eight)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t others = ((eight + ones * 0x46) | (eight - ones * '0')) & ones << 7;
    return others ? dti_trailing_zeros(others) / 8 : 8;
}

/* Appends the run of digits at p to *value as long as *count, its number of digits from the
 * first nonzero one, is at most `most` (up to 19). Returns the end of the run. */
static inline const char *dti_take_digits(uint64_t *value, size_t *count, size_t most,
                                          const char *p, const char *start, const char *end)
{
    static const uint32_t tens[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    for (;;) {
        uint64_t eight = dti_load_eight(p, start, end);
        const unsigned length = dti_count_digits(eight);
        /* Move the digits up with zeros before them; then join pairs, fours and eights. */
        eight -= UINT64_C(0x0101010101010101) * '0';
        eight = length > 0 ? eight << 8 * (8 - length) : 0;
        const unsigned zeros = eight ? dti_trailing_zeros(eight) / 8 : 8;
        *count += *count > 0 ? length : 8 - zeros;
        if (*count <= most) {
            eight = (eight * 10 + (eight >> 8)) & UINT64_C(0x00FF00FF00FF00FF);
            eight = (eight * 100 + (eight >> 16)) & UINT64_C(0x0000FFFF0000FFFF);
            *value = *value * tens[length] + ((eight * 10000 + (eight >> 32)) & 0xFFFFFFFF);
        }
        p += length;
        if (length < 8)
            return p;
    }
}
#endif

#endif

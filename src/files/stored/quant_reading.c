/* SPDX-License-Identifier: MIT
 *
 * Bit widths and part lengths that fit a shape. */
#include "files/stored/quant_reading.h"

#include "util/checked.h"

bool dti_quant_fills_words(uint64_t columns, uint64_t words, unsigned bits)
{
    uint64_t all;
    if (dti_mul_u64(columns, bits, &all) && dti_divide_up(all, 32) == words)
        return true;
    return 32 % bits != 0 && dti_divide_up(columns, 32 / bits) == words;
}

unsigned dti_quant_widths(uint64_t columns, uint64_t words)
{
    unsigned widths = 0;
    for (unsigned bits = 1; bits <= 8; bits++)
        widths |= dti_quant_fills_words(columns, words, bits) ? 1U << bits : 0;
    return widths;
}

static uint64_t power_of_two(uint64_t length, uint64_t count)
{
    for (uint64_t side = 1; side > 0; side <<= 1) {
        if (dti_divide_up(length, side) == count)
            return side;
    }
    return 0;
}

/* An adjacent length that gives the same number of parts; 0: none. */
static uint64_t neighbour(uint64_t length, uint64_t count, uint64_t side)
{
    return dti_divide_up(length, side + 1) == count               ? side + 1
           : side > 1 && dti_divide_up(length, side - 1) == count ? side - 1
                                                                  : 0;
}

struct dti_quant_lengths dti_quant_sides_of(uint64_t length, uint64_t count, bool fixed)
{
    struct dti_quant_lengths found = {.length = 0};
    if (count == 0 || dti_divide_up(length, DTI_QUANT_SIDE) != count)
        return found;
    found.length = DTI_QUANT_SIDE;
    if (count == 1 || length % DTI_QUANT_SIDE == 0)
        return found;
    found.other = length % count == 0 ? length / count
                  : fixed             ? 0
                                      : neighbour(length, count, DTI_QUANT_SIDE);
    return found;
}

struct dti_quant_lengths dti_quant_lengths_of(uint64_t length, uint64_t count, bool or_sides)
{
    struct dti_quant_lengths found = {.length = 0};
    if (count == 0 || length == 0)
        return found;
    if (length % count != 0)
        return dti_quant_sides_of(length, count, false);
    found.length = length / count;
    if (count == 1)
        return found;
    if ((found.length & (found.length - 1)) != 0)
        found.other = power_of_two(length, count);
    if (found.other == 0 && or_sides)
        found.other = neighbour(length, count, found.length);
    return found;
}

bool dti_quant_is_thin(const uint64_t *shape, unsigned rank, unsigned axis)
{
    return rank > 1 && axis + 2 >= rank && shape[axis + 1 == rank ? rank - 2 : rank - 1] == 1;
}

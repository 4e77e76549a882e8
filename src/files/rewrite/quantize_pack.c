/* SPDX-License-Identifier: MIT
 *
 * Packs codes for files: byte order, and 32-bit words of codes. */
#include <string.h>

#include "files/rewrite/quantize.h"
#include "util/little_endian.h"

static bool is_big_endian(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 0;
}

void dti_quant_little(void *array, size_t item, size_t n)
{
    unsigned char *const bytes = array;
    if (item == 1 || !is_big_endian())
        return;
    for (size_t i = 0; i < n; i++) {
        for (size_t low = i * item, high = low + item - 1; low < high; low++, high--) {
            const unsigned char byte = bytes[low];
            bytes[low] = bytes[high];
            bytes[high] = byte;
        }
    }
}

void dti_quant_flip(unsigned char *bytes, size_t n, unsigned bits)
{
    const unsigned char signs = bits == 4 ? 0x88 : 0xAA; /* the highest bit of each code */
    for (size_t i = 0; i < n; i++)
        bytes[i] ^= signs;
}

uint64_t dti_quant_word_of(uint64_t code, uint64_t columns, unsigned bits)
{
    const uint64_t in_word = 32 / bits;
    const uint64_t words = columns / in_word + (columns % in_word != 0);
    return code / columns * words + code % columns / in_word;
}

size_t dti_quant_pack_words(unsigned char *words, const unsigned char *codes, uint64_t first,
                            size_t n, uint64_t columns, unsigned bits, bool flip)
{
    const unsigned in_word = 32 / bits;
    const uint32_t mask = (UINT32_C(1) << bits) - 1;
    const uint32_t sign = flip ? UINT32_C(1) << (bits - 1) : 0;
    uint64_t column = first % columns;
    size_t count = 0;
    for (size_t at = 0; at < n; count++) {
        unsigned place = (unsigned)(column % in_word);
        uint32_t word = 0;
        for (; place < in_word && at < n && column < columns; place++, at++, column++)
            word |= ((codes[at] & mask) ^ sign) << place * bits;
        dti_little_put(words + 4 * count, 4, word);
        if (column == columns)
            column = 0;
    }
    return count;
}

void dti_quant_pack_down(unsigned char *words, const int8_t *codes, size_t rows, size_t columns,
                         unsigned bits, bool flip)
{
    const uint32_t mask = (UINT32_C(1) << bits) - 1;
    const uint32_t sign = flip ? UINT32_C(1) << (bits - 1) : 0;
    for (size_t column = 0; column < columns; column++, words += 4) {
        uint32_t word = 0;
        for (size_t row = 0; row < rows; row++)
            word |= (((uint32_t)codes[row * columns + column] & mask) ^ sign) << row * bits;
        dti_little_put(words, 4, word);
    }
}

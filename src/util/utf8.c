/* SPDX-License-Identifier: MIT
 *
 * Decoding UTF-8, strictly: names of files and operands are not ours, and go to terminals and to
 * JSON. */
#include "dtinfo/utf8.h"

size_t dti_utf8_decode(const char *text, size_t length, uint32_t *ret_point)
{
    const unsigned char first = (unsigned char)text[0];
    if (first < 0x80) {
        *ret_point = first;
        return 1;
    }
    size_t size;
    uint32_t point, lowest; /* lowest: what fewer bytes could not have said */
    if (first >= 0xC2 && first <= 0xDF) {
        size = 2, point = first & 0x1Fu, lowest = 0x80;
    } else if ((first & 0xF0) == 0xE0) {
        size = 3, point = first & 0x0Fu, lowest = 0x800;
    } else if (first >= 0xF0 && first <= 0xF4) {
        size = 4, point = first & 0x07u, lowest = 0x10000;
    } else {
        return 0;
    }
    if (length < size)
        return 0;
    for (size_t i = 1; i < size; i++) {
        const unsigned char next = (unsigned char)text[i];
        if ((next & 0xC0) != 0x80)
            return 0;
        point = point << 6 | (next & 0x3Fu);
    }
    if (point < lowest || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF))
        return 0;
    *ret_point = point;
    return size;
}

bool dti_utf8_valid(const char *text, size_t length)
{
    while (length > 0) {
        uint32_t point;
        const size_t size = dti_utf8_decode(text, length, &point);
        if (size == 0)
            return false;
        text += size;
        length -= size;
    }
    return true;
}

/* SPDX-License-Identifier: MIT
 *
 * Texts and numbers as pickles of protocol 0 spell them. What Python reads and does not write is
 * not read here: such a name is then one that is computed. */
#include "containers/pickle_scan_parts.h"
#include "dtinfo/ascii.h"

bool dti_scan_number(const unsigned char *text, size_t length, uint64_t *ret)
{
    enum { DIGITS = 9 };
    uint64_t number = 0;
    if (length == 0 || length > DIGITS)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!dti_ascii_digit((char)text[i]))
            return false;
        number = 10 * number + (uint64_t)(text[i] - '0');
    }
    *ret = number;
    return true;
}

/* 'os\x73': names of ASCII alone; other escapes than these occur in no name that anyone writes. */
bool dti_scan_unescape(char *text, size_t *length)
{
    size_t to = 0;
    uint32_t point;
    if (*length < 2 || text[0] != text[*length - 1] || (text[0] != '\'' && text[0] != '"'))
        return false;
    for (size_t i = 1; i + 1 < *length; i++) {
        if (text[i] == '\\') {
            if (i + 4 >= *length || text[i + 1] != 'x' || !dti_ascii_hex(text + i + 2, 2, &point))
                return false;
            text[to++] = (char)point;
            i += 3;
        } else {
            text[to++] = text[i];
        }
    }
    *length = to;
    return true;
}

/* Only \u0061 and \U00000061 mean something. */
bool dti_scan_unescape_unicode(char *text, size_t *length)
{
    size_t to = 0;
    for (size_t i = 0; i < *length; i++) {
        uint32_t point = (unsigned char)text[i];
        if (point == '\\') {
            const char letter = i + 1 < *length ? text[i + 1] : '\0';
            const size_t digits = letter == 'u' ? 4 : 8;
            if ((letter != 'u' && letter != 'U') || *length - i < 2 + digits ||
                !dti_ascii_hex(text + i + 2, digits, &point))
                return false;
            i += 1 + digits;
        }
        if (point >= 0x80)
            return false;
        text[to++] = (char)point;
    }
    *length = to;
    return true;
}

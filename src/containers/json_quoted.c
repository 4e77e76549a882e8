/* SPDX-License-Identifier: MIT
 *
 * Writes a JSON string: escapes only what must be escaped, copies everything else. */
#include "containers/json_quoted.h"

#include <stdint.h>

#include "util/json/json_string.h"
#include "util/text/utf8.h"

static void append_escape(struct dti_buffer *buffer, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    static const char named[] = "\"\"\\\\\bb\ff\nn\rr\tt"; /* pairs: character, letter */
    for (size_t i = 0; i + 1 < sizeof named; i += 2) {
        if ((unsigned char)named[i] == c) {
            const char pair[] = {'\\', named[i + 1]};
            dti_buffer_append(buffer, pair, sizeof pair);
            return;
        }
    }
    const char escape[] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
    dti_buffer_append(buffer, escape, sizeof escape);
}

/* Fast path for most texts: false if one has anything but printable ASCII, or memory runs out. */
static bool append_plain(struct dti_buffer *buffer, const char *text, size_t length)
{
    if (!dti_buffer_reserve(buffer, length < SIZE_MAX - 2 ? length + 2 : length))
        return false;
    char *const out = buffer->data + buffer->length;
    if (dti_json_copy_plain(out + 1, text, length) < length)
        return false;
    out[0] = out[length + 1] = '"';
    out[length + 2] = '\0';
    buffer->length += length + 2;
    return true;
}

bool dti_json_quoted(struct dti_buffer *buffer, const char *text, size_t length)
{
    bool valid = true;
    if (append_plain(buffer, text, length))
        return true;
    dti_buffer_append(buffer, "\"", 1);
    size_t run = 0; /* bytes at the front of text that need no escape */
    while (run < length) {
        const unsigned char c = (unsigned char)text[run];
        uint32_t point;
        const size_t size = c < 0x80 ? 1 : dti_utf8_decode(text + run, length - run, &point);
        if (size > 0 && c >= 0x20 && c != '"' && c != '\\') {
            run += size;
            continue;
        }
        dti_buffer_append(buffer, text, run);
        if (size == 0)
            dti_buffer_puts(buffer, "\xEF\xBF\xBD");
        else
            append_escape(buffer, c);
        valid = valid && size > 0;
        text += run + 1;
        length -= run + 1;
        run = 0;
    }
    dti_buffer_append(buffer, text, run);
    dti_buffer_append(buffer, "\"", 1);
    return valid;
}

/* SPDX-License-Identifier: MIT
 *
 * Writing a JSON string: what must be escaped is, everything else is copied unchanged. */
#include "containers/json_quoted.h"

#include "dtinfo/utf8.h"

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

void dti_json_quoted(struct dti_buffer *buffer, const char *text, size_t length)
{
    dti_buffer_puts(buffer, "\"");
    size_t run = 0; /* bytes at the front of text that stand for themselves */
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
        text += run + 1;
        length -= run + 1;
        run = 0;
    }
    dti_buffer_append(buffer, text, run);
    dti_buffer_puts(buffer, "\"");
}

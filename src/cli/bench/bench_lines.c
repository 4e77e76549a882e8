/* SPDX-License-Identifier: MIT
 *
 * Lines of `bench` for people. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/bench/bench_words.h"

enum { CELL = 256 };

struct dti_line dti_bench_line(const struct dti_context *cx)
{
    return (struct dti_line){.out = cx->out, .colour = cx->colour};
}

void dti_bench_put_line(const struct dti_context *cx, enum dti_style style, size_t indent,
                        const char *format, ...)
{
    char text[CELL];
    struct dti_line line = dti_bench_line(cx);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (indent > 0)
        dti_line_to(&line, indent);
    dti_line_put(&line, style, text);
    dti_line_end(&line);
}

void dti_bench_put_words(const struct dti_context *cx, enum dti_style style, size_t indent,
                         const char *text, const char *between)
{
    const size_t gap = strlen(between), wide = cx->width < CELL ? (size_t)cx->width : CELL - 1;
    const size_t width = wide > indent ? wide - indent : 1;
    while (text[0] != '\0') {
        size_t used = 0;
        do {
            const char *const end = strstr(text + used + (used > 0 ? gap : 0), between);
            const size_t next = end ? (size_t)(end - text) : strlen(text);
            if (next > width && used > 0)
                break;
            used = next;
        } while (text[used] != '\0');
        dti_bench_put_line(cx, style, indent, "%.*s", used < CELL ? (int)used : CELL - 1, text);
        text += used;
        text += text[0] != '\0' ? gap : 0;
    }
}

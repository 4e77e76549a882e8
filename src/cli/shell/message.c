/* SPDX-License-Identifier: MIT
 *
 * Lines on stdout and stderr, and errors as JSON. A line on stderr is assembled first and written
 * at once, so that lines of several processes do not mix. */
#include <stdarg.h>
#include <string.h>

#include "answers/common.h"
#include "cli/shell/command.h"

static const char red[] = "\x1b[1;31m", yellow[] = "\x1b[1;33m", plain[] = "\x1b[0m";

/* "dtinfo cast: text", the part before the text coloured */
static void put_line(const struct dti_context *cx, const char *style, const char *text)
{
    char line[768];
    const bool named = cx->command != NULL;
    snprintf(line, sizeof line, "%sdtinfo%s%s:%s %s\n", cx->colour_error ? style : "",
             named ? " " : "", named ? cx->command : "", cx->colour_error ? plain : "", text);
    (void)fputs(line, cx->err);
}

void dti_warn(const struct dti_context *cx, const char *format, ...)
{
    if (cx->quiet)
        return;
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put_line(cx, yellow, text);
}

void dti_complain(const struct dti_context *cx, const struct dti_error *error)
{
    char words[DTI_ERROR_TEXT];
    put_line(cx, red, dti_error_words(words, error));
}

struct dti_line dti_context_line(const struct dti_context *cx)
{
    return (struct dti_line){.out = cx->out, .colour = cx->colour};
}

void dti_put_line(const struct dti_context *cx, enum dti_style style, size_t indent,
                  const char *format, ...)
{
    char text[512];
    struct dti_line line = dti_context_line(cx);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (indent > 0)
        dti_line_to(&line, indent);
    dti_line_print(&line, style, "%s\n", text);
}

enum dti_status dti_error_json(struct dti_json *json, const struct dti_error *error, uint64_t line,
                               FILE *out, struct dti_error *reterr)
{
    char words[DTI_ERROR_TEXT];
    dti_document_error(json,
                       &(struct dti_error_answer){error, dti_error_words(words, error), line});
    return dti_json_write(json, out, reterr);
}

/* SPDX-License-Identifier: MIT
 *
 * Lines on stdout and stderr, errors as JSON, and messages about an output apart from its report. A
 * line on stderr is assembled first and written at once, so that lines of several processes do not
 * mix. */
#include <stdarg.h>
#include <string.h>

#include "answers/common.h"
#include "cli/shell/command.h"
#include "cli/shell/standard.h"
#include "io/output.h"

static const char red[] = "\x1b[1;31m", yellow[] = "\x1b[1;33m", plain[] = "\x1b[0m";

/* "dtinfo cast: text", with the part before the text in colour */
enum { LINE_SIZE = 768 };
static const char *spell_line(char line[LINE_SIZE], const struct dti_command_context *cx,
                              const char *style, const char *text)
{
    const bool named = cx->command != NULL;
    (void)snprintf(line, LINE_SIZE, "%sdtinfo%s%s:%s %s\n", cx->colour_error ? style : "",
                   named ? " " : "", named ? cx->command : "", cx->colour_error ? plain : "", text);
    return line;
}

static void put_line(const struct dti_command_context *cx, const char *style, const char *text)
{
    char line[LINE_SIZE];
    (void)fputs(spell_line(line, cx, style, text), cx->err);
}

void dti_warn(const struct dti_command_context *cx, const char *format, ...)
{
    if (cx->quiet)
        return;
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put_line(cx, yellow, text);
}

void dti_complain(const struct dti_command_context *cx, const struct dti_error *error)
{
    char words[DTI_ERROR_TEXT];
    put_line(cx, red, dti_error_words(words, error));
}

void dti_complain_later(const struct dti_command_context *cx, const struct dti_error *error,
                        struct dti_buffer *ret)
{
    char words[DTI_ERROR_TEXT], line[LINE_SIZE];
    dti_buffer_puts(ret, spell_line(line, cx, red, dti_error_words(words, error)));
}

void dti_put_line(const struct dti_command_context *cx, enum dti_style style, size_t indent,
                  const char *format, ...)
{
    char text[512];
    struct dti_line line = dti_command_context_line(cx);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (indent > 0)
        dti_line_to(&line, indent);
    dti_line_print(&line, style, "%s\n", text);
}

void dti_error_document(struct dti_json *json, const struct dti_error *error, uint64_t line)
{
    char words[DTI_ERROR_TEXT];
    dti_document_error(json,
                       &(struct dti_error_answer){error, dti_error_words(words, error), line});
}

static const char *label_of(const char *path, char label[DTI_QUOTE_SIZE])
{
    if (dti_output_is_standard(path))
        return "the output";
    return dti_quote(label, path, strlen(path));
}

void dti_output_is_complete(const char *path)
{
    char label[DTI_QUOTE_SIZE];
    if (!dti_output_is_standard(path))
        dti_standard_note_complete(label_of(path, label));
}

enum dti_status dti_output_report_end(const struct dti_command_context *cx, const char *path,
                                      enum dti_status status, struct dti_error *reterr)
{
    struct dti_error error;
    char label[DTI_QUOTE_SIZE], reason[DTI_ERROR_TEXT];
    if (status == DTI_OK || status == DTI_WRITE_FAILED)
        return status;
    (void)dti_fail(&error, status, "%s is complete, but its report is not: %s",
                   label_of(path, label), dti_error_words(reason, reterr));
    dti_complain(cx, &error);
    return DTI_OK;
}

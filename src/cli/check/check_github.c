/* SPDX-License-Identifier: MIT
 *
 * Annotations: workflow commands that a runner of GitHub Actions reads from the output of a step.
 *
 *     ::error file=model.safetensors,title=no-nan::w: 1 NaN at [3]
 *
 * Properties end at a comma or a colon, and commands at the end of the line, so these characters,
 * and the percent sign, are written as %XX. */
#include <string.h>

#include "cli/check/check_forms.h"
#include "util/text/escape.h"

/* Appends bytes; those that a terminal would interpret are escaped first. */
static void put(struct dti_buffer *text, const char *bytes, size_t length, bool property)
{
    struct dti_buffer safe;
    dti_buffer_init(&safe);
    dti_escape(&safe, bytes, length);
    text->failed = text->failed || safe.failed;
    for (const char *at = safe.data; *at != '\0'; at++) {
        if (*at == '%' || *at == '\r' || *at == '\n' || (property && (*at == ':' || *at == ',')))
            dti_buffer_print(text, "%%%02X", (unsigned char)*at);
        else
            dti_buffer_append(text, at, 1);
    }
    dti_buffer_free(&safe);
}

static void put_command(struct check_form *form, const char *level, const char *path,
                        const struct dti_buffer *title, const char *message, size_t length)
{
    struct dti_buffer *const text = &form->text;
    dti_buffer_print(text, "::%s file=", level);
    put(text, path, strlen(path), true);
    dti_buffer_puts(text, ",title=");
    put(text, title->data, title->length, true);
    dti_buffer_puts(text, "::");
    put(text, message, length, false);
    dti_buffer_puts(text, "\n");
}

static void put_assertion(struct check_form *form, const struct check_result *result)
{
    struct dti_buffer title, message;
    dti_buffer_init(&title);
    dti_buffer_init(&message);
    dti_check_put_label(&title, result);
    for (size_t i = 0; i < result->tally->failures; i++) {
        const struct dti_check_failure *const failure = &result->failures[i];
        dti_buffer_clear(&message);
        dti_check_put_sentence(&message, result->report, failure);
        put_command(form, failure->known ? "notice" : "error", result->report->path, &title,
                    message.data, message.length);
        form->text.failed = form->text.failed || title.failed || message.failed;
    }
    dti_buffer_free(&title);
    dti_buffer_free(&message);
}

static void begin(struct check_form *form)
{
    (void)form;
}

static void end(struct check_form *form, const struct dti_error *error)
{
    struct dti_buffer title;
    char words[DTI_ERROR_TEXT];
    if (!error)
        return;
    const char *const text = dti_error_words(words, error);
    dti_buffer_init(&title);
    dti_buffer_puts(&title, "not checked");
    put_command(form, "error", form->files->paths[form->files->next], &title, text, strlen(text));
    dti_buffer_free(&title);
}

const struct check_form_row dti_check_github = {.begin = begin, .put = put_assertion, .end = end};

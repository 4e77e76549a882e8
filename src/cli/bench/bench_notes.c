/* SPDX-License-Identifier: MIT
 *
 * Footnotes of tables of `bench`: a row starts with a letter and its note is printed below the
 * table, so that columns hold only numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench/bench_page.h"

static char mark_of(size_t note)
{
    static const char marks[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return note < sizeof marks - 1 ? marks[note] : '*';
}

char dti_bench_note(struct bench_notes *notes, enum dti_style style, const char *text)
{
    const char first[] = {(char)style, '\0'};
    const char *at = notes->text.data;
    if (text[0] == '\0')
        return ' ';
    for (size_t i = 0; i < notes->count; i++) {
        if (strcmp(at + 1, text) == 0)
            return mark_of(i);
        at += strlen(at + 1) + 2;
    }
    dti_buffer_append(&notes->text, first, 1);
    dti_buffer_append(&notes->text, text, strlen(text) + 1);
    return notes->text.failed ? '*' : mark_of(notes->count++);
}

/* Its words wrap to the right of its mark. */
static void put_note(const struct dti_context *cx, char mark, const char *note)
{
    char *page = NULL;
    size_t length;
    FILE *const out = open_memstream(&page, &length);
    struct dti_line line = {.out = out, .colour = cx->colour};
    if (!out)
        return;
    dti_line_print(&line, DTI_STYLE_PLAIN, "%c ", mark);
    dti_line_put(&line, (enum dti_style)note[0], note + 1);
    dti_line_end(&line);
    if (fclose(out) == 0)
        (void)dti_fit_lines(cx->out, page, length, (size_t)cx->width);
    free(page);
}

void dti_bench_notes_put(struct bench_notes *notes, const struct dti_context *cx)
{
    const char *at = notes->text.data;
    for (size_t i = 0; i < notes->count; i++) {
        put_note(cx, mark_of(i), at);
        at += strlen(at + 1) + 2;
    }
    dti_buffer_clear(&notes->text);
    notes->count = 0;
}

/* SPDX-License-Identifier: MIT
 *
 * Option names for remedies: the only place where messages from lower layers get them. */
#include "cli/shell/command.h"

#include <stdio.h>

#include "files/transcode/file_transcode.h"

/* NULL: the text alone. */
static const char *words_of(enum dti_remedy remedy)
{
    switch (remedy) {
#define REMEDY(id, words) \
    case DTI_REMEDY_##id: \
        return words;
#include "cli/shell/remedy_words.def"
#undef REMEDY
    default:
        return NULL;
    }
}

static const char *put(char *buffer, size_t size, enum dti_remedy remedy, const char *text)
{
    const char *const words = words_of(remedy);
    if (!words)
        return text;
    (void)snprintf(buffer, size, words, text);
    return buffer;
}

const char *dti_remedy_words(char buffer[DTI_REMEDY_WORDS], enum dti_remedy remedy,
                             const char *text)
{
    return put(buffer, DTI_REMEDY_WORDS, remedy, text);
}

const char *dti_note_words(char buffer[DTI_REMEDY_WORDS], const struct dti_note *note)
{
    return dti_remedy_words(buffer, note->remedy, note->text);
}

const char *dti_error_words(char buffer[DTI_ERROR_TEXT], const struct dti_error *error)
{
    return put(buffer, DTI_ERROR_TEXT, error->remedy, error->text);
}

const char *dti_status_words(enum dti_status status)
{
    return status == DTI_ANSWER_NO ? "the answer is no, or a --fail-on condition was met"
                                   : dti_status_meaning(status);
}

/* SPDX-License-Identifier: MIT
 *
 * Fills in errors, and maps statuses and remedies to codes and texts. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/error.h"

/* The public numbers are those of the rows. */
enum {
#define STATUS(id, ...) ROW_##id,
#include "util/status.def"
#undef STATUS
};
#define STATUS(id, ...) _Static_assert((int)DTI_##id == (int)ROW_##id, "status " #id);
#include "util/status.def"
#undef STATUS

/* Length of text truncated to at most `limit` bytes, never inside a UTF-8 sequence. */
static size_t cut_length(const char *text, size_t length, size_t limit)
{
    if (length <= limit)
        return length;
    size_t cut = limit;
    while (cut > 0 && limit - cut < 4 && ((unsigned char)text[cut] & 0xC0) == 0x80)
        cut--;
    return cut;
}

static void fill(struct dti_error *reterr, enum dti_status status, enum dti_remedy remedy,
                 const char *format, va_list args)
{
    if (!reterr)
        return;
    reterr->status = status;
    reterr->remedy = remedy;
    reterr->argument[0] = '\0';
    for (size_t i = 0; i < DTI_ERROR_SUGGESTIONS; i++)
        reterr->suggestions[i][0] = '\0';
    const int length = vsnprintf(reterr->text, sizeof reterr->text, format, args);
    if (length < 0)
        reterr->text[0] = '\0';
}

enum dti_status dti_fail(struct dti_error *reterr, enum dti_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(reterr, status, DTI_REMEDY_NONE, format, args);
    va_end(args);
    return status;
}

enum dti_status dti_fail_remedy(struct dti_error *reterr, enum dti_status status,
                                enum dti_remedy remedy, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill(reterr, status, remedy, format, args);
    va_end(args);
    return status;
}

enum dti_status dti_no_memory(struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
}

void dti_error_argument(struct dti_error *reterr, const char *text, size_t length)
{
    if (!reterr)
        return;
    const size_t cut = cut_length(text, length, sizeof reterr->argument - 1);
    memcpy(reterr->argument, text, cut);
    reterr->argument[cut] = '\0';
}

enum dti_status dti_fail_word(struct dti_error *reterr, enum dti_status status, const char *word,
                              size_t length, const char *format, ...)
{
    char text[DTI_ERROR_TEXT];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)dti_fail(reterr, status, "%s", text);
    dti_error_argument(reterr, word, length);
    return status;
}

void dti_error_suggest(struct dti_error *reterr, const char *suggestion)
{
    if (!reterr)
        return;
    for (size_t i = 0; i < DTI_ERROR_SUGGESTIONS; i++) {
        char *const slot = reterr->suggestions[i];
        if (slot[0] != '\0')
            continue;
        const size_t cut =
            cut_length(suggestion, strlen(suggestion), sizeof reterr->suggestions[i] - 1);
        memcpy(slot, suggestion, cut);
        slot[cut] = '\0';
        return;
    }
}

/* Rows as code: tables of pointers would be relocated at every start. */
static enum dti_status known(enum dti_status status)
{
    return (unsigned)status < DTI_STATUS_COUNT ? status : DTI_BUG;
}

int dti_status_exit(enum dti_status status)
{
    static const unsigned char exits[DTI_STATUS_COUNT] = {
#define STATUS(id, exit_status, ...) [DTI_##id] = exit_status,
#include "util/status.def"
#undef STATUS
    };
    return exits[known(status)];
}

const char *dti_status_code(enum dti_status status)
{
    switch (known(status)) {
#define STATUS(id, exit_status, name, text) \
    case DTI_##id:                          \
        return name;
#include "util/status.def"
#undef STATUS
    }
    return NULL;
}

const char *dti_status_meaning(enum dti_status status)
{
    switch (known(status)) {
#define STATUS(id, exit_status, name, text) \
    case DTI_##id:                          \
        return text;
#include "util/status.def"
#undef STATUS
    }
    return NULL;
}

static enum dti_remedy known_remedy(uint32_t remedy)
{
    return remedy < DTI_REMEDY_COUNT ? (enum dti_remedy)remedy : DTI_REMEDY_NONE;
}

const char *dti_remedy_word(uint32_t remedy)
{
    switch (known_remedy(remedy)) {
#define REMEDY(id, name, text) \
    case DTI_REMEDY_##id:      \
        return name;
#include "util/remedies.def"
#undef REMEDY
    case DTI_REMEDY_COUNT:
        break;
    }
    return NULL;
}

const char *dti_remedy_advice(uint32_t remedy)
{
    switch (known_remedy(remedy)) {
#define REMEDY(id, name, text) \
    case DTI_REMEDY_##id:      \
        return text;
#include "util/remedies.def"
#undef REMEDY
    case DTI_REMEDY_COUNT:
        break;
    }
    return NULL;
}

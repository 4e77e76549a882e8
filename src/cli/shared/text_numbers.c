/* SPDX-License-Identifier: MIT
 *
 * Numbers from a text. */
#include "cli/shared/text_numbers.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 << 10 };

void dti_text_numbers_init(struct dti_text_numbers *ret, struct dti_input *input)
{
    memset(ret, 0, sizeof *ret);
    ret->input = input;
    ret->line = 1;
    ret->comma = true; /* no number yet that a comma could end */
}

void dti_text_numbers_free(struct dti_text_numbers *numbers)
{
    free(numbers->buffer);
    numbers->buffer = NULL;
}

enum dti_status dti_text_numbers_fail(const struct dti_text_numbers *numbers,
                                      const struct dti_error *error, struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    const enum dti_status status = error->status == DTI_BAD_VALUE ? DTI_BAD_INPUT : error->status;
    const struct dti_error cause = *error;
    if (!reterr)
        return status;
    if (status == DTI_NO_MEMORY) {
        *reterr = cause;
        return status;
    }
    (void)dti_fail(reterr, status, "%s, line %llu: %s", dti_input_label(numbers->input, quoted),
                   (unsigned long long)numbers->line, cause.text);
    memcpy(reterr->argument, cause.argument, sizeof cause.argument);
    memcpy(reterr->suggestions, cause.suggestions, sizeof cause.suggestions);
    return status;
}

static enum dti_status bad_text(const struct dti_text_numbers *numbers, const char *what,
                                struct dti_error *reterr)
{
    struct dti_error error;
    (void)dti_fail(&error, DTI_BAD_INPUT, "%s", what);
    return dti_text_numbers_fail(numbers, &error, reterr);
}

/* Makes room after the unconsumed bytes, then reads once. */
static enum dti_status fill(struct dti_text_numbers *numbers, struct dti_error *reterr)
{
    const size_t kept = numbers->end - numbers->start;
    if (kept > 0 && numbers->start > 0)
        memmove(numbers->buffer, numbers->buffer + numbers->start, kept);
    numbers->start = 0;
    numbers->end = kept;
    if (kept >= DTI_TEXT_NUMBER_MAX)
        return bad_text(numbers, "a number of more than 16 MiB", reterr);
    if (numbers->capacity < kept + CHUNK) {
        const size_t capacity = numbers->capacity ? 2 * numbers->capacity : 2 * CHUNK;
        char *buffer = realloc(numbers->buffer, capacity);
        if (!buffer)
            return dti_no_memory(reterr);
        numbers->buffer = buffer;
        numbers->capacity = capacity;
    }
    size_t got;
    enum dti_status status =
        dti_input_read(numbers->input, numbers->buffer + kept, CHUNK, &got, reterr);
    if (status != DTI_OK)
        return status;
    numbers->end += got;
    numbers->bytes += got;
    numbers->at_end = got < CHUNK;
    return DTI_OK;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Whether a byte is available at numbers->start + offset. */
static enum dti_status peek(struct dti_text_numbers *numbers, size_t offset, bool *ret_there,
                            struct dti_error *reterr)
{
    while (numbers->start + offset == numbers->end && !numbers->at_end) {
        enum dti_status status = fill(numbers, reterr);
        if (status != DTI_OK)
            return status;
    }
    *ret_there = numbers->start + offset < numbers->end;
    return DTI_OK;
}

static enum dti_status skip_separators(struct dti_text_numbers *numbers, bool *ret_there,
                                       struct dti_error *reterr)
{
    for (;; numbers->start++) {
        enum dti_status status = peek(numbers, 0, ret_there, reterr);
        if (status != DTI_OK || !*ret_there)
            return status;
        const char c = numbers->buffer[numbers->start];
        if (c == ',' && numbers->comma)
            return bad_text(numbers, "a comma without a number before it", reterr);
        if (c == ',')
            numbers->comma = true;
        else if (!is_blank(c))
            return DTI_OK;
        numbers->line += c == '\n';
    }
}

enum dti_status dti_text_numbers_next(struct dti_text_numbers *numbers, const char **ret_text,
                                      size_t *ret_length, struct dti_error *reterr)
{
    bool there;
    size_t length = 0;
    enum dti_status status = skip_separators(numbers, &there, reterr);
    if (status != DTI_OK)
        return status;
    if (!there) {
        *ret_text = NULL;
        *ret_length = 0;
        return DTI_OK;
    }
    do {
        length++;
        status = peek(numbers, length, &there, reterr);
        if (status != DTI_OK)
            return status;
    } while (there && numbers->buffer[numbers->start + length] != ',' &&
             !is_blank(numbers->buffer[numbers->start + length]));
    *ret_text = numbers->buffer + numbers->start;
    *ret_length = length;
    numbers->start += length;
    numbers->comma = false;
    return DTI_OK;
}

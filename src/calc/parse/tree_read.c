/* SPDX-License-Identifier: MIT
 *
 * The lexer: finds the end of each token, and suggests replacements for invalid ones. */
#include <stdlib.h>
#include <string.h>

#include "calc/parse/tree_parse.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static enum dti_status bad_character(const struct dti_reader *reader, struct dti_error *reterr)
{
    const char *const at = reader->source + reader->at;
    const size_t left = reader->end - reader->at;
    size_t length;
    const char *const instead = dti_foreign_sign(at, left, &length);
    if (instead)
        return dti_fail_word(reterr, DTI_BAD_VALUE, at, length, "%s is not known; %s",
                             DTI_QUOTED(at, length), instead);
    length = 1; /* length of a UTF-8 character */
    while ((at[0] & 0x80) && length < 4 && length < left && (at[length] & 0xC0) == 0x80)
        length++;
    return dti_fail_word(reterr, DTI_BAD_VALUE, at, length, "%s is not part of an expression",
                         DTI_QUOTED(at, length));
}

/* Whether two characters that are separate tokens here form one operator in other languages: not
 * in "x =-1", but in "x -=1". */
static bool is_double(const struct dti_reader *reader)
{
    const char *const at = reader->source + reader->at;
    return reader->end - reader->at >= 2 && strchr(at[0] == at[1] ? "*/=" : "+-*/", at[0]) &&
           (at[0] == at[1] || at[1] == '=');
}

/* The end of the number at `at`: digits of its base, an optional exponent and suffix. */
static size_t number_end(const struct dti_reader *reader)
{
    const char *const text = reader->source;
    size_t at = reader->at;
    const char prefix =
        reader->end - at > 1 && text[at] == '0' ? dti_ascii_lower(text[at + 1]) : '\0';
    const bool hexadecimal = prefix == 'x';
    at += hexadecimal || prefix == 'b' ? 2 : 0;
    for (; at < reader->end; at++) {
        const char c = dti_ascii_lower(text[at]);
        const bool digit = dti_ascii_digit(c) || (hexadecimal && c >= 'a' && c <= 'f');
        if (digit || c == '.' || c == '_')
            continue;
        if (c != (hexadecimal ? 'p' : 'e'))
            break;
        at++;
        if (at < reader->end && (text[at] == '-' || text[at] == '+'))
            at++;
        while (at < reader->end && (dti_ascii_digit(text[at]) || text[at] == '_'))
            at++;
        break;
    }
    while (at < reader->end &&
           (is_letter(text[at]) || dti_ascii_digit(text[at]) || text[at] == '.'))
        at++;
    return at;
}

enum dti_status dti_reader_next(struct dti_reader *reader, struct dti_error *reterr)
{
    const char *const text = reader->source;
    reader->last_end = reader->start + reader->length;
    while (reader->at < reader->end && is_blank(text[reader->at]))
        reader->at++;
    reader->start = reader->at;
    reader->length = 0;
    reader->token = DTI_TOKEN_END;
    if (reader->at == reader->end)
        return DTI_OK;
    const char c = text[reader->at];
    if (dti_ascii_digit(c) || c == '.') {
        reader->token = DTI_TOKEN_NUMBER;
        reader->at = number_end(reader);
    } else if (is_letter(c)) {
        reader->token = DTI_TOKEN_NAME;
        while (reader->at < reader->end &&
               (is_letter(text[reader->at]) || dti_ascii_digit(text[reader->at])))
            reader->at++;
    } else if (c != '\0' && strchr("+-*/^()[],;=@:", c) && !is_double(reader)) {
        reader->token = (unsigned char)c;
        reader->at++;
    } else {
        return bad_character(reader, reterr);
    }
    reader->length = reader->at - reader->start;
    return DTI_OK;
}

/* The power of ten of a suffix, or 0. */
static int suffix_exponent(char c)
{
    static const char letters[] = "kMGT";
    const char *const found = c != '\0' ? strchr(letters, c) : NULL;
    return found ? 3 * ((int)(found - letters) + 1) : 0;
}

/* "2x" and "3(": implicit multiplication as on a calculator. "10K": a suffix in the wrong case. */
static enum dti_status bad_suffix(const char *text, size_t length, size_t number,
                                  struct dti_error *reterr)
{
    const char last = text[length - 1];
    const char upper = last >= 'a' && last <= 'z' ? (char)(last - 'a' + 'A') : last;
    if (length == number + 1 && (last == 'K' || suffix_exponent(upper)))
        return dti_fail_word(reterr, DTI_BAD_VALUE, text, length,
                             "unknown suffix in %s; the suffixes are k, M, G and T",
                             DTI_QUOTED(text, length));
    return dti_fail_word(reterr, DTI_BAD_VALUE, text, length,
                         "%s is neither a number nor a name; write %.*s*... for a product",
                         DTI_QUOTED(text, length), (int)(number < 40 ? number : 40), text);
}

enum dti_status dti_reader_number(const struct dti_reader *reader, struct dti_number *ret,
                                  struct dti_error *reterr)
{
    const char *const text = reader->source + reader->start;
    size_t length = reader->length;
    int exponent = 0;
    if (dti_number_parse(ret, text, length, NULL) == DTI_OK)
        return DTI_OK;
    exponent = suffix_exponent(text[length - 1]);
    const bool based = length > 2 && text[0] == '0' && is_letter(text[1]) && text[1] != 'e';
    if (exponent > 0 && !based && dti_number_parse(ret, text, length - 1, NULL) == DTI_OK) {
        ret->num.exponent += exponent;
        return DTI_OK;
    }
    size_t number = length;
    while (number > 0 && is_letter(text[number - 1]))
        number--;
    if (number > 0 && number < length && !based &&
        dti_number_parse(ret, text, number, NULL) == DTI_OK) {
        dti_number_free(ret);
        return bad_suffix(text, length, number, reterr);
    }
    return dti_number_parse(ret, text, length, reterr);
}

static bool ends_path(char c)
{
    return is_blank(c) || strchr(":,;()[]+*^=@\"'", c);
}

enum dti_status dti_reader_path(struct dti_reader *reader, const char *what, char **ret,
                                struct dti_error *reterr)
{
    const char *const text = reader->source;
    size_t at = reader->start + reader->length;
    const char quote = at < reader->end && (text[at] == '"' || text[at] == '\'') ? text[at] : '\0';
    const size_t first = at + (quote != '\0');
    size_t end = first;
    while (end < reader->end && text[end] != '\0' &&
           (quote ? text[end] != quote : !ends_path(text[end])))
        end++;
    if (quote && (end == reader->end || text[end] != quote))
        return dti_fail_word(reterr, DTI_BAD_VALUE, text + at, reader->end - at,
                             "the quotation mark in %s is not closed",
                             DTI_QUOTED(text + at, reader->end - at));
    if (end == first)
        return dti_fail(reterr, DTI_BAD_VALUE, "%s is expected after %s", what,
                        DTI_QUOTED(text + reader->start, reader->length));
    if (!quote && reader->end - end > 2 && memcmp(text + end, "://", 3) == 0)
        return dti_fail(reterr, DTI_BAD_VALUE,
                        "an address needs quotation marks, as in @\"https://host/x.npy\"");
    char *const copy = dti_malloc(end - first + 1);
    if (!copy)
        return dti_no_memory(reterr);
    memcpy(copy, text + first, end - first);
    copy[end - first] = '\0';
    reader->at = end + (quote != '\0');
    reader->length = reader->at - reader->start;
    const enum dti_status status = dti_reader_next(reader, reterr);
    if (status == DTI_OK)
        *ret = copy;
    else
        dti_free(copy);
    return status;
}

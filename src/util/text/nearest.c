/* SPDX-License-Identifier: MIT
 *
 * Edit distance and nearest-spelling search. */
#include "util/text/nearest.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "util/text/ascii.h"

enum { LONGEST = 64 };

static uint8_t least(unsigned a, unsigned b)
{
    return (uint8_t)(a < b ? a : b);
}

/* Optimal string alignment: insertions, deletions, substitutions, and transpositions of
 * neighbours. A transposition looks two rows back, hence three rows. */
size_t dti_edit_distance(const char *a, size_t a_length, const char *b, size_t b_length,
                         size_t limit)
{
    if (a_length > LONGEST || b_length > LONGEST)
        return limit;
    const size_t gap = a_length > b_length ? a_length - b_length : b_length - a_length;
    if (gap >= limit)
        return limit;

    uint8_t rows[3][LONGEST + 1];
    uint8_t *before = rows[0], *above = rows[1], *row = rows[2];
    for (size_t j = 0; j <= b_length; j++)
        above[j] = (uint8_t)j;
    for (size_t i = 1; i <= a_length; i++) {
        row[0] = (uint8_t)i;
        for (size_t j = 1; j <= b_length; j++) {
            const char x = dti_ascii_lower(a[i - 1]), y = dti_ascii_lower(b[j - 1]);
            row[j] = least(above[j] + 1u, row[j - 1] + 1u);
            row[j] = least(row[j], above[j - 1] + (x == y ? 0u : 1u));
            if (i > 1 && j > 1 && x == dti_ascii_lower(b[j - 2]) && y == dti_ascii_lower(a[i - 2]))
                row[j] = least(row[j], before[j - 2] + 1u);
        }
        uint8_t *const spare = before;
        before = above;
        above = row;
        row = spare;
    }
    return above[b_length] < limit ? above[b_length] : limit;
}

void dti_nearest_init(struct dti_nearest *nearest, const char *word, size_t length)
{
    *nearest = (struct dti_nearest){.word = word, .length = length, .prefix = ""};
}

/* The distance at which a candidate is no longer suggested: one in three characters, at least
 * two. */
static size_t tolerance(size_t length)
{
    return length < 4 ? 2 : length / 3 + 2;
}

/* A candidate that starts with the word matches at any length: "near" for "nearest-even". */
static bool is_beginning(const struct dti_nearest *nearest, const char *candidate, size_t length)
{
    if (nearest->length < 3 || nearest->length >= length)
        return false;
    return dti_ascii_equal_start(nearest->word, candidate, nearest->length);
}

void dti_nearest_offer(struct dti_nearest *nearest, const char *candidate)
{
    const size_t length = strlen(candidate);
    const size_t limit = tolerance(nearest->length);
    for (size_t i = 0; i < nearest->count; i++) {
        if (dti_ascii_equal(nearest->names[i], candidate))
            return; /* systems share spellings, apart from case */
    }
    size_t distance = dti_edit_distance(nearest->word, nearest->length, candidate, length, limit);
    if (distance == limit && is_beginning(nearest, candidate, length))
        distance = 1;
    /* with as many edits as characters, any two words would match */
    if (distance >= limit || distance >= nearest->length)
        return;

    size_t at = nearest->count;
    while (at > 0 && nearest->distances[at - 1] > distance)
        at--;
    if (at == DTI_ERROR_SUGGESTIONS)
        return;
    if (nearest->count < DTI_ERROR_SUGGESTIONS)
        nearest->count++;
    for (size_t i = nearest->count - 1; i > at; i--) {
        nearest->names[i] = nearest->names[i - 1];
        nearest->distances[i] = nearest->distances[i - 1];
    }
    nearest->names[at] = candidate;
    nearest->distances[at] = distance;
}

bool dti_nearest_find(struct dti_nearest *nearest, const char *(*name)(size_t index), size_t *ret)
{
    const char *candidate;
    for (size_t i = 0; (candidate = name(i)) != NULL; i++) {
        if (strlen(candidate) == nearest->length &&
            memcmp(candidate, nearest->word, nearest->length) == 0) {
            *ret = i;
            return true;
        }
        dti_nearest_offer(nearest, candidate);
    }
    return false;
}

void dti_nearest_suggest(const struct dti_nearest *nearest, struct dti_error *reterr)
{
    if (nearest->count == 0 || !reterr)
        return;
    const size_t used = strlen(reterr->text);
    const char *const prefix = nearest->prefix;
    const bool two = nearest->count > 1 && nearest->distances[1] == nearest->distances[0];
    snprintf(reterr->text + used, sizeof reterr->text - used, "; did you mean '%s%s'%s%s%s%s?",
             prefix, nearest->names[0], two ? " or '" : "", two ? prefix : "",
             two ? nearest->names[1] : "", two ? "'" : "");
    for (size_t i = 0; i < nearest->count; i++) {
        char name[sizeof reterr->suggestions[0]];
        snprintf(name, sizeof name, "%s%s", prefix, nearest->names[i]);
        dti_error_suggest(reterr, name);
    }
}

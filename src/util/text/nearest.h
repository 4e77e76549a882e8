/* SPDX-License-Identifier: MIT
 *
 * Errors about unknown words, with a "did you mean": finds the candidates nearest to the word in
 * spelling. Offer the candidates one by one; they must outlive the search. ASCII case is ignored;
 * swapping two neighbours counts as one edit ("csat" is one edit from "cast").
 *
 *     struct dti_nearest nearest;
 *     dti_nearest_init(&nearest, word, strlen(word));
 *     for (...)
 *         dti_nearest_offer(&nearest, names[i]);
 *     ... nearest.count names in nearest.names, best first; none if nothing is near enough */
#ifndef UTIL_TEXT_NEAREST_H
#define UTIL_TEXT_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct dti_nearest {
    const char *word;
    size_t length;
    const char *prefix; /* before each name: "" after dti_nearest_init(), "--" for options */
    size_t count;
    const char *names[DTI_ERROR_SUGGESTIONS];
    size_t distances[DTI_ERROR_SUGGESTIONS];
};

void dti_nearest_init(struct dti_nearest *nearest, const char *word, size_t length);
void dti_nearest_offer(struct dti_nearest *nearest, const char *candidate);
/* Offers names by index, until NULL. True, with its index, if one of them is the word. */
bool dti_nearest_find(struct dti_nearest *nearest, const char *(*name)(size_t index), size_t *ret);

/* Appends "; did you mean 'bf16'?" to the error's text and the names to its suggestions. The
 * text lists only the names tied for the best distance, at most two. Does nothing if there are
 * none. */
void dti_nearest_suggest(const struct dti_nearest *nearest, struct dti_error *reterr);

/* The edit distance in single characters between two words, or `limit` if it is not less. A word
 * longer than 64 bytes is at distance `limit` from everything. */
size_t dti_edit_distance(const char *a, size_t a_length, const char *b, size_t b_length,
                         size_t limit);

#endif

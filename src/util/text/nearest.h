/* SPDX-License-Identifier: MIT
 *
 * Unknown words: errors about them, and "did you mean": the candidates whose spelling is nearest to
 * an unknown word. Feed the candidates one by one; they must outlive the search. ASCII case is
 * ignored; swapping two neighbours counts as one mistake ("csat" is one away from "cast").
 *
 *     struct dti_nearest nearest;
 *     dti_nearest_init(&nearest, word, strlen(word));
 *     for (...)
 *         dti_nearest_offer(&nearest, names[i]);
 *     ... nearest.count names in nearest.names, best first, none when nothing is near enough */
#ifndef UTIL_TEXT_NEAREST_H
#define UTIL_TEXT_NEAREST_H

#include <stddef.h>

#include "dtinfo/error.h"

struct dti_nearest {
    const char *word;
    size_t length;
    const char *prefix; /* shown before each name: "" after dti_nearest_init(), "--" for options */
    size_t count;
    const char *names[DTI_ERROR_SUGGESTIONS];
    size_t distances[DTI_ERROR_SUGGESTIONS];
};

void dti_nearest_init(struct dti_nearest *nearest, const char *word, size_t length);
void dti_nearest_offer(struct dti_nearest *nearest, const char *candidate);

/* Appends "; did you mean 'bf16'?" to the error's text and the names to its suggestions; the text
 * names only those that are as near as the best, at most two. Does nothing when there are none. */
void dti_nearest_suggest(const struct dti_nearest *nearest, struct dti_error *reterr);

/* The number of single-character mistakes between two words, or `limit` when it is not less. Words
 * longer than 64 bytes are `limit` apart from everything. */
size_t dti_edit_distance(const char *a, size_t a_length, const char *b, size_t b_length,
                         size_t limit);

#endif

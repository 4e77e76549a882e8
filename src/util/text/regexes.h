/* SPDX-License-Identifier: MIT
 *
 * Finds which of many patterns match a name. Patterns and names come from untrusted files, so
 * all patterns run at once as one lazily built automaton: time is at most proportional to the
 * length of the name times the total length of the patterns, and memory is bounded. Shared
 * prefixes of patterns are matched once.
 *
 * DTI_REGEX_START, DTI_REGEX_PART and DTI_REGEX_WHOLE take a subset of Python's regular
 * expressions: characters,
 * ., sets [a-z_] and [^.], groups (...) and (?:...), |, * + ? {m} {m,} {,n} {m,n} up to 1000,
 * the same with ? after it, ^ and $, escapes of other characters, \d \w \s \D \W \S, \a \t \n \v
 * \f \r. They have the meaning that re.match() gives them, except that \d, \w and \s match only
 * ASCII. Anything else is refused by name. Names and patterns are UTF-8, and . matches one
 * character. */
#ifndef UTIL_TEXT_REGEXES_H
#define UTIL_TEXT_REGEXES_H

#include "util/error.h"

enum dti_regex_kind {
    DTI_REGEX_START,    /* anchored at the start; need not reach the end */
    DTI_REGEX_PART,     /* the same, but the match ends before or after a dot, or at the end */
    DTI_REGEX_WILDCARD, /* * and ? as in shells; matches the whole name */
    DTI_REGEX_END,      /* not a pattern: the name ends with the text */
    DTI_REGEX_WHOLE,    /* as the first two, but matches the whole name, as re.fullmatch() does */
};

struct dti_regexes;
struct dti_regexes *dti_regexes_new(void); /* NULL: out of memory */
void dti_regexes_free(struct dti_regexes *set);

/* Adds a pattern, which is copied. Patterns are numbered from 0. Fails with DTI_BAD_INPUT and
 * text that completes a sentence about the pattern, "has a lookahead, which is not supported";
 * also if repetitions make the patterns much longer than their text. */
enum dti_status dti_regexes_add(struct dti_regexes *set, enum dti_regex_kind kind, const char *text,
                                size_t length, struct dti_error *reterr);

/* The numbers of all matching patterns, ascending, valid until the next call. Not thread-safe.
 * Fails with DTI_NO_MEMORY, or with DTI_BAD_INPUT once all calls together have taken more than
 * 2^27 steps plus 64 for each byte of their names. Usual patterns and names take one step per
 * byte. */
enum dti_status dti_regexes_match(struct dti_regexes *set, const char *name, size_t length,
                                  const size_t **ret_matches, size_t *ret_count,
                                  struct dti_error *reterr);

/* Removes the step limit: for names that were matched within it before. */
void dti_regexes_trust(struct dti_regexes *set);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Which of many patterns match a name. Patterns and names come from files: all patterns run at once
 * as one automaton, which is made while it is used, so that time is at most proportional to the
 * length of the name times the length of the patterns, whatever they are, and memory is limited.
 * What patterns begin with, if they begin alike, is looked at once for all of them.
 *
 * DTI_REGEX_START and DTI_REGEX_PART are a subset of Python's regular expressions: characters, .,
 * sets [a-z_] and [^.], groups (...) and (?:...), |, * + ? {m} {m,} {,n} {m,n} up to 1000, the same
 * with ? after it, ^ and $, escapes of other characters, \d \w \s \D \W \S, \a \t \n \v \f \r. They
 * mean what they mean to re.match(), except that \d, \w and \s are those of ASCII. What is not in
 * the subset is refused by name. Names and patterns are UTF-8, and . is a character of it. */
#ifndef UTIL_TEXT_REGEXES_H
#define UTIL_TEXT_REGEXES_H

#include "dtinfo/error.h"

enum dti_regex_kind {
    DTI_REGEX_START,    /* matches from the start on, and need not reach the end */
    DTI_REGEX_PART,     /* the same, up to a dot or behind one, or to the end */
    DTI_REGEX_WILDCARD, /* * and ?, as shells have them; matches the whole name */
    DTI_REGEX_END,      /* not a pattern: the name ends with the text */
};

struct dti_regexes;
struct dti_regexes *dti_regexes_new(void); /* NULL: memory ran out */
void dti_regexes_free(struct dti_regexes *set);

/* Adds a pattern, which is copied; they are numbered from 0. Fails with DTI_BAD_INPUT in words that
 * follow the pattern, "has a lookahead, which is not supported"; also where repetitions make them
 * much longer than they are written. */
enum dti_status dti_regexes_add(struct dti_regexes *set, enum dti_regex_kind kind, const char *text,
                                size_t length, struct dti_error *reterr);

/* The numbers of all patterns that match, ascending; valid until the next call. Not from several
 * threads. Fails with DTI_NO_MEMORY; with DTI_BAD_INPUT once all calls together have taken 2^27
 * steps and 64 for each byte of their names; usual patterns and names take one for each byte. */
enum dti_status dti_regexes_match(struct dti_regexes *set, const char *name, size_t length,
                                  const size_t **ret_matches, size_t *ret_count,
                                  struct dti_error *reterr);

/* No limit on steps from now on: for names that were matched once within it. */
void dti_regexes_trust(struct dti_regexes *set);

#endif

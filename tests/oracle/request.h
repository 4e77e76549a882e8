/* SPDX-License-Identifier: MIT
 *
 * Parses a probe request line: its words as values. The first reason why a request is invalid is
 * kept; after that the readers return harmless values. */
#ifndef DTINFO_TESTS_ORACLE_REQUEST_H
#define DTINFO_TESTS_ORACLE_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "core/value.h"

enum { WORDS_MAX = 12, ROUND_COUNT = 7, OVERFLOW_COUNT = 4 };

struct request {
    char *words[WORDS_MAX];
    size_t count;
    const char *error; /* why it is invalid; the first reason is kept */
};

void refuse(struct request *rq, const char *reason);
const char *word(struct request *rq, size_t i);
uint64_t number_word(struct request *rq, size_t i, int base);
unsigned choice_word(struct request *rq, size_t i, const char *const *names, unsigned count);
const struct dti_format *format_word(struct request *rq, size_t i);
struct dti_value value_word(struct request *rq, size_t i);
enum dti_round round_word(struct request *rq, size_t i);
enum dti_overflow overflow_word(struct request *rq, size_t i);

/* ROUND OVERFLOW NAN SEED from word i on. */
struct dti_policy policy_words(struct request *rq, size_t i);

#endif

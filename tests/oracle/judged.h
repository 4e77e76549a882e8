/* SPDX-License-Identifier: MIT
 *
 * Shared by the C oracle tests: random numbers that are the same on every machine, and the
 * function under test: the code of a text in a dtype. */
#ifndef DTINFO_TESTS_JUDGED_H
#define DTINFO_TESTS_JUDGED_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/number/number.h"
#include "core/value.h"

/* SplitMix64 (Steele, Lea, Flood, OOPSLA 2014). */
static inline uint64_t random_u64(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static inline unsigned random_below(uint64_t *state, unsigned limit)
{
    return (unsigned)(random_u64(state) % limit);
}

/* Appends `count` random decimal digits; the first is not 0. */
static inline char *put_digits(char *at, unsigned count, uint64_t *state)
{
    for (unsigned i = 0; i < count; i++)
        *at++ = (char)(i == 0 ? '1' + random_below(state, 9) : '0' + random_below(state, 10));
    return at;
}

/* The value of a text by both conversion paths of the core; ends the program if they disagree. */
static inline struct dti_value value_of(const char *text)
{
    struct dti_number number;
    struct dti_value value, fast;
    size_t length = strlen(text);
    if (dti_number_parse(&number, text, length, NULL) != DTI_OK ||
        !dti_number_value(&number, &value)) {
        fprintf(stderr, "not read: %s\n", text);
        exit(1);
    }
    dti_number_free(&number);
    if (dti_value_parse(&fast, text, length, NULL) != DTI_OK || fast.kind != value.kind ||
        fast.negative != value.negative || fast.sticky != value.sticky || fast.hi != value.hi ||
        fast.lo != value.lo || fast.exponent != value.exponent) {
        fprintf(stderr, "dti_value_parse and dti_number_value differ: %s\n", text);
        exit(1);
    }
    return value;
}

static inline uint64_t code_of(const struct dti_format *format, const struct dti_value *value,
                               enum dti_round round)
{
    struct dti_policy policy = {.round = round};
    struct dti_outcome outcome;
    dti_encode(format, value, &policy, 0, &outcome);
    return outcome.code;
}

#endif

/* SPDX-License-Identifier: MIT
 *
 * What a fuzz target offers: the entry point of libFuzzer, and words of its input language from
 * which the plain driver makes inputs where there is no engine. */
#ifndef DTINFO_FUZZ_H
#define DTINFO_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const char *const dti_fuzz_words[]; /* closed by NULL */

/* A property of the program: says what was broken and stops, so that an engine keeps the input. */
#define REQUIRE(property)                                                                \
    do {                                                                                 \
        if (!(property)) {                                                               \
            (void)fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #property); \
            abort();                                                                     \
        }                                                                                \
    } while (0)

#endif

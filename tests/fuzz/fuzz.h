/* SPDX-License-Identifier: MIT
 *
 * The interface of a fuzz target: libFuzzer's entry point, and a dictionary of its input language,
 * from which the plain driver generates inputs when there is no fuzzing engine. */
#ifndef DTINFO_FUZZ_H
#define DTINFO_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const char *const dti_fuzz_words[]; /* ends with NULL */

/* Checks a property of the program. Reports a violation and aborts, so that an engine keeps the
 * input. */
#define REQUIRE(property)                                                                \
    do {                                                                                 \
        if (!(property)) {                                                               \
            (void)fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #property); \
            abort();                                                                     \
        }                                                                                \
    } while (0)

#endif

/* SPDX-License-Identifier: MIT
 *
 * Policies by name and as JSON: see policies.h. */
#include "answers/policies.h"

#include <string.h>

#include "answers/common.h"
#include "dtinfo/policies.def"
#include "dtinfo/storage.h"

#define WORD(value, name, help) [value] = name,
#define WORDS_OF(function, ...)                                            \
    const char *function(size_t index)                                     \
    {                                                                      \
        static const char *const words[] = {__VA_ARGS__};                  \
        return index < sizeof words / sizeof *words ? words[index] : NULL; \
    }
WORDS_OF(dti_round_words, DTI_ROUNDS(WORD, WORD))
WORDS_OF(dti_overflow_words, DTI_OVERFLOWS(WORD))
WORDS_OF(dti_nan_words, DTI_NANS(WORD))
WORDS_OF(dti_packing_words, DTI_PACKINGS(WORD))

const char *dti_via_text(char buffer[DTI_VIA_TEXT_SIZE], const struct dti_format *via, size_t count)
{
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t more = strlen(via[i].name);
        memcpy(buffer + length, via[i].name, more);
        length += more;
        buffer[length++] = i + 1 < count ? ',' : '\0';
    }
    return count > 0 ? buffer : NULL;
}

#define DTI_ROWS "answers/policies.def"
#include "answers/rows.h"

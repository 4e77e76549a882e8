/* SPDX-License-Identifier: MIT
 *
 * Policies by name and as JSON: see policies.h. */
#include "answers/policies.h"

#include <string.h>

#include "answers/common.h"
#include "dtinfo/storage.h"

#define WORD(words, index) ((index) < sizeof(words) / sizeof *(words) ? (words)[index] : NULL)

const char *dti_round_words(size_t index)
{
    static const char *const words[] = {
#define ROUND(id, name, help) [DTI_ROUND_##id] = name,
#include "dtinfo/policies.def"
#undef ROUND
    };
    return WORD(words, index);
}

const char *dti_overflow_words(size_t index)
{
    static const char *const words[] = {
#define OVERFLOW_POLICY(id, name, help) [DTI_OVERFLOW_##id] = name,
#include "dtinfo/policies.def"
#undef OVERFLOW_POLICY
    };
    return WORD(words, index);
}

const char *dti_nan_words(size_t index)
{
    static const char *const words[] = {
#define NAN_POLICY(id, name, help) [DTI_NAN_##id] = name,
#include "dtinfo/policies.def"
#undef NAN_POLICY
    };
    return WORD(words, index);
}

const char *dti_packing_words(size_t index)
{
    static const char *const words[] = {
#define PACKING(id, name, help) [DTI_PACKING_##id] = name,
#include "dtinfo/policies.def"
#undef PACKING
    };
    return WORD(words, index);
}

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

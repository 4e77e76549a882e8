/* SPDX-License-Identifier: MIT
 *
 * Finds formats of others by name: see named_format.h. */
#include "core/dtype/named_format.h"

#include <string.h>

#include "util/text/ascii.h"

static const struct dti_named_format rows[] = {
#define NAMED_FORMAT(spellings_, near_, what_, here_, source_) \
    {.spellings = (spellings_),                                \
     .near = (near_),                                          \
     .what = (what_),                                          \
     .here = (here_),                                          \
     .source = (source_)},
#include "core/dtype/named_formats.def"
#undef NAMED_FORMAT
};

const struct dti_named_format *dti_named_format_find(const char *name)
{
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (const char *at = rows[i].spellings; *at != '\0'; at += *at == ' ') {
            const size_t word = strcspn(at, " ");
            if (word == length && dti_ascii_equal_start(at, name, length))
                return &rows[i];
            at += word;
        }
    }
    return NULL;
}

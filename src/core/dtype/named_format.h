/* SPDX-License-Identifier: MIT
 *
 * Formats of others that are no dtype here: rows of named_formats.def. */
#ifndef CORE_DTYPE_NAMED_FORMAT_H
#define CORE_DTYPE_NAMED_FORMAT_H

#include <stddef.h>

struct dti_named_format {
    const char *spellings; /* blank-separated, lower case */
    const char *near;      /* a dtype that comes close, or NULL */
    const char *what, *here, *source;
};

/* The row of a name, ignoring case; NULL: none. */
const struct dti_named_format *dti_named_format_find(const char *name);

#endif

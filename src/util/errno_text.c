/* SPDX-License-Identifier: MIT
 *
 * strerror() would speak the language of the process, and share its text with other threads. */
#include "util/errno_text.h"

#include <locale.h>
#include <string.h>

const char *dti_errno_text(int error)
{
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* not allocated in usual libcs */
    if (!c)
        return "unknown error";
    const char *const text = strerror_l(error, c);
    freelocale(c);
    return text;
}

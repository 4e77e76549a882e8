/* SPDX-License-Identifier: MIT
 *
 * In place of library.c in a static program: a library would bring a second C library with it. */
#include "util/run/library.h"

enum dti_status dti_library_open(struct dti_library **ret, const char *const *names,
                                 const char *variable, struct dti_error *reterr)
{
    (void)ret;
    (void)variable;
    return dti_fail(reterr, DTI_UNAVAILABLE,
                    "%s: not loaded, since this dtinfo is a static program", names[0]);
}

bool dti_library_is_opening(void)
{
    return false;
}

const char *dti_library_name(const struct dti_library *library)
{
    (void)library;
    return "";
}

const char *dti_library_find(const struct dti_library *library,
                             const struct dti_library_function *rows, size_t count, void *functions)
{
    (void)library;
    (void)functions;
    return count > 0 ? rows[0].name : NULL;
}

void dti_library_close(struct dti_library *library)
{
    (void)library;
}

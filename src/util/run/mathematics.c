/* SPDX-License-Identifier: MIT
 *
 * The mathematical library, when it is asked for. */
#include "util/run/mathematics.h"

#if defined __GLIBC__ && !defined DTI_LIBM_LINKED
#include <stddef.h>

#include "util/run/library.h"
#include "util/run/once.h"

enum dti_status dti_mathematics_get(const struct dti_mathematics **ret, struct dti_error *reterr)
{
    static const char *const names[] = {"libm.so.6", NULL};
    static const struct dti_library_function rows[] = {
#define FUNCTION(type, name) {#name, offsetof(struct dti_mathematics, name), true},
        DTI_MATHEMATICS(FUNCTION)
#undef FUNCTION
            {"pow", offsetof(struct dti_mathematics, pow), true},
    };
    static struct dti_mathematics functions;
    static struct dti_library *library; /* stays open */
    static struct dti_once once;
    enum dti_status status = DTI_OK;
    if (dti_once_begin(&once)) {
        const char *missing = NULL;
        status = library ? DTI_OK : dti_library_open(&library, names, NULL, reterr);
        if (status == DTI_OK)
            missing = dti_library_find(library, rows, sizeof rows / sizeof *rows, &functions);
        if (missing)
            status = dti_fail(reterr, DTI_UNAVAILABLE, "%s has no %s()", names[0], missing);
        dti_once_end(&once, status == DTI_OK);
    }
    *ret = &functions;
    return status;
}
#else
#include <math.h>

enum dti_status dti_mathematics_get(const struct dti_mathematics **ret, struct dti_error *reterr)
{
    static const struct dti_mathematics functions = {
#define FUNCTION(type, name) .name = name,
        DTI_MATHEMATICS(FUNCTION)
#undef FUNCTION
            .pow = pow,
    };
    (void)reterr;
    *ret = &functions;
    return DTI_OK;
}
#endif

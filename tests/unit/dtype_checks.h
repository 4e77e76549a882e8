/* SPDX-License-Identifier: MIT
 *
 * Shared helpers of the tests of dtype names: look up a name and check the result. */
#ifndef DTINFO_TESTS_UNIT_DTYPE_CHECKS_H
#define DTINFO_TESTS_UNIT_DTYPE_CHECKS_H

#include "core/dtype/dtype.h"
#include "unit.h"

static inline enum dti_status look_up(const char *name, struct dti_format *format,
                                      const char **note, struct dti_error *error)
{
    memset(error, 0, sizeof *error);
    return dti_format_lookup(name, format, note, error);
}

/* Checks that a name means the dtype with that canonical name. */
static inline void check_means(const char *name, const char *canonical)
{
    struct dti_format format;
    struct dti_error error;
    if (!CHECK_U64(look_up(name, &format, NULL, &error), DTI_OK) ||
        !CHECK_STR(format.name, canonical))
        printf("    (%s) %s\n", name, error.text);
}

static inline void check_fails(const char *name, enum dti_status status, const char *text)
{
    struct dti_format format;
    struct dti_error error;
    memset(&format, 0x5a, sizeof format);
    CHECK_U64(look_up(name, &format, NULL, &error), status);
    CHECK_U64(error.status, status);
    CHECK_STR(error.text, text);
    CHECK(format.width == 0x5a); /* written only on success */
}

#endif

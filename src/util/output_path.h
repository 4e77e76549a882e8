/* SPDX-License-Identifier: MIT
 *
 * Where an output file goes: a folder, held open, and a name in it that is no symbolic link. */
#ifndef DTINFO_UTIL_OUTPUT_PATH_H
#define DTINFO_UTIL_OUTPUT_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "dtinfo/error.h"

struct dti_output_path {
    int folder;              /* descriptor; closed by the caller */
    char name[NAME_MAX + 1]; /* in folder */
    bool exists;
    struct stat old; /* what is there, when it exists */
};

/* Follows the links of PATH one by one. What exists is a regular file, or something else that is
 * for the caller to judge. */
enum dti_status dti_output_path_resolve(struct dti_output_path *ret, const char *path,
                                        const char *label, struct dti_error *reterr);

/* "cannot write LABEL: ..." */
enum dti_status dti_output_fail(struct dti_error *reterr, const char *label, int error);

#endif

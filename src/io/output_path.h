/* SPDX-License-Identifier: MIT
 *
 * Where an output goes: a folder, held open, and a name in it that is not a symbolic link. */
#ifndef IO_OUTPUT_PATH_H
#define IO_OUTPUT_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "dtinfo/error.h"

struct dti_output_path {
    int folder;              /* descriptor; closed by the caller */
    char name[NAME_MAX + 1]; /* in folder; "" where PATH names that folder itself, as "." does */
    bool exists;
    struct stat old; /* what is there, when it exists under a name */
};

/* Follows the links of PATH one by one, those of folders on the way included: in a folder that is
 * open to all (sticky, as /tmp) a link must be the user's own or the folder's owner's. What exists
 * is, with as_folder, a folder; otherwise a regular file, or something else that is for the caller
 * to judge. Fails with DTI_WRITE_FAILED, with DTI_USAGE where as_folder meets something else, with
 * DTI_NO_MEMORY. */
enum dti_status dti_output_path_resolve(struct dti_output_path *ret, const char *path,
                                        bool as_folder, const char *label,
                                        struct dti_error *reterr);

/* Opens a folder for what is made in it: a descriptor, above 2, or -1 and errno. */
int dti_output_folder_open(int from, const char *path);

/* "cannot write LABEL: ..."; of ENOMEM DTI_NO_MEMORY. */
enum dti_status dti_output_fail(struct dti_error *reterr, const char *label, int error);

#endif

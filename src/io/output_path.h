/* SPDX-License-Identifier: MIT
 *
 * Where an output goes: a folder, held open, and a name in it that is not a symbolic link. */
#ifndef IO_OUTPUT_PATH_H
#define IO_OUTPUT_PATH_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "util/error.h"

struct dti_output_path {
    int folder;              /* descriptor; closed by the caller */
    char name[NAME_MAX + 1]; /* in folder; "" if PATH names that folder itself, as "." does */
    bool exists;
    struct stat old; /* the existing file, if there is one under that name */
};

/* Resolves PATH, link by link, including links of folders on the way: in a sticky world-writable
 * folder (such as /tmp), a link must belong to the user or to the folder's owner. With as_folder
 * an existing target is a folder; otherwise it is a regular file or another kind that the caller
 * must check. Fails with DTI_WRITE_FAILED, with DTI_USAGE if as_folder finds something else,
 * with DTI_NO_MEMORY. */
enum dti_status dti_output_path_resolve(struct dti_output_path *ret, const char *path,
                                        bool as_folder, const char *label,
                                        struct dti_error *reterr);

/* The same for a path that is no address: 0 or an errno value. *ret_trap: a link is not followed.
 */
int dti_output_path_find(struct dti_output_path *ret, const char *path, bool as_folder,
                         bool *ret_trap);

/* Opens a folder to create files in: returns a descriptor above 2, or -1 and errno. */
int dti_output_folder_open(int from, const char *path);

/* Reports "cannot write LABEL: ..."; DTI_NO_MEMORY for ENOMEM. */
enum dti_status dti_output_fail(struct dti_error *reterr, const char *label, int error);

#endif

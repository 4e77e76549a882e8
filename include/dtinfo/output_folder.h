/* SPDX-License-Identifier: MIT
 *
 * A folder for new files, which is gone again when nothing comes of them. */
#ifndef DTINFO_OUTPUT_FOLDER_H
#define DTINFO_OUTPUT_FOLDER_H

#include <stdbool.h>

#include "dtinfo/error.h"

struct dti_output_folder {
    char *path; /* NULL: none */
    bool made;  /* there was none before */
};

/* Makes the folder PATH, or takes the one that is there. Its parent must exist. A signal that ends
 * the process removes it when it is new and empty (see dti_output_guard_signals()); one new folder
 * at a time. Fails with DTI_WRITE_FAILED, with DTI_USAGE when something else is there, with
 * DTI_NO_MEMORY. */
enum dti_status dti_output_folder_make(struct dti_output_folder *ret, const char *path,
                                       struct dti_error *reterr);

/* The same without making anything: *ret_there tells whether it exists. */
enum dti_status dti_output_folder_check(const char *path, bool *ret_there,
                                        struct dti_error *reterr);

/* It stays: its name is synced, as far as the file system lets it. */
void dti_output_folder_keep(struct dti_output_folder *folder);
/* Removes it when it is new and empty. Either may be called again, or after nothing was made. */
void dti_output_folder_discard(struct dti_output_folder *folder);

#endif

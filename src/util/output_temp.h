/* SPDX-License-Identifier: MIT
 *
 * Temporary files that do not outlive the process, not even when a signal ends it. */
#ifndef DTINFO_UTIL_OUTPUT_TEMP_H
#define DTINFO_UTIL_OUTPUT_TEMP_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

struct dti_output_temp {
    int folder; /* descriptor, which must stay open until the file is forgotten or removed */
    char name[NAME_MAX + 1];
    size_t slot;
};

/* Makes ".NAME.dtinfo-XXXXXX" in folder, for writing alone, where there was nothing. The
 * descriptor, above 2, or -1 and errno. */
int dti_output_temp_make(struct dti_output_temp *ret, int folder, const char *name, mode_t mode);

/* It has been renamed, and is no longer to be removed. */
void dti_output_temp_forget(struct dti_output_temp *temp);
void dti_output_temp_remove(struct dti_output_temp *temp);

/* A new folder for outputs, which a signal removes too, after the files and when nothing else is in
 * it; NULL: none any more. path must live until then. */
void dti_output_temp_folder(const char *path);

#endif

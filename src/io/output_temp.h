/* SPDX-License-Identifier: MIT
 *
 * Temporary files, and folders of new files, that are removed when the process ends, even by a
 * signal. */
#ifndef IO_OUTPUT_TEMP_H
#define IO_OUTPUT_TEMP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct dti_output_slot; /* entry in the signal handler's list */

struct dti_output_temp {
    int folder; /* descriptor; must stay open until the file is forgotten or removed */
    char name[NAME_MAX + 1];
    struct dti_output_slot *slot; /* NULL: a file inside such a folder, removed with it */
};

/* The files in a folder of new files, by the last component of their paths. The array must live
 * until the folder is forgotten or removed. */
struct dti_output_names {
    const char *const *paths;
    size_t count;
};

/* Creates ".NAME.dtinfo-XXXXXX" in folder, which must not exist yet: a write-only file, or a
 * folder if `names` is given. It is locked (flock) while the descriptor is open. Returns the
 * descriptor, above 2, or -1 and errno. */
int dti_output_temp_make(struct dti_output_temp *ret, int folder, const char *name, mode_t mode,
                         const struct dti_output_names *names);

/* Forgets a file that has been renamed and must not be removed. */
void dti_output_temp_forget(struct dti_output_temp *temp);
void dti_output_temp_remove(struct dti_output_temp *temp);

/* Whether `other` is a name that dti_output_temp_make() could generate for `name`. */
bool dti_output_temp_is(const char *other, const char *name);

#endif

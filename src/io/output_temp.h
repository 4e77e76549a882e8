/* SPDX-License-Identifier: MIT
 *
 * Temporary files, and folders of new files, that do not outlive the process, not even when a
 * signal ends it. */
#ifndef IO_OUTPUT_TEMP_H
#define IO_OUTPUT_TEMP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct dti_output_slot; /* what a signal removes */

struct dti_output_temp {
    int folder; /* descriptor, which must stay open until the thing is forgotten or removed */
    char name[NAME_MAX + 1];
    struct dti_output_slot *slot; /* NULL: of a file in such a folder, which goes with it */
};

/* The files in a folder of new files, by the last part of their paths. The array must live until
 * the folder is forgotten or removed. */
struct dti_output_names {
    const char *const *paths;
    size_t count;
};

/* Makes ".NAME.dtinfo-XXXXXX" in folder where there was nothing: a file for writing alone, or with
 * `names` a folder. It is locked (flock) while the descriptor is open. The descriptor, above 2, or
 * -1 and errno. */
int dti_output_temp_make(struct dti_output_temp *ret, int folder, const char *name, mode_t mode,
                         const struct dti_output_names *names);

/* It has been renamed, and is no longer to be removed. */
void dti_output_temp_forget(struct dti_output_temp *temp);
void dti_output_temp_remove(struct dti_output_temp *temp);

/* Whether `other` is a name that dti_output_temp_make() gives for `name`. */
bool dti_output_temp_is(const char *other, const char *name);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Optional libraries: drivers, and other engines to compare ours with. Loads only names from
 * fixed lists, never from the current directory, and nothing at all when running with another
 * user's privileges (AT_SECURE). */
#ifndef UTIL_RUN_LIBRARY_H
#define UTIL_RUN_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

struct dti_library;

/* Opens the first of `names` (NULL-terminated) that exists. variable: an environment variable
 * that overrides the name (an absolute path, or one with a slash), or NULL. Restores the
 * rounding mode and subnormal handling afterwards. Fails with DTI_UNAVAILABLE: "libcuda.so.1:
 * not found". */
enum dti_status dti_library_open(struct dti_library **ret, const char *const *names,
                                 const char *variable, struct dti_error *reterr);
/* Whether a library is being opened right now. If the system's loader hangs, it holds its lock
 * and no thread can start: the process can only exit. */
bool dti_library_is_opening(void);
const char *dti_library_name(const struct dti_library *library); /* as it was opened */
/* A function to look up by name; offset: where its pointer is in the struct to fill in. */
struct dti_library_function {
    char name[44];
    size_t offset;
    bool required;
};
/* Fills in the pointers of `functions`, with NULL for missing ones. Returns the name of the
 * first missing required function, or NULL. */
const char *dti_library_find(const struct dti_library *library,
                             const struct dti_library_function *rows, size_t count,
                             void *functions);
/* Drivers keep threads running, so libraries are never unloaded. NULL is fine. */
void dti_library_close(struct dti_library *library);

#endif

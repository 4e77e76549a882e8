/* SPDX-License-Identifier: MIT
 *
 * Optional libraries: drivers, and other engines to compare ours with. Only names from fixed lists
 * are loaded, never from the current directory, and none at all with privileges of another user
 * (AT_SECURE). */
#ifndef UTIL_RUN_LIBRARY_H
#define UTIL_RUN_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "dtinfo/error.h"

struct dti_library;

/* Opens the first of `names` (NULL after the last) that is there; variable: an environment variable
 * that names another one instead (an absolute path, or one with a slash), or NULL. Afterwards the
 * rounding mode and the treatment of subnormals are what they were. Fails with DTI_UNAVAILABLE:
 * "libcuda.so.1: not found". */
enum dti_status dti_library_open(struct dti_library **ret, const char *const *names,
                                 const char *variable, struct dti_error *reterr);
/* Whether a library is being opened at this moment. The system's loader is then at work, and when
 * it hangs there, no thread can be started any more: the process can only end. */
bool dti_library_is_opening(void);
const char *dti_library_name(const struct dti_library *library); /* as it was opened */
/* A function that is looked up by its name; offset: of its pointer in the struct to fill in. */
struct dti_library_function {
    const char *name;
    size_t offset;
    bool required;
};
/* Fills in the pointers of `functions`, NULL for those that it does not have. Returns the name of
 * the first required one that is missing, or NULL. */
const char *dti_library_find(const struct dti_library *library,
                             const struct dti_library_function *rows, size_t count,
                             void *functions);
/* Drivers keep threads: they are never closed. NULL is fine. */
void dti_library_close(struct dti_library *library);

#endif

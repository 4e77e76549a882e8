/* SPDX-License-Identifier: MIT
 *
 * Libraries that are used where they are there: drivers, and other people's engines to measure
 * beside ours. Only names from fixed lists are loaded, never from the current directory, and none
 * at all with privileges of another user (AT_SECURE). */
#ifndef DTINFO_LIBRARY_H
#define DTINFO_LIBRARY_H

#include <stdbool.h>

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
/* NULL when it has none of that name. Copy it into a function pointer by memcpy(). */
void *dti_library_symbol(const struct dti_library *library, const char *name);
/* Drivers keep threads: they are never closed. NULL is fine. */
void dti_library_close(struct dti_library *library);

#endif

/* SPDX-License-Identifier: MIT
 *
 * The current call as a thread-local variable, for this folder: every allocation reads it. */
#ifndef UTIL_RUN_CALL_NOW_H
#define UTIL_RUN_CALL_NOW_H

#include "util/run/caller.h"

/* One load in a shared library too. glibc keeps room for such variables of libraries that are
 * loaded later; musl refuses to load them. */
#if defined __GNUC__ && defined __GLIBC__
#define DTI_CALL_TLS __attribute__((tls_model("initial-exec")))
#else
#define DTI_CALL_TLS
#endif

extern _Thread_local struct dti_call *dti_call_now DTI_CALL_TLS;

#endif

/* SPDX-License-Identifier: MIT
 *
 * Errno values in words. */
#ifndef UTIL_ERRNO_TEXT_H
#define UTIL_ERRNO_TEXT_H

/* As strerror() says it in the C locale, in every process and from any thread. Valid until the
 * thread's next call. */
const char *dti_errno_text(int error);

#endif

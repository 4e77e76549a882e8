/* SPDX-License-Identifier: MIT
 *
 * File descriptors: opening them above the standard streams, and reserving disk space.
 */
#ifndef IO_DESCRIPTOR_H
#define IO_DESCRIPTOR_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

/* Makes a system call again while signals interrupt it: DTI_AGAIN(got = read(...)). Not for
 * close(), which is done all the same. */
#define DTI_AGAIN(call) \
    do {                \
    } while ((call) < 0 && errno == EINTR)

/* Numbers 0 to 2 belong to the standard streams, also when the caller has closed them: returns fd,
 * or its duplicate above them, fd then being closed. -1, with errno kept, for -1. */
int dti_descriptor_above_standard(int fd);

/* Sets disk space aside for a file of `size` bytes, so that a full disk is noticed before the work.
 * Returns 0, also where that cannot be done or is not worth a call, or ENOSPC, EDQUOT or EFBIG. */
int dti_descriptor_reserve(int fd, uint64_t size);

/* Wishes for so many descriptors at once: raises the soft limit where it is lower, as far as the
 * hard one. */
void dti_descriptor_allow(size_t count);

#endif

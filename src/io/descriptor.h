/* SPDX-License-Identifier: MIT
 *
 * File descriptors: opening them above the standard streams, and reserving disk space.
 */
#ifndef IO_DESCRIPTOR_H
#define IO_DESCRIPTOR_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

/* Retries a system call that a signal interrupted: DTI_AGAIN(got = read(...)). Not for close(),
 * which closes the descriptor even if interrupted. */
#define DTI_AGAIN(call) \
    do {                \
    } while ((call) < 0 && errno == EINTR)

/* Keeps descriptors 0 to 2 for the standard streams, even if the caller has closed them. Returns
 * fd, or a duplicate above 2, closing fd. Returns -1 for -1 and preserves errno. */
int dti_descriptor_above_standard(int fd);

/* Reserves disk space for a file of `size` bytes, so that a full disk is reported before the
 * work starts. Returns 0 (also if the file system cannot reserve, or the size is not worth a
 * call), or ENOSPC, EDQUOT or EFBIG. */
int dti_descriptor_reserve(int fd, uint64_t size);

/* Makes `count` descriptors available if possible: raises the soft limit if it is lower, up to
 * the hard limit. Not for the callers of a library, whose process it is. */
void dti_descriptor_allow(size_t count);

#endif

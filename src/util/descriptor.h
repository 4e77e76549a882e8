/* SPDX-License-Identifier: MIT
 *
 * File descriptors that cannot be mistaken for the standard streams. */
#ifndef DTINFO_UTIL_DESCRIPTOR_H
#define DTINFO_UTIL_DESCRIPTOR_H

/* Numbers 0 to 2 belong to the standard streams, also when the caller has closed them: returns fd,
 * or its duplicate above them, fd then being closed. -1, with errno kept, for -1. */
int dti_descriptor_above_standard(int fd);

#endif

/* SPDX-License-Identifier: MIT
 *
 * For input.c: what input_change.c is told. */
#ifndef DTINFO_UTIL_INPUT_CHANGE_H
#define DTINFO_UTIL_INPUT_CHANGE_H

#include <sys/stat.h>

#include "dtinfo/input.h"

/* A regular file was opened, and looked like that. by_name: the name leads to it. False: memory ran
 * out. */
bool dti_input_changes_note(int fd, const char *name, bool by_name, const struct stat *st);
/* Before it is closed. */
void dti_input_changes_end(int fd);

#endif

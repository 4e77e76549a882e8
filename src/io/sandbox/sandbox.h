/* SPDX-License-Identifier: MIT
 *
 * A sandbox that a process enters before it reads files of unknown origin, and never leaves:
 * Linux's Landlock allows it to open only the files and folders that were named before, and a
 * filter of system calls (seccomp) only the calls of calls.def. Code that a hostile file takes over
 * can then neither read other files, nor connect, nor start a program.
 *
 * For the command line, whose process it is: begin, allow, enter, while no other thread runs.
 * Libraries that are needed later must be loaded before. */
#ifndef IO_SANDBOX_SANDBOX_H
#define IO_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dti_sandbox_use {
    DTI_SANDBOX_READ,   /* read a file, and what is in its folder or below; or a folder, and what is
                         * below; also the files to which links in that folder lead */
    DTI_SANDBOX_SYSTEM, /* read a file, or a folder and what is below; may be missing */
    DTI_SANDBOX_SCRATCH, /* create, read and remove files in a folder */
    DTI_SANDBOX_WRITE, /* create or replace a file or a folder, which needs all that can be done to
                        * the folder that it is in; or write to a pipe or device */
};

struct dti_sandbox {
    const char *lacks; /* what this machine or build lacks of a sandbox; NULL if nothing */
    int rules;         /* Landlock's set of rules, or -1 */
    uint64_t handled;  /* what it decides about */
    bool network;
};

/* network: connections remain possible, and with them the loading of libraries, on which the
 * resolver of names depends; the files of both can be read. */
void dti_sandbox_begin(struct dti_sandbox *ret, bool network);
/* A path that does not exist is no error: opening it will report that. */
void dti_sandbox_allow(struct dti_sandbox *sandbox, const char *path, enum dti_sandbox_use use);
/* Enters what this machine has of a sandbox. On failure sets `lacks`, if it was NULL. */
void dti_sandbox_enter(struct dti_sandbox *sandbox);
/* In place of dti_sandbox_enter(). */
void dti_sandbox_leave_out(struct dti_sandbox *sandbox);

/* For tests: what is asked of a kernel whose Landlock has this version (0 or less: none), in the
 * layout of struct landlock_ruleset_attr. Returns how many bytes of it such a kernel knows. */
struct dti_sandbox_rules {
    uint64_t files, network, scopes;
};
size_t dti_sandbox_rules(struct dti_sandbox_rules *ret, long version, bool network);
/* dti_sandbox_begin() on such a kernel; on one that is older, `lacks` says so. */
void dti_sandbox_begin_as(struct dti_sandbox *ret, bool network, long version);

/* Whether the process is in a sandbox that limits which files it opens. */
bool dti_sandbox_limits_files(void);

#endif

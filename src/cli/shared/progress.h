/* SPDX-License-Identifier: MIT
 *
 * A bar on stderr for work that takes long: only on a terminal, only after half a second, and gone
 * at the end. */
#ifndef DTINFO_CLI_PROGRESS_H
#define DTINFO_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/shell/command.h"

/* --progress; without it a bar is shown on a terminal that does not get the data. */
enum dti_progress_when { DTI_PROGRESS_AUTO, DTI_PROGRESS_ALWAYS, DTI_PROGRESS_NEVER };
bool dti_progress_wanted(enum dti_progress_when when, const struct dti_context *cx, bool to_stdout);

struct dti_progress {       /* the context of dti_progress_show() */
    FILE *out;              /* NULL: never shown */
    uint64_t total;         /* 0: not known */
    const char *units;      /* what is counted: "elements" */
    int64_t started, drawn; /* ms */
    int width;              /* of what is on the screen */
};

/* out is that of a terminal, or NULL for no bar at all. */
void dti_progress_start(struct dti_progress *ret, FILE *out, uint64_t total, const char *units);
void dti_progress_show(void *context, uint64_t done);
void dti_progress_end(struct dti_progress *progress);

#endif

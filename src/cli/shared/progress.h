/* SPDX-License-Identifier: MIT
 *
 * A progress bar on stderr for long work: only on a terminal, only after half a second, and erased
 * at the end, also after a signal. */
#ifndef CLI_SHARED_PROGRESS_H
#define CLI_SHARED_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/shell/command.h"
#include "requests/option_rows.h"

/* --progress */
bool dti_progress_wanted(enum dti_progress_when when, const struct dti_command_context *cx,
                         bool to_stdout);

/* The name of the current item at a given progress, *ret_length bytes long, or NULL. */
typedef const char *dti_progress_name(void *context, uint64_t done, size_t *ret_length);

struct dti_progress {        /* the context of dti_progress_show() */
    FILE *out;               /* NULL: never shown */
    uint64_t total;          /* 0: not known */
    const char *units;       /* what is counted: "elements" */
    int64_t started, drawn;  /* ms */
    int width;               /* width of the visible text */
    size_t columns;          /* width available */
    dti_progress_name *name; /* or NULL */
    void *name_context;
};

/* out is a terminal, or NULL for no bar. */
void dti_progress_start(struct dti_progress *ret, FILE *out, uint64_t total, const char *units);
void dti_progress_show(void *context, uint64_t done);
void dti_progress_end(struct dti_progress *progress);

/* " [####......] 40 % 1.20 GiB/s 0:12 left NAME" after a number of ms, truncated to its columns;
 * without a total the amount done in place of the bar. */
enum { DTI_PROGRESS_SIZE = 256 };
void dti_progress_words(char text[DTI_PROGRESS_SIZE], const struct dti_progress *progress,
                        uint64_t done, int64_t ms);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Files that killed runs left next to an output: ".NAME.dtinfo-XXXXXX". */
#ifndef IO_OUTPUT_LEFTOVERS_H
#define IO_OUTPUT_LEFTOVERS_H

#include <stdbool.h>
#include <stddef.h>

#include "util/error.h"

enum dti_leftover {
    DTI_LEFTOVER_KILLED,  /* left by a killed run */
    DTI_LEFTOVER_REMOVED, /* left by a killed run, now removed */
    DTI_LEFTOVER_STUCK,   /* cannot be removed, or may still be in use */
    DTI_LEFTOVER_LIVE,    /* of a running process */
    DTI_LEFTOVER_COUNT
};

struct dti_output_leftovers {
    size_t count[DTI_LEFTOVER_COUNT];
    char first[DTI_LEFTOVER_COUNT][DTI_QUOTE_SIZE]; /* one of each kind, quoted */
};

/* Counts leftovers next to PATH, which names a file or, with as_folder, a folder that may not
 * exist; with `remove`, removes those that no run holds locked. Counts only the user's own
 * files. A PATH that cannot be written has no leftovers; opening it reports why. Fails with
 * DTI_WRITE_FAILED if the folder cannot be read completely, with DTI_NO_MEMORY. */
enum dti_status dti_output_leftovers_find(struct dti_output_leftovers *leftovers, const char *path,
                                          bool as_folder, bool remove, struct dti_error *reterr);

#endif

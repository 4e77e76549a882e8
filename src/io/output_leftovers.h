/* SPDX-License-Identifier: MIT
 *
 * What killed runs have left next to an output: ".NAME.dtinfo-XXXXXX". */
#ifndef IO_OUTPUT_LEFTOVERS_H
#define IO_OUTPUT_LEFTOVERS_H

#include <stdbool.h>
#include <stddef.h>

#include "dtinfo/error.h"

enum dti_leftover {
    DTI_LEFTOVER_KILLED,  /* by a run that was killed */
    DTI_LEFTOVER_REMOVED, /* likewise, and gone now */
    DTI_LEFTOVER_STUCK,   /* cannot be removed, or not be known to be of no use */
    DTI_LEFTOVER_LIVE,    /* of a run that is at work */
    DTI_LEFTOVER_COUNT
};

struct dti_output_leftovers {
    size_t count[DTI_LEFTOVER_COUNT];
    char first[DTI_LEFTOVER_COUNT][DTI_QUOTE_SIZE]; /* of each, quoted */
};

/* Adds what is next to PATH, which is that of a file or, with as_folder, of a folder that may be
 * new, and with `remove` removes what no run holds locked. Only what belongs to the user counts; a
 * PATH that cannot be written has nothing next to it; opening it reports why. Fails with
 * DTI_WRITE_FAILED when the folder cannot be read to its end, with DTI_NO_MEMORY. */
enum dti_status dti_output_leftovers_find(struct dti_output_leftovers *leftovers, const char *path,
                                          bool as_folder, bool remove, struct dti_error *reterr);

#endif

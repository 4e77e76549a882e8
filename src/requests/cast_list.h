/* SPDX-License-Identifier: MIT
 *
 * The dtypes of --as, for commands that estimate the losses of casting a file's tensors. */
#ifndef REQUESTS_CAST_LIST_H
#define REQUESTS_CAST_LIST_H

#include "answers/reading.h"
#include "requests/asker.h"

enum { DTI_CAST_LIST = 16 };

struct dti_cast_list {
    struct dti_format dtypes[DTI_CAST_LIST];
    const char *notes[DTI_CAST_LIST]; /* on their names */
    size_t count, note_count;
};

/* "bf16,fp8_e4m3fn"; stored in the reading, which points into the list. text may be NULL. */
enum dti_status dti_cast_list_read(struct dti_cast_list *ret, const char *text,
                                   const struct dti_asker *asker, struct dti_reading *reading,
                                   struct dti_error *reterr);

#endif

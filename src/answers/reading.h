/* SPDX-License-Identifier: MIT
 *
 * Reading the data of files: with how many threads, how much memory, and whom it is shown to. */
#ifndef DTINFO_ANSWERS_READING_H
#define DTINFO_ANSWERS_READING_H

#include "dtinfo/scan.h"

/* options.team is set while it reads. options.progress is called between begin and end with the
 * bytes read so far, each with options.progress_context; all three may be NULL. */
struct dti_reading {
    struct dti_scan_options options;
    size_t threads; /* 0: as many as are useful */
    void (*begin)(void *context, uint64_t bytes);
    void (*end)(void *context);
};

/* Starts threads for so many bytes. Fails with DTI_NO_MEMORY and DTI_UNAVAILABLE; otherwise it is
 * to be ended whatever comes of the work. */
enum dti_status dti_reading_start(struct dti_reading *reading, uint64_t bytes,
                                  struct dti_error *reterr);
void dti_reading_end(struct dti_reading *reading);

/* The same for work that takes one thread. */
void dti_reading_start_alone(const struct dti_reading *reading, uint64_t bytes);
void dti_reading_end_alone(const struct dti_reading *reading);

/* Shows that so many bytes were read since the start. */
void dti_reading_show(const struct dti_reading *reading, uint64_t done);

#endif

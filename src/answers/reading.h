/* SPDX-License-Identifier: MIT
 *
 * Reading the data of files: threads, memory and progress. */
#ifndef ANSWERS_READING_H
#define ANSWERS_READING_H

#include "files/scan/file_digest.h"
#include "files/scan/loss_summary.h"
#include "files/scan/scan.h"

/* Progress callbacks: show() is called between begin() and end() with the bytes read so far; all
 * three may be NULL. */
struct dti_reading {
    size_t threads;      /* 0: as many as are useful, */
    size_t most_threads; /* but at most so many; 0: no limit */
    void (*begin)(void *context, uint64_t bytes);
    void (*show)(void *context, uint64_t done);
    void (*end)(void *context);
    /* Called before begin() with the tensors in reading order; may be NULL. */
    void (*list)(void *context, const struct dti_tensor *const *tensors, size_t count);
    void *context;
    struct dti_scan_options options; /* team and progress are set from start to end */
    /* real dtypes to estimate the losses of casts to */
    const struct dti_format *as;
    size_t as_count;
    uint64_t done; /* for reading in parts: bytes of earlier parts, added up by the reader */
};

/* Starts threads for this many bytes. Fails with DTI_NO_MEMORY and DTI_UNAVAILABLE. On success,
 * always end it, and do not move it until then. */
enum dti_status dti_reading_start(struct dti_reading *reading, uint64_t bytes,
                                  struct dti_error *reterr);
void dti_reading_end(struct dti_reading *reading);

/* The same for single-threaded work. */
void dti_reading_start_alone(const struct dti_reading *reading, uint64_t bytes);
void dti_reading_end_alone(const struct dti_reading *reading);

/* The bytes of a tensor whose numbers can be read, or 0. */
uint64_t dti_reading_bytes(const struct dti_tensor *tensor);

/* The digests of a container's files, dti_digest_count() of them. Free the array. Fails as
 * dti_digest_files() does. */
enum dti_status dti_reading_digests(const struct dti_reading *reading,
                                    const struct dti_container *container,
                                    struct dti_digest **ret_digests, struct dti_error *reterr);

/* Computes the statistics of a container's tensors, a few hundred at a time, so that memory does
 * not grow with their number. take() receives the statistics of each tensor with its index in the
 * list, and its as_count losses of casts; NULL if its values cannot be read. An error from take()
 * ends the reading. drawn: with a histogram of each. Fails as scans do. */
typedef enum dti_status dti_take_stats_fn(void *context, size_t at,
                                          const struct dti_tensor_stats *stats,
                                          const struct dti_loss_summary *losses,
                                          struct dti_error *reterr);
enum dti_status dti_reading_stats(const struct dti_reading *reading,
                                  struct dti_container *container,
                                  const struct dti_tensor *const *tensors, size_t count, bool drawn,
                                  dti_take_stats_fn *take, void *context, struct dti_error *reterr);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Where the elements of a tensor come from, and how they are converted to the numbers that kernels
 * process: shared by the scans for statistics and for differences. */
#ifndef FILES_SCAN_SCAN_SIDE_H
#define FILES_SCAN_SCAN_SIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "convert/batch.h"
#include "convert/block_queue.h"
#include "convert/plan.h"
#include "files/scan/scan.h"

enum { DTI_SCAN_NUMBERS = DTI_TILE * sizeof(uint64_t) }; /* maximum bytes of a tile of numbers */

struct dti_scan_side {
    struct dti_batch_source source; /* quantized tensors: numbers, in place of input */
    const struct dti_input *input;
    uint64_t offset;                 /* of the first element in the input */
    uint64_t elements;               /* of a complex tensor: components */
    const struct dti_format *format; /* of an element; complex: of a component */
    struct dti_layout layout;
    unsigned bits;               /* of an element in the file */
    const struct dti_plan *plan; /* conversion to numbers; NULL: stored as numbers, or, if wide,
                                    codes are taken one by one */
    bool wide;
    struct dti_scan_change change; /* zeros, unless the caller sets it after initialization; then */
    uint64_t row;                  /* the elements of a row, too */
    bool single;                   /* numbers are fp32, not fp64 */
};

/* Plans from dtypes to numbers, one per requested conversion. */
struct dti_scan_plans {
    struct dti_scan_plan *first;
    enum dti_level level;
};

/* The dtype of a tensor's elements. */
const struct dti_format *dti_scan_format(const struct dti_tensor *tensor);

/* hub: the format of the numbers; NULL for codes in uint64_t. Unpacks compressed data. Raises
 * scan->scratch_bytes to what is needed. */
struct dti_scan;
enum dti_status dti_scan_side_init(struct dti_scan_side *ret, struct dti_container *container,
                                   size_t tensor, const struct dti_format *hub,
                                   struct dti_scan *scan, struct dti_error *reterr);

/* The bytes of n elements; n is at most a block. */
static inline size_t dti_scan_bytes(const struct dti_scan_side *side, uint64_t n)
{
    return (size_t)((n * side->bits + 7) / 8);
}

/* Reads elements first to first + n - 1; first is a multiple of DTI_TILE. They may be placed in
 * buffer. After success, call dti_window_done(). scratch: as in struct dti_scan_buffers. */
enum dti_status dti_scan_look(const struct dti_scan_side *side, struct dti_window *window,
                              void *buffer, uint64_t first, size_t n, void *scratch,
                              const void **ret_raw, struct dti_error *reterr);

/* The numbers of a tile of n elements at raw: in place, or in buffer (DTI_SCAN_NUMBERS bytes). Set
 * only on success. */
enum dti_status dti_scan_numbers(const struct dti_scan_side *side, const void *raw, void *buffer,
                                 size_t n, uint64_t index, const void **ret_numbers,
                                 struct dti_error *reterr);

/* Per-thread memory. */
struct dti_scan_buffers {
    void *numbers[2];           /* DTI_SCAN_NUMBERS each */
    unsigned char *raw;         /* the block */
    void *scratch;              /* for sources */
    struct dti_window *windows; /* two of them */
};

/* A scan of many arrays by a team. */
struct dti_scan {
    const struct dti_scan_options *options;
    struct dti_scan_plans plans;
    size_t count;
    /* per array: its elements and, if the queue has blocks, the bits per element over all its
     * sides; set by the caller */
    struct dti_queue_part *parts;
    dti_queue_fn *work;
    void (*flush)(void *context, size_t member); /* merges a thread's counts; called at the end */
    void *context;                               /* for both callbacks */
    void *members; /* member_bytes per thread, zeroed, for the duration of the scan */
    size_t member_bytes;
    pthread_mutex_t lock;       /* held while results are merged into an array's */
    atomic_uint_fast64_t bytes; /* done so far: work() adds to it */
    unsigned char *memory;      /* buffer_bytes per thread */
    struct dti_window *windows; /* two per thread, for the duration of the scan */
    size_t buffer_bytes, scratch_at;
    size_t scratch_bytes; /* per thread: the maximum that any source needs */
};
enum dti_status dti_scan_init(struct dti_scan *scan, size_t count,
                              const struct dti_scan_options *options, struct dti_error *reterr);
enum dti_status dti_scan_run(struct dti_scan *scan, struct dti_error *reterr);
void dti_scan_free(struct dti_scan *scan);
struct dti_scan_buffers dti_scan_buffers(const struct dti_scan *scan, size_t member);

#endif

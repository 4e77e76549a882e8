/* SPDX-License-Identifier: MIT
 *
 * Where the elements of a tensor come from, and how they become the numbers that kernels process:
 * shared by the scans of statistics and of differences. */
#ifndef FILES_SCAN_SCAN_SIDE_H
#define FILES_SCAN_SCAN_SIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "convert/batch.h"
#include "convert/block_queue.h"
#include "convert/plan.h"
#include "files/scan/scan.h"

enum { DTI_SCAN_NUMBERS = DTI_TILE * sizeof(uint64_t) }; /* bytes of a tile of numbers, at most */

struct dti_scan_side {
    const struct dti_batch_source *source; /* of a quantized tensor: numbers, in place of input */
    const struct dti_input *input;
    uint64_t offset;                 /* of the first element in the input */
    uint64_t elements;               /* of a complex tensor: parts */
    const struct dti_format *format; /* of an element: complex ones are their parts */
    struct dti_layout layout;
    unsigned bits;               /* of an element in the file */
    const struct dti_plan *plan; /* to numbers; NULL: they are numbers as stored, or, if wide,
                                  * codes are taken one by one */
    bool wide;
};

/* Plans from dtypes to numbers, one for each that was requested. */
struct dti_scan_plans {
    struct dti_scan_plan *first;
    enum dti_level level;
};

/* The dtype of a tensor's elements. */
const struct dti_format *dti_scan_format(const struct dti_tensor *tensor);

/* hub: the format of the numbers; NULL for codes in uint64_t. Unpacks what is compressed. Makes
 * scan->scratch_bytes enough. */
struct dti_scan;
enum dti_status dti_scan_side_init(struct dti_scan_side *ret, struct dti_container *container,
                                   size_t tensor, const struct dti_format *hub,
                                   struct dti_scan *scan, struct dti_error *reterr);

/* The bytes of n elements; n is bounded by a block. */
static inline size_t dti_scan_bytes(const struct dti_scan_side *side, uint64_t n)
{
    return (size_t)((n * side->bits + 7) / 8);
}

/* Looks at elements first to first + n - 1; first is a multiple of DTI_TILE. They may end up in
 * buffer. After success dti_window_done() follows. scratch: as in struct dti_scan_buffers. */
enum dti_status dti_scan_look(const struct dti_scan_side *side, struct dti_window *window,
                              void *buffer, uint64_t first, size_t n, void *scratch,
                              const void **ret_raw, struct dti_error *reterr);

/* The numbers of a tile of n elements at raw: there, or in buffer (of DTI_SCAN_NUMBERS bytes).
 * Returned on success only. */
enum dti_status dti_scan_numbers(const struct dti_scan_side *side, const void *raw, void *buffer,
                                 size_t n, uint64_t index, const void **ret_numbers,
                                 struct dti_error *reterr);

/* A member's own memory. */
struct dti_scan_buffers {
    void *numbers[2];           /* DTI_SCAN_NUMBERS each */
    unsigned char *raw;         /* the block */
    void *scratch;              /* of sources */
    struct dti_window *windows; /* two */
};

/* A scan of many arrays by a team. */
struct dti_scan {
    const struct dti_scan_options *options;
    struct dti_scan_plans plans;
    size_t count;
    /* for each array its elements and, where the queue has blocks, the bits that an element takes
     * in all its sides together: filled by the caller */
    struct dti_queue_part *parts;
    dti_queue_fn *work;
    void (*flush)(void *context, size_t member); /* adds what a thread has counted; at the end */
    void *context;                               /* of the two */
    void *members; /* one of member_bytes for each thread, zeroed, while the scan runs */
    size_t member_bytes;
    pthread_mutex_t lock;       /* held while something is added to an array's result */
    atomic_uint_fast64_t bytes; /* done: work() adds to it */
    unsigned char *memory;      /* buffer_bytes for each thread */
    struct dti_window *windows; /* two for each thread, while the scan runs */
    size_t buffer_bytes, scratch_at;
    size_t scratch_bytes; /* of each thread: the most that a source needs */
};
enum dti_status dti_scan_init(struct dti_scan *scan, size_t count,
                              const struct dti_scan_options *options, struct dti_error *reterr);
enum dti_status dti_scan_run(struct dti_scan *scan, struct dti_error *reterr);
void dti_scan_free(struct dti_scan *scan);
struct dti_scan_buffers dti_scan_buffers(const struct dti_scan *scan, size_t member);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Reading the tensors of containers from beginning to end: their statistics, their differences. A
 * team of threads, memory that does not grow with the files. Tensors without values that can be
 * read (format NULL, a refusal) must be left out by the caller; complex ones are scanned as arrays
 * of their parts, twice as many elements. Indices are places in the file's order. */
#ifndef FILES_SCAN_SCAN_H
#define FILES_SCAN_SCAN_H

#include "containers/container.h"
#include "kernels/scan/comparison.h"
#include "kernels/scan/loss.h"
#include "kernels/scan/stats.h"
#include "util/run/parallel.h"

/* The bytes of its numbers: as they are read, or as they come out of codes. */
static inline uint64_t dti_scan_bytes_of(const struct dti_tensor *tensor)
{
    return tensor->quantized ? tensor->elements * sizeof(float) : tensor->bytes;
}

struct dti_scan_options {
    struct dti_team *team; /* NULL: this thread alone */
    enum dti_level level;  /* the highest to use */
    uint64_t max_memory;   /* bytes for buffers, 0 for the default (16 MiB) */
    void (*progress)(void *context, uint64_t done_bytes); /* of input; may be NULL */
    void *progress_context;
};

struct dti_tensor_stats {
    size_t tensor; /* which one: filled by the caller */
    struct dti_stats_rule rule;
    struct dti_stats stats;
    struct dti_histogram *histogram; /* NULL: not wanted; otherwise it is initialised, then filled;
                                      * several tensors may share one */
};
/* Fills all of them. Fails with DTI_BAD_INPUT, DTI_NO_MEMORY, DTI_WRITE_FAILED (unpacking). */
enum dti_status dti_scan_stats(struct dti_container *container, struct dti_tensor_stats *tensors,
                               size_t count, const struct dti_scan_options *options,
                               struct dti_error *reterr);

/* What a cast to a real dtype would lose, with the policies that a cast has unless others are asked
 * for. */
struct dti_tensor_loss {
    size_t tensor; /* which one: filled by the caller */
    struct dti_loss loss;
};
/* Fills all of them; fails as dti_scan_stats() does. */
enum dti_status dti_scan_losses(struct dti_container *container, struct dti_tensor_loss *tensors,
                                size_t count, const struct dti_format *to,
                                const struct dti_scan_options *options, struct dti_error *reterr);

/* A pair of tensors for which dti_scan_comparable() holds. */
struct dti_tensor_pair {
    size_t a, b; /* filled by the caller */
    struct dti_comparison_rule rule;
    struct dti_comparison comparison;
    bool identical; /* the same dtype, and not a bit differs, of quantized tensors none of their
                     * numbers; between different byte orders or
                     * packings, NaNs that differ in their signalling bit alone are the same */
};
/* Whether two tensors can be held against each other: equal shapes, values that can be read, both
 * complex or none. Otherwise `why` says why not: "shapes [2, 3] and [3, 2] differ". */
enum { DTI_SCAN_WHY_SIZE = 160 };
bool dti_scan_comparable(const struct dti_tensor *a, const struct dti_tensor *b,
                         char why[DTI_SCAN_WHY_SIZE], enum dti_remedy *ret_remedy);
enum dti_status dti_scan_comparison(struct dti_container *a, struct dti_container *b,
                                    struct dti_tensor_pair *pairs, size_t count, double atol,
                                    double rtol, const struct dti_scan_options *options,
                                    struct dti_error *reterr);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Reads tensors of containers from beginning to end for statistics and differences, with a team of
 * threads and memory that does not grow with the files. The caller must exclude tensors without
 * readable values (format NULL, a refusal). Complex tensors are scanned as arrays of their
 * components, with twice as many elements. Indices are positions in the file's order. */
#ifndef FILES_SCAN_SCAN_H
#define FILES_SCAN_SCAN_H

#include "containers/container.h"
#include "kernels/scan/comparison.h"
#include "kernels/scan/loss.h"
#include "kernels/scan/stats.h"
#include "util/run/parallel.h"

/* Bytes of its numbers: as read, or as decoded from codes. */
static inline uint64_t dti_scan_bytes_of(const struct dti_tensor *tensor)
{
    return dti_tensor_form(tensor) ? tensor->elements * sizeof(float) : tensor->bytes;
}

struct dti_scan_options {
    struct dti_team *team; /* NULL: only this thread */
    enum dti_level level;  /* the highest to use */
    uint64_t max_memory;   /* bytes for buffers; 0: the default (16 MiB) */
    /* Of statistics only NaN, infinities, the largest positive and the largest negative number are
     * wanted, with their indices: the rest may be of some elements only. Faster. */
    bool only_peaks;
    void (*progress)(void *context, uint64_t done_bytes); /* bytes of input; may be NULL */
    void *progress_context;
};

struct dti_tensor_stats {
    size_t tensor; /* tensor index, set by the caller */
    struct dti_stats_rule rule;
    struct dti_stats stats;
    struct dti_histogram *histogram; /* NULL: not wanted; else initialised by the caller, then
                                        filled; tensors may share one */
};
/* Fills all of them. Fails with DTI_BAD_INPUT, DTI_NO_MEMORY, DTI_WRITE_FAILED (unpacking). */
enum dti_status dti_scan_stats(struct dti_container *container, struct dti_tensor_stats *tensors,
                               size_t count, const struct dti_scan_options *options,
                               struct dti_error *reterr);

/* What a cast to a real dtype would lose under the default policies. */
struct dti_tensor_loss {
    size_t tensor; /* tensor index, set by the caller */
    struct dti_loss loss;
};
/* Fills all of them; fails as dti_scan_stats() does. */
enum dti_status dti_scan_losses(struct dti_container *container, struct dti_tensor_loss *tensors,
                                size_t count, const struct dti_format *to,
                                const struct dti_scan_options *options, struct dti_error *reterr);

/* How the numbers of a side are changed before they are compared, because one file is a checkpoint
 * and the other its GGUF (files/model); all zeros: not at all. */
struct dti_scan_change {
    uint64_t head_rows; /* rows of one head: the row of the checkpoint that is row i of the GGUF is
                           read as row i; */
    bool from_gguf;     /* the other way round, for a GGUF */
    bool plus_one;      /* 1 is added as the converter does: in fp32, in fp16 to fp16 */
};

/* A pair of tensors for which dti_scan_comparable() holds. */
struct dti_tensor_pair {
    size_t a, b; /* these three are set by the caller; each change must fit its tensor */
    struct dti_scan_change change_a, change_b;
    struct dti_comparison_rule rule;
    struct dti_comparison comparison;
    bool identical; /* same dtype, and no bit differs (quantized tensors: no number differs); across
                       byte orders or packings, NaNs that differ only in the signalling bit count as
                       equal */
};
/* Whether two tensors can be compared: equal shapes, readable values, both complex or neither.
 * Otherwise `why` gives the reason: "shapes [2, 3] and [3, 2] differ". */
enum { DTI_SCAN_WHY_SIZE = 160 };
bool dti_scan_comparable(const struct dti_tensor *a, const struct dti_tensor *b,
                         char why[DTI_SCAN_WHY_SIZE], enum dti_remedy *ret_remedy);
/* Whether a change can be applied to a tensor: else `ret_why` says why not, after its name. */
bool dti_scan_changes(const struct dti_scan_change *change, const struct dti_tensor *tensor,
                      const char **ret_why);
enum dti_status dti_scan_comparison(struct dti_container *a, struct dti_container *b,
                                    struct dti_tensor_pair *pairs, size_t count, double atol,
                                    double rtol, const struct dti_scan_options *options,
                                    struct dti_error *reterr);

#endif

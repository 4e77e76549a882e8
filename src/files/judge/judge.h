/* SPDX-License-Identifier: MIT
 *
 * What a rewrite or a copy would write, held against the tensors of another file instead of being
 * written: by the same code, so that a verdict is about the very bytes. Nothing is made. */
#ifndef FILES_JUDGE_JUDGE_H
#define FILES_JUDGE_JUDGE_H

#include "files/rewrite/rewrite.h"
#include "util/run/parallel.h"

/* The tensors that are held against what is made. */
struct dti_judge_other {
    struct dti_container *container; /* as stored, not a view */
    struct dti_name_order *names;    /* of its tensors, sorted */
};

enum dti_verdict_kind {
    DTI_VERDICT_SAME,
    DTI_VERDICT_BYTES, /* they differ */
    /* Not compared, since the other file: */
    DTI_VERDICT_MISSING, /* lacks a part */
    DTI_VERDICT_MORE,    /* has more parts */
    DTI_VERDICT_DTYPE,   /* has a part of another dtype, */
    DTI_VERDICT_SHAPE,   /* of another shape, */
    DTI_VERDICT_ORDER,   /* of another byte order */
};

/* On one tensor, in all its parts. Of several parts that differ the first one counts. */
struct dti_verdict {
    enum dti_verdict_kind kind;
    enum dti_quant_part part;
    enum dti_dtype made_dtype; /* DTI_VERDICT_DTYPE: of the part as it is made; DTI_DTYPE_COUNT:
                                * no common one */
    size_t tensor;             /* of the other container: that part; SIZE_MAX: it is missing */
    /* DTI_VERDICT_BYTES */
    uint64_t elements, differing; /* complex numbers count twice; none are counted after a stop */
    uint64_t first;
    const struct dti_format *format; /* of the two codes */
    uint64_t expected, found;        /* of that element: as it is made, as it is there */
    double alike; /* share of equal elements at the beginning of the codes: to rank candidates */
};

struct dti_judge_options {
    struct dti_team *team; /* NULL: this thread alone */
    uint64_t max_memory;   /* as in struct dti_rewrite_options */
    uint64_t elements; /* not 0: tensors of the rewrite are so many elements of those in the other
                        * file, in order, */
    uint64_t skip;     /* after so many, which is a multiple of 8 */
    bool stop; /* at a difference, once the beginning of the codes has been seen: for one tensor */
};

/* Runs a rewrite that has not been opened, with one file, and fills a verdict for each tensor of
 * its container, in their order. part_count: of how many parts each tensor consists in the other
 * file. With `names` of `other` NULL its first tensor is meant. Fails as dti_rewrite_run() does. */
enum dti_status dti_judge_rewrite(struct dti_rewrite *rewrite, const struct dti_judge_other *other,
                                  const size_t *part_count, const struct dti_judge_options *options,
                                  struct dti_verdict *ret, struct dti_error *reterr);

/* The same of stored bytes: tensors of two containers as stored, with as many bytes. Codes that
 * cross bytes are compared as bytes. */
struct dti_judge_copy {
    size_t from, to; /* places in the one and in the other */
};
enum dti_status dti_judge_copies(struct dti_container *from, struct dti_container *to,
                                 const struct dti_judge_copy *copies, size_t count,
                                 const struct dti_judge_options *options, struct dti_verdict *ret,
                                 struct dti_error *reterr);

#endif

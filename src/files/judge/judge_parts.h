/* SPDX-License-Identifier: MIT
 *
 * An output that is compared with ranges of another file while it is written. */
#ifndef DTINFO_FILES_JUDGE_JUDGE_PARTS_H
#define DTINFO_FILES_JUDGE_JUDGE_PARTS_H

#include <pthread.h>

#include "containers/name_order.h"
#include "dtinfo/judge.h"

/* Bytes of the output that should be those of a tensor. */
struct dti_judge_range {
    uint64_t offset, bytes;
    size_t made; /* the tensor that the verdict is about */
    enum dti_quant_part part;
    size_t other;
    uint64_t input_offset; /* before it is added: bytes of the tensor that are left out */
    /* filled when it is added */
    const struct dti_input *input;
    struct dti_input reordered;
    bool is_reordered;
    const struct dti_format *format; /* NULL: bytes */
    struct dti_layout layout;
    uint64_t differing, first, expected, found;
};

struct dti_judge {
    const struct dti_judge_options *options;
    struct dti_output_file *output; /* where what is judged is written to; or NULL */
    size_t count, capacity;
    struct dti_judge_range *ranges; /* sorted by offset before the first write */
    pthread_mutex_t lock;           /* of what follows, and of the figures of ranges */
    uint64_t sampled, unlike;       /* elements: of codes at their beginning */
    uint64_t sample_bytes, sample_left;
    bool differs;
};

/* Room for so many ranges. To be freed, unless it fails. */
enum dti_status dti_judge_init(struct dti_judge *ret, size_t capacity,
                               const struct dti_judge_options *options, struct dti_error *reterr);
/* The output goes to whoever takes it; otherwise it is discarded. */
void dti_judge_free(struct dti_judge *judge);
/* Adds a range of a tensor of `other`, whose format is filled; fortran: as what is made
 * is ordered. */
enum dti_status dti_judge_add(struct dti_judge *judge, const struct dti_judge_range *range,
                              struct dti_container *other, bool fortran, struct dti_error *reterr);
/* The range added last is written in pieces that begin with any byte: where codes cross bytes,
 * bytes are compared. */
void dti_judge_copied(struct dti_judge *judge);
/* After the last was added. */
void dti_judge_start(struct dti_judge *judge);
/* After a run, whose status is given: DTI_OK where it was a difference that ended it. Fills
 * verdicts that are still DTI_VERDICT_SAME. */
enum dti_status dti_judge_end(const struct dti_judge *judge, enum dti_status status,
                              struct dti_verdict *verdicts);

#endif

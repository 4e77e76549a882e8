/* SPDX-License-Identifier: MIT
 *
 * The parts of lint.h: each checks one aspect and adds its findings. */
#ifndef FILES_LINT_LINT_PARTS_H
#define FILES_LINT_LINT_PARTS_H

#include <assert.h>
#include <pthread.h>

#include "core/number/spell.h"
#include "files/dequant/dequant_find.h"
#include "files/lint/lint.h"

/* State of a tensor of the view. */
struct dti_lint_tensor {
    bool scales_bad;  /* a scale is NaN or infinite, so numbers may be too */
    bool unreadable;  /* its numbers cannot be read */
    bool zero_scales; /* some scales are 0 */
};

struct dti_lint {
    struct dti_container *view;
    struct dti_file_dequant *dequant;
    const char *only;
    const struct dti_fused_own *own; /* or NULL */
    struct dti_pool pool;            /* for texts */
    struct dti_lint_finding *findings;
    size_t count, capacity;
    struct dti_fused_tally fused;
    size_t refused; /* quantized tensors that cannot be read */
    struct dti_lint_tensor *tensors;
    struct dti_quant_names names; /* of the view */
    pthread_mutex_t lock;         /* guards the findings and the pool */
    size_t probe;                 /* the next candidate for probing */
    size_t probed;                /* how many tensors are being probed: */
    struct lint_probe {
        size_t tensor;
        struct dti_dequant_method method;
        const struct dti_dequant_method *before; /* its regular method */
    } probes[DTI_LINT_PROBES];
};

/* Adds a finding. tensor NULL: not about a tensor, so --only does not filter it. The text is
 * copied. Thread-safe. Fails with DTI_NO_MEMORY. */
enum dti_status dti_lint_add(struct dti_lint *lint, enum dti_lint_rule rule,
                             const struct dti_tensor *tensor, struct dti_error *reterr,
                             const char *format, ...) DTI_PRINTF(5, 6);

/* lint_fused.c: compares tensors that loaders fuse, and counts the matrices. */
enum dti_status dti_lint_fused(struct dti_lint *lint, struct dti_error *reterr);

/* How a tensor of the view is stored; NULL: not quantized. */
static inline struct dti_dequant_found *dti_lint_found(const struct dti_lint *lint, size_t at)
{
    return dti_dequant_found_in(lint->dequant, at);
}
/* The same of a tensor that is known to be quantized. */
static inline struct dti_dequant_found *dti_lint_quantized(const struct dti_lint *lint, size_t at)
{
    struct dti_dequant_found *const found = dti_lint_found(lint, at);
    assert(found);
    return found;
}

/* "[1, 3]", the index of an element in its shape; "0.5", a number with few digits. */
enum { DTI_LINT_PLACE = 160, DTI_LINT_NUMBER = DTI_TEXT_SIZE };
const char *dti_lint_place(char buffer[DTI_LINT_PLACE], const struct dti_tensor *tensor,
                           uint64_t element);
const char *dti_lint_number(char buffer[DTI_LINT_NUMBER], double number);

#endif

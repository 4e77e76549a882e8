/* SPDX-License-Identifier: MIT
 *
 * The parts of lint.h: each looks at one kind of thing, and adds what it finds. */
#ifndef FILES_LINT_LINT_PARTS_H
#define FILES_LINT_LINT_PARTS_H

#include <pthread.h>

#include "core/number/spell.h"
#include "files/dequant/dequant_find.h"
#include "files/lint/lint.h"

/* What is known of a tensor of the view. */
struct dti_lint_tensor {
    bool scales_bad;  /* one is NaN or infinite: so may be numbers */
    bool unreadable;  /* its numbers cannot be */
    bool zero_scales; /* some are 0 */
};

struct dti_lint {
    struct dti_container *view;
    struct dti_file_dequant *dequant;
    const char *only;
    struct dti_pool pool; /* of texts */
    struct dti_lint_finding *findings;
    size_t count, capacity;
    size_t refused; /* quantized tensors that cannot be read */
    struct dti_lint_tensor *tensors;
    struct dti_name_order names; /* of the view */
    pthread_mutex_t lock;        /* of findings, and of the pool */
    size_t probe;                /* the next tensor that may be probed */
    size_t probed;               /* the one that is; SIZE_MAX: none */
    struct dti_dequant_method probe_method;
    const struct dti_dequant_method *probe_before; /* its own */
};

/* Adds a finding; tensor: NULL for none, whose findings --only does not leave out. The text is
 * copied. From any thread. Fails with DTI_NO_MEMORY. */
enum dti_status dti_lint_add(struct dti_lint *lint, enum dti_lint_rule rule,
                             const struct dti_tensor *tensor, struct dti_error *reterr,
                             const char *format, ...) DTI_PRINTF(5, 6);

/* How a tensor of the view is stored; NULL: as it is. */
static inline struct dti_dequant_found *dti_lint_found(const struct dti_lint *lint, size_t at)
{
    return lint->dequant->entries[at].found;
}

/* "[1, 3]", the place of an element in the shape; "0.5", a number in a few digits. */
enum { DTI_LINT_PLACE = 160, DTI_LINT_NUMBER = DTI_TEXT_SIZE };
const char *dti_lint_place(char buffer[DTI_LINT_PLACE], const struct dti_tensor *tensor,
                           uint64_t element);
const char *dti_lint_number(char buffer[DTI_LINT_NUMBER], double number);

#endif

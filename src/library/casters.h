/* SPDX-License-Identifier: MIT
 *
 * Casters, and those that a context keeps. */
#ifndef LIBRARY_CASTERS_H
#define LIBRARY_CASTERS_H

#include <stdatomic.h>

#include "dtinfo/array.h"
#include "library/cast_request.h"
#include "library/context.h"

/* The first members are all that a small cast reads. */
struct dti_caster {
    struct dti_plan *plan; /* without a loss, unless a device runs it */
    size_t small;          /* up to so many of the request's elements, the calling thread works
                              alone, and nothing is asked */
    size_t most;           /* elements of the caller whose bytes size_t can count */
    unsigned parts;        /* elements of the request in one of the caller's */
    unsigned src_bits, dst_bits;         /* of one element of the request */
    _Atomic(struct dti_plan *) counting; /* with a loss; made when one is first asked for */
    struct dti_caster *self;             /* `counting` is all that changes */
    struct dti_context *context;
    struct dti_request request;
    bool on_cpu;        /* also if the context has a device */
    atomic_size_t uses; /* by callers, and one by the context while it keeps it */
    char kernels[DTI_PLAN_TEXT_SIZE];
};

/* dti_caster_new() with the choice to stay on the CPU: for tiles of a scan. */
enum dti_status dti_caster_take(struct dti_caster **ret, struct dti_context *context,
                                const struct dti_cast_spec *spec, bool on_cpu,
                                struct dti_error *reterr);
/* The plan that counts a loss. Fails with DTI_NO_MEMORY. */
enum dti_status dti_caster_counting(const struct dti_caster *caster, const struct dti_plan **ret,
                                    struct dti_error *reterr);
/* Runs a plan of the caster in the threads of its context; index: of the first element. */
enum dti_status dti_caster_cast(const struct dti_caster *caster, const struct dti_plan *plan,
                                void *dst, const void *src, size_t n, uint64_t index,
                                struct dti_loss *loss, struct dti_error *reterr);
/* Figures of a loss into a caller's report. */
void dti_caster_report(const struct dti_loss *loss, struct dti_cast_report *ret);

#endif

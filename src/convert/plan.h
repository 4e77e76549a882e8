/* SPDX-License-Identifier: MIT
 *
 * Array casts: a request states what to do, a plan states how (a chain of kernels), and running
 * it does it. A plan is immutable after dti_plan_new(), so threads can share it. */
#ifndef CONVERT_PLAN_H
#define CONVERT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/code/scalar.h"
#include "core/code/stack.h"
#include "kernels/kernel.h"
#include "kernels/scan/loss.h"
#include "util/run/parallel.h"

struct dti_request {
    struct dti_format src; /* not complex; cast.dst neither */
    struct dti_layout src_layout, dst_layout;
    struct dti_cast cast;              /* destination, route, policies */
    const struct dti_stack_rule *rule; /* --like: the rule of the stack to imitate; else NULL */
    bool flags; /* a loss includes flags that its counts do not imply; slightly slower, much slower
                   with a route */
};

/* Whether stored codes are copied unchanged: source and destination are one format, there is no
 * route, and the policies change no number. Signalling NaNs then stay signalling; every other
 * cast quiets NaNs. Never for bool, whose codes become 0 or 1, nor for formats above 8 bits that
 * do not fill their containers (tf32), of which only the code is kept. */
bool dti_request_is_copy(const struct dti_request *request);

enum { DTI_STEPS_MAX = 24 };

/* One kernel in the chain. */
struct dti_step {
    const struct dti_kernel *kernel; /* NULL: element by element with struct dti_value */
    struct dti_kernel_args args;     /* without index and stream */
    unsigned src_bits, dst_bits;     /* bits of an element in its array */
    /* if kernel is NULL: */
    struct dti_format src, dst;
    struct dti_policy policy;
    const struct dti_stack_rule *rule; /* use dti_stack_cast(), or NULL */
    bool only_nan;                     /* replace NaN codes of dst by the rule's; others stay */
    bool keep;                         /* keep the code and zero the rest of its container */
};

struct dti_plan; /* owns its steps, tables and parameters */

/* allowed: the highest instruction set level to use. Fails with DTI_WRONG_KIND for complex
 * dtypes, with DTI_USAGE for a policy or packing that does not exist, with DTI_NO_MEMORY. */
enum dti_status dti_plan_new(struct dti_plan **ret_plan, const struct dti_request *request,
                             enum dti_level allowed, struct dti_error *reterr);
void dti_plan_free(struct dti_plan *plan); /* NULL is fine */

const struct dti_request *dti_plan_request(const struct dti_plan *plan);
size_t dti_plan_step_count(const struct dti_plan *plan);
const struct dti_step *dti_plan_step(const struct dti_plan *plan, size_t at);
/* Names of the kernels in order, without the C prefix, joined by " + ", truncated to size:
 * "fp32_to_bf16_avx512". Steps without a kernel have the name of their function: "encode",
 * "stack_cast". */
enum { DTI_PLAN_TEXT_SIZE = 512 };
const char *dti_plan_describe(const struct dti_plan *plan, char buffer[DTI_PLAN_TEXT_SIZE]);
/* The highest level of its kernels; with `loss`, including the loss kernels. */
enum dti_level dti_plan_level(const struct dti_plan *plan, bool loss);
/* Whether two plans of one request run the same kernels. */
bool dti_plan_same(const struct dti_plan *a, const struct dti_plan *b, bool loss);

/* Bytes of n elements in source and destination; false on overflow. */
bool dti_plan_src_bytes(const struct dti_plan *plan, uint64_t n, uint64_t *ret_bytes);
bool dti_plan_dst_bytes(const struct dti_plan *plan, uint64_t n, uint64_t *ret_bytes);

/* Casts n elements. index: the global index of the first, a multiple of DTI_TILE. loss: added
 * to; NULL for none. Buffers may have any alignment but must not overlap. Fails
 * with --like, if the stack's result is unknown (DTI_NOT_REPRESENTABLE, naming the element); and
 * with DTI_CANCELLED, if n is more than 65536 and the call is cancelled (util/run/caller.h). */
enum dti_status dti_plan_run(const struct dti_plan *plan, void *dst, const void *src, size_t n,
                             uint64_t index, enum dti_stores stores, struct dti_loss *loss,
                             struct dti_error *reterr);

/* The same, split over a team's threads (NULL: the calling thread). */
enum dti_status dti_plan_run_team(const struct dti_plan *plan, struct dti_team *team, void *dst,
                                  const void *src, size_t n, uint64_t index, enum dti_stores stores,
                                  struct dti_loss *loss, struct dti_error *reterr);

/* The reference for all plans: casts every element with dti_decode(), dti_scalar_store() and
 * storage. Same parameters; the loss follows its definition. */
enum dti_status dti_reference_run(const struct dti_request *request, void *dst, const void *src,
                                  size_t n, uint64_t index, struct dti_loss *loss,
                                  struct dti_error *reterr);

#endif

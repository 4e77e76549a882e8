/* SPDX-License-Identifier: MIT
 *
 * A cast of arrays: what is requested (a request), how it will be done (a plan: kernels in a
 * chain), and doing it. A plan is complete after dti_plan_new() and constant afterwards, so threads
 * share it. */
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
    struct dti_format src; /* not complex, nor is cast.dst */
    struct dti_layout src_layout, dst_layout;
    struct dti_cast cast;              /* destination, route, policies */
    const struct dti_stack_rule *rule; /* --like: the stack's own answer; else NULL */
    bool flags; /* a loss also has the flags that its counts do not give; takes a little longer, and
                 * much longer when there is a route */
};

/* Whether the stored codes are copied as they are: source and destination are one format, there is
 * no route, and the policies change no number. Signalling NaNs then stay signalling; in every other
 * cast NaNs become quiet. Not for bool, which makes each code 0 or 1, nor for formats of more than
 * 8 bits that do not fill their containers (tf32), of which only the code is kept. */
bool dti_request_is_copy(const struct dti_request *request);

enum { DTI_STEPS_MAX = 24 };

/* One kernel in the chain. */
struct dti_step {
    const struct dti_kernel *kernel; /* NULL: element by element through struct dti_value */
    struct dti_kernel_args args;     /* without index and stream */
    unsigned src_bits, dst_bits;     /* of one element in its arrays */
    /* kernel == NULL: */
    struct dti_format src, dst;
    struct dti_policy policy;
    const struct dti_stack_rule *rule; /* through dti_stack_cast() instead, or NULL */
    bool only_nan; /* codes of dst get the rule's code of a NaN, the others stay */
    bool keep;     /* the code as it is, its container's other bits zero */
};

struct dti_plan; /* owns its steps, tables and parameters */

/* allowed: the highest level to use. Fails with DTI_WRONG_KIND for complex dtypes, with
 * DTI_NO_MEMORY. */
enum dti_status dti_plan_new(struct dti_plan **ret_plan, const struct dti_request *request,
                             enum dti_level allowed, struct dti_error *reterr);
void dti_plan_free(struct dti_plan *plan); /* NULL is fine */

const struct dti_request *dti_plan_request(const struct dti_plan *plan);
size_t dti_plan_step_count(const struct dti_plan *plan);
const struct dti_step *dti_plan_step(const struct dti_plan *plan, size_t at);
/* Names of the kernels in order, without the prefix of C symbols, joined by " + ", cut to size:
 * "fp32_to_bf16_avx512". Steps without a kernel are named after the function that does them:
 * "encode", "stack_cast". */
enum { DTI_PLAN_TEXT_SIZE = 512 };
const char *dti_plan_describe(const struct dti_plan *plan, char buffer[DTI_PLAN_TEXT_SIZE]);
/* The highest level of its kernels, with `loss` also of those that see the loss. */
enum dti_level dti_plan_level(const struct dti_plan *plan, bool loss);
/* Whether two plans of one request run the same kernels. */
bool dti_plan_same(const struct dti_plan *a, const struct dti_plan *b, bool loss);

/* Bytes that n elements take in source and destination; false when that overflows. */
bool dti_plan_src_bytes(const struct dti_plan *plan, uint64_t n, uint64_t *ret_bytes);
bool dti_plan_dst_bytes(const struct dti_plan *plan, uint64_t n, uint64_t *ret_bytes);

/* Casts n elements. index: the global index of the first, a multiple of DTI_TILE. loss: adds to it;
 * NULL for none. Any alignment; no overlap. Fails only with --like, where a stack's answer is not
 * known (DTI_NOT_REPRESENTABLE, naming the element). */
enum dti_status dti_plan_run(const struct dti_plan *plan, void *dst, const void *src, size_t n,
                             uint64_t index, enum dti_stores stores, struct dti_loss *loss,
                             struct dti_error *reterr);

/* The same in all threads of a team (NULL: in this one alone). */
enum dti_status dti_plan_run_team(const struct dti_plan *plan, struct dti_team *team, void *dst,
                                  const void *src, size_t n, uint64_t index, enum dti_stores stores,
                                  struct dti_loss *loss, struct dti_error *reterr);

/* The judge of all plans: every element through dti_decode(), dti_scalar_store(), storage. Same
 * parameters; the loss by the definition alone. */
enum dti_status dti_reference_run(const struct dti_request *request, void *dst, const void *src,
                                  size_t n, uint64_t index, struct dti_loss *loss,
                                  struct dti_error *reterr);

#endif

/* SPDX-License-Identifier: MIT
 *
 * Casts of arrays. A context keeps the plans that it made last, by what they do, so that asking
 * again costs a look. A plan that counts a loss takes a hundred times longer to make, so it is made
 * when the first report is wanted. Small casts go straight to the plan: no lock, no memory, no
 * other thread. */
#include "library/casters.h"

#include <string.h>

#include "convert/plan_parts.h"
#include "convert/runner.h"
#include "files/scan/loss_summary.h"
#include "util/run/allocate.h"

enum {
    SMALL_BYTES = 4 << 20, /* of source and result: with less, another thread begins too late */
    COUNTED = 4,           /* a report takes so many times longer */
    SMALL_STEPS = 1 << 12, /* elements of a cast that goes one by one: less than a millisecond */
};

static void destroy(struct dti_caster *caster)
{
    struct dti_plan *const counting = atomic_load(&caster->counting);
    if (counting != caster->plan)
        dti_plan_free(counting);
    dti_plan_free(caster->plan);
    dti_free(caster);
}

/* Whether that was the last use. */
static bool drop(struct dti_caster *caster)
{
    return atomic_fetch_sub_explicit(&caster->uses, 1, memory_order_acq_rel) == 1;
}

static bool goes_one_by_one(const struct dti_plan *plan)
{
    for (size_t i = 0; i < dti_plan_step_count(plan); i++) {
        const struct dti_step *const step = dti_plan_step(plan, i);
        if (!step->kernel && !step->only_nan)
            return true;
    }
    return false;
}

/* In elements of the request. */
static size_t small_of(const struct dti_caster *caster)
{
    if (!caster->on_cpu)
        return 0;
    return goes_one_by_one(caster->plan)
               ? SMALL_STEPS
               : (size_t)SMALL_BYTES * 8 / (caster->src_bits + caster->dst_bits);
}

static size_t most_of(const struct dti_caster *caster)
{
    const unsigned bits = caster->src_bits > caster->dst_bits ? caster->src_bits : caster->dst_bits;
    return (bits < 8 ? SIZE_MAX : SIZE_MAX / (bits / 8)) / caster->parts;
}

/* Makes the plans of a caster and all that follows from them. */
static enum dti_status fill(struct dti_caster *caster, struct dti_error *reterr)
{
    struct dti_context *const context = caster->context;
    const struct dti_request *const request = &caster->request;
    struct dti_request planned = *request;
    planned.uncounted = caster->on_cpu;
    enum dti_status status = dti_plan_new(&caster->plan, &planned, context->level, reterr);
    const char *why;
    if (status == DTI_OK && !caster->on_cpu) {
        atomic_store(&caster->counting, caster->plan);
        status = dti_plan_set_runner(caster->plan, context->runner, &why, reterr);
    }
    if (status != DTI_OK)
        return status;
    caster->src_bits = dti_format_stored_bits(&request->src, &request->src_layout);
    caster->dst_bits = dti_format_stored_bits(&request->cast.dst, &request->dst_layout);
    caster->most = most_of(caster);
    caster->small = small_of(caster);
    (void)dti_plan_describe_device(caster->plan, caster->kernels);
    return DTI_OK;
}

/* `as` has the request, the parts and where to run. */
static enum dti_status make(struct dti_context *context, const struct dti_caster *as,
                            struct dti_caster **ret, struct dti_error *reterr)
{
    struct dti_caster *const caster = dti_calloc(1, sizeof *caster);
    if (!caster)
        return dti_no_memory(reterr);
    caster->self = caster;
    caster->context = context;
    caster->request = as->request;
    caster->parts = as->parts;
    caster->on_cpu = as->on_cpu;
    atomic_init(&caster->uses, 1);
    atomic_init(&caster->counting, NULL);
    const enum dti_status status = fill(caster, reterr);
    if (status == DTI_OK)
        *ret = caster;
    else
        destroy(caster);
    return status;
}

static struct dti_caster **set_of(struct dti_context *context, const struct dti_caster *as)
{
    return context->kept[dti_request_hash(&as->request) % DTI_KEPT_SETS];
}

/* Moves a way of a set to its front. */
static void to_front(struct dti_caster **set, size_t way)
{
    struct dti_caster *const front = set[way];
    memmove(set + 1, set, way * sizeof *set);
    set[0] = front;
}

/* One more use of the caster that the context keeps for this cast; NULL: there is none. With the
 * context's lock. */
static struct dti_caster *find(struct dti_caster **set, const struct dti_caster *as)
{
    for (size_t i = 0; i < DTI_KEPT_WAYS && set[i]; i++) {
        if (set[i]->parts == as->parts && set[i]->on_cpu == as->on_cpu &&
            dti_request_equal(&set[i]->request, &as->request)) {
            to_front(set, i);
            (void)atomic_fetch_add_explicit(&set[0]->uses, 1, memory_order_relaxed);
            return set[0];
        }
    }
    return NULL;
}

/* At the end of a context. */
static void forget(struct dti_context *context)
{
    for (size_t i = 0; i < (size_t)DTI_KEPT_SETS * DTI_KEPT_WAYS; i++) {
        struct dti_caster *const caster = context->kept[i / DTI_KEPT_WAYS][i % DTI_KEPT_WAYS];
        if (caster && drop(caster))
            destroy(caster);
    }
}

/* Keeps a new caster, unless another thread was faster; *ret_gone: one that the context does not
 * keep any more. */
static struct dti_caster *keep(struct dti_context *context, struct dti_caster *caster,
                               struct dti_caster **ret_gone)
{
    struct dti_caster **const set = set_of(context, caster);
    (void)pthread_mutex_lock(&context->lock);
    struct dti_caster *ret = find(set, caster);
    *ret_gone = ret ? caster : set[DTI_KEPT_WAYS - 1];
    if (!ret) {
        ret = caster;
        context->forget = forget;
        (void)atomic_fetch_add_explicit(&caster->uses, 1, memory_order_relaxed);
        set[DTI_KEPT_WAYS - 1] = caster;
        to_front(set, DTI_KEPT_WAYS - 1);
    }
    (void)pthread_mutex_unlock(&context->lock);
    return ret;
}

enum dti_status dti_caster_take(struct dti_caster **ret, struct dti_context *context,
                                const struct dti_cast_spec *spec, bool on_cpu,
                                struct dti_error *reterr)
{
    struct dti_caster as;
    enum dti_status status = dti_cast_request_take(spec, &as.request, &as.parts, reterr);
    if (status != DTI_OK)
        return status;
    as.on_cpu = on_cpu || !context->runner;
    (void)pthread_mutex_lock(&context->lock);
    struct dti_caster *caster = find(set_of(context, &as), &as);
    (void)pthread_mutex_unlock(&context->lock);
    if (!caster) {
        struct dti_call call;
        struct dti_caster *gone = NULL;
        dti_call_begin(&call, &context->caller);
        status = make(context, &as, &caster, reterr);
        if (status == DTI_OK)
            caster = keep(context, caster, &gone);
        if (gone && drop(gone))
            destroy(gone);
        dti_call_end(&call);
    }
    if (status == DTI_OK)
        *ret = caster;
    return status;
}

enum dti_status dti_caster_new(struct dti_caster **ret, struct dti_context *context,
                               const struct dti_cast_spec *spec, struct dti_error *reterr)
{
    return dti_caster_take(ret, context, spec, false, reterr);
}

void dti_caster_free(struct dti_caster *caster)
{
    if (!caster || !drop(caster))
        return;
    struct dti_call call;
    dti_call_begin(&call, &caster->context->caller);
    destroy(caster);
    dti_call_end(&call);
}

const char *dti_caster_kernels(const struct dti_caster *caster)
{
    return caster->kernels;
}

size_t dti_caster_src_bytes(const struct dti_caster *caster, size_t n)
{
    return n > caster->most ? SIZE_MAX
                            : (size_t)dti_array_bytes(n * caster->parts, caster->src_bits);
}

size_t dti_caster_dst_bytes(const struct dti_caster *caster, size_t n)
{
    return n > caster->most ? SIZE_MAX
                            : (size_t)dti_array_bytes(n * caster->parts, caster->dst_bits);
}

enum dti_status dti_caster_counting(const struct dti_caster *caster, const struct dti_plan **ret,
                                    struct dti_error *reterr)
{
    struct dti_plan *there = atomic_load_explicit(&caster->self->counting, memory_order_acquire);
    if (!there) {
        struct dti_plan *made;
        const enum dti_status status =
            dti_plan_new(&made, &caster->request, caster->context->level, reterr);
        if (status != DTI_OK)
            return status;
        if (atomic_compare_exchange_strong(&caster->self->counting, &there, made))
            there = made;
        else
            dti_plan_free(made);
    }
    *ret = there;
    return DTI_OK;
}

enum dti_status dti_caster_cast(const struct dti_caster *caster, const struct dti_plan *plan,
                                void *dst, const void *src, size_t n, uint64_t index,
                                struct dti_loss *loss, struct dti_error *reterr)
{
    if (n <= (loss ? caster->small / COUNTED : caster->small))
        return dti_plan_run(plan, dst, src, n, index, DTI_STORES_CACHED, loss, reterr);
    struct dti_team *const team = dti_context_borrow_team(caster->context);
    const enum dti_status status =
        dti_plan_run_team(plan, team, dst, src, n, index, DTI_STORES_AUTO, loss, reterr);
    dti_context_return_team(caster->context, team);
    return status;
}

void dti_caster_report(const struct dti_loss *loss, struct dti_cast_report *ret)
{
    const struct dti_cast_report own = {
        .size = sizeof own,
        .elements = loss->elements,
        .inexact = loss->inexact,
        .overflowed = loss->overflowed,
        .to_zero = loss->to_zero,
        .to_subnormal = loss->to_subnormal,
        .nan_in = loss->nan_in,
        .inf_in = loss->inf_in,
        .no_code = loss->no_code,
        .stray = loss->stray,
        .compared = loss->compared,
        .max_absolute = loss->max_absolute,
        .max_index = loss->max_index,
        .max_relative = loss->max_relative,
        .mean_absolute = dti_loss_mean_absolute(loss),
        .root_mean_square = dti_loss_root_mean_square(loss),
        .sqnr_db = dti_loss_sqnr_db(loss),
        .first_no_code = loss->first_no_code,
        .flags = dti_loss_flags(loss),
    };
    dti_struct_give(ret, &own, sizeof own);
}

/* A cast with a report, or of many elements. */
static enum dti_status run_large(const struct dti_caster *caster, void *dst, const void *src,
                                 size_t n, struct dti_cast_report *ret_report,
                                 struct dti_error *reterr)
{
    struct dti_call call;
    const struct dti_plan *plan = caster->plan;
    enum dti_status status = DTI_OK;
    dti_call_begin(&call, &caster->context->caller);
    if (ret_report) {
        struct dti_loss loss;
        dti_loss_init(&loss);
        status = dti_caster_counting(caster, &plan, reterr);
        if (status == DTI_OK)
            status = dti_caster_cast(caster, plan, dst, src, n, 0, &loss, reterr);
        if (status == DTI_OK)
            dti_caster_report(&loss, ret_report);
    } else {
        status = dti_caster_cast(caster, plan, dst, src, n, 0, NULL, reterr);
    }
    dti_call_end(&call);
    return status;
}

enum dti_status dti_caster_run(const struct dti_caster *caster, void *dst, const void *src,
                               size_t n, struct dti_cast_report *ret_report,
                               struct dti_error *reterr)
{
    if (n > caster->most)
        return dti_fail(reterr, DTI_USAGE, "%zu elements have more bytes than memory", n);
    n *= caster->parts;
    if (ret_report || n > caster->small)
        return run_large(caster, dst, src, n, ret_report, reterr);
    return dti_plan_run(caster->plan, dst, src, n, 0, DTI_STORES_CACHED, NULL, reterr);
}

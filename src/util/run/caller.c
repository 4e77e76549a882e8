/* SPDX-License-Identifier: MIT
 *
 * The current call of a thread. A member of a team has a struct of its own for the call that it
 * works for, because what was current before in its thread may be another one. */
#include "util/run/caller.h"

#include "util/run/allocate.h"
#include "util/run/call_now.h"
#include "util/run/clock.h"

_Thread_local struct dti_call *dti_call_now DTI_CALL_TLS;

static struct dti_caller process;

struct dti_call *dti_call_current(void)
{
    return dti_call_now;
}

void dti_call_begin(struct dti_call *ret, struct dti_caller *caller)
{
    ret->allocate = caller->allocate;
    ret->allocate_context = caller->allocate_context;
    ret->caller = caller;
    ret->outer = dti_call_now;
    ret->whole = ret;
    ret->polls = caller->interrupted != NULL;
    ret->polled = 0;
    atomic_init(&ret->cancelled, false);
    dti_call_now = ret;
}

void dti_call_end(struct dti_call *call)
{
    dti_call_now = call->outer;
}

void dti_call_join(struct dti_call *ret, struct dti_call *call)
{
    struct dti_call *const before = dti_call_now;
    ret->outer = before;
    if (call) {
        ret->allocate = call->allocate;
        ret->allocate_context = call->allocate_context;
        ret->caller = call->caller;
        ret->whole = call->whole;
        ret->polls = before && before->whole == call->whole && before->polls;
    }
    dti_call_now = call ? ret : NULL;
}

void dti_call_leave(struct dti_call *call)
{
    dti_call_now = call->outer;
}

struct dti_caller *dti_caller_current(void)
{
    struct dti_call *const call = dti_call_now;
    return call ? call->caller : &process;
}

bool dti_caller_is_process(void)
{
    return !dti_call_now;
}

void dti_call_keep(struct dti_call *ret)
{
    const struct dti_caller *const caller = dti_caller_current();
    dti_call_join(ret, dti_call_now);
    ret->allocate = caller->allocate;
    ret->allocate_context = caller->allocate_context;
}

void *dti_caller_state_there(enum dti_caller_state_id id)
{
    return atomic_load(&dti_caller_current()->state[id]);
}

void *dti_caller_state(enum dti_caller_state_id id, size_t size, void (*begin)(void *state),
                       void (*end)(struct dti_caller_state *state))
{
    struct dti_caller *const caller = dti_caller_current();
    struct dti_caller_state *there = atomic_load(&caller->state[id]);
    if (there)
        return there;
    struct dti_call call;
    dti_call_keep(&call);
    struct dti_caller_state *const fresh = dti_calloc(1, size);
    if (fresh) {
        fresh->end = end;
        if (begin)
            begin(fresh);
        if (atomic_compare_exchange_strong(&caller->state[id], &there, fresh)) {
            there = fresh;
        } else { /* another thread was faster */
            end(fresh);
            dti_free(fresh);
        }
    }
    dti_call_leave(&call);
    return there;
}

void dti_caller_end(struct dti_caller *caller)
{
    struct dti_call call;
    dti_call_begin(&call, caller);
    for (size_t i = DTI_CALLER_STATES; i-- > 0;) {
        struct dti_caller_state *const state = atomic_load(&caller->state[i]);
        if (state)
            state->end(state);
        atomic_store(&caller->state[i], NULL);
        dti_free(state);
    }
    dti_call_end(&call);
}

bool dti_interruptible(void)
{
    const struct dti_call *const call = dti_call_now;
    return call && call->caller->interrupted;
}

bool dti_call_polls(void)
{
    const struct dti_call *const call = dti_call_now;
    return call && call->polls;
}

bool dti_interrupted(void)
{
    const struct dti_call *const call = dti_call_now;
    if (!call || !call->caller->interrupted)
        return false;
    struct dti_call *const whole = call->whole;
    if (atomic_load_explicit(&whole->cancelled, memory_order_relaxed))
        return true;
    if (!call->polls)
        return false;
    const uint64_t now = dti_clock_now();
    const uint64_t since = now - whole->polled;
    if (whole->polled != 0 && since < (uint64_t)DTI_POLL_MS * 1000000)
        return false;
    const bool is_first = whole->polled == 0; /* a short call never asks */
    whole->polled = now;
    if (is_first || !call->caller->interrupted(call->caller->interrupted_context))
        return false;
    atomic_store_explicit(&whole->cancelled, true, memory_order_relaxed);
    return true;
}

enum dti_status dti_cancelled(struct dti_error *reterr)
{
    return dti_fail(reterr, DTI_CANCELLED, "cancelled");
}

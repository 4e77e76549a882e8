/* SPDX-License-Identifier: MIT
 *
 * On whose behalf a thread works. A program that links the layers keeps one struct dti_caller for
 * each of its contexts, and makes it current for the calling thread while a call runs:
 *
 *     struct dti_call call;
 *     dti_call_begin(&call, &context->caller);
 *     status = ...;
 *     dti_call_end(&call);
 *
 * Teams make the same call current in each member that runs a job of it. Without a call, as in the
 * command line, a thread works for the process: C library's allocator, nothing interrupts. */
#ifndef UTIL_RUN_CALLER_H
#define UTIL_RUN_CALLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

/* What layers keep from one call to the next. Each begins with a struct dti_caller_state. */
enum dti_caller_state_id {
    DTI_STATE_INPUTS, /* io/input.c: the files that must not change while they are read */
    DTI_STATE_NAMES,  /* io/net/names.c: addresses with a query */
    DTI_STATE_REMOTE, /* io/net: connections, and what was read of remote files */
    DTI_CALLER_STATES
};

struct dti_caller_state {
    void (*end)(struct dti_caller_state *state); /* frees all but the block itself */
};

/* Zeroed and filled in: ready. Constant while a call runs; several threads may run a call for it
 * at the same time if its two callbacks allow that. */
struct dti_caller {
    dti_allocate_fn *allocate; /* NULL: the C library's */
    void *allocate_context;
    /* NULL, or asked about every 20 ms by the thread that called, and by no other: whether to give
     * up. Then the call fails with DTI_CANCELLED and leaves nothing behind. */
    bool (*interrupted)(void *context);
    void *interrupted_context;
    dti_run_tasks_fn *pool; /* threads that the caller brings: teams have none of their own. Their
                               stacks have at least 1 MiB */
    void *pool_context;
    bool reads_environment;                                      /* see process_environment.h */
    _Atomic(struct dti_caller_state *) state[DTI_CALLER_STATES]; /* private */
};

/* A call, on the stack of the function that runs it. All members are private. */
struct dti_call {
    dti_allocate_fn *allocate;
    void *allocate_context;
    struct dti_caller *caller;
    struct dti_call *outer; /* current before, in the same thread */
    struct dti_call *whole; /* the call itself, or the one that a member of a team works for */
    bool polls;             /* of the thread that called */
    uint64_t polled;        /* when it last asked; 0: not yet */
    atomic_bool cancelled;
};

/* Calls nest, also those of different callers. Both in the same thread. */
void dti_call_begin(struct dti_call *ret, struct dti_caller *caller);
void dti_call_end(struct dti_call *call);

/* Frees what the layers kept for a caller. No call may run for it. */
void dti_caller_end(struct dti_caller *caller);

/* The caller of the current call, or that of the process. */
struct dti_caller *dti_caller_current(void);

/* Whether this thread works for the process itself, which may handle its signals. */
bool dti_caller_is_process(void);

/* The current call with the caller's own allocator, while something is kept from one call to the
 * next: the current one may track what is allocated (track.h). Ends with dti_call_leave(). */
void dti_call_keep(struct dti_call *ret);

/* The state of a layer, made at the first use: `size` zeroed bytes with this end(). begin, if not
 * NULL, prepares them. NULL if memory ran out. */
void *dti_caller_state(enum dti_caller_state_id id, size_t size, void (*begin)(void *state),
                       void (*end)(struct dti_caller_state *state));
/* The same, but NULL if there was no use yet. */
void *dti_caller_state_there(enum dti_caller_state_id id);

/* Whether the current call was cancelled. Asks the caller if this is its thread and 20 ms have
 * passed. Long work looks here between pieces of at most a few milliseconds, and holds no lock. */
bool dti_interrupted(void);
/* Whether the current call can be cancelled: a wait that may be long has to end now and then. */
bool dti_interruptible(void);
/* The same for the thread that asks the caller. */
bool dti_call_polls(void);
enum { DTI_POLL_MS = 20 };

/* The error of a cancelled call. */
enum dti_status dti_cancelled(struct dti_error *reterr);

/* For teams: the current call, NULL for the process; and working for it in another thread, or in
 * the same. */
struct dti_call *dti_call_current(void);
void dti_call_join(struct dti_call *ret, struct dti_call *call);
void dti_call_leave(struct dti_call *call);

#endif

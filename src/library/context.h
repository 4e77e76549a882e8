/* SPDX-License-Identifier: MIT
 *
 * What the public functions of include/ share: the context, the frame of a call, and structs that
 * begin with their size. */
#ifndef LIBRARY_CONTEXT_H
#define LIBRARY_CONTEXT_H

#include <pthread.h>

#include "core/dtype/dtype.h"
#include "devices/device.h"
#include "kernels/cpu.h"
#include "util/run/caller.h"
#include "util/run/parallel.h"

/* A format that was made of a name. */
struct dti_made_format {
    struct dti_made_format *next;
    struct dti_format format;
};

struct dti_caster;
struct dti_runner;

/* Casts that were planned before, in sets of the same hash. */
enum { DTI_KEPT_SETS = 16, DTI_KEPT_WAYS = 4 };

struct dti_context {
    struct dti_caller caller; /* allocator, pool, and whether to give up */
    enum dti_level level;
    struct dti_device_choice device;
    size_t threads;
    pthread_mutex_t lock; /* of what follows */
    struct dti_made_format *formats;
    struct dti_team *team; /* NULL until a call has enough work */
    bool team_in_use;
    struct dti_caster *kept[DTI_KEPT_SETS][DTI_KEPT_WAYS]; /* the latest of each set first */
    void (*forget)(struct dti_context *context);           /* drops them; NULL: none was kept */
    struct dti_runner *runner; /* of a device; NULL: the CPU. Constant */
};

/* The frame of every public function that allocates, frees, reads or runs for a context:
 *
 *     struct dti_call call;
 *     dti_call_begin(&call, &context->caller);
 *     ...
 *     dti_call_end(&call);
 */

/* Lends the context's team, whose threads are started at the first use. NULL: the calling thread
 * works alone, because the context has no other or because another call uses them. */
struct dti_team *dti_context_borrow_team(struct dti_context *context);
void dti_context_return_team(struct dti_context *context, struct dti_team *team); /* NULL is fine */

/* A caller like the context's, without what the layers keep for it: a call that must not see the
 * files of others has its own. End it with dti_caller_end(). */
struct dti_caller dti_context_caller(const struct dti_context *context);

/* The row of a format, or its only copy in the context. Fails with DTI_NO_MEMORY. */
enum dti_status dti_context_format(struct dti_context *context, const struct dti_format *format,
                                   const struct dti_format **ret, struct dti_error *reterr);

/* Structs that begin with a size. Takes what the caller has and zeros the rest; false: it is larger
 * than this version knows, and what is beyond is not all zeros. */
bool dti_struct_take(void *ret, size_t size, const void *given);
/* Gives as much as the caller has room for, and leaves `size` as it is. */
void dti_struct_give(void *given, const void *own, size_t size);
/* Fails with DTI_USAGE for a struct that dti_struct_take() did not accept. */
enum dti_status dti_struct_newer(struct dti_error *reterr, const char *name);

#endif

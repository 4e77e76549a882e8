/* SPDX-License-Identifier: MIT
 *
 * Contexts: what a caller brings or chooses once, and what its calls share. */
#include "library/context.h"

#include <string.h>

#include "convert/runner.h"
#include "util/run/allocate.h"

const char *dti_version(void)
{
    return DTI_VERSION;
}

bool dti_struct_take(void *ret, size_t size, const void *given)
{
    size_t given_size;
    memcpy(&given_size, given, sizeof given_size);
    const unsigned char *const bytes = (const unsigned char *)given;
    for (size_t i = size; i < given_size; i++)
        if (bytes[i] != 0)
            return false;
    memset(ret, 0, size);
    memcpy(ret, given, given_size < size ? given_size : size);
    return true;
}

void dti_struct_give(void *given, const void *own, size_t size)
{
    size_t given_size;
    memcpy(&given_size, given, sizeof given_size);
    const size_t room = given_size < size ? given_size : size;
    if (room > sizeof given_size)
        memcpy((unsigned char *)given + sizeof given_size,
               (const unsigned char *)own + sizeof given_size, room - sizeof given_size);
}

enum dti_status dti_struct_newer(struct dti_error *reterr, const char *name)
{
    return dti_fail(reterr, DTI_USAGE,
                    "struct %s has members that version " DTI_VERSION " of the library lacks",
                    name);
}

static enum dti_status choose_level(struct dti_context *context, const char *word,
                                    struct dti_error *reterr)
{
    enum dti_level level;
    if (word && dti_level_lookup(word, &level, reterr) != DTI_OK) {
        if (reterr)
            reterr->status = DTI_UNKNOWN_OPTION;
        return DTI_UNKNOWN_OPTION;
    }
    if (word && !dti_level_present(level))
        return dti_fail(reterr, DTI_UNAVAILABLE, "this machine does not have the level %s", word);
    return dti_level_choose(word, &context->level, reterr);
}

static enum dti_status open_device(struct dti_context *context, const char *word,
                                   struct dti_error *reterr)
{
    struct dti_call call;
    dti_call_begin(&call, &context->caller);
    enum dti_status status = dti_device_choice_parse(&context->device, word, reterr);
    if (status == DTI_OK)
        status = dti_runner_open(&context->runner, &context->device, reterr);
    dti_call_end(&call);
    if (status == DTI_USAGE) {
        status = DTI_UNKNOWN_OPTION;
        if (reterr)
            reterr->status = status;
    }
    return status;
}

static enum dti_status fill(struct dti_context *context, const struct dti_context_options *options,
                            struct dti_error *reterr)
{
    enum dti_status status = choose_level(context, options->cpu_level, reterr);
    if (status != DTI_OK)
        return status;
    context->threads = options->threads > 0 ? options->threads : dti_cpu_count();
    if (context->threads > DTI_THREADS_MAX)
        context->threads = DTI_THREADS_MAX;
    if (pthread_mutex_init(&context->lock, NULL) != 0)
        return dti_no_memory(reterr);
    status = open_device(context, options->device, reterr);
    if (status != DTI_OK)
        (void)pthread_mutex_destroy(&context->lock);
    return status;
}

struct dti_caller dti_context_caller(const struct dti_context *context)
{
    return (struct dti_caller){.allocate = context->caller.allocate,
                               .allocate_context = context->caller.allocate_context,
                               .interrupted = context->caller.interrupted,
                               .interrupted_context = context->caller.interrupted_context,
                               .pool = context->caller.pool,
                               .pool_context = context->caller.pool_context};
}

/* A block that is made or freed when the context is not there. */
static void *reallocate(struct dti_caller *caller, struct dti_context *old)
{
    struct dti_call call;
    void *made = NULL;
    dti_call_begin(&call, caller);
    if (old)
        dti_free(old);
    else
        made = dti_calloc(1, sizeof *old);
    dti_call_end(&call);
    return made;
}

enum dti_status dti_context_new(struct dti_context **ret, const struct dti_context_options *options,
                                struct dti_error *reterr)
{
    struct dti_context_options taken = {.size = sizeof taken};
    if (options && !dti_struct_take(&taken, sizeof taken, options))
        return dti_struct_newer(reterr, "dti_context_options");
    struct dti_caller caller = {.allocate = taken.allocate,
                                .allocate_context = taken.allocate_context,
                                .interrupted = taken.interrupted,
                                .interrupted_context = taken.interrupted_context,
                                .pool = taken.run_tasks,
                                .pool_context = taken.run_tasks_context};
    struct dti_context *const context = reallocate(&caller, NULL);
    if (!context)
        return dti_no_memory(reterr);
    context->caller = caller;
    const enum dti_status status = fill(context, &taken, reterr);
    if (status != DTI_OK) {
        (void)reallocate(&caller, context);
        return status;
    }
    *ret = context;
    return DTI_OK;
}

void dti_context_free(struct dti_context *context)
{
    if (!context)
        return;
    struct dti_call call;
    dti_call_begin(&call, &context->caller);
    dti_team_free(context->team);
    if (context->forget)
        context->forget(context);
    dti_runner_close(context->runner);
    for (struct dti_made_format *made = context->formats; made;) {
        struct dti_made_format *const next = made->next;
        dti_free(made);
        made = next;
    }
    (void)pthread_mutex_destroy(&context->lock);
    dti_call_end(&call);
    dti_caller_end(&context->caller);
    struct dti_caller caller = dti_context_caller(context);
    (void)reallocate(&caller, context);
}

const char *dti_context_cpu_level(const struct dti_context *context)
{
    return dti_level_name(context->level);
}

const char *dti_context_device(const struct dti_context *context)
{
    return dti_runner_device(context->runner);
}

size_t dti_context_threads(const struct dti_context *context)
{
    return context->threads;
}

struct dti_team *dti_context_borrow_team(struct dti_context *context)
{
    struct dti_team *team = NULL;
    (void)pthread_mutex_lock(&context->lock);
    if (context->threads > 1 && !context->team_in_use) {
        if (!context->team)
            (void)dti_team_new(&context->team, context->threads, DTI_WAIT_SLEEP, false, NULL);
        team = context->team;
        context->team_in_use = team != NULL;
    }
    (void)pthread_mutex_unlock(&context->lock);
    return team;
}

void dti_context_return_team(struct dti_context *context, struct dti_team *team)
{
    if (!team)
        return;
    (void)pthread_mutex_lock(&context->lock);
    context->team_in_use = false;
    (void)pthread_mutex_unlock(&context->lock);
}

enum dti_status dti_context_format(struct dti_context *context, const struct dti_format *format,
                                   const struct dti_format **ret, struct dti_error *reterr)
{
    if (format->id < DTI_DTYPE_COUNT) {
        *ret = dti_format_get(format->id);
        return DTI_OK;
    }
    enum dti_status status = DTI_OK;
    (void)pthread_mutex_lock(&context->lock);
    struct dti_made_format *made = context->formats;
    while (made && strcmp(made->format.name, format->name) != 0)
        made = made->next;
    if (!made) {
        made = dti_malloc(sizeof *made);
        if (made) {
            *made = (struct dti_made_format){.next = context->formats, .format = *format};
            context->formats = made;
        }
    }
    if (made)
        *ret = &made->format;
    else
        status = dti_no_memory(reterr);
    (void)pthread_mutex_unlock(&context->lock);
    return status;
}

void dti_text_free(struct dti_context *context, char *text)
{
    struct dti_call call;
    dti_call_begin(&call, &context->caller);
    dti_free(text);
    dti_call_end(&call);
}

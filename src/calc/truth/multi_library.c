/* SPDX-License-Identifier: MIT
 *
 * Loads GMP and MPFR, once. */
#include "calc/truth/multi.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "calc/calc.h"
#include "calc/truth/truth.h"
#include "util/run/allocate.h"
#include "util/run/library.h"
#include "util/run/once.h"
#include "util/run/process_environment.h"
#include "util/run/track.h"

struct dti_multi dti_multi;

/* Two macros, so that a name is expanded before it is made a string. */
#define SPELLED(name)  #name
#define EXPANDED(name) SPELLED(name)

enum { GMP, MPFR, LIBRARIES };

static const struct dti_library_function functions_of_gmp[] = {
#define ROW_GMP(name) {EXPANDED(name), offsetof(struct dti_multi, name), true},
#define ROW_MPFR(name)
#define MULTI_SYMBOL(library, name) ROW_##library(name)
#include "calc/truth/multi_symbols.def"
#undef ROW_GMP
#undef ROW_MPFR
};

static const struct dti_library_function functions_of_mpfr[] = {
#define ROW_GMP(name)
#define ROW_MPFR(name) {EXPANDED(name), offsetof(struct dti_multi, name), true},
#include "calc/truth/multi_symbols.def"
#undef MULTI_SYMBOL
#undef ROW_GMP
#undef ROW_MPFR
};

static const struct {
    const char *name, *variable, *package;
    const struct dti_library_function *functions;
    size_t count;
} libraries[LIBRARIES] = {
    [GMP] = {"libgmp.so.10", "DTINFO_LIBGMP", "libgmp10", functions_of_gmp,
             sizeof functions_of_gmp / sizeof *functions_of_gmp},
    [MPFR] = {"libmpfr.so.6", "DTINFO_LIBMPFR", "libmpfr6", functions_of_mpfr,
              sizeof functions_of_mpfr / sizeof *functions_of_mpfr},
};

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* GMP's allocation functions must not fail: on failure they longjmp to the thread's active
 * dti_calc_guarded(). Without one, the number is not ours: another part of the process uses GMP,
 * whose own function then does what it does. GMP has one allocator for the process, and MPFR keeps
 * constants from one call to the next, so that its memory is never that of a caller. */
static _Thread_local jmp_buf *way_out;
static void *(*first_allocate)(size_t bytes);
static void *(*first_reallocate)(void *memory, size_t before, size_t bytes);

_Noreturn void dti_multi_out_of_memory(void)
{
    longjmp(*way_out, 1);
}

static void *allocate(size_t bytes)
{
    void *const memory = dti_process_malloc(bytes);
    if (!memory && way_out)
        dti_multi_out_of_memory();
    return memory ? memory : first_allocate(bytes);
}

static void *reallocate(void *memory, size_t before, size_t bytes)
{
    void *const more = dti_process_realloc(memory, bytes);
    if (!more && way_out)
        dti_multi_out_of_memory();
    return more ? more : first_reallocate(memory, before, bytes);
}

static void release(void *memory, size_t bytes)
{
    (void)bytes;
    dti_process_free(memory);
}

/* Replaces GMP's own functions, which use the C library's memory, too. Others are left alone: they
 * belong to another part of the process. */
static void bring_allocator(const struct dti_library *gmp)
{
    static const struct dti_library_function names[] = {{"__gmp_default_allocate", 0, false}};
    void *(*own)(size_t bytes) = NULL;
    void (*first_release)(void *memory, size_t bytes);
    (void)dti_library_find(gmp, names, 1, &own);
    dti_multi.mp_get_memory_functions(&first_allocate, &first_reallocate, &first_release);
    if (own && first_allocate == own)
        dti_multi.mp_set_memory_functions(allocate, reallocate, release);
}

/* Loads a library. If the environment selected it, the message does not suggest a package. */
static enum dti_status load(size_t which, struct dti_error *reterr)
{
    const char *const names[] = {libraries[which].name, NULL};
    const char *const chosen = dti_environment(libraries[which].variable);
    struct dti_library *library;
    if (dti_library_open(&library, names, libraries[which].variable, reterr) != DTI_OK) {
        const struct dti_error error = *reterr;
        if (chosen || !ends_with(error.text, ": not found"))
            return error.status;
        return dti_fail(reterr, error.status, "%s; install %s", error.text,
                        libraries[which].package);
    }
    const char *const missing =
        dti_library_find(library, libraries[which].functions, libraries[which].count, &dti_multi);
    if (!missing && which == GMP)
        bring_allocator(library);
    dti_library_close(library);
    if (missing && chosen)
        return dti_fail(reterr, DTI_UNAVAILABLE, "%s: has no function %s",
                        DTI_QUOTED(chosen, strlen(chosen)), missing);
    if (missing)
        return dti_fail(reterr, DTI_UNAVAILABLE, "%s: has no function %s; install a newer %s",
                        names[0], missing, libraries[which].package);
    return DTI_OK;
}

/* track: NULL, or begun. */
static enum dti_status guarded(enum dti_status (*compute)(void *context, struct dti_error *reterr),
                               void *context, struct dti_track *track, struct dti_error *reterr)
{
    jmp_buf here;
    jmp_buf *const outer = way_out;
    if (setjmp(here) != 0) {
        way_out = outer;
        if (track)
            dti_track_end(track, true);
        return dti_no_memory(reterr);
    }
    way_out = &here;
    const enum dti_status status = compute(context, reterr);
    way_out = outer;
    if (track)
        dti_track_end(track, false);
    return status;
}

enum dti_status dti_calc_guarded(enum dti_status (*compute)(void *context,
                                                            struct dti_error *reterr),
                                 void *context, struct dti_error *reterr)
{
    struct dti_track track;
    if (dti_caller_is_process())
        return guarded(compute, context, NULL, reterr);
    dti_track_begin(&track);
    return guarded(compute, context, &track, reterr);
}

enum dti_status dti_multi_load(struct dti_error *reterr)
{
    static struct dti_once once;
    struct dti_error problem;
    enum dti_status status = DTI_OK;
    if (dti_once_begin(&once)) {
        for (size_t i = LIBRARIES; status == DTI_OK && i-- > 0;)
            status = load(i, &problem);
        dti_once_end(&once, status == DTI_OK);
    }
    if (status != DTI_OK && reterr)
        *reterr = problem;
    return status;
}

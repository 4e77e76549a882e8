/* SPDX-License-Identifier: MIT
 *
 * Loads GMP and MPFR, once. */
#include "calc/truth/multi.h"

#include <pthread.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "calc/calc.h"
#include "calc/truth/truth.h"
#include "util/run/allocate.h"
#include "util/run/library.h"
#include "util/run/process_environment.h"

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
    dti_library_close(library);
    if (missing && chosen)
        return dti_fail(reterr, DTI_UNAVAILABLE, "%s: has no function %s",
                        DTI_QUOTED(chosen, strlen(chosen)), missing);
    if (missing)
        return dti_fail(reterr, DTI_UNAVAILABLE, "%s: has no function %s; install a newer %s",
                        names[0], missing, libraries[which].package);
    return DTI_OK;
}

/* GMP's allocation functions must not fail: on failure they longjmp to the active
 * dti_calc_guarded(). Without one this is NULL, and the process ends. */
static jmp_buf *way_out;

_Noreturn void dti_multi_out_of_memory(void)
{
    longjmp(*way_out, 1);
}

static void *or_leave(void *memory)
{
    if (!memory)
        dti_multi_out_of_memory();
    return memory;
}

static void *allocate(size_t bytes)
{
    return or_leave(dti_malloc(bytes));
}

static void *reallocate(void *memory, size_t before, size_t bytes)
{
    (void)before;
    return or_leave(dti_realloc(memory, bytes));
}

static void release(void *memory, size_t bytes)
{
    (void)bytes;
    dti_free(memory);
}

enum dti_status dti_calc_guarded(enum dti_status (*compute)(void *context,
                                                            struct dti_error *reterr),
                                 void *context, struct dti_error *reterr)
{
    jmp_buf here;
    if (setjmp(here) != 0) {
        way_out = NULL;
        return dti_no_memory(reterr);
    }
    way_out = &here;
    const enum dti_status status = compute(context, reterr);
    way_out = NULL;
    return status;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum dti_status loaded;
static struct dti_error problem;

static void load_all(void)
{
    for (size_t i = LIBRARIES; loaded == DTI_OK && i-- > 0;)
        loaded = load(i, &problem);
    if (loaded == DTI_OK)
        dti_multi.mp_set_memory_functions(allocate, reallocate, release);
}

enum dti_status dti_multi_load(struct dti_error *reterr)
{
    (void)pthread_once(&once, load_all);
    if (loaded != DTI_OK && reterr)
        *reterr = problem;
    return loaded;
}

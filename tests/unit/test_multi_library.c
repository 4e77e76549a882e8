/* SPDX-License-Identifier: MIT
 *
 * Missing or unsuitable GMP and MPFR: the error message, and that a second call repeats it. */
#include "calc/truth/truth.h"
#include "child.h"
#include "unit.h"

struct chosen {
    const char *variable, *path;
};

static void load_twice(FILE *out, const void *context)
{
    const struct chosen *const chosen = context;
    struct dti_error error;
    setenv(chosen->variable, chosen->path, 1);
    for (int i = 0; i < 2; i++) {
        if (dti_multi_load(&error) == DTI_UNAVAILABLE && error.status == DTI_UNAVAILABLE)
            fprintf(out, "%s\n", i == 0 ? error.text : "again");
    }
    if (dti_multi_load(NULL) != DTI_UNAVAILABLE)
        fprintf(out, "loaded\n");
}

/* A process loads a library only once, so each case runs in its own process. */
static void check_load(const char *variable, const char *path, const char *want)
{
    const struct chosen chosen = {variable, path};
    struct child_result result;
    char expected[CHILD_OUTPUT];
    snprintf(expected, sizeof expected, "%s\nagain\n", want);
    child_run(&result, load_twice, &chosen, NULL);
    CHECK_I64(result.status, 0);
    CHECK_STR(result.output, expected);
}

static void a_library_that_is_not_there_is_named(void)
{
    check_load("DTINFO_LIBMPFR", "/nowhere/libmpfr.so", "'/nowhere/libmpfr.so': not found");
    check_load("DTINFO_LIBGMP", "libgmp.so.10",
               "DTINFO_LIBGMP is 'libgmp.so.10', which is not a path: it has no slash");
}

static void a_library_without_a_function_is_told(void)
{
    char want[DTI_ERROR_TEXT];
    const char *const quoted = DTI_QUOTED(HOSTILE_PATH, strlen(HOSTILE_PATH));
    snprintf(want, sizeof want, "%s: has no function mpfr_init2", quoted);
    check_load("DTINFO_LIBMPFR", HOSTILE_PATH, want);
    snprintf(want, sizeof want, "%s: has no function __gmp_set_memory_functions", quoted);
    check_load("DTINFO_LIBGMP", HOSTILE_PATH, want);
}

static void loading_twice_is_fine(void)
{
    struct dti_error error;
    CHECK(dti_multi_load(&error) == DTI_OK);
    CHECK(dti_multi_load(NULL) == DTI_OK);
}

UNIT_MAIN(a_library_that_is_not_there_is_named, a_library_without_a_function_is_told,
          loading_twice_is_fine)

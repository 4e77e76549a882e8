/* SPDX-License-Identifier: MIT
 *
 * GMP and MPFR where they are missing or others: what is said, and that it is said again. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calc/truth.h"
#include "unit.h"

/* Loading happens once a process: each case has its own. Exit 0: the text is as wanted. */
static int load_in_child(const char *variable, const char *value, const char *want)
{
    int status = -1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        struct dti_error error;
        setenv(variable, value, 1);
        for (int i = 0; i < 2; i++) {
            memset(&error, 0, sizeof error);
            const enum dti_status loaded = dti_multi_load(&error);
            if (loaded != DTI_UNAVAILABLE || error.status != DTI_UNAVAILABLE ||
                strcmp(error.text, want) != 0) {
                printf("got  \"%s\"\nwant \"%s\"\n", error.text, want);
                fflush(stdout);
                _exit(1);
            }
        }
        _exit(dti_multi_load(NULL) == DTI_UNAVAILABLE ? 0 : 1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

static void a_library_that_is_not_there_is_named(void)
{
    CHECK_I64(
        load_in_child("DTINFO_LIBMPFR", "/nowhere/libmpfr.so", "'/nowhere/libmpfr.so': not found"),
        0);
    CHECK_I64(load_in_child("DTINFO_LIBGMP", "libgmp.so.10",
                            "DTINFO_LIBGMP is 'libgmp.so.10', which is no path: it has no slash"),
              0);
}

static void a_library_without_a_function_is_told(void)
{
    CHECK_I64(load_in_child("DTINFO_LIBMPFR", HOSTILE_PATH,
                            "libmpfr.so.6: has no function mpfr_init2; install a newer libmpfr6"),
              0);
    CHECK_I64(load_in_child("DTINFO_LIBGMP", HOSTILE_PATH,
                            "libgmp.so.10: has no function __gmpz_init; install a newer libgmp10"),
              0);
}

static void loading_twice_is_fine(void)
{
    struct dti_error error;
    CHECK(dti_multi_load(&error) == DTI_OK);
    CHECK(dti_multi_load(NULL) == DTI_OK);
}

UNIT_MAIN(a_library_that_is_not_there_is_named, a_library_without_a_function_is_told,
          loading_twice_is_fine)

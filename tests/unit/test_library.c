/* SPDX-License-Identifier: MIT
 *
 * Loading of optional libraries. */
#define _POSIX_C_SOURCE 200809L
#include <fenv.h>
#include <stdlib.h>

#include "unit.h"
#include "util/run/library.h"

static const char *const none[] = {"libdtinfo-nowhere.so.1", "libdtinfo-nowhere.so.2", NULL};

static void absence_is_told_with_the_first_name(void)
{
    struct dti_library *library;
    struct dti_error error;
    CHECK(dti_library_open(&library, none, NULL, &error) == DTI_UNAVAILABLE);
    CHECK_STR(error.text, "libdtinfo-nowhere.so.1: not found");
}

static void later_names_are_tried(void)
{
    static const char *const names[] = {"libdtinfo-nowhere.so.1", HOSTILE_PATH, NULL};
    struct dti_library *library;
    if (!CHECK(dti_library_open(&library, names, NULL, NULL) == DTI_OK))
        return;
    CHECK_STR(dti_library_name(library), HOSTILE_PATH);
    dti_library_close(library);
    dti_library_close(NULL);
}

static void variable_names_another_one(void)
{
    struct dti_library *library;
    struct dti_error error;
    struct {
        int (*function)(void), (*malfunction)(void), (*missing)(void);
    } found;
    static const struct dti_library_function rows[] = {
        {"hostile_function", 0, true},
        {"hostile_malfunction", sizeof found.function, false},
        {"hostile_dysfunction", 2 * sizeof found.function, true},
    };
    memset(&found, 0x5A, sizeof found);
    setenv("DTINFO_TEST_LIBRARY", HOSTILE_PATH, 1);
    if (!CHECK(dti_library_open(&library, none, "DTINFO_TEST_LIBRARY", NULL) == DTI_OK))
        return;
    CHECK(dti_library_find(library, rows, 2, &found) == NULL);
    CHECK(found.function && found.function() == 42);
    CHECK(!found.malfunction);
    CHECK_STR(dti_library_find(library, rows, 3, &found), "hostile_dysfunction");
    dti_library_close(library);
    setenv("DTINFO_TEST_LIBRARY", "libc.so.6", 1);
    CHECK(dti_library_open(&library, none, "DTINFO_TEST_LIBRARY", &error) == DTI_UNAVAILABLE);
    CHECK_STR(error.text,
              "DTINFO_TEST_LIBRARY is 'libc.so.6', which is not a path: it has no slash");
    setenv("DTINFO_TEST_LIBRARY", "/nowhere/\x1b[2J.so", 1);
    CHECK(dti_library_open(&library, none, "DTINFO_TEST_LIBRARY", &error) == DTI_UNAVAILABLE);
    CHECK_STR(error.text, "'/nowhere/\\x1b[2J.so': not found");
    setenv("DTINFO_TEST_LIBRARY", __FILE__ "/", 1);
    CHECK(dti_library_open(&library, none, "DTINFO_TEST_LIBRARY", &error) == DTI_UNAVAILABLE);
    setenv("DTINFO_TEST_LIBRARY", "/proc/self/comm", 1);
    CHECK(dti_library_open(&library, none, "DTINFO_TEST_LIBRARY", &error) == DTI_UNAVAILABLE);
    CHECK(strncmp(error.text, "'/proc/self/comm': cannot be loaded: '", 38) == 0);
    unsetenv("DTINFO_TEST_LIBRARY");
}

static void arithmetic_is_what_it_was(void)
{
    static const char *const names[] = {HOSTILE_PATH, NULL};
    struct dti_library *library;
    volatile double tiny = 0x1p-1022, one = 1, small = 0x1p-60;
    if (!CHECK(dti_library_open(&library, names, NULL, NULL) == DTI_OK))
        return;
    CHECK(fegetround() == FE_TONEAREST);
    CHECK(tiny / 2 != 0);
    CHECK(one + small == 1);
    dti_library_close(library);
}

/* A process loads a library only once: this is when the hostile library acts. */
UNIT_MAIN(arithmetic_is_what_it_was, absence_is_told_with_the_first_name, later_names_are_tried,
          variable_names_another_one)

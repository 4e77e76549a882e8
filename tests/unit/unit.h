/* SPDX-License-Identifier: MIT
 *
 * A minimal test harness. A test is a static void function whose name reads as a sentence. A file
 * ends with UNIT_MAIN(first_test, second_test, ...), which makes a group named after the file. All
 * groups of a layer form one program (unit_main.c). A failed check does not stop the test. It
 * prints its location, the test, the actual and the expected value. */
#ifndef DTINFO_TESTS_UNIT_H
#define DTINFO_TESTS_UNIT_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a sanitizer counts leaks: GMP and MPFR have some where memory runs out. */
#if defined(__SANITIZE_ADDRESS__)
#define UNIT_LEAKS_COUNT true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UNIT_LEAKS_COUNT true
#endif
#endif
#ifndef UNIT_LEAKS_COUNT
#define UNIT_LEAKS_COUNT false
#endif

static char unit_test_name[128];
static unsigned unit_failures; /* checks that failed in the running test */

static inline void unit_fail(const char *file, int line)
{
    unit_failures++;
    printf("%s:%d: %s: ", file, line, unit_test_name);
}

static inline bool unit_check(bool ok, const char *expression, const char *file, int line)
{
    if (!ok) {
        unit_fail(file, line);
        printf("%s does not hold\n", expression);
    }
    return ok;
}

static inline bool unit_check_u64(uint64_t got, uint64_t want, const char *expression,
                                  const char *file, int line)
{
    if (got != want) {
        unit_fail(file, line);
        printf("%s is %" PRIu64 " (0x%" PRIx64 "), not %" PRIu64 " (0x%" PRIx64 ")\n", expression,
               got, got, want, want);
    }
    return got == want;
}

static inline bool unit_check_i64(int64_t got, int64_t want, const char *expression,
                                  const char *file, int line)
{
    if (got != want) {
        unit_fail(file, line);
        printf("%s is %" PRId64 ", not %" PRId64 "\n", expression, got, want);
    }
    return got == want;
}

static inline bool unit_check_str(const char *got, const char *want, const char *expression,
                                  const char *file, int line)
{
    const bool ok = got && want ? strcmp(got, want) == 0 : got == want;
    if (!ok) {
        unit_fail(file, line);
        printf("%s is\n  got  \"%s\"\n  want \"%s\"\n", expression, got ? got : "(NULL)",
               want ? want : "(NULL)");
    }
    return ok;
}

/* Each check returns whether it held, so that a loop can stop at the first failure. */
#define CHECK(expr)          unit_check((expr), #expr, __FILE__, __LINE__)
#define CHECK_U64(got, want) unit_check_u64((got), (want), #got, __FILE__, __LINE__)
#define CHECK_I64(got, want) unit_check_i64((got), (want), #got, __FILE__, __LINE__)
#define CHECK_SIZE(got, want) \
    unit_check_u64((uint64_t)(got), (uint64_t)(want), #got, __FILE__, __LINE__)
#define CHECK_STR(got, want) unit_check_str((got), (want), #got, __FILE__, __LINE__)

/* The names come from the text of the macro's arguments, so that each test is named only once. */
static inline int unit_run(void (*const *tests)(void), size_t count, const char *names)
{
    size_t passed = 0;
    for (size_t i = 0; i < count; i++) {
        names += strspn(names, ", \n");
        const size_t length = strcspn(names, ", \n");
        snprintf(unit_test_name, sizeof unit_test_name, "%.*s", (int)length, names);
        names += length;
        unit_failures = 0;
        tests[i]();
        passed += unit_failures == 0;
        printf("%s %s\n", unit_failures == 0 ? "ok    " : "FAILED", unit_test_name);
    }
    printf("%zu passed, %zu failed\n", passed, count - passed);
    return passed == count ? 0 : 1;
}

/* Whether to reduce long tests: another build runs them completely. */
static inline bool unit_quick(void)
{
    return getenv("DTI_TEST_QUICK") != NULL;
}

/* n where a loop over like cases takes each n-th alone, else 1: in builds that are slow, with
 * sanitizers or emulated, on a push, where another build runs all that unit_quick() leaves. Always
 * the same cases. */
static inline unsigned unit_each(unsigned n)
{
    return getenv("DTI_TEST_SPARSE") ? n : 1;
}

/* The tests of one file. */
struct unit_group {
    const char *file;
    int (*run)(void); /* 0: all passed */
    struct unit_group *next;
};

/* Adds a group to the program, before main(). */
void dti_unit_add(struct unit_group *group);

#define UNIT_MAIN(...)                                                                        \
    static int unit_run_group(void)                                                           \
    {                                                                                         \
        static void (*const unit_tests[])(void) = {__VA_ARGS__};                              \
        return unit_run(unit_tests, sizeof unit_tests / sizeof unit_tests[0], #__VA_ARGS__);  \
    }                                                                                         \
    __attribute__((constructor)) static void unit_add_group(void)                             \
    {                                                                                         \
        static struct unit_group this_unit_group = {.file = __FILE__, .run = unit_run_group}; \
        dti_unit_add(&this_unit_group);                                                       \
    }

#endif
